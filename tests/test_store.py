"""The durable ledger: everything comes back as it went in, whatever the order, tenant or database."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path

import numpy as np
import pytest
from store_samples import FULL_RECORD, NASTY, OWNERS, cell, full_cell, postgres, postgres_missing, record

from calm.cells import State
from calm.conflict import Conflict
from calm.errors import (
    CalmError,
    DuplicateMemoryId,
    EmbeddingDimensionError,
    InvalidRecord,
    StoreError,
    StoreReadOnlyError,
    StoreVersionError,
    UnknownCell,
)
from calm.store import UNJUDGED, LedgerEvent, Store, StoredState, content_hash

LONG_KEY = "".join(hashlib.sha256(bytes([i])).hexdigest() for i in range(200))
"""More than PostgreSQL indexes, even compressed."""


@pytest.fixture(scope="session")
def postgres_folder() -> Iterator[str]:
    if (reason := postgres_missing()) is not None:
        pytest.skip(reason)
    with postgres() as folder:
        yield folder


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.service)])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Makes URLs of databases that hold nothing yet."""
    numbers = count()
    if request.param == "sqlite":
        return lambda: f"sqlite:///{tmp_path}/{next(numbers)}.db"
    folder = request.getfixturevalue("postgres_folder")

    def fresh_schema() -> str:
        import psycopg

        with psycopg.connect(f"user=calm dbname=postgres host={folder}", autocommit=True) as connection:
            existing = connection.execute("SELECT count(*) FROM pg_database").fetchone()
            assert existing is not None
            name = f"calm{existing[0]}"
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://calm@/{name}?host={folder}"

    return fresh_schema


@pytest.fixture
def url(new_url: Callable[[], str]) -> str:
    return new_url()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url) as opened:
        yield opened


def everything(store: Store) -> tuple[object, ...]:
    """All that can be asked of a store of `OWNERS`, for comparing two."""
    ids = [i for user in store.users() for i in store.cell_ids(user)]
    return (store.counts(), store.users(), store.cells(ids), store.conflicts_of(ids), store.states(ids))


def test_every_field_of_record_and_cell_survives_a_reopening(url: str) -> None:
    bare_record, bare_cell = record("m1", user=None), replace(cell("tea", "m1", time_us=None), subject=None)
    with Store.open(url) as store:
        store.put_records([FULL_RECORD, bare_record])
        store.put_cells([full_cell(), bare_cell], {})
    with Store.open(url, create=False) as store:
        assert store.record(FULL_RECORD.user, FULL_RECORD.id) == FULL_RECORD
        assert store.record(None, "m1") == bare_record
        assert store.known_records(FULL_RECORD.user, [FULL_RECORD.id, "m1"]) == {
            FULL_RECORD.id: content_hash(FULL_RECORD)
        }
        assert store.cells([full_cell().id, bare_cell.id]) == sorted([full_cell(), bare_cell], key=lambda c: c.id)
        assert store.users() == [None, *sorted(["alice", FULL_RECORD.user or ""])]


def test_everything_else_comes_back_as_it_went_in(store: Store) -> None:
    a, b = cell("a", "m1"), cell("b", "m2")
    store.put_cells([a, b], {a.id: frozenset({NASTY, "k"}), b.id: frozenset({"k", LONG_KEY})})
    conflicts = [Conflict(a.id, b.id, 0.1, NASTY), Conflict(a.id, b.id, 0.9, "nli")]
    event = LedgerEvent(a.id, State.ACTIVE, State.SUPERSEDED, NASTY, (b.id, NASTY), {"κ": 0.1}, 2**60)
    state = StoredState(State.STALE, 0.15, 1 / 3)
    store.put_conflicts(conflicts)
    store.put_scores(NASTY, {NASTY: 0.1, "h": 1 / 3})
    store.put_vectors(NASTY, {a.id: np.array([0.1, -1e-30], dtype=np.float32)})
    store.put_states({a.id: state})
    store.append_events([event, replace(event, at_us=1)])
    store.set_progress(NASTY, 2**60)

    assert store.cells_by_key("alice", ["k", NASTY, LONG_KEY, LONG_KEY[:-1]]) == {
        "k": sorted([a.id, b.id]),
        NASTY: [a.id],
        LONG_KEY: [b.id],
    }
    assert store.conflicts_of([b.id]) == sorted(conflicts, key=lambda c: c.scorer)
    assert store.conflicts_of([a.id, b.id]) == store.conflicts_of([a.id])
    assert store.cached_scores(NASTY, [NASTY, "h", "never"]) == {NASTY: 0.1, "h": 1 / 3}
    assert store.cached_scores("another scorer", ["h"]) == {}
    ids, vectors_nd = store.vectors("alice", NASTY)
    assert (ids, vectors_nd.dtype) == ([a.id], np.float32)
    np.testing.assert_array_equal(vectors_nd, np.array([[0.1, -1e-30]], dtype=np.float32))
    assert store.vector_models("alice") == [NASTY]
    assert store.states([a.id, b.id, "never"]) == {a.id: state, b.id: UNJUDGED}
    assert store.events_of(a.id) == [event, replace(event, at_us=1)]
    assert store.progress(NASTY) == 2**60


