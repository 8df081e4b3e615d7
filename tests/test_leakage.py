"""No text of any test set is learnt from or tuned on, whatever its spelling."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from calm.train.attributes import all_attributes, is_unseen
from calm.train.dev_sets import load_dev_sets
from calm.train.examples import Example
from calm.train.leakage import TEST_FILES, forbidden_keys, key
from calm.train.mixture import load_sources
from calm.train.test_sets import load_test_sets

DATA = Path(os.environ.get("CALM_SHARED") or Path(__file__).resolve().parent.parent.parent / "shared") / "data"
pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not (DATA / "nli").exists(), reason="the training and test sets are not here"),
]


@pytest.fixture(scope="module")
def learnt() -> set[str]:
    """The keys of every text that a training may draw."""
    sources = load_sources(DATA, generated=2_000)
    texts = {text for pairs in sources.pairs.values() for e in pairs for text in (e.older, e.newer)}
    for attribute in (*sources.attributes, *sources.own_attributes):
        texts |= {text for state in attribute.states for text in (*state.behaviours, *state.direct)}
    return {key(text) for text in texts}


def long_texts(examples: list[Example]) -> set[str]:
    return {form for e in examples for text in (e.older, e.newer) if " " in (form := key(text))}


def test_no_test_text_is_learnt(learnt: set[str]) -> None:
    assert len(learnt) > 50_000
    assert learnt & forbidden_keys(DATA) == set()


def test_no_pair_of_a_test_set_is_learnt(learnt: set[str]) -> None:
    """By what the evaluation itself reads, so that a test file that `TEST_FILES` forgets shows."""
    for name, examples in load_test_sets(DATA).items():
        assert learnt & long_texts(examples) == set(), name


def test_no_dev_pair_is_learnt(learnt: set[str]) -> None:
    for name, examples in load_dev_sets(DATA).items():
        both = [e for e in examples if key(e.older) in learnt and key(e.newer) in learnt]
        assert both == [], name


def test_no_test_pair_is_tuned_on() -> None:
    forbidden = forbidden_keys(DATA)
    for name, examples in load_dev_sets(DATA).items():
        if name != "memory_pairs":
            assert long_texts(examples) & forbidden == set(), name


def test_no_unseen_attribute_is_learnt() -> None:
    sources = load_sources(DATA, generated=10)
    names = {a.name for a in (*sources.attributes, *sources.own_attributes)}
    assert {a.name for a in all_attributes(DATA) if is_unseen(a.name)} & names == set()
    tested = {file.stem for file in (DATA / "temporal-mutation" / "test").glob("*.json")}
    assert tested & {a.name for a in all_attributes(DATA)} == set()


def test_every_test_file_is_there() -> None:
    assert [name for name in TEST_FILES if not (DATA / name).exists()] == []
