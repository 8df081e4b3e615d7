"""What a detector learns from: labels, orders, attributes, mixture, batches, loss and calibration."""

from __future__ import annotations

import gzip
import itertools
import json
import math
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import save_bert
from transformers import AutoTokenizer

from calm.train import attributes as attribute_pairs
from calm.train import leakage, reading
from calm.train.attributes import Attribute, NearMiss, State
from calm.train.batches import Tokens, by_length, collate, encode
from calm.train.calibrate import best_threshold, calibrate, even_weights
from calm.train.examples import Example, Label, either_order, swapped
from calm.train.loss import hidden_loss, label_loss, soft_loss, symmetry_loss
from calm.train.mixture import Shares, Sources, epoch

TEA = Attribute(
    "tea",
    tuple(
        State(label, tuple(f"{label} {n}" for n in range(8)), (f"says {label}",)) for label in ("hot", "iced", "none")
    ),
    (NearMiss("hot 0", "mum has it iced", "i have it iced"),),
)
CAR = Attribute("car", tuple(State(s, (f"{s} a", f"{s} b"), ()) for s in ("red", "blue")), ())


# --- Labels and orders


def test_only_a_contradiction_keeps_its_label_in_the_other_order() -> None:
    for label in Label:
        turned = swapped(Example("a", "b", label, "s", "k"))
        assert (turned.older, turned.newer, turned.source, turned.kind) == ("b", "a", "s", "k")
        assert turned.label is (Label.CONTRADICTION if label is Label.CONTRADICTION else Label.COMPATIBLE)


def test_both_orders_are_drawn() -> None:
    rng = random.Random(0)
    example = Example("a", "b", Label.CONTRADICTION, "s")
    assert {either_order(example, rng).older for _ in range(40)} == {"a", "b"}


# --- Attributes


def test_seen_and_held_out_behaviours_are_apart_and_complete() -> None:
    seen, kept = attribute_pairs.seen_part(TEA), attribute_pairs.held_out_part(TEA)
    for whole, one, two in zip(TEA.states, seen.states, kept.states, strict=True):
        assert set(one.behaviours) | set(two.behaviours) == set(whole.behaviours)
        assert len(two.behaviours) == 2


def test_behaviour_pairs_are_balanced_distinct_and_rightly_labelled() -> None:
    pairs = attribute_pairs.behaviour_pairs(TEA, random.Random(0), 20)
    assert Counter(pair.conflict for pair in pairs) == {True: 20, False: 20}
    assert len({(p.older, p.newer) for p in pairs}) == 40
    assert all(p.conflict == (p.older.split()[0] != p.newer.split()[0]) for p in pairs)


def test_drawn_pairs_conflict_where_their_states_differ() -> None:
    rng = random.Random(0)
    drawn = [attribute_pairs.draw([TEA, CAR], rng) for _ in range(2000)]
    state = {
        text: (a.name, s.label) for a in (TEA, CAR) for s in a.states for text in (*s.behaviours, *s.direct, s.label)
    }
    for pair in drawn:
        (one, first), (two, second) = state[pair.older], state[pair.newer]
        assert pair.older != pair.newer
        assert pair.conflict == (one == two and first != second)
        assert (pair.label is Label.NEUTRAL) == (one != two)
    assert 0.45 < sum(p.conflict for p in drawn) / len(drawn) < 0.6


def test_a_near_miss_and_its_twin() -> None:
    miss, twin = attribute_pairs.near_miss_pairs([TEA])
    assert (miss.conflict, twin.conflict) == (False, True)
    assert miss.older == twin.older


def test_attributes_are_read_from_both_forms(tmp_path: Path) -> None:
    states = [{"label": "x", "behaviours": [{"text": "b", "severity": "mild"}, "c"]}]
    (tmp_path / "one.json").write_text(json.dumps({"attribute": "z", "states": states}), encoding="utf-8")
    (tmp_path / "many.jsonl").write_text(json.dumps({"attribute": "a", "states": states}) + "\n", encoding="utf-8")
    (tmp_path / "other.json").write_text("[1]", encoding="utf-8")
    found = attribute_pairs.read_attributes(tmp_path)
    assert [a.name for a in found] == ["a", "z"]
    assert found[0].states == (State("x", ("b", "c"), ()),)