def test_an_empty_store_answers_every_question(store: Store) -> None:
    nothing: list[str] = []
    for ids in (nothing, ["never"]):
        assert store.known_records("alice", ids) == store.records("alice", ids) == store.states(ids) == {}
        assert store.cells(ids) == store.conflicts_of(ids) == []
        assert store.cells_by_key(None, ids) == store.cells_of_records(None, ids) == store.cached_scores("f", ids) == {}
        assert store.delete_records("alice", ids) == set()
    assert store.record("alice", "never") is None
    assert store.users() == store.cell_ids(None) == store.recent_cells(None, 10) == store.vector_models(None) == []
    assert store.find_cell("never") == store.find_cell("") == store.events_of("never") == []
    ids, vectors_nd = store.vectors("alice", "m")
    assert (ids, vectors_nd.shape, vectors_nd.dtype) == ([], (0, 0), np.float32)
    assert store.progress("never") == 0
    assert set(store.counts().values()) == {0}
    store.put_records([])
    store.put_cells([], {})
    store.put_conflicts([])
    store.put_scores("f", {})
    store.put_vectors("m", {})
    store.put_states({})
    store.append_events([])
    assert set(store.counts().values()) == {0}


def test_every_put_may_be_repeated(store: Store) -> None:
    a, b = cell("a", "m1", "m2"), cell("b", "m2")

    def put_all() -> None:
        store.put_records([record("m1"), record("m2"), record("m1")])
        store.put_cells([a, b, a], {a.id: frozenset({"k"})})
        store.put_conflicts([Conflict(a.id, b.id, 0.5, "f")] * 2)
        store.put_scores("f", {"h": 0.5})
        store.put_vectors("m", {a.id: np.ones(3, dtype=np.float32)})
        store.put_states({a.id: StoredState(State.STABLE, 1.0, 0.9)})
        store.set_progress("s", 7)

    put_all()
    once = everything(store)
    put_all()
    assert everything(store) == once
    assert store.counts() == {
        "records": 2,
        "cells": 2,
        "evidence": 3,
        "keys": 1,
        "conflicts": 1,
        "scores": 1,
        "vectors": 1,
        "events": 0,
    }


def test_a_later_put_updates_what_may_change(store: Store) -> None:
    a, b = cell("a", "m1"), cell("b", "m2")
    store.put_records([record("m1")])
    store.put_records([replace(record("m1"), score=0.5, embedding=(1.0,), embedding_model="new")])
    store.put_cells([a, b], {a.id: frozenset({"k"})})
    store.put_states({a.id: StoredState(State.STABLE, 0.9, 0.9)})
    store.put_cells([cell("a", "m9", time_us=5, text="A!")], {a.id: frozenset({"l"})})
    for probability in (0.1, 0.2):
        store.put_conflicts([Conflict(a.id, b.id, probability, "f")])
        store.put_scores("f", {"h": probability})
        store.put_vectors("m", {a.id: np.full(2, probability, dtype=np.float32)})
        store.set_progress("s", int(probability * 10))

    changed = store.record("alice", "m1")
    assert changed is not None
    assert (changed.score, changed.embedding) == (0.5, (1.0,))
    (merged,) = store.cells([a.id])
    assert [e.record_id for e in merged.evidence] == ["m1", "m9"]
    assert (merged.text, merged.bound, merged.entities) == ("A!", "alice: A!", frozenset({"e A!"}))
    assert store.states([a.id])[a.id].state is State.STABLE, "more evidence must not reset a judged cell"
    assert store.cells_by_key("alice", ["k", "l"]) == {"k": [a.id], "l": [a.id]}
    assert store.conflicts_of([a.id])[0].probability == store.cached_scores("f", ["h"])["h"] == 0.2
    assert store.vectors("alice", "m")[1].tolist() == [[pytest.approx(0.2)] * 2]
    assert store.progress("s") == 2


