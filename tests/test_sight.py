"""What a question sees: only evidence visible at its instant, on its axis, with the lives that follow from that."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lives_samples import HORIZON, World, claim, clash, said, worlds
from reference_lifecycle import reference_lives

from calm.batch import Intent
from calm.cells import Cell, Evidence, State
from calm.collate import Seen
from calm.lifecycle import LifecycleConfig, lifecycle
from calm.query import Query, TimeAxis
from calm.sight import Pool, seen, visible

CONFIG = LifecycleConfig()

INTENTS = st.sampled_from(list(Intent))
AXES = st.sampled_from(["event", "system"])


def ask(at_us: int, intent: Intent = Intent.CURRENT, axis: TimeAxis = "event") -> Query:
    return Query("where do I live?", at_us, intent, at_us, axis, user="alice")


def pool_of(world: World, hidden: frozenset[str] = frozenset()) -> Pool:
    """All cells stand behind the question, all but `hidden` in R_k."""
    return Pool(world.cells, {c.id: 0.5 for c in world.cells if c.id not in hidden}, world.conflicts)


@st.composite
def recorded_worlds(draw: st.DrawFn) -> World:
    """Worlds in which things were recorded at other times than they applied."""
    world = draw(worlds(5))
    shift = draw(st.lists(st.none() | st.integers(0, HORIZON), min_size=15, max_size=15))
    cells = []
    for n, cell in enumerate(world.cells):
        evidence = tuple(replace(e, record_time_us=shift[(n * 3 + k) % 15]) for k, e in enumerate(cell.evidence))
        cells.append(replace(cell, evidence=evidence))
    return replace(world, cells=tuple(cells))


# Which assertions are visible

LATE_NEWS = said("m1", 10, record_time_us=20)
"""Held from 10 on, recorded at 20."""
ANNOUNCED = said("m2", 20, record_time_us=10)
"""Recorded at 10, holds from 20 on."""


@pytest.mark.parametrize(
    ("evidence", "intent", "axis", "first_us"),
    [
        (LATE_NEWS, Intent.AS_OF, "event", 10),
        (LATE_NEWS, Intent.AS_OF, "system", 20),
        (LATE_NEWS, Intent.CURRENT, "event", 20),
        (LATE_NEWS, Intent.CURRENT, "system", 20),
        (LATE_NEWS, Intent.HISTORICAL, "event", 20),
        (LATE_NEWS, Intent.CHANGE, "event", 20),
        (LATE_NEWS, Intent.TIMELESS, "event", 20),
        (ANNOUNCED, Intent.AS_OF, "event", 20),
        (ANNOUNCED, Intent.AS_OF, "system", 10),
        (ANNOUNCED, Intent.CURRENT, "event", 10),
    ],
)
def test_an_assertion_is_visible_from_its_instant_on(
    evidence: Evidence, intent: Intent, axis: TimeAxis, first_us: int
) -> None:
    shown = [visible(evidence, ask(t, intent, axis)) for t in (first_us - 1, first_us, first_us + 1)]
    assert shown == [False, True, True]


@pytest.mark.parametrize("intent", list(Intent))
@pytest.mark.parametrize("axis", ["event", "system"])
def test_what_has_no_time_is_always_visible(intent: Intent, axis: TimeAxis) -> None:
    undated = replace(said("m1", None), record_time_us=None)
    assert visible(undated, ask(-(2**62), intent, axis))


# What is seen of the pool


def test_an_empty_pool_shows_nothing() -> None:
    assert seen(Pool(), ask(5), CONFIG) == []


def test_r_k_comes_in_order_of_id_with_its_relevance_and_without_the_cells_behind_it() -> None:
    cells = [claim(name, said(f"m{name}", 1)) for name in "abcd"]
    relevance = {cells[2].id: 0.1, cells[0].id: 0.9, cells[3].id: 0.5}
    shown = seen(Pool(tuple(cells), relevance), ask(5), CONFIG)
    assert [(s.cell.id, s.relevance) for s in shown] == sorted(relevance.items())
    assert all(s.known for s in shown)


def test_a_partner_outside_r_k_still_supersedes() -> None:
    old, new = claim("a", said("m1", 1)), claim("b", said("m2", 2))
    (shown,) = seen(Pool((old, new), {old.id: 1.0}, (clash(old, new),)), ask(5), CONFIG)
    assert (shown.life.state, shown.life.superseded_by) == (State.SUPERSEDED, (new.id,))


def test_a_cell_is_told_in_the_words_of_its_latest_visible_assertion() -> None:
    cell = claim("a", said("m1", 1), said("m2", 5), said("m3", 9))
    (shown,) = seen(Pool((cell,), {cell.id: 1.0}), ask(6), CONFIG)
    assert [e.record_id for e in shown.cell.evidence] == ["m1", "m2"]
    assert shown.cell.text == "words of m2"
    assert shown.life.confidence == pytest.approx(1 - 0.25**2)


def test_what_is_not_visible_yet_is_unknown_and_supersedes_nothing() -> None:
    old, new = claim("a", said("m1", 1)), claim("b", said("m2", 8))
    pool = Pool((old, new), {old.id: 1.0, new.id: 1.0}, (clash(old, new),))
    shown = {s.cell.id: s for s in seen(pool, ask(5, Intent.AS_OF), CONFIG)}
    assert (shown[old.id].known, shown[old.id].life.state) == (True, State.ACTIVE)
    assert shown[new.id].known is False
    assert shown[new.id].cell == new


def test_a_change_recorded_late_counts_on_the_event_axis_and_not_on_the_system_axis() -> None:
    old, new = claim("a", said("m1", 1)), claim("b", said("m2", 4, record_time_us=8))
    pool = Pool((old, new), {old.id: 1.0}, (clash(old, new),))
    by_axis = {axis: seen(pool, ask(5, Intent.AS_OF, axis), CONFIG)[0].life.state for axis in ("event", "system")}
    assert by_axis == {"event": State.SUPERSEDED, "system": State.ACTIVE}


def test_an_announced_change_is_seen_now_but_has_not_happened() -> None:
    old, new = claim("a", said("m1", 1)), claim("b", said("m2", 9, record_time_us=2))
    pool = Pool((old, new), {old.id: 1.0, new.id: 1.0}, (clash(old, new),))
    shown = {s.cell.id: s for s in seen(pool, ask(5), CONFIG)}
    assert shown[old.id].life.state is State.ACTIVE
    assert shown[new.id].known


def test_what_leaned_on_a_later_record_is_unverified_before_it() -> None:
    base, top = claim("a", said("m1", 8)), claim("b", said("m2", 1, depends_on=("m1",)))
    pool = Pool((base, top), {top.id: 1.0})
    before, after = (seen(pool, ask(t, Intent.AS_OF), CONFIG)[0].life for t in (5, 8))
    assert (before.state, before.verified) == (State.STALE, False)
    assert (after.state, after.verified) == (State.ACTIVE, True)


@given(recorded_worlds(), st.integers(-1, HORIZON + 1), INTENTS, AXES)
def test_a_question_sees_what_it_would_see_had_nothing_later_ever_been_stored(
    world: World, at_us: int, intent: Intent, axis: TimeAxis
) -> None:
    query = ask(at_us, intent, axis)
    clock = "time_us" if intent is Intent.AS_OF and axis == "event" else "record_time_us"
    past: list[Cell] = []
    for cell in world.cells:
        kept = tuple(e for e in cell.evidence if (getattr(e, clock) is None or getattr(e, clock) <= at_us))
        if kept:
            past.append(replace(cell, evidence=kept, text=kept[-1].text))
    then = seen(pool_of(replace(world, cells=tuple(past))), query, CONFIG)
    now: list[Seen] = seen(pool_of(world), query, CONFIG)
    assert [s for s in now if s.known] == then
    assert {s.cell.id for s in now if not s.known} == {c.id for c in world.cells} - {c.id for c in past}


@given(recorded_worlds(), st.integers(-1, HORIZON + 1))
def test_the_lives_that_an_as_of_question_sees_equal_the_reference(world: World, at_us: int) -> None:
    shown = [s for s in seen(pool_of(world), ask(at_us, Intent.AS_OF), CONFIG) if s.known]
    expected = reference_lives([s.cell for s in shown], world.conflicts, at_us)
    assert {s.cell.id: s.life.state for s in shown} == {i: life.state for i, life in expected.items()}


@given(worlds(5), st.data())
def test_what_is_seen_does_not_depend_on_the_order_of_the_pool(world: World, data: st.DataObject) -> None:
    pool = pool_of(world)
    other = Pool(
        tuple(data.draw(st.permutations(pool.cells))),
        dict(data.draw(st.permutations(list(pool.relevance.items())))),
        tuple(data.draw(st.permutations(pool.conflicts))),
    )
    assert seen(other, ask(3), CONFIG) == seen(pool, ask(3), CONFIG)


@given(worlds(5))
def test_a_question_after_everything_sees_the_lives_of_the_whole(world: World) -> None:
    shown = seen(pool_of(world), ask(HORIZON), CONFIG)
    assert {s.cell.id: s.life for s in shown} == lifecycle(world.cells, world.conflicts, at_us=HORIZON)


def test_the_rules_numbers_are_passed_on() -> None:
    old, new = claim("a", said("m1", 1)), claim("b", said("m2", 2))
    pool = Pool((old, new), {old.id: 1.0}, (clash(old, new, 0.9),))
    (shown,) = seen(pool, ask(5), LifecycleConfig(strong_conflict=0.95))
    assert shown.life.state is State.ACTIVE
