"""Stage II is a pure function of the set of cells and conflicts: any order, A -> B -> A, deletion, dependencies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lives_samples import HORIZON, World, claim, clash, said, worlds
from reference_lifecycle import reference_lives

from calm.cells import Cell, SemanticType, Source, State, merge
from calm.conflict import Conflict
from calm.lifecycle import Interval, Life, LifecycleConfig, lifecycle
from calm.times import MAX_US


def life_of(
    cell: Cell, others: Iterable[Cell] = (), conflicts: Iterable[Conflict] = (), at_us: int = MAX_US, **config: float
) -> Life:
    return lifecycle([cell, *others], conflicts, LifecycleConfig(**config), at_us)[cell.id]


def spans(life: Life) -> list[tuple[int | None, int | None]]:
    return [(i.start_us, i.end_us) for i in life.intervals]


# Random worlds


@settings(max_examples=500)
@given(worlds())
def test_lives_equal_the_reference(world: World) -> None:
    lives = lifecycle(world.cells, world.conflicts, at_us=world.at_us)
    expected = reference_lives(world.cells, world.conflicts, world.at_us)
    assert lives.keys() == expected.keys()
    for i, life in lives.items():
        want = expected[i]
        assert life.state is want.state
        assert spans(life) == want.intervals
        assert list(life.superseded_by) == want.superseded_by
        assert list(life.contested_by) == want.contested_by
        assert life.verified == want.verified
        assert [(s.rule, s.state, list(s.causes)) for s in life.steps] == want.chain
        assert life.confidence == pytest.approx(want.confidence, abs=1e-12)
        assert life.validity == pytest.approx(want.validity, abs=1e-12)


@given(worlds(), st.data())
def test_lives_do_not_depend_on_the_order_of_cells_or_conflicts(world: World, data: st.DataObject) -> None:
    cells, conflicts = data.draw(st.permutations(world.cells)), data.draw(st.permutations(world.conflicts))
    swapped = [replace(c, older=c.newer, newer=c.older) if data.draw(st.booleans()) else c for c in conflicts]
    assert lifecycle(cells, swapped, at_us=world.at_us) == lifecycle(world.cells, world.conflicts, at_us=world.at_us)


@given(worlds())
def test_saying_everything_twice_changes_nothing(world: World) -> None:
    once = lifecycle(world.cells, world.conflicts, at_us=world.at_us)
    assert lifecycle(world.cells * 2, world.conflicts * 2, at_us=world.at_us) == once


@given(worlds(), st.data())
def test_machines_that_merge_later_agree_with_one_machine(world: World, data: st.DataObject) -> None:
    parts = [replace(c, evidence=(e,), text=e.text) for c in world.cells for e in c.evidence]
    cut = data.draw(st.integers(0, len(parts)))
    shuffled = data.draw(st.permutations(parts))
    cells = merge([*merge(shuffled[:cut]), *merge(shuffled[cut:])])
    assert lifecycle(cells, world.conflicts, at_us=world.at_us) == lifecycle(
        world.cells, world.conflicts, at_us=world.at_us
    )


@given(worlds())
def test_validity_and_confidence_stay_in_the_unit_interval_and_intervals_are_disjoint(world: World) -> None:
    for life in lifecycle(world.cells, world.conflicts, at_us=world.at_us).values():
        assert 0.0 <= life.validity <= life.confidence <= 1.0
        assert len(life.intervals) >= 1
        for before, after in zip(life.intervals, life.intervals[1:], strict=False):
            assert before.start_us is not None and before.end_us is not None and after.start_us is not None
            assert before.start_us < before.end_us <= after.start_us


@given(worlds())
def test_without_conflicts_and_dependencies_nothing_is_superseded_or_stale(world: World) -> None:
    cells = [
        replace(c, evidence=tuple(replace(e, backend_state=None, depends_on=()) for e in c.evidence))
        for c in world.cells
    ]
    for life in lifecycle(cells, [], at_us=world.at_us).values():
        assert life.state in (State.CANDIDATE, State.ACTIVE, State.STABLE)
        assert life.verified
        assert (life.superseded_by, life.contested_by) == ((), ())


# Worked by hand


def test_three_cells_worked_by_hand() -> None:
    """Oslo, then Bergen, then Oslo again; an assistant's note leans on the statement about Bergen."""
    oslo = claim("lives in Oslo", said("m1", 10), said("m3", 30))
    bergen = claim("lives in Bergen", said("m2", 20))
    note = claim("buys tickets for the light rail", said("m4", 21, Source.ASSISTANT, depends_on=("m2",)))
    cells, conflicts = [oslo, bergen, note], [clash(oslo, bergen, 0.9)]

    now = lifecycle(cells, conflicts)
    # Two user statements: 1 - (1 - 0.75)(1 - 0.75) = 0.9375; repeated support, so STABLE.
    assert now[oslo.id].state is State.STABLE
    assert now[oslo.id].confidence == now[oslo.id].validity == pytest.approx(0.9375)
    # Said at 10, closed by Bergen at 20, said again at 30.
    assert spans(now[oslo.id]) == [(10, 20), (30, None)]
    # strength = 0.9 x min(1, 1.0 / 1.0) = 0.9 >= 0.75: superseded; confidence 0.75, validity capped at 0.15.
    assert now[bergen.id].state is State.SUPERSEDED
    assert (now[bergen.id].confidence, now[bergen.id].validity) == (pytest.approx(0.75), pytest.approx(0.15))
    assert spans(now[bergen.id]) == [(20, 30)]
    assert now[bergen.id].superseded_by == (oslo.id,)
    assert now[bergen.id].steps[-1].numbers == {"strength": pytest.approx(0.9)}
    # 0.75 x 0.6 = 0.45 < 0.60: never more than CANDIDATE; what it leans on is gone: STALE, capped at 0.30.
    assert now[note.id].state is State.STALE
    assert (now[note.id].confidence, now[note.id].validity) == (pytest.approx(0.45), pytest.approx(0.30))
    assert now[note.id].verified, "the statement about Bergen is there, it only holds no more"
    assert now[note.id].steps[-1].causes == ("m2",)

    then = lifecycle(cells, conflicts, at_us=25)
    assert [then[c.id].state for c in cells] == [State.SUPERSEDED, State.ACTIVE, State.CANDIDATE]
    assert [then[c.id].validity for c in cells] == pytest.approx([0.15, 0.75, 0.45])
    assert spans(then[oslo.id]) == [(10, 20)]
    assert spans(then[bergen.id]) == [(20, None)]


