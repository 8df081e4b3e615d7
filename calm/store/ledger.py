"""The durable ledger: one object over `reads` and `writes` that owns connections and transactions."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine

from calm.cells import Cell
from calm.conflict import Conflict
from calm.errors import StoreError
from calm.records import Record
from calm.store import reads, writes
from calm.store.engine import check_file, connect, make_engine, parse_url
from calm.store.entries import LedgerEvent, StoredState
from calm.store.failures import translated
from calm.store.migrate import bring_to_head


@dataclass(slots=True)
class _Unit:
    """The write transaction of a thread; `broken` once an exception has passed through a part of it."""

    connection: Connection
    broken: bool = False


class _Current(threading.local):
    unit: _Unit | None = None


class Store:
    """Records, cells, conflicts, scores, embeddings, states and events of any number of tenants.

    `Store.open` makes one. Threads may share it; each has its own transactions. Every method raises
    `StoreError` or a child of it where the database fails: `StoreReadOnlyError`, `StoreFullError`. A tenant
    `None` ("no owner") is a tenant of its own, different from a user named "". Record ids are unique within a
    tenant.
    """

    def __init__(self, engine: Engine, where: str) -> None:
        self.engine = engine
        self._where = where
        self._current = _Current()
        self._closed = False

    @classmethod
    def open(cls, url: str, *, create: bool = True) -> Store:
        """The store at an SQLAlchemy URL: `sqlite:///memory.db`, `postgresql+psycopg://user@host/database`.

        What is not there yet is made, unless `create` is False; an older store is upgraded in one
        transaction; one of this version is only read, so a read-only one opens, and says `StoreReadOnlyError`
        when written to. Raises `StoreVersionError` for a store of a newer calm and for a file that is not a
        calm store, `StoreReadOnlyError` or `StoreFullError` where one can't be made or upgraded, `StoreError`
        where there is none (`create=False`) and for any other failure, `InvalidOption` for a URL of neither
        kind, `MissingExtra` without the PostgreSQL driver.
        """
        parsed = parse_url(url)
        where = parsed.render_as_string(hide_password=True)
        check_file(parsed, create=create)
        engine = make_engine(url)
        try:
            with translated(where):
                bring_to_head(engine, where, create=create)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine, where)

    def close(self) -> None:
        """Gives the database's connections back. Using the store afterwards raises `StoreError`."""
        self._closed = True
        self.engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One atomic unit of this thread: all that is written inside is stored, or nothing is.

        Methods called inside join it, so does a transaction inside a transaction; reads inside see what was
        written. An exception inside rolls everything back, even if it is caught before it leaves the
        outermost unit (which then raises `StoreError`). Other writers wait until it ends.
        """
        with self._writing():
            yield

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        outer = self._current.unit
        if outer is not None:
            with translated(self._where), _breaking(outer):
                yield outer.connection
            return
        self._refuse_closed()
        with translated(self._where), connect(self.engine, "write") as connection, connection.begin():
            self._current.unit = unit = _Unit(connection)
            try:
                yield connection
            finally:
                self._current.unit = None
            if unit.broken:
                raise StoreError(f"{self._where}: nothing is stored of a transaction of which a part has failed")

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        unit = self._current.unit
        if unit is not None:
            with translated(self._where):
                yield unit.connection
            return
        self._refuse_closed()
        with translated(self._where), connect(self.engine, "read") as connection, connection.begin():
            yield connection

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StoreError(f"{self._where}: the store is closed", hint="open it again")

    def known_records(self, user: str | None, ids: Collection[str]) -> dict[str, str]:
        """Id -> `content_hash` of the tenant's stored records among `ids`."""
        with self._reading() as connection:
            return reads.known_records(connection, user, ids)

    def put_records(self, records: Sequence[Record]) -> None:
        """Stores records. A known one keeps its place and takes over the new score and embedding.

        Raises `DuplicateMemoryId` where a tenant's id is stored with another `content_hash` (delete it
        first), `InvalidRecord` where `metadata` is not JSON.
        """
        with self._writing() as connection:
            writes.put_records(connection, records)

    def record(self, user: str | None, record_id: str) -> Record | None:
        """One record of a tenant, None where it is not stored."""
        return self.records(user, [record_id]).get(record_id)

    def records(self, user: str | None, ids: Collection[str]) -> dict[str, Record]:
        """Id -> record of the tenant's stored records among `ids`."""
        with self._reading() as connection:
            return reads.records(connection, user, ids)

    def users(self) -> list[str | None]:
        """All tenants, sorted; None, where something has no owner, comes first."""
        with self._reading() as connection:
            return reads.users(connection)

    def recent_cells(self, user: str | None, n: int) -> list[str]:
        """Cells of the tenant's n newest records by record time, newest first: the short-term memory.

        Undated records come last, ties go by id; a record without cells counts too. Ids are distinct.
        """
        with self._reading() as connection:
            return reads.recent_cells(connection, user, n)

    def put_cells(self, cells: Sequence[Cell], keys: Mapping[str, frozenset[str]]) -> None:
        """Merges cells with the stored ones of their id (`calm.cells.merge`), and adds their lookup keys.

        `keys` maps cell id to keys; a cell may have none. A new cell's state is `UNJUDGED`; a stored one's
        stays. Raises `DuplicateMemoryId` where one id stands for two claims.
        """
        with self._writing() as connection:
            writes.put_cells(connection, cells, keys)

    def cells(self, ids: Collection[str]) -> list[Cell]:
        """The stored cells among `ids`, with all their evidence, sorted by id."""
        with self._reading() as connection:
            return reads.cells(connection, ids)

    def cell_ids(self, user: str | None) -> list[str]:
        """Ids of all cells of a tenant, sorted."""
        with self._reading() as connection:
            return reads.cell_ids(connection, user)

    def cells_by_key(self, user: str | None, keys: Collection[str]) -> dict[str, list[str]]:
        """Key -> sorted ids of the tenant's cells that have it; keys that none has are left out."""
        with self._reading() as connection:
            return reads.cells_by_key(connection, user, keys)

    def cells_of_records(self, user: str | None, record_ids: Collection[str]) -> dict[str, list[str]]:
        """Record id -> ids of its cells in sentence order; records without cells are left out."""
        with self._reading() as connection:
            return reads.cells_of_records(connection, user, record_ids)

    def dependencies(self, user: str | None) -> dict[str, frozenset[str]]:
        """Of the tenant's cells that depend on something: id -> names of the records or cells needed."""
        with self._reading() as connection:
            return reads.dependencies(connection, user)

    def find_cell(self, prefix_or_record_id: str) -> list[str]:
        """Ids that a person may mean, sorted: the cell of that id, else the cells of the records of that id
        (of all tenants), else the cells whose id begins so. Empty for no match or no text.
        """
        with self._reading() as connection:
            return reads.find_cell(connection, prefix_or_record_id)

    def put_conflicts(self, conflicts: Sequence[Conflict]) -> None:
        """Stores scored pairs; a pair scored again by one scorer takes the new probability.

        Raises `UnknownCell` where a side is not stored.
        """
        with self._writing() as connection:
            writes.put_conflicts(connection, conflicts)

    def drop_conflicts(self, ids: Collection[str]) -> set[str]:
        """Forgets the scored pairs of `ids`; returns the cells on either side of them, those to judge anew."""
        with self._writing() as connection:
            return writes.drop_conflicts(connection, ids)

    def conflicts_of(self, ids: Collection[str]) -> list[Conflict]:
        """Scored pairs with a cell among `ids` on either side, sorted by (older, newer, scorer)."""
        with self._reading() as connection:
            return reads.conflicts_of(connection, ids)

    def cached_scores(self, fingerprint: str, hashes: Sequence[str]) -> dict[str, float]:
        """Pair hash -> probability in [0, 1], as far as the scorer of that fingerprint has scored them."""
        with self._reading() as connection:
            return reads.cached_scores(connection, fingerprint, hashes)

    def put_scores(self, fingerprint: str, scores: Mapping[str, float]) -> None:
        """Caches the probabilities of one scorer by pair hash; it outlives the cells."""
        with self._writing() as connection:
            writes.put_scores(connection, fingerprint, scores)

    def put_vectors(self, model: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Stores embeddings of cells, float32 (D,), one a cell and model; a new one replaces the old.

        Raises `UnknownCell` where a cell is not stored, `EmbeddingDimensionError` for another shape.
        """
        with self._writing() as connection:
            writes.put_vectors(connection, model, vectors)

    def vectors(self, user: str | None, model: str) -> tuple[list[str], NDArray[np.float32]]:
        """The tenant's embeddings by one model: sorted cell ids, float32 (N, D); (0, 0) for none.

        Raises `EmbeddingDimensionError`, naming the cell, where they are not all of one size.
        """
        with self._reading() as connection:
            return reads.vectors(connection, user, model)

    def vector_models(self, user: str | None) -> list[str]:
        """Sorted names of the models that have embedded cells of this tenant."""
        with self._reading() as connection:
            return reads.vector_models(connection, user)

    def states(self, ids: Collection[str]) -> dict[str, StoredState]:
        """Cell id -> stored state of the stored cells among `ids`; `UNJUDGED` until one is put."""
        with self._reading() as connection:
            return reads.states(connection, ids)

    def put_states(self, states: Mapping[str, StoredState]) -> None:
        """Overwrites the states of cells. Raises `UnknownCell` where one is not stored."""
        with self._writing() as connection:
            writes.put_states(connection, states)

    def append_events(self, events: Sequence[LedgerEvent]) -> None:
        """Adds transitions, which nothing changes or removes later; not idempotent, unlike every put."""
        with self._writing() as connection:
            writes.append_events(connection, events)

    def events_of(self, cell_id: str) -> list[LedgerEvent]:
        """All transitions of a cell in the order in which they were appended, also of a cell that is gone."""
        with self._reading() as connection:
            return reads.events_of(connection, cell_id)

    def progress(self, source: str) -> int:
        """How far an ingest has read `source` (the unit is the caller's); 0 for one never seen."""
        with self._reading() as connection:
            return reads.progress(connection, source)

    def set_progress(self, source: str, position: int) -> None:
        """Notes how far an ingest has read `source`, in the same transaction as what it read."""
        with self._writing() as connection:
            writes.set_progress(connection, source, position)

    def delete_records(self, user: str | None, ids: Collection[str]) -> set[str]:
        """Removes a tenant's records and their evidence; ids that are not stored are no error.

        A cell without evidence goes, with its keys, embeddings and conflicts; its events stay. A cell with
        other evidence takes over the words of the latest that is left; `bound`, `subject`, `entities`,
        `frames` and keys are not kept per assertion, so they stay until the cells of its remaining records
        are put again. Returns the ids of the cells touched or removed, of their conflict neighbours and of what
        leans on them: those to judge anew.
        """
        with self._writing() as connection:
            return writes.delete_records(connection, user, ids)

    def counts(self) -> dict[str, int]:
        """How many records, cells, evidence, keys, conflicts, scores, vectors and events are stored."""
        with self._reading() as connection:
            return reads.counts(connection)


@contextmanager
def _breaking(unit: _Unit) -> Iterator[None]:
    try:
        yield
    except BaseException:
        unit.broken = True
        raise
