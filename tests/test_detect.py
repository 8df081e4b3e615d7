"""Which pairs are scored, and how: every pair that can meet and no other, in any order, each direction where needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lives_samples import World, claim, said, worlds
from memory_samples import record_sets
from numpy.typing import NDArray

from calm.blocking import meet
from calm.cells import Cell, SemanticType
from calm.conflict import Conflict, GoldScorer, TextPair
from calm.detect import RECORDED, detect, score_pairs
from calm.lifecycle import may_meet
from calm.pairs import ScoreCache
from calm.propose import by_age, keys_of, propose, proposed_BKK
from calm.records import Record
from calm.rules import RuleScorer
from calm.stage_one import stage_one


@dataclass(frozen=True)
class Unkeyed:
    """A scorer by table, without keys; remembers what it was asked."""

    labels: Mapping[TextPair, float] = field(default_factory=dict)
    default: float = 0.0
    asked: list[TextPair] = field(default_factory=list)
    fingerprint: str = "table"

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        self.asked.extend(pairs)
        return np.array([self.labels.get(pair, self.default) for pair in pairs], dtype=np.float32)


class Keyed(Unkeyed):
    """The same with the keys that the first word of a text spells, "?a" standing behind `OPEN`."""

    def keys(self, text: str) -> frozenset[str]:
        return frozenset(text.split(maxsplit=1)[0].split("|"))


def meets(a: str, b: str) -> bool:
    """Two texts meet in a plain key of both, or in a key that is open on one side and plain on the other."""
    return any(
        (x == y and not x.startswith("?")) or x == "?" + y or y == "?" + x
        for x, y in product(a.split(maxsplit=1)[0].split("|"), b.split(maxsplit=1)[0].split("|"))
    )


def ids(pairs: Sequence[tuple[Cell, Cell]]) -> list[tuple[str, str]]:
    return [(a.id, b.id) for a, b in pairs]


OLD, NEW, UNDATED = claim("a", said("m1", 1)), claim("b", said("m2", 2)), claim("c", said("m3", None))


# Proposal


@given(worlds())
def test_without_keys_every_pair_that_can_meet_is_proposed_once(world: World) -> None:
    found = ids(propose(world.cells, Unkeyed()))
    wanted = {frozenset((a.id, b.id)) for a, b in combinations(world.cells, 2) if may_meet(a, b)}
    assert len(found) == len(wanted)
    assert {frozenset(pair) for pair in found} == wanted


KEYS = st.lists(st.sampled_from(["a", "b", "?a", "?b", "c"]), min_size=1, max_size=3).map("|".join)


@given(st.lists(KEYS, max_size=7))
def test_with_keys_the_pairs_are_those_that_meet_in_one(keys: list[str]) -> None:
    cells = [claim(f"{key} {n}", said(f"m{n}", n)) for n, key in enumerate(keys)]
    wanted = {(a.id, b.id) for a, b in combinations(cells, 2) if meets(a.bound, b.bound)}
    assert set(ids(propose(cells, Keyed()))) == wanted
    every = keys_of(cells, Keyed())
    for a, b in product(cells, repeat=2):
        if a is not b:
            assert meet(every[a.id], every[b.id]) == meets(a.bound, b.bound)


@given(worlds(), st.data())
def test_the_proposal_does_not_depend_on_order_or_repetition(world: World, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(world.cells * 2))
    assert propose(shuffled, Unkeyed()) == propose(world.cells, Unkeyed())


def test_blocking_pairs_few_of_many_numbered_notes() -> None:
    tickets = [claim(f"?a|a{n} ticket {n}", said(f"m{n}", n)) for n in range(100)]
    general = claim("a every ticket", said("m100", 100))
    assert ids(propose([*tickets, general], Keyed())) == sorted((t.id, general.id) for t in tickets)


def test_only_cells_that_say_how_things_are_get_keys_and_only_from_a_keyed_scorer() -> None:
    question = claim("a is it?", said("m1", 1), semantic_type=SemanticType.QUESTION)
    statement = claim("a|b it is.", said("m2", 2))
    assert keys_of([question, statement], Keyed()) == {statement.id: frozenset({"a", "b"})}
    assert keys_of([question, statement], Unkeyed()) == {}
    assert keys_of([question, statement], GoldScorer({})) == {}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (OLD, NEW),
        (UNDATED, OLD),
        # The first assertion counts: m1 at 1 precedes m4 at 2, though it was said again at 9.
        (claim("a", said("m1", 1), said("m5", 9)), NEW),
        (claim("a", said("m1", None), said("m5", 1)), NEW),
    ],
)
def test_the_older_by_first_assertion_comes_first_and_undated_counts_as_older(first: Cell, second: Cell) -> None:
    assert by_age(first, second) == by_age(second, first) == (first, second)
    assert propose([second, first], Unkeyed()) == [(first, second)]


def test_equal_times_go_by_id() -> None:
    pair = sorted([claim("a", said("m1", 1)), claim("b", said("m2", 1))], key=lambda c: c.id)
    assert by_age(*pair) == by_age(*reversed(pair)) == tuple(pair)


@given(record_sets(7))
def test_the_keys_of_the_rules_lose_no_conflict(records: list[Record]) -> None:
    class Rules:
        fingerprint = RuleScorer().fingerprint
        score = RuleScorer().score

    cells = stage_one(records)
    assert detect(cells, RuleScorer()) == detect(cells, Rules())


@given(st.lists(st.lists(KEYS, max_size=4), max_size=3), st.booleans())
def test_the_proposal_over_candidates_is_symmetric_and_leaves_the_padding_out(
    rows: list[list[str]], keyed: bool
) -> None:
    cells = [[claim(f"{key} {n}", said(f"m{n}", n)) for n, key in enumerate(row)] for row in rows]
    mask_BKK = proposed_BKK(cells, Keyed() if keyed else Unkeyed(), 5)
    assert mask_BKK.shape == (len(rows), 5, 5)
    assert bool((mask_BKK == mask_BKK.transpose(1, 2)).all())
    for b, row in enumerate(cells):
        for i, j in product(range(5), repeat=2):
            inside = i < len(row) and j < len(row)
            if i != j:
                assert bool(mask_BKK[b, i, j]) == (inside and (not keyed or meets(row[i].bound, row[j].bound)))


# Scores


def test_nothing_to_compare_asks_nothing() -> None:
    scorer = Unkeyed(default=1.0)
    assert detect([], scorer) == detect([OLD], scorer) == score_pairs([], scorer) == []
    assert scorer.asked == []


def test_a_pair_in_the_order_of_time_is_asked_once_older_first() -> None:
    scorer = Unkeyed({(OLD.bound, NEW.bound): 0.9, (NEW.bound, OLD.bound): 1.0})
    assert detect([NEW, OLD], scorer) == [Conflict(OLD.id, NEW.id, pytest.approx(0.9), "table")]
    assert scorer.asked == [(OLD.bound, NEW.bound)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (claim("a", said("m1", 5)), claim("b", said("m2", 5))),
        (claim("a", said("m1", None)), claim("b", said("m2", 5))),
        (claim("a", said("m1", None)), claim("b", said("m2", None))),
        (claim("a", said("m1", 1), said("m3", 9)), claim("b", said("m2", 5))),
        (claim("a", said("m1", 1), said("m3", 5)), claim("b", said("m2", 5))),
        (claim("a", said("m1", 1), said("m3", None)), claim("b", said("m2", 5))),
        (claim("a", said("m1", 1)), claim("b", said("m2", 5), said("m3", None))),
    ],
)
def test_where_times_do_not_order_a_pair_both_orders_are_read_and_the_higher_counts(first: Cell, second: Cell) -> None:
    for high, low in ((first, second), (second, first)):
        scorer = Unkeyed({(high.bound, low.bound): 0.9, (low.bound, high.bound): 0.2})
        (conflict,) = detect([first, second], scorer)
        assert {conflict.older, conflict.newer} == {first.id, second.id}
        assert conflict.probability == pytest.approx(0.9)
        assert sorted(scorer.asked) == sorted([(high.bound, low.bound), (low.bound, high.bound)])


@pytest.mark.parametrize(("probability", "recorded"), [(0.0, False), (0.04, False), (RECORDED, True), (0.2, True)])
def test_weak_conflicts_are_recorded_and_noise_is_not(probability: float, recorded: bool) -> None:
    found = detect([OLD, NEW], Unkeyed(default=probability))
    assert [c.probability for c in found] == ([pytest.approx(probability)] if recorded else [])


def test_a_cached_score_is_not_asked_for_again_but_another_scorers_is() -> None:
    cache = ScoreCache()
    first, again, other = Unkeyed(default=0.9), Unkeyed(default=0.9), Unkeyed(default=0.3, fingerprint="other")
    assert detect([OLD, NEW, UNDATED], first, cache) == detect([OLD, NEW, UNDATED], again, cache)
    # OLD with NEW once, each of them with UNDATED in both orders.
    assert (len(first.asked), len(again.asked)) == (5, 0)
    assert [c.probability for c in detect([OLD, NEW, UNDATED], other, cache)] == pytest.approx([0.3] * 3)


@given(worlds(5), st.data())
def test_conflicts_do_not_depend_on_the_order_of_the_cells(world: World, data: st.DataObject) -> None:
    texts = [c.bound for c in world.cells]
    labels = {(a, b): (len(a) * 7 + len(b) * 13 + n) % 10 / 10 for n, (a, b) in enumerate(product(texts, texts))}
    found = detect(world.cells, Unkeyed(labels))
    assert detect(data.draw(st.permutations(world.cells)), Unkeyed(labels)) == found
    assert [(c.older, c.newer) for c in found] == sorted((c.older, c.newer) for c in found)
    by_id = {c.id: c for c in world.cells}
    assert all(may_meet(by_id[c.older], by_id[c.newer]) for c in found)
