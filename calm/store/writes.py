"""What the ledger takes in and gives up. Each function runs inside the caller's write transaction.

Every put is idempotent: the same things, put again in any order or batching, leave the same store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, delete, insert, update

from calm.cells import Cell, merge
from calm.conflict import Conflict
from calm.errors import DuplicateMemoryId, UnknownCell
from calm.records import Record
from calm.store import reads, schema
from calm.store.codec import owner_of, stored_key
from calm.store.entries import LedgerEvent, StoredState
from calm.store.rows import (
    cell_values,
    conflict_values,
    content_hash,
    event_values,
    evidence_values,
    record_values,
    vector_values,
)
from calm.store.statements import delete_in, upsert

_SPOKEN = ("text", "bound", "subject", "entities", "frames")
"""Columns of a cell that follow its latest evidence; the others are part of its identity or of its state."""

_EVIDENCE_KEY = ("cell_id", "record_id", "idx")
_EVIDENCE_REST = tuple(c.name for c in schema.evidence.columns if c.name not in _EVIDENCE_KEY)


def put_records(connection: Connection, records: Sequence[Record]) -> None:
    """Stores records; one that is known keeps its position and takes over the new score and embedding."""
    owners: dict[str | None, list[Record]] = {}
    for record in records:
        owners.setdefault(record.user, []).append(record)
    for user, owned in owners.items():
        _refuse_changed(owned, reads.known_records(connection, user, [record.id for record in owned]))
    upsert(connection, schema.record, [record_values(r) for r in records], keys=("owner", "id"), update=("data",))


def _refuse_changed(records: Iterable[Record], known: Mapping[str, str]) -> None:
    seen = dict(known)
    for record in records:
        digest = content_hash(record)
        if seen.setdefault(record.id, digest) != digest:
            raise DuplicateMemoryId(
                "stored already with other content",
                record=record.id,
                hint="give the new content its own id, or delete the old record first",
            )


def put_cells(connection: Connection, cells: Sequence[Cell], keys: Mapping[str, frozenset[str]]) -> None:
    """Merges cells and their evidence with what is stored, and adds their keys to those that they have."""
    stored = {cell.id: cell for cell in reads.cells(connection, [cell.id for cell in cells])}
    _refuse_collisions([*stored.values(), *cells])
    changed = [cell for cell in merge([*stored.values(), *cells]) if stored.get(cell.id) != cell]
    upsert(connection, schema.cell, [cell_values(cell) for cell in changed], keys=("id",), update=_SPOKEN)
    upsert(
        connection,
        schema.evidence,
        [values for cell in changed for values in _new_evidence(cell, stored.get(cell.id))],
        keys=_EVIDENCE_KEY,
        update=_EVIDENCE_REST,
    )
    upsert(
        connection,
        schema.cell_key,
        [
            {"owner": owner_of(cell.user), "key": stored_key(key), "cell_id": cell.id}
            for cell in cells
            for key in keys.get(cell.id, ())
        ],
        keys=("owner", "key", "cell_id"),
    )


def _new_evidence(cell: Cell, stored: Cell | None) -> list[dict[str, object]]:
    known = frozenset() if stored is None else frozenset(stored.evidence)
    return [evidence_values(cell, evidence) for evidence in cell.evidence if evidence not in known]


def _refuse_collisions(cells: Iterable[Cell]) -> None:
    """Two claims under one 64-bit id would hand one owner's evidence to another: fail closed."""
    identities: dict[str, tuple[object, ...]] = {}
    for cell in cells:
        identity = (cell.user, cell.scope, cell.semantic_type, cell.claim)
        if identities.setdefault(cell.id, identity) != identity:
            raise DuplicateMemoryId("two different claims have one cell id", record=cell.id)


def put_conflicts(connection: Connection, conflicts: Sequence[Conflict]) -> None:
    """Stores scored pairs; the last probability of a scorer counts."""
    upsert(
        connection,
        schema.conflict,
        [conflict_values(conflict) for conflict in conflicts],
        keys=("older", "newer", "scorer"),
        update=("probability",),
    )


