"""The late-join detector reads a memory once: kept states give what the whole pair gives, whatever the padding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_models import save_bert
from transformers import AutoTokenizer

from calm.crossencoder import CrossEncoderScorer
from calm.models.late_join import LateJoin, late_join

PAIRS = [
    ("I live in Ghent.", "I moved to Utrecht."),
    ("tea", "I no longer drink tea, coffee is my favourite."),
    ("my colour is blue", "my colour is blue"),
    ("", "our colour was green ?"),
]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_bert(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def model(base: str) -> LateJoin:
    """Its roles differ, as they do after a training."""
    made = late_join(base, lower_layers=1).eval()
    torch.nn.init.normal_(made.roles.weight)
    return made


@pytest.fixture(scope="module")
def tokenizer(base: str) -> Any:
    return AutoTokenizer.from_pretrained(base)


@torch.inference_mode()
def whole(model: LateJoin, tokenizer: Any, pairs: list[tuple[str, str]]) -> torch.Tensor:
    inputs = tokenizer([a for a, _ in pairs], [b for _, b in pairs], padding=True, return_tensors="pt")
    return model(**inputs).logits


def read(model: LateJoin, tokenizer: Any, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    inputs = tokenizer([text + "[SEP]" for text in texts], add_special_tokens=False, padding=True, return_tensors="pt")
    return model.read(inputs["input_ids"], inputs["attention_mask"]), inputs["attention_mask"]


@torch.inference_mode()
def joined(model: LateJoin, tokenizer: Any, pairs: list[tuple[str, str]]) -> torch.Tensor:
    """From one reading of every distinct text."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    states, mask = read(model, tokenizer, texts)
    older = torch.tensor([texts.index(a) for a, _ in pairs])
    newer = torch.tensor([texts.index(b) for _, b in pairs])
    return model.join(states[older], mask[older], states[newer], mask[newer])


def test_kept_states_give_what_the_whole_pair_gives(model: LateJoin, tokenizer: Any) -> None:
    torch.testing.assert_close(joined(model, tokenizer, PAIRS), whole(model, tokenizer, PAIRS), atol=1e-5, rtol=1e-5)


def test_before_a_training_both_orders_score_alike_and_with_roles_they_need_not(
    base: str, model: LateJoin, tokenizer: Any
) -> None:
    turned = [(newer, older) for older, newer in PAIRS]
    new = late_join(base, lower_layers=1).eval()
    torch.testing.assert_close(whole(new, tokenizer, turned), whole(new, tokenizer, PAIRS), atol=1e-5, rtol=1e-5)
    assert not torch.allclose(whole(model, tokenizer, turned), whole(model, tokenizer, PAIRS), atol=1e-3)


def test_a_pair_scores_the_same_in_any_company(model: LateJoin, tokenizer: Any) -> None:
    alone = torch.cat([whole(model, tokenizer, [pair]) for pair in PAIRS])
    torch.testing.assert_close(whole(model, tokenizer, PAIRS), alone, atol=1e-5, rtol=1e-5)


def test_a_memory_is_read_without_its_pair(model: LateJoin, tokenizer: Any) -> None:
    with torch.inference_mode():
        one, _ = read(model, tokenizer, ["I live in Ghent."])
        two, _ = read(model, tokenizer, ["I live in Ghent.", "I no longer drink tea, coffee is my favourite."])
    torch.testing.assert_close(two[:1, : one.shape[1]], one, atol=1e-5, rtol=1e-5)


def test_the_roles_tell_older_from_newer(model: LateJoin, tokenizer: Any) -> None:
    forward = whole(model, tokenizer, PAIRS[:2])
    backward = whole(model, tokenizer, [(b, a) for a, b in PAIRS[:2]])
    assert (forward - backward).abs().max() > 1e-3


def test_it_is_saved_and_loaded_like_any_other(model: LateJoin, tokenizer: Any, tmp_path: Path) -> None:
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    scores = CrossEncoderScorer(str(tmp_path)).score(PAIRS)
    expected = whole(model, tokenizer, PAIRS).softmax(dim=-1)[:, 0]
    torch.testing.assert_close(torch.from_numpy(scores), expected, atol=1e-5, rtol=1e-5)


def test_one_layer_has_to_join(base: str) -> None:
    with pytest.raises(ValueError, match="lower_layers 2"):
        late_join(base, lower_layers=2)