def test_own_attributes_are_whole() -> None:
    found = attribute_pairs.own_attributes()
    assert len(found) > 80
    assert len({a.name for a in found}) == len(found)
    for attribute in found:
        texts = [text for state in attribute.states for text in (*state.behaviours, *state.direct)]
        assert len(attribute.states) == 3, attribute.name
        assert len(set(texts)) == len(texts), attribute.name
        assert all(len(state.behaviours) >= 6 for state in attribute.states), attribute.name


# --- Reading


def test_nli_and_memory_pairs(tmp_path: Path) -> None:
    file = tmp_path / "snli_dev.jsonl.gz"
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.write(json.dumps({"premise": "p", "hypothesis": "h", "label": "neutral"}) + "\n")
    assert reading.nli(file) == [Example("p", "h", Label.NEUTRAL, "snli_dev", "")]
    pairs = tmp_path / "a.jsonl"
    pairs.write_text('{"older": "o", "newer": "n", "conflict": false, "kind": "k"}\n', encoding="utf-8")
    assert reading.memory_pairs([pairs], "m") == [Example("o", "n", Label.COMPATIBLE, "m", "k")]
    pairs.write_text("[1]\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1"):
        reading.memory_pairs([pairs], "m")


def test_a_timeline_gives_supersessions_and_others(tmp_path: Path) -> None:
    def write(name: str, key: str, value: str, supersedes: str | None) -> dict[str, Any]:
        return {"id": name, "key": key, "value": value, "supersedes": supersedes}

    timeline = {
        "initial_state": {"persistent_facts": [write("f1", "city", "Oslo", None), write("f2", "pet", "cat", None)]},
        "events": [
            {"type": "query"},
            {"type": "supersession", "writes": [write("f3", "city", "Rome", "f1")]},
        ],
    }
    file = tmp_path / "t.jsonl"
    file.write_text(json.dumps(timeline) + "\n", encoding="utf-8")
    pairs = [(p.older, p.newer, p.conflict) for p in reading.statebench(file)]
    assert pairs == [("Oslo", "cat", False), ("Oslo", "Rome", True)]


def test_own_pairs_are_distinct_and_balanced() -> None:
    pairs = reading.memory_pairs((reading.OWN / "pairs").glob("*.jsonl"), "own")
    assert len({(p.older, p.newer) for p in pairs}) == len(pairs) > 1_500
    assert 0.4 < sum(p.conflict for p in pairs) / len(pairs) < 0.6


# --- Leakage


def test_a_text_is_known_in_any_spelling() -> None:
    assert leakage.key("The  cat's ｆｏｏｄ, again!") == leakage.key("the CAT s food again .")
    assert leakage.key("the cat") != leakage.key("the cats")


def test_a_pair_with_a_forbidden_text_is_dropped() -> None:
    kept = Example("a b", "c d", Label.NEUTRAL, "s")
    pairs = [kept, Example("A, b!", "x y", Label.NEUTRAL, "s"), Example("x y", "c  D", Label.NEUTRAL, "s")]
    assert leakage.without(pairs, {"a b"}) == pairs[2:]
    assert leakage.without(pairs, {"q r"}) == pairs


# --- Mixture


def sources() -> Sources:
    names = [n for n in Shares.__dataclass_fields__ if not n.endswith("attributes")]
    return Sources({n: [Example(f"{n} {i}", "x", Label.NEUTRAL, n) for i in range(9)] for n in names}, [TEA], [CAR])


def test_an_epoch_is_a_pure_function_of_its_seed() -> None:
    first = epoch(sources(), Shares(), 500, 3)
    assert first == epoch(sources(), Shares(), 500, 3)
    assert first != epoch(sources(), Shares(), 500, 4)
    assert len(first) == 500


def test_shares_are_kept_and_zero_leaves_out() -> None:
    drawn = Counter(e.source for e in epoch(sources(), Shares(snli=0, mnli=50, memory_pairs=50), 4000, 0))
    assert drawn["snli"] == 0
    assert drawn["mnli"] == pytest.approx(drawn["memory_pairs"], rel=0.15)


