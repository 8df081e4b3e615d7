"""What the ledger is asked, one function a question. Each runs inside the caller's transaction.

A question about ids that are not stored leaves them out of the answer; it is not an error.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Table, func, select, union

from calm.cells import Cell, Evidence
from calm.conflict import Conflict
from calm.errors import EmbeddingDimensionError
from calm.records import Record
from calm.store import schema
from calm.store.codec import owner_of, pack, stored_key, user_of
from calm.store.entries import LedgerEvent, StoredState
from calm.store.rows import cell_from, conflict_from, event_from, evidence_from, record_from, state_from
from calm.store.statements import select_in

PREFIX_END = "\U0010ffff"
"""Sorts after every continuation of a prefix."""

_COUNTED: dict[str, Table] = {
    "records": schema.record,
    "cells": schema.cell,
    "evidence": schema.evidence,
    "keys": schema.cell_key,
    "conflicts": schema.conflict,
    "scores": schema.pair_score,
    "vectors": schema.vector,
    "events": schema.event,
}


def known_records(connection: Connection, user: str | None, ids: Collection[str]) -> dict[str, str]:
    """Id -> content hash of the stored ones among `ids`."""
    record = schema.record.c
    mine = select(record.id, record.content_hash).where(record.owner == owner_of(user))
    return {row.id: row.content_hash for row in select_in(connection, mine, record.id, ids)}


def records(connection: Connection, user: str | None, ids: Collection[str]) -> dict[str, Record]:
    """Id -> record of the stored ones among `ids`."""
    record = schema.record.c
    mine = select(record.id, record.data).where(record.owner == owner_of(user))
    return {row.id: record_from(row.data) for row in select_in(connection, mine, record.id, ids)}


def users(connection: Connection) -> list[str | None]:
    """Owners of records or cells, sorted; None, where there is one, first."""
    owners = connection.scalars(union(select(schema.record.c.owner), select(schema.cell.c.owner)))
    return [user_of(owner) for owner in sorted(owners)]


def recent_cells(connection: Connection, user: str | None, n: int) -> list[str]:
    """Distinct ids of the cells of the n newest records, newest record first."""
    record = schema.record.c
    mine = select(record.id).where(record.owner == owner_of(user))
    dated = mine.where(record.time_us.is_not(None)).order_by(record.time_us.desc(), record.id)
    undated = mine.where(record.time_us.is_(None)).order_by(record.id)
    # Two queries, because the databases disagree on where NULL sorts; either is a walk along one index.
    newest = list(connection.scalars(dated.limit(n)))
    newest += connection.scalars(undated.limit(n - len(newest)))
    found = cells_of_records(connection, user, newest)
    return list(dict.fromkeys(chain.from_iterable(found.get(record_id, []) for record_id in newest)))


def cells(connection: Connection, ids: Collection[str]) -> list[Cell]:
    """The stored ones among `ids`, with all their evidence, sorted by id."""
    rows = list(select_in(connection, select(schema.cell), schema.cell.c.id, ids))
    evidence: dict[str, list[Evidence]] = {row.id: [] for row in rows}
    column = schema.evidence.c.cell_id
    for row in select_in(connection, select(schema.evidence), column, evidence):
        evidence[row.cell_id].append(evidence_from(row))
    return [cell_from(row, evidence[row.id]) for row in sorted(rows, key=lambda row: str(row.id))]


def cell_ids(connection: Connection, user: str | None) -> list[str]:
    """Ids of all cells of an owner, sorted."""
    cell = schema.cell.c
    return sorted(connection.scalars(select(cell.id).where(cell.owner == owner_of(user))))


def cells_by_key(connection: Connection, user: str | None, keys: Collection[str]) -> dict[str, list[str]]:
    """Key -> sorted ids of the owner's cells that have it."""
    wanted = {stored_key(key): key for key in keys}
    key = schema.cell_key.c
    mine = select(key.key, key.cell_id).where(key.owner == owner_of(user))
    found: dict[str, list[str]] = {}
    for row in select_in(connection, mine, key.key, wanted):
        found.setdefault(wanted[row.key], []).append(row.cell_id)
    return {name: sorted(ids) for name, ids in found.items()}


def cells_of_records(connection: Connection, user: str | None, record_ids: Collection[str]) -> dict[str, list[str]]:
    """Record id -> ids of the cells that it is evidence of, in the order of its sentences."""
    evidence = schema.evidence.c
    mine = select(evidence.record_id, evidence.idx, evidence.cell_id).where(evidence.owner == owner_of(user))
    rows = select_in(connection, mine, evidence.record_id, record_ids)
    found: dict[str, dict[str, None]] = {}
    for record_id, _, cell in sorted(tuple(row) for row in rows):
        found.setdefault(record_id, {})[cell] = None
    return {record_id: list(ids) for record_id, ids in found.items()}


