"""Rules and a model together: proven pairs never reach the model, the larger score counts, and names find scorers."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from memory_samples import EMBEDDER
from numpy.typing import NDArray
from tiny_models import save_bert

from calm import shipped
from calm.cascade import CascadeScorer, settled
from calm.conflict import TextPair
from calm.crossencoder import CrossEncoderScorer
from calm.errors import InvalidOption
from calm.ingest import Ingester
from calm.records import parse_record
from calm.rules import RuleScorer
from calm.scorers import load_scorer
from calm.store import Store

SEEN = ("I live in Ghent.", "I live in Utrecht.")
SAID_TWICE = ("The meeting is at 3 pm.", "The meeting is at 15:00.")
MISSED = ("I'm vegan.", "The steak was superb.")


class Model:
    """Sure of one thing for all pairs, and remembers what it was asked."""

    fingerprint = "model"

    def __init__(self, probability: float) -> None:
        self.probability = probability
        self.asked: list[TextPair] = []

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        self.asked += pairs
        return np.full(len(pairs), self.probability, dtype=np.float32)


def test_the_larger_score_counts() -> None:
    rules = RuleScorer()
    (seen,) = rules.score([SEEN])
    assert seen >= 0.75
    assert CascadeScorer(rules, Model(0.1)).score([SEEN, MISSED]).tolist() == pytest.approx([seen, 0.1])
    assert CascadeScorer(rules, Model(0.99)).score([SEEN, MISSED]).tolist() == pytest.approx([0.99, 0.99])


def test_what_the_rules_prove_never_reaches_the_model() -> None:
    rules, model = RuleScorer(), Model(0.9)
    assert settled(rules.judge(*SAID_TWICE))
    assert CascadeScorer(rules, model).score([SAID_TWICE, MISSED]).tolist() == pytest.approx([0.0, 0.9])
    assert model.asked == [MISSED]


def test_no_shared_word_proves_nothing() -> None:
    verdict = RuleScorer().judge(*MISSED)
    assert not verdict.deserves_model
    assert not settled(verdict)


def test_a_model_is_not_asked_for_nothing() -> None:
    assert CascadeScorer(RuleScorer(), Model(0.9)).score([]).shape == (0,)
    model = Model(0.9)
    CascadeScorer(RuleScorer(), model).score([SAID_TWICE])
    assert model.asked == []


def test_the_fingerprint_names_both() -> None:
    assert CascadeScorer(RuleScorer(), Model(0.9)).fingerprint == f"{RuleScorer().fingerprint}+model"


def test_ingest_shows_the_model_what_is_alike_and_what_the_rules_see(tmp_path: Path) -> None:
    texts = [
        "I live in Ghent.",
        "I live in Utrecht.",
        "My brother plays the tuba.",
        "The tuba is what my brother plays.",
    ]
    times = [f"2026-01-0{n}T00:00:00Z" for n in range(1, 5)]
    records = [
        parse_record({"id": f"m{n}", "text": text, "timestamp": time, "user": "u"})
        for n, (text, time) in enumerate(zip(texts, times, strict=True))
    ]
    model = Model(0.3)
    with Store.open(f"sqlite:///{tmp_path / 'memory.db'}") as store:
        Ingester(store, CascadeScorer(RuleScorer(), model), EMBEDDER).absorb(records)
        assert store.counts()["conflicts"] >= 1
    asked = {frozenset(pair) for pair in model.asked}
    assert all("tuba" in older or "tuba" not in newer for older, newer in model.asked), "nothing else is alike"
    assert len(asked) < 6, "not all pairs"


# --- Names


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny detector where the package keeps its own."""
    folder = tmp_path / "weights" / "detector"
    shutil.copytree(save_bert(tmp_path / "tiny", ("contradiction", "entailment", "neutral")), folder)
    monkeypatch.setattr(shipped, "_places", lambda: [tmp_path])
    return folder


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "_places", lambda: [tmp_path])


def test_names_with_an_installed_detector(installed: Path) -> None:
    assert isinstance(load_scorer(), CascadeScorer)
    assert isinstance(load_scorer("rules"), RuleScorer)
    detector = load_scorer("detector")
    assert isinstance(detector, CrossEncoderScorer)
    assert load_scorer(str(installed)).fingerprint == detector.fingerprint
    assert detector.fingerprint in load_scorer("auto").fingerprint


@pytest.mark.usefixtures("bare")
def test_names_without_one() -> None:
    assert isinstance(load_scorer(), RuleScorer)
    with pytest.raises(InvalidOption, match="no detector is installed"):
        load_scorer("detector")


def test_a_name_that_is_no_model_is_refused() -> None:
    with pytest.raises(InvalidOption, match="no cross-encoder at"):
        load_scorer("/nowhere/at/all")