def test_no_cell_has_no_life() -> None:
    assert lifecycle([], []) == {}
    assert lifecycle([], [Conflict("a", "b", 1.0, "gold")]) == {}


def test_one_cell_lives_from_its_assertion_until_further_notice() -> None:
    life = life_of(claim("tea", said("m1", 3)), conflicts=[Conflict("a", "b", 1.0, "gold")])
    assert (life.state, life.intervals) == (State.ACTIVE, (Interval(3, None),))


# Promotion


@pytest.mark.parametrize(
    ("sources", "confidence", "state"),
    [
        ([Source.USER], 0.75, State.ACTIVE),
        ([Source.TOOL], 0.60, State.ACTIVE),
        ([Source.ASSISTANT], 0.45, State.CANDIDATE),
        ([Source.THIRD_PARTY], 0.375, State.CANDIDATE),
        ([Source.DOCUMENT], 0.30, State.CANDIDATE),
        # 1 - 0.25 x 0.25
        ([Source.USER, Source.USER], 0.9375, State.STABLE),
        # 1 - 0.55 x 0.55: repeated support makes what reaches 0.60 STABLE
        ([Source.ASSISTANT, Source.ASSISTANT], 0.6975, State.STABLE),
        # 1 - 0.7 x 0.7 = 0.51 < 0.60: repetition alone is not enough
        ([Source.DOCUMENT, Source.DOCUMENT], 0.51, State.CANDIDATE),
        # 1 - 0.7 ** 3 = 0.657
        ([Source.DOCUMENT] * 3, 0.657, State.STABLE),
    ],
)
def test_evidence_promotes_a_cell(sources: list[Source], confidence: float, state: State) -> None:
    life = life_of(claim("tea", *(said(f"m{n}", n, source) for n, source in enumerate(sources))))
    assert life.confidence == life.validity == pytest.approx(confidence)
    assert life.state is state