def test_changed_content_under_a_known_id_is_refused(store: Store) -> None:
    store.put_records([record("m1", text="old")])
    with pytest.raises(DuplicateMemoryId, match="m1"):
        store.put_records([record("m0"), record("m1", text="new")])
    with pytest.raises(DuplicateMemoryId, match="m2"):
        store.put_records([record("m2", text="one"), record("m2", text="two")])
    assert store.records("alice", ["m0", "m1", "m2"]) == {"m1": record("m1", text="old")}
    store.delete_records("alice", ["m1"])
    store.put_records([record("m1", text="new")])
    assert store.records("alice", ["m1"])["m1"].text == "new"


def test_metadata_that_is_not_json_names_the_record(store: Store) -> None:
    with pytest.raises(InvalidRecord, match="m1") as caught:
        store.put_records([replace(record("m1"), metadata={"when": object()})])
    assert (caught.value.record, caught.value.field) == ("m1", "metadata")


def test_tenants_with_the_same_ids_do_not_meet(store: Store) -> None:
    cells = {user: cell("same claim", "m1", user=user) for user in OWNERS}
    assert len({c.id for c in cells.values()}) == len(OWNERS)
    for user, c in cells.items():
        store.put_records([record("m1", user=user, text=f"of {user!r}")])
        store.put_cells([c], {c.id: frozenset({"k"})})
        store.put_vectors("m", {c.id: np.ones(2, dtype=np.float32)})
    assert store.users() == [None, *sorted(o for o in OWNERS if o is not None)]
    for user, c in cells.items():
        assert store.records(user, ["m1"])["m1"].text == f"of {user!r}"
        assert store.cell_ids(user) == store.recent_cells(user, 5) == store.vectors(user, "m")[0] == [c.id]
        assert store.cells_by_key(user, ["k"]) == {"k": [c.id]}
        assert store.cells_of_records(user, ["m1"]) == {"m1": [c.id]}
    assert store.delete_records("", ["m1"]) == {cells[""].id}
    assert store.users() == [None, *sorted(o for o in OWNERS if o)]
    assert store.records(None, ["m1"])["m1"].text == "of None"
    assert store.cells([cells[None].id])[0].evidence


def test_two_claims_under_one_id_are_refused(store: Store) -> None:
    a = cell("a", "m1", user="alice")
    store.put_cells([a], {})
    with pytest.raises(DuplicateMemoryId, match=a.id):
        store.put_cells([replace(a, user="bob")], {})
    assert store.cells([a.id]) == [a]


def test_recent_cells_follow_record_time_not_arrival(store: Store) -> None:
    times = {"m1": 5, "m2": None, "m3": 9, "m4": 7, "m6": 7, "m5": 7, "m0": None}
    store.put_records([record(i, time_us=time) for i, time in times.items()])
    store.put_records([record(f"b{i}", user="bob", time_us=100 + i) for i in range(10)])
    first, twice = cell("first", "m3"), cell("twice", "m4", "m5")
    older, undated = cell("older", "m1"), cell("undated", "m0")
    second = replace(cell("second", "m3"), evidence=(replace(first.evidence[0], index=1),))
    store.put_cells([second, undated, older, twice, first], {})
    newest = [first.id, second.id, twice.id, older.id, undated.id]
    assert store.recent_cells("alice", 10) == newest
    assert store.recent_cells("alice", 1) == newest[:2]
    assert store.recent_cells("alice", 2) == newest[:3], "of the same time, m4 comes before m6"
    assert store.recent_cells("alice", 4) == newest[:3], "m6 has no cell, but counts"
    assert store.recent_cells("alice", 5) == newest[:4]
    assert store.recent_cells("alice", 6) == newest, "of the undated, m0 comes before m2"
    assert store.recent_cells("alice", 0) == []


def test_dependencies_are_those_of_all_evidence(store: Store) -> None:
    free, bound = cell("free", "m1"), cell("bound", "m2", "m3", "m4")
    needs: list[tuple[str, ...]] = [("a", NASTY), (), ("b", "a")]
    evidence = tuple(replace(e, depends_on=names) for e, names in zip(bound.evidence, needs, strict=True))
    store.put_cells([free, replace(bound, evidence=evidence)], {})
    assert store.dependencies("alice") == {bound.id: frozenset({"a", "b", NASTY})}
    assert store.dependencies(None) == {}


