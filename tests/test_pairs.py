"""The pair engine: which text pairs are scored, how often, and where the scores go."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from threading import Thread

import numpy as np
import pytest
import reference
import torch
from hypothesis import given
from numpy.typing import NDArray
from strategies import DEVICES, NOW, Case, cases, plain_batch, random_case

from calm.conflict import GoldScorer, TextPair
from calm.dominance import comparable_BKK
from calm.errors import InvalidOption
from calm.pairs import PairResult, ScoreCache, pair_hash, pairwise, score_texts

OLD, NEW, OTHER = "Ida lives in Oslo.", "Ida lives in Turin.", "Ida has a cat."


class HashScorer:
    """Scores that depend on both texts and their order, and a record of what was asked."""

    def __init__(self, fingerprint: str = "hash") -> None:
        self.fingerprint = fingerprint
        self.calls: list[list[TextPair]] = []

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        self.calls.append(list(pairs))
        digests = [hashlib.sha256(f"{self.fingerprint}|{a}|{b}".encode()).digest()[0] for a, b in pairs]
        return np.array(digests, dtype=np.float32) / 255


class BrokenScorer:
    """Returns the same scores whatever it is asked."""

    fingerprint = "broken"

    def __init__(self, scores: list[float]) -> None:
        self._scores = np.array(scores, dtype=np.float32)

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        assert pairs
        return self._scores


def compare(
    texts: list[str],
    scorer: GoldScorer | HashScorer | BrokenScorer,
    cache: ScoreCache | None = None,
    **batch: object,
) -> PairResult:
    row = plain_batch(len(texts), **batch)
    return pairwise([texts], comparable_BKK(row), row.time_BK, row.dated_BK, scorer, cache=cache)


def test_three_texts_by_hand() -> None:
    # Times rise, so (0, 1), (0, 2) and (1, 2) are asked as (older, newer): 3 of 3 x 2 / 2 = 3 pairs.
    found = compare([OLD, OTHER, NEW], GoldScorer({(OLD, NEW): 0.9, (NEW, OLD): 0.4, (OTHER, NEW): 0.1}))
    wanted = [[[0.0, 0.0, 0.9], [0.0, 0.0, 0.1], [0.9, 0.1, 0.0]]]
    torch.testing.assert_close(found.probability_BKK, torch.tensor(wanted))
    assert found.probability_BKK.dtype == torch.float32
    assert (found.scored, found.possible) == (3, 3)


def test_the_older_comes_first_wherever_it_stands() -> None:
    scorer = HashScorer()
    compare([NEW, OLD], scorer, time_BK=[NOW, NOW - 1])
    assert scorer.calls == [[(OLD, NEW)]]


@pytest.mark.parametrize("batch", [{"time_BK": NOW}, {"dated_BK": False}, {"dated_BK": [True, False]}])
def test_where_time_cannot_tell_both_orders_are_asked_and_the_larger_counts(batch: dict[str, object]) -> None:
    found = compare([OLD, NEW], GoldScorer({(OLD, NEW): 0.2, (NEW, OLD): 0.7}), **batch)
    torch.testing.assert_close(found.probability_BKK, torch.tensor([[[0.0, 0.7], [0.7, 0.0]]]))
    assert (found.scored, found.possible) == (2, 1)


def test_equal_texts_are_not_asked() -> None:
    found = compare([OLD, OLD], GoldScorer({(OLD, OLD): 1.0}))
    assert not found.probability_BKK.any()
    assert (found.scored, found.possible) == (0, 1)


def test_what_is_not_comparable_is_not_asked() -> None:
    scorer = HashScorer()
    found = compare([OLD, NEW, OTHER], scorer, owner_BK=[0, 1, 0])
    assert scorer.calls == [[(OLD, OTHER)]]
    assert (found.scored, found.possible) == (1, 3)


@pytest.mark.parametrize("texts", [[], [OLD], [OLD, OLD]])
def test_nothing_to_ask_calls_nobody(texts: list[str]) -> None:
    scorer = HashScorer()
    found = compare(texts, scorer)
    assert scorer.calls == []
    assert found.probability_BKK.shape == (1, len(texts), len(texts))


def test_no_rows_at_all() -> None:
    flags, times = torch.zeros(0, 3, dtype=torch.bool), torch.zeros(0, 3, dtype=torch.int64)
    comparable = torch.zeros(0, 3, 3, dtype=torch.bool)
    found = pairwise([], comparable, times, flags, HashScorer(), cache=ScoreCache())
    assert found.probability_BKK.shape == (0, 3, 3)
    assert (found.scored, found.possible) == (0, 0)


def test_a_text_pair_is_asked_once_a_batch() -> None:
    scorer = HashScorer()
    row = plain_batch(4)
    comparable = comparable_BKK(row).expand(2, 4, 4)
    time, dated = row.time_BK.expand(2, 4), row.dated_BK.expand(2, 4)
    found = pairwise([[OLD, NEW, NEW, OLD], [OLD, NEW, OLD, NEW]], comparable, time, dated, scorer, cache=None)
    # Both orders occur, each several times; one call.
    assert [sorted(call) for call in scorer.calls] == [sorted([(OLD, NEW), (NEW, OLD)])]
    assert (found.scored, found.possible) == (2, 12)


def test_the_cache_spares_the_scorer_and_changes_nothing() -> None:
    cache, scorer = ScoreCache(), HashScorer()
    first = compare([OLD, NEW], scorer, cache)
    second = compare([OLD, NEW, OTHER], scorer, cache)
    assert scorer.calls == [[(OLD, NEW)], [(OLD, OTHER), (NEW, OTHER)]]
    assert (first.scored, second.scored) == (1, 2)
    assert torch.equal(second.probability_BKK, compare([OLD, NEW, OTHER], HashScorer()).probability_BKK)
    third = compare([OLD, NEW, OTHER], scorer, cache)
    assert third.scored == 0
    assert len(scorer.calls) == 2
    assert torch.equal(third.probability_BKK, second.probability_BKK)


def test_a_score_of_zero_is_a_score() -> None:
    cache = ScoreCache()
    compare([OLD, NEW], GoldScorer({}), cache)
    assert compare([OLD, NEW], GoldScorer({}), cache).scored == 0


def test_another_scorers_scores_are_not_read() -> None:
    cache = ScoreCache()
    compare([OLD, NEW], HashScorer("one"), cache)
    found = compare([OLD, NEW], HashScorer("two"), cache)
    assert found.scored == 1
    assert torch.equal(found.probability_BKK, compare([OLD, NEW], HashScorer("two")).probability_BKK)


def test_the_longest_unused_score_goes_first() -> None:
    cache = ScoreCache(capacity=2)
    cache.put("s", "a", 0.1)
    cache.put("s", "b", 0.2)
    assert cache.get("s", "a") == 0.1  # used, so b is now the longest unused
    cache.put("s", "c", 0.3)
    assert len(cache) == 2
    assert (cache.get("s", "a"), cache.get("s", "b"), cache.get("s", "c")) == (0.1, None, 0.3)


def test_a_batch_larger_than_the_cache_is_answered() -> None:
    cache = ScoreCache(capacity=1)
    found = compare([OLD, NEW, OTHER], HashScorer(), cache)
    assert torch.equal(found.probability_BKK, compare([OLD, NEW, OTHER], HashScorer()).probability_BKK)
    assert len(cache) == 1


def test_threads_share_a_small_cache() -> None:
    cache, errors = ScoreCache(capacity=2), []

    def work(offset: int) -> None:
        try:
            for n in range(2000):
                key = str((n + offset) % 5)
                cache.put("s", key, 0.5)
                assert cache.get("s", key) in {0.5, None}
        except (KeyError, AssertionError) as error:
            errors.append(error)

    threads = [Thread(target=work, args=(offset,)) for offset in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(cache) <= 2


def test_a_capacity_below_one_is_refused() -> None:
    with pytest.raises(InvalidOption, match="capacity"):
        ScoreCache(capacity=0)


def test_the_hash_tells_order_and_boundary() -> None:
    hashes = {pair_hash(*pair) for pair in [("a", "b"), ("b", "a"), ("ab", ""), ("", "ab")]}
    assert len(hashes) == 4
    assert {len(h) for h in hashes} == {64}
    assert pair_hash("a", "b") == hashlib.sha256(b"\0\0\0\0\0\0\0\1ab").hexdigest()
    assert pair_hash("\ud800", "x") != pair_hash("\ud801", "x")


@pytest.mark.parametrize("scores", [[], [0.5, 0.5], [float("nan")], [1.5], [-0.1]])
def test_a_broken_scorer_is_named_and_its_scores_not_kept(scores: list[float]) -> None:
    cache = ScoreCache()
    with pytest.raises(InvalidOption, match="broken"):
        compare([OLD, NEW], BrokenScorer(scores), cache)
    assert len(cache) == 0


def test_a_list_of_pairs_is_scored_in_its_order_each_pair_once() -> None:
    scorer, cache = GoldScorer({(OLD, NEW): 0.9, (NEW, OLD): 0.4}), ScoreCache()
    found = score_texts([(OLD, NEW), (OLD, OLD), (NEW, OLD), (OLD, NEW)], scorer, cache)
    np.testing.assert_allclose(found, [0.9, 0.0, 0.4, 0.9], rtol=1e-6)
    assert (found.dtype, len(cache)) == (np.float32, 2)
    counter = HashScorer()
    score_texts([(OLD, NEW), (OLD, OLD), (OLD, NEW)], counter)
    assert counter.calls == [[(OLD, NEW)]]
    assert score_texts([], counter).shape == (0,)


def texts_of(case: Case) -> list[list[str]]:
    """Few distinct texts, so that pairs repeat within and across rows."""
    return [[f"text {type_ % 4}" for type_ in row] for row in case.batch.type_BK.tolist()]


def assert_agrees(case: Case, cache: ScoreCache | None) -> None:
    batch, texts, scorer = case.batch, texts_of(case), HashScorer()
    comparable = comparable_BKK(batch)
    found = pairwise(texts, comparable, batch.time_BK, batch.dated_BK, scorer, cache=cache)
    wanted, asked = reference.pairwise(
        texts, comparable.tolist(), batch.time_BK.tolist(), batch.dated_BK.tolist(), HashScorer()
    )
    assert found.probability_BKK.tolist() == wanted
    assert found.probability_BKK.device == comparable.device
    assert sorted(pair for call in scorer.calls for pair in call) == sorted(asked)
    assert len(scorer.calls) == min(len(asked), 1)
    assert found.scored == len(asked)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("size", [(0, 3), (3, 0), (0, 0), (1, 1), (6, 10)], ids=str)
def test_agrees_with_the_reference(size: tuple[int, int], device: str) -> None:
    assert_agrees(random_case(4, *size).to(device), None)


@given(cases())
def test_agrees_with_the_reference_on_any_batch(case: Case) -> None:
    assert_agrees(case, None)
    assert_agrees(case, ScoreCache())