def test_a_source_is_gone_through_before_it_repeats() -> None:
    shares = Shares(**{name: float(name == "mnli") for name in Shares.__dataclass_fields__})
    counts = Counter(e.older if e.older != "x" else e.newer for e in epoch(sources(), shares, 21, 0))
    assert set(counts.values()) == {2, 3}


# --- Batches


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return AutoTokenizer.from_pretrained(save_bert(tmp_path_factory.mktemp("models") / "tiny"))


def test_pairs_are_encoded_as_the_tokenizer_does(tokenizer: Any) -> None:
    pairs = [Example("i live in oslo", "tea", Label.NEUTRAL, "s"), Example("a", "", Label.NEUTRAL, "s")]
    rows = encode(tokenizer, pairs)
    batch = collate(rows, [p.label for p in pairs], tokenizer.pad_token_id)
    expected = tokenizer([p.older for p in pairs], [p.newer for p in pairs], padding=True, return_tensors="pt")
    assert torch.equal(batch.ids_BL, expected["input_ids"])
    assert torch.equal(batch.mask_BL, expected["attention_mask"])
    assert torch.equal(batch.segments_BL, expected["token_type_ids"])


def test_a_long_pair_is_cut_to_fit(tokenizer: Any) -> None:
    (row,) = encode(tokenizer, [Example("tea " * 50, "coffee tea", Label.NEUTRAL, "s")], 20)
    assert len(row.ids) == 20
    assert row.segments.count(1) == 3  # the short text is whole


@given(st.lists(st.integers(1, 90), max_size=60), st.integers(1, 9), st.integers(0, 3))
def test_batches_are_full_distinct_and_of_like_lengths(lengths: list[int], size: int, seed: int) -> None:
    batches = by_length(lengths, size, random.Random(seed))
    rows = [n for batch in batches for n in batch]
    assert all(len(batch) == size for batch in batches)
    assert len(batches) == len(lengths) // size
    assert len(set(rows)) == len(rows)
    spans = sorted((min(lengths[n] for n in b), max(lengths[n] for n in b)) for b in batches)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


def test_padding_is_outside_the_mask() -> None:
    batch = collate([Tokens([5, 6, 7], [0, 0, 1]), Tokens([8], [0])], [0, 3], pad=9)
    assert batch.ids_BL.tolist() == [[5, 6, 7], [8, 9, 9]]
    assert batch.mask_BL.tolist() == [[1, 1, 1], [1, 0, 0]]
    assert batch.segments_BL.tolist() == [[0, 0, 1], [0, 0, 0]]
    assert batch.labels_B.tolist() == [0, 3]


# --- Loss


def test_the_label_loss_by_hand() -> None:
    # softmax of (ln 2, ln 1, ln 1) is (1/2, 1/4, 1/4).
    logits = torch.tensor([[math.log(2), 0.0, 0.0]] * 4)
    each = [label_loss(logits[:1], torch.tensor([label])).item() for label in range(4)]
    assert each == pytest.approx([math.log(2), math.log(4), math.log(4), math.log(2)])
    assert label_loss(logits, torch.arange(4)).item() == pytest.approx(sum(each) / 4)


def test_a_certain_contradiction_that_is_none_stays_finite() -> None:
    logits = torch.tensor([[200.0, 0.0, 0.0]], requires_grad=True)
    loss = label_loss(logits, torch.tensor([3]))
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(logits.grad).all()


def test_the_soft_loss_by_hand() -> None:
    # At temperature 2 logits (2 ln 3, 0) become probabilities (3/4, 1/4); the student has (1/2, 1/2).
    student, teacher = torch.zeros(1, 2), torch.tensor([[2 * math.log(3), 0.0]])
    kl = 0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5)
    assert soft_loss(student, teacher, 2.0).item() == pytest.approx(4 * kl)
    assert soft_loss(teacher, teacher, 2.0).item() == pytest.approx(0.0, abs=1e-7)


def test_the_hidden_loss_is_of_the_direction_alone() -> None:
    one, other = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 5.0]])
    assert hidden_loss(one, one * 7).item() == pytest.approx(0.0)
    assert hidden_loss(one, other).item() == pytest.approx(1.0)