def test_a_record_that_repeats_itself_counts_once() -> None:
    life = life_of(claim("tea", said("m1", 1, index=0), said("m1", 1, index=1)))
    assert (life.state, life.confidence) == (State.ACTIVE, pytest.approx(0.75))


def test_confidence_alone_can_make_a_cell_stable() -> None:
    cell = claim("tea", said("m1", 1))
    assert life_of(cell, assertion_confidence=0.85).state is State.STABLE
    assert life_of(cell, stable_confidence=0.75).state is State.STABLE


@pytest.mark.parametrize(
    "kind",
    [
        SemanticType.HEDGED,
        SemanticType.HYPOTHETICAL,
        SemanticType.QUOTE,
        SemanticType.FICTION,
        SemanticType.INJECTION,
        SemanticType.QUESTION,
        SemanticType.SMALL_TALK,
    ],
)
def test_a_mention_is_never_promoted_and_weighs_half(kind: SemanticType) -> None:
    life = life_of(claim("tea", said("m1", 1), said("m2", 2), semantic_type=kind))
    # 1 - (1 - 0.75 x 0.5) ** 2
    assert (life.state, life.confidence) == (State.CANDIDATE, pytest.approx(1 - 0.625**2))


# Supersession

OLD = claim("works at Acme", said("m1", 10))
NEW = claim("works at Borealis", said("m2", 20))


def test_the_later_assertion_wins_whichever_side_the_conflict_calls_older() -> None:
    for conflict in (clash(OLD, NEW), clash(NEW, OLD)):
        assert life_of(OLD, [NEW], [conflict]).state is State.SUPERSEDED
        assert life_of(NEW, [OLD], [conflict]).state is State.ACTIVE


@pytest.mark.parametrize(
    ("older", "newer", "probability", "superseded"),
    [
        (Source.USER, Source.USER, 0.75, True),
        (Source.USER, Source.USER, 0.7499, False),
        # 0.9375 x 0.8 / 1.0 = 0.75
        (Source.USER, Source.TOOL, 0.9375, True),
        (Source.USER, Source.TOOL, 0.93, False),
        (Source.USER, Source.DOCUMENT, 1.0, False),
        # 1.0 x 0.6 / 0.8 = 0.75, whatever floating point makes of it
        (Source.TOOL, Source.ASSISTANT, 1.0, True),
        (Source.DOCUMENT, Source.DOCUMENT, 0.8, True),
        (Source.DOCUMENT, Source.USER, 0.75, True),
    ],
)
def test_strength_weighs_the_newer_source_against_the_older(
    older: Source, newer: Source, probability: float, superseded: bool
) -> None:
    a, b = claim("a", said("m1", 1, older)), claim("b", said("m2", 2, newer))
    life = life_of(a, [b], [clash(a, b, probability)])
    assert (life.state is State.SUPERSEDED) == superseded
    assert life.superseded_by == ((b.id,) if superseded else ())
    assert life.contested_by == ()


def test_the_threshold_of_a_strong_conflict_can_be_set() -> None:
    conflict = clash(OLD, NEW, 0.9)
    assert life_of(OLD, [NEW], [conflict], strong_conflict=0.95).state is State.ACTIVE
    assert life_of(OLD, [NEW], [conflict], superseded_validity=0.01).validity == 0.01


def test_the_strongest_score_of_a_pair_counts() -> None:
    scores = [clash(OLD, NEW, 0.8, "rules"), clash(NEW, OLD, 0.9, "model"), clash(OLD, NEW, 0.85, "other")]
    assert life_of(OLD, [NEW], scores).steps[-1].numbers == {"strength": pytest.approx(0.9)}


