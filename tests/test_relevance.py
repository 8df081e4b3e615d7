"""Relevance lies in [0, 1] and keeps the backend's order; the embedder is asked only where the backend is silent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from store_samples import cell

from calm.cells import Cell
from calm.embed import HashingEmbedder
from calm.records import Record
from calm.relevance import backend_scores, relevance

QUESTION = "Which way?"
DIRECTIONS = {QUESTION: (1.0, 0.0), "ahead": (1.0, 0.0), "aslant": (0.6, 0.8), "aside": (0.0, 1.0), "back": (-1.0, 0.0)}


@dataclass
class Compass:
    """Vectors by hand; remembers what it was asked for."""

    fingerprint: str = "compass"
    asked: list[str] = field(default_factory=list)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return np.array([DIRECTIONS[text] for text in texts], dtype=np.float32)


def scored(**scores: float | None) -> list[Record]:
    return [Record(name, f"text of {name}", score=score) for name, score in scores.items()]


def pointing(direction: str, *record_ids: str) -> Cell:
    return replace(cell(direction, *record_ids), bound=direction)


# --- The backend's scores


def test_scores_in_the_unit_interval_are_taken_as_they_are() -> None:
    assert backend_scores(scored(a=0.0, b=0.31, c=1.0, d=None)) == {"a": 0.0, "b": 0.31, "c": 1.0}


@pytest.mark.parametrize(
    ("given_scores", "wanted"),
    [
        ({"a": 12.0, "b": 4.0, "c": 8.0}, {"a": 1.0, "b": 0.0, "c": 0.5}),
        ({"a": -3.0, "b": -1.0}, {"a": 0.0, "b": 1.0}),
        ({"a": 0.5, "b": 1.5, "c": 0.0}, {"a": 1 / 3, "b": 1.0, "c": 0.0}),
        ({"a": 7.0, "b": 7.0}, {"a": 1.0, "b": 1.0}),
        ({"a": -7.0}, {"a": 1.0}),
    ],
    ids=["BM25", "negated distance", "just one outside", "all alike", "only one"],
)
def test_one_score_outside_scales_them_all(given_scores: dict[str, float], wanted: dict[str, float]) -> None:
    assert backend_scores(scored(**given_scores)) == pytest.approx(wanted)


@pytest.mark.parametrize("records", [[], scored(a=None, b=None)], ids=["no record", "no score"])
def test_without_scores_there_is_nothing_to_scale(records: list[Record]) -> None:
    assert backend_scores(records) == {}


@given(st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=8))
def test_scaling_keeps_the_order_and_the_unit_interval(values: list[float]) -> None:
    found = backend_scores([Record(str(n), "", score=value) for n, value in enumerate(values)])
    assert all(0.0 <= score <= 1.0 for score in found.values())
    for n, one in enumerate(values):
        for m, other in enumerate(values):
            assert one > other or found[str(n)] <= found[str(m)]


def test_scores_at_both_ends_of_what_a_float_holds_are_scaled() -> None:
    found = backend_scores(scored(a=-1e308, b=1e308))
    assert not any(math.isnan(score) for score in found.values())
    assert found["a"] < found["b"]


# --- Cells


def test_a_cell_takes_the_best_score_of_the_records_that_assert_it() -> None:
    embedder = Compass()
    cells = [pointing("back", "a", "b"), pointing("aside", "c")]
    found = relevance(QUESTION, cells, scored(a=0.2, b=0.7, c=0.4), embedder)
    assert found == {cells[0].id: 0.7, cells[1].id: 0.4}
    assert embedder.asked == []


def test_a_cell_without_a_score_takes_the_cosine_of_its_words_to_the_question() -> None:
    cells = [pointing("aslant", "a"), pointing("ahead", "b"), pointing("aside", "c")]
    found = relevance(QUESTION, cells, scored(a=None, b=None, c=None), Compass())
    assert found == {cells[0].id: pytest.approx(0.6), cells[1].id: 1.0, cells[2].id: 0.0}


def test_opposite_vectors_have_relevance_0() -> None:
    (found,) = relevance(QUESTION, [pointing("back", "a")], scored(a=None), Compass()).values()
    assert found == 0.0


def test_only_the_cells_without_a_score_are_embedded() -> None:
    embedder = Compass()
    known, blind = pointing("ahead", "a"), pointing("aslant", "b")
    found = relevance(QUESTION, [known, blind], scored(a=0.1, b=None), embedder)
    assert found == {known.id: 0.1, blind.id: pytest.approx(0.6)}
    assert embedder.asked == [QUESTION, "aslant"]


def test_a_score_of_0_is_a_score() -> None:
    (found,) = relevance(QUESTION, [pointing("ahead", "a")], scored(a=0.0), Compass()).values()
    assert found == 0.0


def test_no_cells_have_no_relevance() -> None:
    assert relevance(QUESTION, [], scored(a=0.3), Compass()) == {}


def test_hashed_words_rank_the_memory_that_answers_first() -> None:
    texts = {"tea": "My favourite tea is genmaicha.", "key": "The spare key is under the pot.", "late": "It is late."}
    cells = {name: replace(cell(name, name), bound=text) for name, text in texts.items()}
    found = relevance("What is my favourite tea?", list(cells.values()), [], HashingEmbedder())
    assert max(found, key=lambda i: found[i]) == cells["tea"].id
    assert all(0.0 <= value <= 1.0 for value in found.values())
