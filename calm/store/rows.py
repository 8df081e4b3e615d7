"""Dataclasses to rows and back, as pure functions; nothing here touches a connection."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Row

from calm.cells import Cell, Evidence, SemanticType, Source, State, evidence_order
from calm.conflict import Conflict
from calm.errors import EmbeddingDimensionError, InvalidRecord
from calm.records import Record
from calm.store.codec import owner_of, pack, user_of
from calm.store.entries import UNJUDGED, LedgerEvent, StoredState

Values = dict[str, object]
"""One row on its way in: column name -> value."""

_RECORD_FIELDS = tuple(f.name for f in fields(Record))
_UNHASHED = frozenset({"score", "embedding", "embedding_model"})


def content_hash(record: Record) -> str:
    """sha256 (64 hex digits) over what a record says: every field but `score` and its embedding.

    Retrievers hand the same record over with another score each time, and a backend may change its embedder;
    neither makes it another record. Raises `InvalidRecord` where `metadata` is not JSON.
    """
    return hashlib.sha256(_json(record, _UNHASHED).encode("utf-8", "surrogatepass")).hexdigest()


def record_values(record: Record) -> Values:
    """A row of `calm_record`, without its position. Raises `InvalidRecord` where `metadata` is not JSON."""
    return {
        "owner": owner_of(record.user),
        "id": record.id,
        "content_hash": content_hash(record),
        "time_us": record.time_us,
        "session": record.session,
        "data": _json(record, frozenset()),
    }


def _json(record: Record, without: frozenset[str]) -> str:
    chosen = {name: getattr(record, name) for name in _RECORD_FIELDS if name not in without}
    try:
        return pack({**chosen, "metadata": dict(record.metadata)})
    except (TypeError, ValueError) as error:
        raise InvalidRecord(
            f"can't be written as JSON: {error}",
            record=record.id,
            field="metadata",
            hint="use texts, numbers, lists and objects only",
        ) from error


def record_from(data: str) -> Record:
    """The record of a row's `data`."""
    read: dict[str, Any] = json.loads(data)
    embedding = read["embedding"]
    return Record(
        **{
            **read,
            "embedding": None if embedding is None else tuple(embedding),
            "depends_on": tuple(read["depends_on"]),
        }
    )


def cell_values(cell: Cell) -> Values:
    """A row of `calm_cell`; the state columns count only where the row is new."""
    return {
        "id": cell.id,
        "owner": owner_of(cell.user),
        "scope": cell.scope,
        "semantic_type": int(cell.semantic_type),
        "claim": cell.claim,
        "text": cell.text,
        "bound": cell.bound,
        "subject": cell.subject,
        "entities": pack(sorted(cell.entities)),
        "frames": pack(sorted(cell.frames)),
        "state": int(UNJUDGED.state),
        "validity": UNJUDGED.validity,
        "confidence": UNJUDGED.confidence,
    }


def evidence_values(cell: Cell, evidence: Evidence) -> Values:
    """A row of `calm_evidence`."""
    return {
        "cell_id": cell.id,
        "record_id": evidence.record_id,
        "idx": evidence.index,
        "owner": owner_of(cell.user),
        "text": evidence.text,
        "speaker": evidence.speaker,
        "source": int(evidence.source),
        "time_us": evidence.time_us,
        "record_time_us": evidence.record_time_us,
        "valid_from_us": evidence.valid_from_us,
        "valid_to_us": evidence.valid_to_us,
        "backend_state": evidence.backend_state,
        "depends_on": pack(evidence.depends_on),
        "support": evidence.support,
    }


def evidence_from(row: Row[Any]) -> Evidence:
    """The evidence of a row of `calm_evidence`."""
    return Evidence(
        record_id=row.record_id,
        index=row.idx,
        text=row.text,
        speaker=row.speaker,
        source=Source(row.source),
        time_us=row.time_us,
        record_time_us=row.record_time_us,
        valid_from_us=row.valid_from_us,
        valid_to_us=row.valid_to_us,
        backend_state=row.backend_state,
        depends_on=tuple(json.loads(row.depends_on)),
        support=row.support,
    )


def cell_from(row: Row[Any], evidence: list[Evidence]) -> Cell:
    """The cell of a row of `calm_cell` and its evidence, in any order."""
    return Cell(
        id=row.id,
        claim=row.claim,
        text=row.text,
        bound=row.bound,
        user=user_of(row.owner),
        scope=row.scope,
        semantic_type=SemanticType(row.semantic_type),
        entities=frozenset(json.loads(row.entities)),
        evidence=tuple(sorted(evidence, key=evidence_order)),
        subject=row.subject,
        frames=frozenset(json.loads(row.frames)),
    )


def state_from(row: Row[Any]) -> StoredState:
    """The stored state of a row of `calm_cell`."""
    return StoredState(State(row.state), row.validity, row.confidence)


def conflict_values(conflict: Conflict) -> Values:
    """A row of `calm_conflict`."""
    return {
        "older": conflict.older,
        "newer": conflict.newer,
        "scorer": conflict.scorer,
        "probability": float(conflict.probability),
    }


def conflict_from(row: Row[Any]) -> Conflict:
    """The conflict of a row of `calm_conflict`."""
    return Conflict(older=row.older, newer=row.newer, probability=row.probability, scorer=row.scorer)


def event_values(event: LedgerEvent) -> Values:
    """A row of `calm_event`, without its sequence number."""
    return {
        "cell_id": event.cell,
        "at_us": event.at_us,
        "before": int(event.before),
        "after": int(event.after),
        "rule": event.rule,
        "causes": pack(event.causes),
        "numbers": pack({name: float(number) for name, number in event.numbers.items()}),
    }


def event_from(row: Row[Any]) -> LedgerEvent:
    """The event of a row of `calm_event`."""
    return LedgerEvent(
        cell=row.cell_id,
        before=State(row.before),
        after=State(row.after),
        rule=row.rule,
        causes=tuple(json.loads(row.causes)),
        numbers=json.loads(row.numbers),
        at_us=row.at_us,
    )


def vector_values(cell: str, model: str, vector: NDArray[np.float32]) -> Values:
    """A row of `calm_vector`, little-endian float32. `EmbeddingDimensionError` unless (D,), D > 0."""
    if vector.ndim != 1 or not vector.size:
        raise EmbeddingDimensionError(
            f"an embedding of shape {vector.shape}",
            record=cell,
            field="embedding",
            hint="its shape must be (D,)",
        )
    return {"cell_id": cell, "model": model, "dim": vector.size, "data": vector.astype("<f4").tobytes()}
