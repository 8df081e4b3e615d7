"""A cross-encoder's κ is its contradiction class, wherever that stands, and the same in any company."""

from __future__ import annotations

import json
import shutil
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tiny_models import save_bert
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from calm.cli import main
from calm.conflict import STRONG, move
from calm.crossencoder import THRESHOLD, CrossEncoderScorer, contradiction_column
from calm.errors import InvalidOption
from calm.pairs import ScoreCache, score_texts

NLI = ("contradiction", "entailment", "neutral")
PAIRS = [
    ("I live in Ghent.", "I moved to Utrecht."),
    ("I moved to Utrecht.", "I live in Ghent."),
    ("", ""),
    ("tea", "I no longer drink tea, coffee is my favourite. " * 3),
    ("my colour is blue", "our colour was green ?"),
    ("half a pair \ud83d", "東京 😀"),
    ("a b c", "d e"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_bert(tmp_path_factory.mktemp("models") / "nli", NLI)


@pytest.fixture(scope="module")
def scorer(folder: str) -> CrossEncoderScorer:
    return CrossEncoderScorer(folder)


@pytest.fixture(scope="module")
def alone(scorer: CrossEncoderScorer) -> NDArray[np.float32]:
    """The scores of `PAIRS`, each asked for by itself."""
    return np.concatenate([scorer.score([pair]) for pair in PAIRS])


def logits(folder: str, first: str, second: str) -> torch.Tensor:
    """What the model says of one pair, without calm."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        return model(**tokenizer(first, second, return_tensors="pt")).logits[0]


# --- Which class


def test_the_score_is_the_softmax_of_the_contradiction_class(folder: str, scorer: CrossEncoderScorer) -> None:
    first, second = PAIRS[0]
    wanted = logits(folder, first, second).softmax(dim=-1)
    assert min((wanted[0] - wanted[1]).abs(), (wanted[0] - wanted[2]).abs()) > 0.01, "the classes must be told apart"
    assert scorer.score([PAIRS[0]])[0] == pytest.approx(float(wanted[0]), abs=1e-5)


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=lambda order: "".join(NLI[n][0] for n in order))
def test_the_order_of_the_labels_changes_nothing(
    tmp_path: Path, scorer: CrossEncoderScorer, order: tuple[int, ...]
) -> None:
    moved = save_bert(tmp_path / "nli", [NLI[n] for n in order], order=order)
    np.testing.assert_allclose(CrossEncoderScorer(moved).score(PAIRS), scorer.score(PAIRS), atol=1e-5)


@pytest.mark.parametrize(
    ("labels", "column"),
    [
        (["ENTAILMENT", "NEUTRAL", "CONTRADICTION"], 2),
        (["Neutral", "Contradiction", "Entailment"], 1),
        ([" contradiction ", "other"], 0),
        (["entailment", "not_entailment", "contradictory"], 2),
        (["no_conflict", "conflict"], 1),
        (["conflict", "no_conflict"], 0),
        (["not_contradiction", "contradiction"], 1),
        (["LABEL_0"], 0),
        (["contradiction"], 0),
    ],
    ids=lambda value: "/".join(value) if isinstance(value, list) else "",
)
def test_the_contradiction_class_is_found_by_name(labels: list[str], column: int) -> None:
    assert contradiction_column(dict(enumerate(labels)), "some model") == column
    backwards = dict(reversed(list(enumerate(labels))))
    assert contradiction_column(backwards, "some model") == column


@pytest.mark.parametrize("labels", [("no_conflict", "conflict"), ("Conflict", "No conflict")])
def test_a_model_of_two_classes_gives_the_softmax_of_its_conflict(tmp_path: Path, labels: tuple[str, str]) -> None:
    folder = save_bert(tmp_path / "two", labels)
    column = [label.casefold() for label in labels].index("conflict")
    wanted = logits(folder, *PAIRS[0]).softmax(dim=-1)[column]
    assert CrossEncoderScorer(folder).score([PAIRS[0]])[0] == pytest.approx(float(wanted), abs=1e-5)


def test_the_one_output_of_a_model_is_a_logit_of_contradiction(tmp_path: Path) -> None:
    folder = save_bert(tmp_path / "one", ["LABEL_0"])
    scores = CrossEncoderScorer(folder).score(PAIRS[:2])
    wanted = [float(logits(folder, *pair)[0].sigmoid()) for pair in PAIRS[:2]]
    np.testing.assert_allclose(scores, wanted, atol=1e-5)
    assert abs(wanted[0] - wanted[1]) > 1e-3


@pytest.mark.parametrize(
    "labels",
    [["LABEL_0", "LABEL_1", "LABEL_2"], ["entailment", "not_entailment"], ["no_contradiction", "neutral"]],
    ids="/".join,
)
def test_a_model_without_a_contradiction_class_is_refused_by_its_labels(tmp_path: Path, labels: list[str]) -> None:
    folder = save_bert(tmp_path / "other", labels)
    with pytest.raises(InvalidOption) as caught:
        CrossEncoderScorer(folder)
    assert caught.value.field == "scorer"
    assert all(label in str(caught.value) for label in labels)
    assert "id2label" in str(caught.value)


# --- The scores


def test_scores_are_float32_in_the_unit_interval_one_a_pair(scorer: CrossEncoderScorer) -> None:
    scores = scorer.score(PAIRS)
    assert scores.dtype == np.float32
    assert scores.shape == (len(PAIRS),)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert len(np.unique(scores.round(4))) > 3


def test_moved_odds_by_hand() -> None:
    # From 1/2 (odds 1) to 3/4 (odds 3) all odds triple: 1/4 (1 : 3) becomes 1/2 (3 : 3), 3/4 (3 : 1) becomes 9/10.
    before = np.array([0, 0.25, 0.5, 0.75, 1], dtype=np.float32)
    after = move(before, 0.5, 0.75)
    np.testing.assert_allclose(after, [0, 0.5, 0.75, 0.9, 1], atol=1e-7)
    np.testing.assert_allclose(move(after, 0.75, 0.5), before, atol=1e-7)


def test_a_model_is_believed_from_its_own_threshold(folder: str, tmp_path: Path) -> None:
    plain, own = (CrossEncoderScorer(_with(folder, tmp_path / str(n), n)) for n in (None, 0.1))
    assert (plain.threshold, own.threshold) == (STRONG, 0.1)
    before, after = plain.score(PAIRS), own.score(PAIRS)
    assert 0 < (before >= 0.1).sum() < len(PAIRS)
    assert ((after >= STRONG) == (before >= 0.1)).all()
    np.testing.assert_allclose(move(after, STRONG, 0.1), before, atol=1e-5)
    assert own.fingerprint != plain.fingerprint


def _with(folder: str, place: Path, threshold: float | None) -> str:
    """A copy of a model whose config has this threshold."""
    shutil.copytree(folder, place / "nli")
    config = json.loads((place / "nli" / "config.json").read_text(encoding="utf-8"))
    own = {} if threshold is None else {THRESHOLD: threshold}
    (place / "nli" / "config.json").write_text(json.dumps(config | own), encoding="utf-8")
    return str(place / "nli")


def test_no_pair_has_no_score(scorer: CrossEncoderScorer) -> None:
    none = scorer.score([])
    assert none.dtype == np.float32
    assert none.shape == (0,)


@pytest.mark.parametrize("batch_size", [1, 2, 3, 64])
def test_the_batch_size_changes_no_score(folder: str, scorer: CrossEncoderScorer, batch_size: int) -> None:
    other = CrossEncoderScorer(folder, batch_size=batch_size)
    np.testing.assert_allclose(other.score(PAIRS), scorer.score(PAIRS), atol=1e-5)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.lists(st.integers(0, len(PAIRS) - 1), max_size=8))
def test_company_and_order_of_the_pairs_change_no_score(
    scorer: CrossEncoderScorer, alone: NDArray[np.float32], order: list[int]
) -> None:
    np.testing.assert_allclose(scorer.score([PAIRS[n] for n in order]), alone[order], atol=1e-5)


def test_the_older_text_is_the_premise(folder: str, scorer: CrossEncoderScorer) -> None:
    forward, backward = scorer.score([PAIRS[0], PAIRS[0][::-1]])
    assert abs(forward - backward) > 1e-3
    assert backward == pytest.approx(float(logits(folder, *PAIRS[0][::-1]).softmax(dim=-1)[0]), abs=1e-5)


def test_a_pair_that_is_too_long_loses_its_end(folder: str) -> None:
    short = CrossEncoderScorer(folder, max_tokens=32)
    long = "I live in Ghent. " * 30
    same, other = short.score([(long, long), (long + "tea", long * 50)])
    assert same == pytest.approx(other, abs=1e-5)


# --- Its name


def test_one_model_has_one_fingerprint(folder: str, scorer: CrossEncoderScorer) -> None:
    assert CrossEncoderScorer(folder).fingerprint == scorer.fingerprint


def test_a_retrained_model_in_the_same_folder_is_another_scorer(tmp_path: Path, scorer: CrossEncoderScorer) -> None:
    assert CrossEncoderScorer(save_bert(tmp_path / "nli", NLI, seed=1)).fingerprint != scorer.fingerprint


def test_another_truncation_is_another_scorer(folder: str, scorer: CrossEncoderScorer) -> None:
    assert CrossEncoderScorer(folder, max_tokens=32).fingerprint != scorer.fingerprint


def test_corrected_labels_make_another_scorer(tmp_path: Path, scorer: CrossEncoderScorer) -> None:
    corrected = CrossEncoderScorer(save_bert(tmp_path / "nli", NLI[::-1]))
    assert abs(corrected.score(PAIRS[:1])[0] - scorer.score(PAIRS[:1])[0]) > 0.01
    assert corrected.fingerprint != scorer.fingerprint


def test_scores_in_the_cache_are_those_of_the_same_weights(tmp_path: Path, scorer: CrossEncoderScorer) -> None:
    retrained = CrossEncoderScorer(save_bert(tmp_path / "nli", NLI, seed=1))
    cache = ScoreCache()
    for judge in (scorer, retrained, scorer):
        np.testing.assert_allclose(score_texts(PAIRS[:2], judge, cache), judge.score(PAIRS[:2]), atol=1e-5)


# --- Loading


@pytest.mark.parametrize("name", ["missing", "empty", "someone/no-such-model"])
def test_what_is_no_model_is_named_with_a_way_out(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    model = name if "/" in name else str(tmp_path / name)
    with pytest.raises(InvalidOption) as caught:
        CrossEncoderScorer(model)
    message = str(caught.value)
    assert caught.value.field == "scorer"
    assert model in message
    assert "name a folder or hub id" in message and '"rules"' in message
    assert "\n" not in message


def test_a_pointer_in_place_of_the_weights_is_named_with_a_way_out(tmp_path: Path) -> None:
    folder = Path(save_bert(tmp_path / "pointer", NLI))
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n", encoding="utf-8")
    with pytest.raises(InvalidOption, match="pointer"):
        CrossEncoderScorer(str(folder))


# --- On the command line


def case(path: Path) -> Path:
    memories = [
        {"id": "m1", "text": "I live in Ghent.", "timestamp": "2026-01-01", "user": "u"},
        {"id": "m2", "text": "I live in Utrecht.", "timestamp": "2026-02-01", "user": "u"},
    ]
    line = {"id": "c", "memories": memories, "query": "Where do I live?", "query_time": "2026-03-01"}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("label", "admitted"), [("contradiction", {"m2"}), ("entailment", {"m1", "m2"})])
def test_calm_admit_judges_conflicts_with_it(tmp_path: Path, label: str, admitted: set[str]) -> None:
    folder, out = save_bert(tmp_path / "sure", NLI, certain=NLI.index(label)), tmp_path / "out.jsonl"
    options = ["--scorer", folder, "--embedder", "hashing", "--quiet", "--output", str(out)]
    assert main(["admit", str(case(tmp_path / "cases.jsonl")), *options]) == 0
    answer = json.loads(out.read_text(encoding="utf-8"))
    assert {memory["id"] for memory in answer["admitted"]} == admitted
    assert [(c["older"], c["newer"]) for c in answer["conflicts"]] == ([("m1", "m2")] if admitted == {"m2"} else [])
    assert answer["stats"]["pairs_scored"] == 1


def test_a_folder_that_does_not_exist_ends_the_command_with_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--scorer", str(tmp_path / "missing"), "--embedder", "hashing", "--quiet"]
    assert main(["admit", str(case(tmp_path / "cases.jsonl")), *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "missing" in said.err and '"rules"' in said.err and "Traceback" not in said.err