def dependencies(connection: Connection, user: str | None) -> dict[str, frozenset[str]]:
    """Cell id -> the names that its evidence depends on; cells that depend on nothing are left out."""
    evidence = schema.evidence.c
    mine = select(evidence.cell_id, evidence.depends_on).where(evidence.owner == owner_of(user))
    found: dict[str, frozenset[str]] = {}
    for row in connection.execute(mine.where(evidence.depends_on != pack(()))):
        found[row.cell_id] = found.get(row.cell_id, frozenset()) | frozenset(json.loads(row.depends_on))
    return found


def find_cell(connection: Connection, prefix_or_record_id: str) -> list[str]:
    """Sorted ids of cells: the one of that id, else those of the records of that id, else those it begins."""
    wanted = prefix_or_record_id
    cell, evidence = schema.cell.c, schema.evidence.c
    if not wanted:
        return []
    for question in (
        select(cell.id).where(cell.id == wanted),
        select(evidence.cell_id).where(evidence.record_id == wanted).distinct(),
        select(cell.id).where(cell.id >= wanted, cell.id < wanted + PREFIX_END),
    ):
        if found := sorted(connection.scalars(question)):
            return found
    return []


def conflicts_of(connection: Connection, ids: Collection[str]) -> list[Conflict]:
    """Every scored pair with a cell among `ids` on either side, sorted by (older, newer, scorer)."""
    sides = (schema.conflict.c.older, schema.conflict.c.newer)
    rows = chain.from_iterable(select_in(connection, select(schema.conflict), side, ids) for side in sides)
    return sorted({conflict_from(row) for row in rows}, key=lambda c: (c.older, c.newer, c.scorer))


def cached_scores(connection: Connection, fingerprint: str, hashes: Sequence[str]) -> dict[str, float]:
    """Pair hash -> probability, of this scorer alone."""
    score = schema.pair_score.c
    mine = select(score.pair_hash, score.probability).where(score.fingerprint == fingerprint)
    return {row.pair_hash: row.probability for row in select_in(connection, mine, score.pair_hash, hashes)}


def vectors(connection: Connection, user: str | None, model: str) -> tuple[list[str], NDArray[np.float32]]:
    """Sorted cell ids of an owner, and their embeddings by `model` as float32 (N, D), (0, 0) for none."""
    vector, cell = schema.vector, schema.cell
    rows = connection.execute(
        select(vector.c.cell_id, vector.c.dim, vector.c.data)
        .join(cell, cell.c.id == vector.c.cell_id)
        .where(cell.c.owner == owner_of(user), vector.c.model == model)
        .order_by(vector.c.cell_id)
    ).all()
    if not rows:
        return [], np.zeros((0, 0), dtype=np.float32)
    dim = rows[0].dim
    for row in rows:
        if row.dim != dim:
            raise EmbeddingDimensionError(
                f"{row.dim} numbers where cell {rows[0].cell_id!r} has {dim}",
                record=row.cell_id,
                field="embedding",
                hint=f"embed all cells anew with one model; both say {model!r}",
            )
    flat = np.frombuffer(b"".join(row.data for row in rows), dtype="<f4")
    return [row.cell_id for row in rows], flat.astype(np.float32, copy=True).reshape(len(rows), dim)


def vector_models(connection: Connection, user: str | None) -> list[str]:
    """Sorted names of the models that have embedded a cell of this owner."""
    vector, cell = schema.vector, schema.cell
    models = (
        select(vector.c.model)
        .join(cell, cell.c.id == vector.c.cell_id)
        .where(cell.c.owner == owner_of(user))
        .distinct()
    )
    return sorted(connection.scalars(models))


def states(connection: Connection, ids: Collection[str]) -> dict[str, StoredState]:
    """Cell id -> stored state; `UNJUDGED` where none was put yet."""
    cell = schema.cell.c
    columns = select(cell.id, cell.state, cell.validity, cell.confidence)
    return {row.id: state_from(row) for row in select_in(connection, columns, cell.id, ids)}


def events_of(connection: Connection, cell_id: str) -> list[LedgerEvent]:
    """Everything that happened to a cell, in the order in which it was written down."""
    event = schema.event
    rows = connection.execute(select(event).where(event.c.cell_id == cell_id).order_by(event.c.seq))
    return [event_from(row) for row in rows]


def progress(connection: Connection, source: str) -> int:
    """How far a source has been read; 0 for one never seen."""
    column = schema.progress.c
    return connection.scalar(select(column.position).where(column.source == source)) or 0


def counts(connection: Connection) -> dict[str, int]:
    """Rows by kind."""
    return {name: connection.scalar(select(func.count()).select_from(table)) or 0 for name, table in _COUNTED.items()}
