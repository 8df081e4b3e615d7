"""R_k: the nearest cells of every phrasing and the most recent ones, each once, with relevance to the question."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from calm.errors import EmbeddingDimensionError
from calm.retrieve import RecencyBuffer, VectorIndex, expand, union

Matrix = NDArray[np.float32]

NONE = np.zeros((0, 4), dtype=np.float32)


def units(seed: int, count: int, dim: int = 4) -> Matrix:
    vectors = np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def named(count: int) -> list[str]:
    return [f"cell {n}" for n in range(count)]


def clipped(cosines: Matrix) -> Matrix:
    return cosines.clip(0.0, 1.0)


# --- Phrasings


@pytest.mark.parametrize("question", ["Where do I live?", "", "東京 \ud800"])
def test_a_question_is_asked_as_it_is_and_twice_more_with_a_bias(question: str) -> None:
    phrasings = expand(question)
    assert phrasings[0] == question
    assert len(set(phrasings)) == 3
    assert all(question in phrasing for phrasing in phrasings)
    assert "past" in phrasings[1] and "now" in phrasings[2].casefold()


# --- The index


@given(st.integers(0, 10_000), st.integers(0, 30), st.integers(1, 4), st.integers(1, 40))
def test_a_search_finds_the_union_of_the_nearest_of_each_phrasing(seed: int, n: int, q: int, k: int) -> None:
    vectors, queries = units(seed, n), units(seed + 1, q)
    cosines = queries @ vectors.T
    nearest = {int(i) for row in cosines for i in np.argsort(-row)[:k]}
    found = VectorIndex(named(n), vectors).search(queries, k)
    assert set(found) == {f"cell {i}" for i in nearest}
    # The relevance of a hit is its best cosine over the phrasings that found it.
    for i in nearest:
        places = [row for row in cosines if i in np.argsort(-row)[:k]]
        assert found[f"cell {i}"] == pytest.approx(float(clipped(np.array([max(r[i] for r in places)]))[0]), abs=1e-5)


@given(st.integers(0, 10_000), st.integers(0, 30), st.floats(0.05, 0.95))
def test_a_range_search_finds_all_within_and_is_symmetric(seed: int, n: int, cosine: float) -> None:
    vectors = units(seed, n)
    near = dict(zip(named(n), VectorIndex(named(n), vectors).within(vectors, cosine), strict=True))
    exact = vectors @ vectors.T
    for i, j in product(range(n), repeat=2):
        if abs(exact[i, j] - cosine) > 1e-5:
            assert (f"cell {j}" in near[f"cell {i}"]) == (exact[i, j] > cosine)
            assert (f"cell {j}" in near[f"cell {i}"]) == (f"cell {i}" in near[f"cell {j}"])


def test_a_range_search_includes_its_bound() -> None:
    axes = np.eye(4, dtype=np.float32)
    assert VectorIndex(named(4), axes).within(axes, 1.0) == [{name} for name in named(4)]


@given(st.integers(0, 10_000), st.integers(0, 20))
def test_relevance_is_the_cosine_of_what_is_asked_for_and_0_of_the_unknown(seed: int, n: int) -> None:
    vectors, query = units(seed, n), units(seed + 1, 1)[0]
    asked = [*named(n)[::2], "elsewhere"]
    found = VectorIndex(named(n), vectors).relevance(asked, query)
    assert list(found) == asked
    assert found["elsewhere"] == 0.0
    np.testing.assert_allclose([found[i] for i in asked[:-1]], clipped(vectors[::2] @ query), atol=1e-5)


def test_what_points_away_from_the_question_has_relevance_0() -> None:
    index = VectorIndex(["against"], -np.eye(4, dtype=np.float32)[:1])
    queries = np.eye(4, dtype=np.float32)[:1]
    assert index.search(queries, 3) == {"against": 0.0}
    assert index.relevance(["against"], queries[0]) == {"against": 0.0}


def test_rounding_never_lifts_a_relevance_over_1() -> None:
    vectors = units(3, 200, dim=384)
    index = VectorIndex(named(200), vectors)
    for n, vector in enumerate(vectors):
        assert 0.999 < index.search(vector[None], 1)[f"cell {n}"] <= 1.0
        assert 0.999 < index.relevance([f"cell {n}"], vector)[f"cell {n}"] <= 1.0


def test_an_empty_index_finds_nothing_and_asks_for_no_dimension() -> None:
    index = VectorIndex([], NONE)
    queries = units(0, 2, dim=7)
    assert len(index) == 0
    assert index.search(queries, 5) == {}
    assert index.within(queries, 0.0) == [set(), set()]
    assert index.relevance(["a"], queries[0]) == {"a": 0.0}


def test_no_query_finds_nothing() -> None:
    index = VectorIndex(named(3), units(0, 3))
    assert len(index) == 3
    assert index.within(NONE, 0.5) == []


def test_a_query_of_another_embedder_is_an_error_that_says_both_sizes() -> None:
    with pytest.raises(EmbeddingDimensionError, match=r"7 dimensions.*have 4.*the embedder"):
        VectorIndex(named(3), units(0, 3)).search(units(0, 1, dim=7), 2)


# --- The short-term buffer and the union


@given(st.integers(0, 6), st.lists(st.text(max_size=2), max_size=12), st.integers(0, 12))
def test_the_short_term_buffer_holds_the_last_n_oldest_first(size: int, cells: list[str], at_start: int) -> None:
    buffer = RecencyBuffer(size, cells[:at_start])
    for cell in cells[at_start:]:
        buffer.push(cell)
    assert buffer.ids() == (cells[-size:] if size else [])


def test_the_union_holds_each_cell_once_with_its_relevance_to_the_question_itself() -> None:
    axes = np.eye(4, dtype=np.float32)
    index = VectorIndex(["a", "b", "c"], axes[:3])
    question = np.array([0.6, 0.8, 0.0, 0.0], dtype=np.float32)
    # Another phrasing found "a" at 0.99; "b" is both near and recent; "d" is recent and has no vector.
    found = union({"a": 0.99, "b": 0.8}, ["b", "c", "d", "c"], index, question)
    assert found == {
        "a": pytest.approx(0.6, abs=1e-6),
        "b": pytest.approx(0.8, abs=1e-6),
        "c": 0.0,
        "d": 0.0,
    }


def test_the_order_of_finding_does_not_change_the_union() -> None:
    vectors, query = units(5, 6), units(6, 1)[0]
    index = VectorIndex(named(6), vectors)
    forward = union(dict.fromkeys(named(4), 0.5), named(6)[2:], index, query)
    backward = union(dict.fromkeys(named(4)[::-1], 0.5), named(6)[:1:-1], index, query)
    assert list(forward.items()) == list(backward.items())


def test_an_empty_store_gives_an_empty_r_k() -> None:
    assert union({}, [], VectorIndex([], NONE), units(0, 1)[0]) == {}