def test_a_b_a_reactivates_a_and_supersedes_b() -> None:
    again = claim("works at Acme", said("m1", 10), said("m3", 30))
    lives = lifecycle([again, NEW], [clash(again, NEW)])
    assert lives[again.id].state is State.STABLE
    assert spans(lives[again.id]) == [(10, 20), (30, None)]
    assert lives[again.id].steps[-1].rule == "reasserted"
    assert lives[NEW.id].state is State.SUPERSEDED
    assert lives[NEW.id].superseded_by == (again.id,)


def test_a_b_a_b_is_b_with_two_intervals() -> None:
    a = claim("a", said("m1", 10), said("m3", 30))
    b = claim("b", said("m2", 20), said("m4", 40))
    lives = lifecycle([a, b], [clash(a, b)])
    assert lives[a.id].state is State.SUPERSEDED
    assert spans(lives[a.id]) == [(10, 20), (30, 40)]
    assert lives[b.id].state is State.STABLE
    assert spans(lives[b.id]) == [(20, 30), (40, None)]


def test_a_retelling_while_a_claim_holds_opens_no_second_interval() -> None:
    assert spans(life_of(claim("a", said("m1", 10), said("m2", 20)))) == [(10, None)]


def test_a_middle_assertion_that_was_told_late_changes_nothing_but_the_past() -> None:
    """Event time decides: a backdated record about 15 ends the older interval at 15 and is itself superseded at 20."""
    middle = claim("works at Corvid", said("m9", 15))
    lives = lifecycle([OLD, NEW, middle], [clash(OLD, NEW), clash(OLD, middle), clash(middle, NEW)])
    assert spans(lives[OLD.id]) == [(10, 15)]
    assert spans(lives[middle.id]) == [(15, 20)]
    assert lives[NEW.id].state is State.ACTIVE


@pytest.mark.parametrize(("first", "second"), [(5, 5), (None, 5), (5, None), (None, None)])
def test_equal_or_missing_times_never_dominate_and_are_flagged(first: int | None, second: int | None) -> None:
    a, b = claim("a", said("m1", first)), claim("b", said("m2", second))
    lives = lifecycle([a, b], [clash(a, b, 1.0)])
    assert [lives[c.id].state for c in (a, b)] == [State.ACTIVE, State.ACTIVE]
    assert lives[a.id].contested_by == (b.id,)
    assert lives[b.id].contested_by == (a.id,)
    assert lives[a.id].steps[-1].rule == "unresolved_conflict"
    assert spans(lives[a.id]) == [(first, None)]


def test_a_side_that_could_not_supersede_is_no_unresolved_conflict() -> None:
    user, page = claim("a", said("m1", 5)), claim("b", said("m2", 5, Source.DOCUMENT))
    lives = lifecycle([user, page], [clash(user, page, 1.0)])
    assert lives[user.id].contested_by == ()
    assert lives[page.id].contested_by == (user.id,)


def test_deleting_the_superseder_restores_what_it_superseded() -> None:
    third = claim("works at Corvid", said("m3", 30))
    cells, conflicts = [OLD, NEW, third], [clash(OLD, NEW), clash(NEW, third), clash(OLD, third)]
    assert lifecycle(cells, conflicts)[NEW.id].state is State.SUPERSEDED
    assert lifecycle([OLD, NEW], conflicts)[NEW.id] == life_of(NEW, [OLD], [clash(OLD, NEW)])
    alone = lifecycle([OLD], conflicts)[OLD.id]
    assert (alone.state, alone.validity, spans(alone)) == (State.ACTIVE, pytest.approx(0.75), [(10, None)])


def test_a_superseded_superseder_still_supersedes() -> None:
    third = claim("works at Corvid", said("m3", 30))
    lives = lifecycle([OLD, NEW, third], [clash(OLD, NEW), clash(NEW, third)])
    assert [lives[c.id].state for c in (OLD, NEW, third)] == [State.SUPERSEDED, State.SUPERSEDED, State.ACTIVE]