def drop_conflicts(connection: Connection, ids: Collection[str]) -> set[str]:
    """Forgets the scored pairs with a cell among `ids`; returns both sides of each."""
    pairs = reads.conflicts_of(connection, ids)
    for column in (schema.conflict.c.older, schema.conflict.c.newer):
        delete_in(connection, delete(schema.conflict), column, ids)
    return {cell for pair in pairs for cell in (pair.older, pair.newer)}


def put_scores(connection: Connection, fingerprint: str, scores: Mapping[str, float]) -> None:
    """Caches probabilities by pair hash for one scorer."""
    upsert(
        connection,
        schema.pair_score,
        [
            {"fingerprint": fingerprint, "pair_hash": pair, "probability": float(score)}
            for pair, score in scores.items()
        ],
        keys=("fingerprint", "pair_hash"),
        update=("probability",),
    )


def put_vectors(connection: Connection, model: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
    """Stores one embedding a cell; the last of a model counts."""
    upsert(
        connection,
        schema.vector,
        [vector_values(cell, model, vector) for cell, vector in vectors.items()],
        keys=("cell_id", "model"),
        update=("dim", "data"),
    )


def put_states(connection: Connection, states: Mapping[str, StoredState]) -> None:
    """Overwrites the states of stored cells."""
    if missing := states.keys() - reads.states(connection, states.keys()).keys():
        raise UnknownCell("no such cell to set the state of", record=min(missing), hint="put the cells first")
    if states:
        connection.execute(
            update(schema.cell).where(schema.cell.c.id == bindparam("cell_id")),
            [
                {
                    "cell_id": cell,
                    "state": int(stored.state),
                    "validity": float(stored.validity),
                    "confidence": float(stored.confidence),
                }
                for cell, stored in states.items()
            ],
        )


def append_events(connection: Connection, events: Sequence[LedgerEvent]) -> None:
    """Adds events at the end of the ledger; nothing ever changes or removes one."""
    if events:
        connection.execute(insert(schema.event), [event_values(event) for event in events])


def set_progress(connection: Connection, source: str, position: int) -> None:
    """Notes how far a source has been read."""
    row: dict[str, object] = {"source": source, "position": position}
    upsert(connection, schema.progress, [row], keys=("source",), update=("position",))


def delete_records(connection: Connection, user: str | None, ids: Collection[str]) -> set[str]:
    """Removes records, their evidence, and the cells that have no other; returns the ids to judge anew."""
    owner = owner_of(user)
    touched = {cell for cells in reads.cells_of_records(connection, user, ids).values() for cell in cells}
    pairs = reads.conflicts_of(connection, touched)
    evidence, record, cell = schema.evidence, schema.record, schema.cell
    delete_in(connection, delete(evidence).where(evidence.c.owner == owner), evidence.c.record_id, ids)
    delete_in(connection, delete(record).where(record.c.owner == owner), record.c.id, ids)
    left = reads.cells(connection, touched)
    # Keys, vectors and conflicts go with their cell: ON DELETE CASCADE.
    delete_in(connection, delete(cell), cell.c.id, [c.id for c in left if not c.evidence])
    _speak_again(connection, [c for c in left if c.evidence])
    leaning = {i for i, needs in reads.dependencies(connection, user).items() if needs & (touched | set(ids))}
    return touched | leaning | {pair.older for pair in pairs} | {pair.newer for pair in pairs}


def _speak_again(connection: Connection, cells: Sequence[Cell]) -> None:
    """A deleted record's words must not live on as the text of a cell that others still support."""
    rows = [{"cell_id": cell.id, "words": cell.evidence[-1].text} for cell in cells]
    if rows:
        table = schema.cell
        connection.execute(
            update(table).where(table.c.id == bindparam("cell_id")).values(text=bindparam("words")), rows
        )
