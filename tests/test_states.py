"""Stored states are what the rules say of all that is stored, after any batch, order or deletion, with events."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_samples import absorb, all_ids, conflicts_among, everything, forget, house, record_sets
from reference_lifecycle import reference_lives

from calm.cells import State
from calm.lifecycle import LifecycleConfig
from calm.records import Record
from calm.stage_one import stage_one
from calm.states import refresh
from calm.store import LedgerEvent, Store
from calm.times import MAX_US


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open("sqlite://") as opened:
        yield opened


def states(store: Store) -> dict[str, tuple[State, float, float]]:
    """Cell id -> state and rounded validity and confidence."""
    return {i: (s.state, round(s.validity, 9), round(s.confidence, 9)) for i, s in store.states(all_ids(store)).items()}


def state(store: Store, record_id: str, user: str = "alice") -> State:
    """The state of the one cell of a record."""
    (cells,) = store.cells_of_records(user, [record_id]).values()
    return store.states(cells)[cells[0]].state


def events(store: Store, record_id: str) -> list[LedgerEvent]:
    (cells,) = store.cells_of_records("alice", [record_id]).values()
    return store.events_of(cells[0])


def expected(records: list[Record]) -> dict[str, tuple[State, float, float]]:
    """The same from the set of records alone, by the reference."""
    lives = reference_lives(stage_one(records), conflicts_among(records), MAX_US)
    return {i: (x.state, round(x.validity, 9), round(x.confidence, 9)) for i, x in lives.items()}


@settings(max_examples=25)
@given(record_sets(spellings=True), st.data())
def test_any_order_and_batching_ends_in_the_states_of_the_set(records: list[Record], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(records))
    with Store.open("sqlite://") as store:
        absorb(store, shuffled, data.draw(st.integers(1, 4)))
        assert states(store) == expected(records)


@settings(max_examples=15)
@given(record_sets(7), st.data())
def test_after_each_batch_the_states_are_those_of_what_is_stored(records: list[Record], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(records))
    with Store.open("sqlite://") as store:
        for n, record in enumerate(shuffled, start=1):
            absorb(store, [record])
            assert states(store) == expected(shuffled[:n])


@settings(max_examples=15)
@given(record_sets(7), st.data())
def test_deleting_records_leaves_the_states_of_the_others(records: list[Record], data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.sampled_from([r.id for r in records])) if records else st.just(set[str]()))
    with Store.open("sqlite://") as store:
        absorb(store, records)
        for record in records:
            if record.id in gone:
                forget(store, record.user, record.id)
        assert states(store) == expected([r for r in records if r.id not in gone])


def test_the_house_is_in_the_states_that_its_story_tells(store: Store) -> None:
    absorb(store, house())
    wanted = {
        "m1": State.STABLE,  # Oslo, said again after Bergen
        "m2": State.ACTIVE,  # a web page does not overrule the user
        "m3": State.ACTIVE,  # leans on Oslo
        "m4": State.SUPERSEDED,
        "m5": State.SUPERSEDED,
        "m6": State.CANDIDATE,  # a question asserts nothing
        "m7": State.CANDIDATE,
        "m8": State.ACTIVE,
        "m9": State.STABLE,
        "m10": State.ACTIVE,
    }
    assert {i: state(store, i) for i in wanted} == wanted


def test_deleting_the_superseder_restores_what_it_superseded_and_says_so(store: Store) -> None:
    absorb(store, house())
    forget(store, "alice", "m8")
    assert state(store, "m4") is State.ACTIVE
    assert store.states(all_ids(store))[store.find_cell("m4")[0]].validity == pytest.approx(0.75)
    last = events(store, "m4")[-1]
    assert (last.before, last.after, last.rule) == (State.SUPERSEDED, State.ACTIVE, "restored")


def test_deleting_the_superseder_brings_back_what_leaned_on_the_superseded(store: Store) -> None:
    absorb(store, house()[:5])
    assert (state(store, "m1"), state(store, "m3")) == (State.SUPERSEDED, State.STALE)
    forget(store, "alice", "m5")
    assert (state(store, "m1"), state(store, "m3")) == (State.ACTIVE, State.ACTIVE)


def test_deleting_the_reassertion_takes_the_reactivation_back(store: Store) -> None:
    absorb(store, house())
    forget(store, "alice", "m9")
    assert [state(store, i) for i in ("m1", "m5", "m3")] == [State.SUPERSEDED, State.ACTIVE, State.STALE]


def test_a_b_a_is_told_by_the_events(store: Store) -> None:
    absorb(store, [r for r in house() if r.id in ("m1", "m5", "m9")], 1)
    told = [(e.before, e.after, e.rule) for e in events(store, "m1")]
    assert told == [
        (State.CANDIDATE, State.CANDIDATE, "created"),
        (State.CANDIDATE, State.ACTIVE, "direct_user_evidence"),
        (State.ACTIVE, State.SUPERSEDED, "superseded"),
        (State.SUPERSEDED, State.STABLE, "reasserted"),
    ]
    last = events(store, "m5")[-1]
    assert (last.after, last.rule, last.causes) == (State.SUPERSEDED, "superseded", tuple(store.find_cell("m1")))
    assert 0.75 <= last.numbers["strength"] <= 1.0


def test_each_event_begins_where_the_one_before_ended(store: Store) -> None:
    absorb(store, house(), 1)
    for i in all_ids(store):
        told = store.events_of(i)
        assert told[0].rule == "created"
        assert [e.before for e in told[1:]] == [e.after for e in told[:-1]]
        assert told[-1].after is store.states([i])[i].state


def test_events_carry_the_wall_clock_that_they_were_written_at(store: Store) -> None:
    absorb(store, house()[:5])
    with store.transaction():
        refresh(store, store.delete_records("alice", ["m5"]), LifecycleConfig(), 12_345)
    assert [e.at_us for e in events(store, "m1")][-1] == 12_345


def test_judging_anew_what_has_not_changed_writes_no_event(store: Store) -> None:
    absorb(store, house())
    before = everything(store)
    refresh(store, all_ids(store), LifecycleConfig(), 0)
    refresh(store, [], LifecycleConfig(), 0)
    refresh(store, ["no such cell"], LifecycleConfig(), 0)
    assert everything(store) == before


def test_other_thresholds_are_applied_when_judged_anew(store: Store) -> None:
    absorb(store, house())
    refresh(store, all_ids(store), LifecycleConfig(strong_conflict=1.0), 0)
    assert [state(store, i) for i in ("m4", "m5", "m8")] == [State.ACTIVE] * 3


def test_a_dependency_that_arrives_later_heals_what_was_missing_it(store: Store) -> None:
    absorb(store, house()[2:3])
    assert state(store, "m3") is State.STALE
    assert (events(store, "m3")[-1].rule, events(store, "m3")[-1].causes) == ("dependency_missing", ("m1",))
    absorb(store, house()[:1])
    assert state(store, "m3") is State.ACTIVE
    assert events(store, "m3")[-1].rule == "restored"


def test_a_chain_of_dependents_falls_and_rises_across_batches(store: Store) -> None:
    absorb(store, house()[:1])
    texts = ["I ride tram 12.", "I buy stamps at the kiosk.", "I greet the kiosk owner."]
    chain = [
        Record(f"n{k}", text, time_us=1, user="alice", depends_on=("m1" if k == 0 else f"n{k - 1}",))
        for k, text in enumerate(texts)
    ]
    absorb(store, chain[::-1], 1)
    assert [state(store, r.id) for r in chain] == [State.ACTIVE] * 3
    absorb(store, house()[4:5])
    assert [state(store, r.id) for r in chain] == [State.STALE] * 3
    absorb(store, house()[8:9])
    assert [state(store, r.id) for r in chain] == [State.ACTIVE] * 3


def test_what_leans_on_something_long_superseded_is_stale_from_the_start(store: Store) -> None:
    absorb(store, [r for r in house() if r.id in ("m1", "m5")])
    needs = {"n1": "m1", "n2": "n1"}
    for name, base in needs.items():
        absorb(store, [Record(name, f"I own item {name}.", time_us=1, user="alice", depends_on=(base,))])
    assert [state(store, name) for name in needs] == [State.STALE] * 2


def test_a_dependent_of_another_tenant_is_left_alone(store: Store) -> None:
    absorb(store, [*house("alice")[:3], *house("bob")[:3]])
    absorb(store, house("alice")[4:5])
    assert state(store, "m3", "alice") is State.STALE
    assert state(store, "m3", "bob") is State.ACTIVE


def test_deleting_a_record_makes_stale_what_leaned_on_it(store: Store) -> None:
    absorb(store, house()[:3])
    forget(store, "alice", "m1")
    assert state(store, "m3") is State.STALE


def test_a_dependency_named_by_cell_is_found_in_the_store(store: Store) -> None:
    first = house()[0]
    (cell,) = stage_one([first])
    absorb(store, [first, Record("m3", "I keep a tram card.", time_us=1, user="alice", depends_on=(cell.id,))], 1)
    assert state(store, "m3") is State.ACTIVE


def test_two_spellings_of_a_claim_do_not_make_the_order_matter(store: Store) -> None:
    texts = ["I live in Oslo.", "i live in oslo", "I live in Bergen."]
    records = [Record(f"m{n}", text, time_us=n, user="alice") for n, text in enumerate(texts)]
    with Store.open("sqlite://") as other:
        absorb(other, records)
        absorb(store, [records[n] for n in (0, 2, 1)], 1)
        assert states(store) == states(other)