@pytest.mark.parametrize(
    "other",
    [
        claim("works at Borealis", said("m2", 20), user="bob"),
        claim("works at Borealis", said("m2", 20), user=None),
        claim("works at Borealis", said("m2", 20), scope="project:x"),
        *(
            claim("works at Borealis", said("m2", 20), semantic_type=kind)
            for kind in SemanticType
            if kind not in (SemanticType.STATEMENT, SemanticType.PREFERENCE, SemanticType.EVENT, SemanticType.DIRECTIVE)
        ),
    ],
    ids=lambda c: f"{c.user}-{c.scope}-{c.semantic_type.name.lower()}",
)
def test_neither_another_tenant_nor_scope_nor_a_mention_supersedes(other: Cell) -> None:
    life = life_of(OLD, [other], [clash(OLD, other, 1.0)])
    assert life == life_of(OLD)


def test_time_alone_makes_nothing_stale() -> None:
    day_us = 86_400_000_000
    assert life_of(OLD, at_us=100 * 365 * day_us) == life_of(OLD)


def test_what_takes_effect_later_has_not_happened_yet() -> None:
    for at_us, state in ((19, State.ACTIVE), (20, State.SUPERSEDED)):
        assert life_of(OLD, [NEW], [clash(OLD, NEW)], at_us=at_us).state is state
    assert life_of(OLD, [NEW], [clash(OLD, NEW)], at_us=19).contested_by == ()


# The backend's own word


@pytest.mark.parametrize(
    ("words", "state"),
    [
        (["Superseded "], State.SUPERSEDED),
        (["expired"], State.SUPERSEDED),
        (["stale"], State.STALE),
        (["ARCHIVED"], State.ARCHIVED),
        (["deleted"], State.ARCHIVED),
        (["active"], State.ACTIVE),
        (["please archive this"], State.ACTIVE),
        (["archived", None], State.STABLE),
        (["archived", "superseded"], State.SUPERSEDED),
        (["archived", "stale"], State.STALE),
    ],
)
def test_the_backends_verdict_counts_where_every_assertion_has_one(words: list[str | None], state: State) -> None:
    cell = claim("tea", *(said(f"m{n}", n, backend_state=word) for n, word in enumerate(words)))
    life = life_of(cell)
    cap = {State.SUPERSEDED: 0.15, State.STALE: 0.30}.get(state, 1.0)
    assert life.state is state
    assert life.validity == pytest.approx(min(life.confidence, cap))


def test_a_backend_that_says_until_when_a_memory_held_does_not_speak_of_the_time_before() -> None:
    cell = claim("tea", said("m1", 0, valid_to_us=10, backend_state="expired"))
    assert [life_of(cell, at_us=t).state for t in (9, 10)] == [State.ACTIVE, State.SUPERSEDED]


# Dependencies


def leaning(name: str, record_id: str, *needs: str, support: str = "all") -> Cell:
    return claim(name, said(record_id, 50, depends_on=needs, support="any" if support == "any" else "all"))


def test_a_chain_of_dependencies_falls_and_comes_back() -> None:
    second, third = leaning("commutes by ferry", "m5", "m1"), leaning("needs a ferry card", "m6", "m5")
    conflict = clash(OLD, NEW)
    standing = lifecycle([OLD, second, third], [conflict])
    fallen = lifecycle([OLD, NEW, second, third], [conflict])
    again = claim("works at Acme", said("m1", 10), said("m7", 60))
    restored = lifecycle([again, NEW, second, third], [conflict])
    for cell, cause in ((second, "m1"), (third, "m5")):
        assert standing[cell.id].state is State.ACTIVE
        assert (fallen[cell.id].state, fallen[cell.id].validity) == (State.STALE, pytest.approx(0.30))
        assert fallen[cell.id].verified
        assert (fallen[cell.id].steps[-1].rule, fallen[cell.id].steps[-1].causes) == ("dependency_invalid", (cause,))
        assert restored[cell.id] == standing[cell.id]