def test_find_cell_prefers_id_then_record_then_prefix(store: Store) -> None:
    a, b = cell("a", "m1"), cell("b", "m2", user="bob")
    twins = [cell("c", "shared"), cell("c", "shared", user=None)]
    store.put_cells([a, b, *twins], {})
    assert store.find_cell(a.id) == [a.id]
    assert store.find_cell(a.id[:12]) == [a.id]
    assert store.find_cell("m2") == [b.id]
    assert store.find_cell("shared") == sorted(c.id for c in twins)
    assert store.find_cell("m") == store.find_cell("%") == store.find_cell(a.id + "0") == []
    for name in (
        a.id[:3],
        b.id,
    ):  # a record may be named like the beginning of a cell, or even like a whole one
        store.put_cells([cell("d", name)], {})
    assert store.find_cell(a.id[:3]) == [cell("d", "x").id]
    assert store.find_cell(b.id) == [b.id]


def test_lists_longer_than_any_variable_limit(store: Store) -> None:
    cells = [cell(f"claim {i}", f"m{i}") for i in range(2000)]
    ids = [c.id for c in cells] * 20
    store.put_cells(cells, {c.id: frozenset({c.claim}) for c in cells})
    assert len(store.cells(ids)) == len(store.states(ids)) == 2000
    assert len(store.cells_by_key("alice", [c.claim for c in cells])) == 2000
    store.put_conflicts([Conflict(a.id, b.id, 0.5, "f") for a, b in pairwise(cells)])
    assert len(store.conflicts_of(ids)) == 1999
    assert len(store.delete_records("alice", [f"m{i}" for i in range(1999)])) == 2000
    assert store.cell_ids("alice") == [cells[-1].id]


def test_vectors_of_mixed_sizes_name_the_cell(store: Store) -> None:
    first, second = sorted([cell("a", "m1"), cell("b", "m2")], key=lambda c: c.id)
    store.put_cells([first, second], {})
    store.put_vectors("m", {first.id: np.ones(3, dtype=np.float32), second.id: np.ones(4, dtype=np.float32)})
    with pytest.raises(EmbeddingDimensionError, match=second.id):
        store.vectors("alice", "m")
    store.put_vectors("m", {second.id: np.ones(3, dtype=np.float32)})
    assert store.vectors("alice", "m")[1].shape == (2, 3)
    with pytest.raises(EmbeddingDimensionError, match=first.id):
        store.put_vectors("m", {first.id: np.ones((1, 3), dtype=np.float32)})


def test_what_belongs_to_no_stored_cell_is_refused(store: Store) -> None:
    a = cell("a", "m1")
    store.put_cells([a], {})
    with pytest.raises(UnknownCell, match="put the cells first"):
        store.put_conflicts([Conflict(a.id, "never", 0.5, "f")])
    with pytest.raises(UnknownCell):
        store.put_vectors("m", {"never": np.ones(2, dtype=np.float32)})
    with pytest.raises(UnknownCell, match="never"):
        store.put_states({a.id: StoredState(State.STALE, 0.5, 0.5), "never": UNJUDGED})
    with pytest.raises(StoreError):
        store.put_states({a.id: StoredState(State.STALE, 1.5, 0.5)})
    assert store.states([a.id]) == {a.id: UNJUDGED}
    assert store.counts()["conflicts"] == store.counts()["vectors"] == 0