def test_the_symmetry_loss_by_hand() -> None:
    # softmax of (ln 2, 0, 0) gives the contradiction 1/2, of (ln 2/3, 0, 0) 1/4; their mean is 3/8.
    # H(3/8) - (H(1/2) + H(1/4)) / 2 = 0.66156 - (0.69315 + 0.56234) / 2 = 0.03382 nats.
    one, other = torch.tensor([[math.log(2), 0.0, 0.0]]), torch.tensor([[math.log(2 / 3), 0.0, 0.0]])
    assert symmetry_loss(one, other).item() == pytest.approx(0.03382, abs=1e-5)
    assert symmetry_loss(other, one).item() == pytest.approx(0.03382, abs=1e-5)
    elsewhere = torch.tensor([[math.log(2), 0.5, math.log(2 - math.exp(0.5))]])  # other classes, contradiction 1/2
    assert symmetry_loss(one, elsewhere).item() == pytest.approx(0.0, abs=1e-6)


def test_the_symmetry_loss_of_certain_pairs_stays_finite() -> None:
    logits = torch.tensor([[200.0, 0.0, 0.0]], requires_grad=True)
    loss = symmetry_loss(logits, -logits)
    loss.backward()
    assert loss.item() == pytest.approx(math.log(2), abs=1e-4)
    assert torch.isfinite(logits.grad).all()


# --- Calibration


def test_calibration_undoes_a_known_distortion() -> None:
    rng = np.random.default_rng(0)
    true_PC = rng.normal(size=(20_000, 3)) * 2
    probability_PC = np.exp(true_PC) / np.exp(true_PC).sum(axis=1, keepdims=True)
    conflict_P = rng.random(20_000) < probability_PC[:, 0]
    # What the model says: 3 times too sure, and 0.6 too fond of contradictions.
    said_PC = true_PC * 3 + np.array([0.6 * 3, 0, 0])
    found = calibrate(said_PC, conflict_P)
    assert found.temperature == pytest.approx(3, rel=0.05)
    assert found.offset == pytest.approx(-0.6, abs=0.05)


def test_sets_count_alike_whatever_their_size() -> None:
    weights = even_weights([4, 0, 2])
    assert weights[:4].sum() == pytest.approx(weights[4:].sum())


def test_one_class_cannot_be_calibrated() -> None:
    with pytest.raises(ValueError, match="pairs that conflict and pairs that don't"):
        calibrate(np.zeros((2, 3)), np.array([True, True]))


def test_the_best_threshold_by_hand() -> None:
    # F_1/2 = 1.25 hits / (alarms + 0.25 x 3): from .9 1.25 / 1.75 = .71, from .8 1.25 / 2.75 = .45, from .6 (two pairs)
    # 3.75 / 4.75 = .79, from .1 3.75 / 5.75 = .65. Where the pair of .8 weighs three, from .6 it is 3.75 / 6.75 = .56.
    scores = np.array([0.6, 0.9, 0.8, 0.1, 0.6])
    conflict = np.array([True, True, False, False, True])
    assert best_threshold(scores, conflict, np.ones(5)) == pytest.approx((0.6 + 0.1) / 2)
    assert best_threshold(scores, conflict, np.array([1, 1, 3, 1, 1])) == pytest.approx((0.9 + 0.8) / 2)


def test_recall_weighs_more_with_a_larger_beta() -> None:
    # F_2 = 5 hits / (alarms + 4 x 2): from .9 5 / 9 = .56, from .1 10 / 13 = .77; F_1/2 from .9 1.25 / 1.5 = .83.
    scores, conflict = np.array([0.9, 0.5, 0.4, 0.3, 0.1]), np.array([True, False, False, False, True])
    assert best_threshold(scores, conflict, np.ones(5)) == pytest.approx(0.7)
    assert best_threshold(scores, conflict, np.ones(5), beta=2) == pytest.approx(0.1)


def test_a_threshold_needs_a_conflict() -> None:
    with pytest.raises(ValueError, match="pairs that conflict"):
        best_threshold(np.zeros(2), np.array([False, False]), np.ones(2))