@pytest.mark.parametrize(
    ("needs", "support", "state", "verified"),
    [
        (("good", "bad"), "all", State.STALE, True),
        (("good", "bad"), "any", State.ACTIVE, True),
        (("good", "good"), "all", State.ACTIVE, True),
        (("bad",), "any", State.STALE, True),
        (("good", "never seen"), "all", State.STALE, False),
        (("good", "never seen"), "any", State.ACTIVE, True),
        (("bad", "never seen"), "any", State.STALE, False),
        (("bad", "bad"), "any", State.STALE, True),
        ((), "all", State.ACTIVE, True),
        ((), "any", State.ACTIVE, True),
    ],
)
def test_support_all_and_any(needs: tuple[str, ...], support: str, state: State, verified: bool) -> None:
    good = claim("good", said("good", 1))
    bad = claim("bad", said("bad", 1, backend_state="deleted"))
    life = life_of(leaning("x", "m9", *needs, support=support), [good, bad])
    assert (life.state, life.verified) == (state, verified)


def test_a_dependency_can_be_named_by_cell_as_well_as_by_record() -> None:
    dependent = leaning("x", "m9", OLD.id)
    assert life_of(dependent, [OLD]).state is State.ACTIVE
    assert life_of(dependent, [OLD, NEW], [clash(OLD, NEW)]).state is State.STALE


def test_one_assertion_that_leans_on_nothing_keeps_a_cell() -> None:
    cell = claim("x", said("m8", 50, depends_on=("never seen",)), said("m9", 60))
    assert life_of(cell).state is State.STABLE


def test_a_record_of_another_tenant_supports_nothing() -> None:
    theirs = claim("works at Acme", said("m1", 10), user="bob")
    life = life_of(leaning("x", "m9", "m1"), [theirs])
    assert (life.state, life.verified) == (State.STALE, False)


def test_a_record_of_two_claims_supports_while_one_of_them_holds() -> None:
    first, second = claim("a", said("m1", 10, index=0)), claim("b", said("m1", 10, index=1))
    later_a, later_b = claim("not a", said("m2", 20)), claim("not b", said("m3", 20))
    dependent = leaning("x", "m9", "m1")
    conflicts = [clash(first, later_a), clash(second, later_b)]
    assert life_of(dependent, [first, second, later_a], conflicts).state is State.ACTIVE
    assert life_of(dependent, [first, second, later_a, later_b], conflicts).state is State.STALE


def test_a_cycle_holds_itself_up_until_something_outside_pulls_it_down() -> None:
    a, b = leaning("a", "m1", "m2"), leaning("b", "m2", "m1")
    assert {life.state for life in lifecycle([a, b], []).values()} == {State.ACTIVE}
    pulled = leaning("b", "m2", "m1", "never seen")
    assert {life.state for life in lifecycle([a, pulled], []).values()} == {State.STALE}
    itself = leaning("c", "m3", "m3")
    assert life_of(itself).state is State.ACTIVE


def test_what_leans_on_an_archived_or_outlived_cell_is_stale() -> None:
    archived = claim("a", said("m1", 1, backend_state="archived"))
    assert life_of(leaning("x", "m9", "m1"), [archived]).state is State.STALE
    outlived = claim("a", said("m1", 1, valid_to_us=70))
    states = [life_of(leaning("x", "m9", "m1"), [outlived], at_us=t).state for t in (69, 70)]
    assert states == [State.ACTIVE, State.STALE]


def test_a_long_chain_falls_to_its_end() -> None:
    first = claim("0", said("m0", 1, backend_state="deleted"))
    chain = [leaning(str(n), f"m{n}", f"m{n - 1}") for n in range(1, 60)]
    lives = lifecycle([*reversed(chain), first], [])
    assert all(lives[c.id].state is State.STALE for c in chain)


@given(worlds())
def test_at_the_end_of_time_and_just_after_the_last_event_the_lives_agree_but_for_expiry(world: World) -> None:
    cells = [replace(c, evidence=tuple(replace(e, valid_to_us=None) for e in c.evidence)) for c in world.cells]
    assert lifecycle(cells, world.conflicts) == lifecycle(cells, world.conflicts, at_us=HORIZON)