def test_deletion_takes_all_that_rests_on_a_record_and_nothing_else(store: Store) -> None:
    lone, shared = cell("lone", "m1"), cell("shared", "m0", "m1", text="Shared!")
    neighbour, stranger, elder = cell("neighbour", "m2"), cell("stranger", "m3"), cell("elder", "m2")
    shared = replace(shared, evidence=(replace(shared.evidence[0], text="shared?"), shared.evidence[1]))
    cells = [lone, shared, neighbour, stranger, elder]
    store.put_records([record(f"m{i}") for i in range(4)])
    store.put_cells(cells, {c.id: frozenset({"k"}) for c in cells})
    store.put_vectors("m", {c.id: np.ones(2, dtype=np.float32) for c in cells})
    store.put_conflicts(
        [
            Conflict(elder.id, lone.id, 0.9, "f"),
            Conflict(lone.id, neighbour.id, 0.9, "f"),
            Conflict(stranger.id, neighbour.id, 0.9, "f"),
        ]
    )
    event = LedgerEvent(lone.id, State.CANDIDATE, State.ACTIVE, "r")
    store.append_events([event])

    assert store.delete_records("bob", ["m1"]) == set()
    assert store.delete_records("alice", ["m1"]) == {lone.id, shared.id, neighbour.id, elder.id}
    rest = sorted([shared.id, neighbour.id, stranger.id, elder.id])
    assert store.cell_ids("alice") == store.cells_by_key("alice", ["k"])["k"] == store.vectors("alice", "m")[0] == rest
    assert store.conflicts_of([lone.id, neighbour.id]) == [Conflict(stranger.id, neighbour.id, 0.9, "f")]
    assert store.events_of(lone.id) == [event]
    assert store.record("alice", "m1") is None
    (left,) = store.cells([shared.id])
    assert [e.record_id for e in left.evidence] == ["m0"]
    assert left.text == "shared?", "the deleted record's words must be gone"
    assert store.delete_records("alice", ["m1"]) == set()


def test_a_transaction_is_all_or_nothing(store: Store) -> None:
    kept, lost = cell("kept", "m1"), cell("lost", "m2")
    with store.transaction():
        store.put_cells([kept], {})
        with store.transaction():
            store.set_progress("s", 1)
        assert store.cells([kept.id]) == [kept], "a transaction sees its own writes"
    with pytest.raises(ZeroDivisionError), store.transaction():  # noqa: PT012
        store.put_cells([lost], {})
        store.delete_records("alice", ["m1"])
        store.set_progress("s", 1 // 0)
    assert store.cell_ids("alice") == [kept.id]
    assert store.progress("s") == 1
    store.set_progress("s", 3)
    assert store.progress("s") == 3


def test_a_part_that_failed_can_not_be_committed(store: Store) -> None:
    with pytest.raises(StoreError, match="nothing is stored"), store.transaction():  # noqa: PT012
        store.set_progress("s", 1)
        with pytest.raises(UnknownCell):
            store.put_conflicts([Conflict("x", "y", 0.5, "f")])
    assert store.progress("s") == 0


def test_threads_write_in_turn_and_lose_nothing(store: Store) -> None:
    def assert_often(worker: int) -> None:
        for i in range(10):
            store.put_cells([cell("same", f"m{worker}-{i}", time_us=worker * 100 + i, text=f"w{worker} {i}")], {})

    threads = [threading.Thread(target=assert_often, args=[worker]) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (merged,) = store.cells(store.cell_ids("alice"))
    assert len(merged.evidence) == 40
    assert merged.text == merged.evidence[-1].text == "w3 9"


def test_a_store_opened_by_many_at_once_is_made_once(url: str) -> None:
    failures: list[Exception] = []

    def open_and_write(worker: int) -> None:
        try:
            with Store.open(url) as opened:
                opened.set_progress(f"s{worker}", worker)
        except CalmError as error:
            failures.append(error)

    threads = [threading.Thread(target=open_and_write, args=[worker]) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with Store.open(url, create=False) as opened:
        assert [opened.progress(f"s{worker}") for worker in range(4)] == [0, 1, 2, 3]


@pytest.mark.service
def test_a_shared_server_and_a_read_only_one(postgres_folder: str) -> None:
    import psycopg

    server = f"user=calm host={postgres_folder}"
    with psycopg.connect(f"{server} dbname=postgres", autocommit=True) as connection:
        connection.execute("CREATE DATABASE shared")
    with psycopg.connect(f"{server} dbname=shared", autocommit=True) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT); CREATE TABLE alembic_version (version_num TEXT)")
        url = f"postgresql+psycopg://calm@/shared?host={postgres_folder}"
        with pytest.raises(StoreError, match="no store here yet"):
            Store.open(url, create=False)
        with Store.open(url) as store:
            store.put_cells([cell("kept", "m1")], {})
        connection.execute("ALTER DATABASE shared SET default_transaction_read_only = on")
        with Store.open(url) as store:
            assert store.cells(store.cell_ids("alice")) == [cell("kept", "m1")]
            with pytest.raises(StoreReadOnlyError):
                store.set_progress("s", 1)
        connection.execute("UPDATE calm_version SET version_num = '9999'")
        with pytest.raises(StoreVersionError, match="9999"):
            Store.open(url)
