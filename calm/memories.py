"""From cells back to the memories that the caller handed over: one verdict a memory, as the batch contract wants it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from calm.cells import Cell, State
from calm.conflict import Conflict, strength
from calm.decision import Decision, Verdict
from calm.errors import DuplicateMemoryId, EmbeddingDimensionError, EmbeddingModelMismatch
from calm.records import Record
from calm.sight import Pool


@dataclass(frozen=True, slots=True)
class AdmittedMemory:
    """A memory in the context, with the gate's score and the features behind it, each in [0, 1]."""

    record: Record
    score: float
    features: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class BlockedMemory:
    """A memory kept out of the context, with contract reason codes and the numbers behind them."""

    record: Record
    reasons: tuple[str, ...]
    detail: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MemoryConflict:
    """Two memories of which the newer contradicts the older, with strength in [0, 1]."""

    older: str
    newer: str
    strength: float


@dataclass(frozen=True, slots=True)
class MemoryDecision:
    """The gate's answer to one question, by memory. `admitted` in context order, `blocked` in the order given;
    `pairs_scored` of all `pairs` of claims were judged for a conflict."""

    decision: Decision
    admitted: tuple[AdmittedMemory, ...]
    blocked: tuple[BlockedMemory, ...]
    conflicts: tuple[MemoryConflict, ...]
    states: Mapping[str, State]
    pairs_scored: int
    pairs: int

    @property
    def context(self) -> str:
        """The packed context that the answer model should read."""
        return self.decision.context

    @property
    def flags(self) -> tuple[str, ...]:
        """What a caller should know about the whole answer."""
        return self.decision.flags


def check_ids(records: Iterable[Record]) -> None:
    """Raise `DuplicateMemoryId` where one id stands for two different records."""
    seen: dict[str, Record] = {}
    for record in records:
        if seen.setdefault(record.id, record) != record:
            raise DuplicateMemoryId(
                "this id stands for two different memories",
                record=record.id,
                field="id",
                hint="give each memory an id of its own",
            )


def check_embeddings(records: Sequence[Record], query_dim: int | None) -> None:
    """Raise before any scoring where embeddings of two sizes or two models would meet."""
    embedded = [r for r in records if r.embedding is not None]
    want, whose = query_dim, "the query"
    for record in embedded:
        size = len(record.embedding or ())
        if want is None:
            want, whose = size, f"record {record.id!r}"
        if size != want:
            raise EmbeddingDimensionError(
                f"its embedding has {size} dimensions, that of {whose} has {want}",
                record=record.id,
                field="embedding",
                hint="embed all memories and the query with one model",
            )
    models = [r for r in embedded if r.embedding_model is not None]
    for record in models:
        if record.embedding_model != models[0].embedding_model:
            raise EmbeddingModelMismatch(
                f"embedded with {record.embedding_model!r}, record {models[0].id!r} with {models[0].embedding_model!r}",
                record=record.id,
                field="embedding_model",
                hint="embed all memories with one model",
            )


def by_memory(
    decision: Decision,
    records: Sequence[Record],
    pool: Pool,
    states: Mapping[str, State],
) -> MemoryDecision:
    """One verdict a memory. A memory is admitted if the context holds one of its claims in its own words; a memory
    whose claim the context holds in another's words is its duplicate."""
    unique = list({r.id: r for r in records}.values())
    holding: dict[str, list[Cell]] = {r.id: [] for r in unique}
    for cell in pool.cells:
        for evidence in cell.evidence:
            if cell not in holding[evidence.record_id]:
                holding[evidence.record_id].append(cell)
    names = {cell.id: cell.evidence[-1].record_id for cell in pool.cells}
    verdicts = {v.cell.id: v for v in (*decision.admitted, *decision.blocked)}
    places = {v.cell.id: n for n, v in enumerate(decision.admitted)}
    admitted: list[tuple[int, AdmittedMemory]] = []
    blocked = []
    for record in unique:
        mine = [verdicts[c.id] for c in holding[record.id] if c.id in verdicts]
        told = [v for v in mine if v.cell.id in places and v.cell.evidence[-1].record_id == record.id]
        if told:
            best = min(told, key=lambda v: places[v.cell.id])
            admitted.append((places[best.cell.id], AdmittedMemory(record, best.score, best.features)))
        else:
            blocked.append(_named(_blocked(record, holding[record.id], mine, places, decision), names))
    return MemoryDecision(
        decision=decision,
        admitted=tuple(m for _, m in sorted(admitted, key=lambda pair: pair[0])),
        blocked=tuple(blocked),
        conflicts=memory_conflicts(pool.conflicts, pool.cells),
        states={r.id: _state([states[c.id] for c in holding[r.id]]) for r in unique},
        pairs_scored=pool.pairs_scored,
        pairs=len(pool.cells) * (len(pool.cells) - 1) // 2,
    )


def _blocked(
    record: Record,
    cells: Sequence[Cell],
    mine: Sequence[Verdict],
    places: Mapping[str, int],
    decision: Decision,
) -> BlockedMemory:
    """Why none of a memory's claims stands in the context in its own words."""
    if not cells:
        return BlockedMemory(record, ("empty",))
    if not mine:
        return BlockedMemory(record, ("low_score",), {"outside_r_k": len(decision.admitted) + len(decision.blocked)})
    shown = {e.record_id for v in mine for e in v.cell.evidence}
    if record.id not in shown:
        return BlockedMemory(record, ("not_yet_known",))
    reasons: list[str] = []
    detail: dict[str, object] = {}
    for verdict in mine:
        if verdict.cell.id in places:
            reasons.append("duplicate_of")
            detail["duplicate_of"] = verdict.cell.evidence[-1].record_id
        else:
            reasons += verdict.reasons
            detail |= verdict.detail
    return BlockedMemory(record, tuple(dict.fromkeys(reasons)), detail)


def _named(memory: BlockedMemory, names: Mapping[str, str]) -> BlockedMemory:
    """The memory with the winners in its detail by their memories' ids (`names`, by cell): a caller knows no cells."""
    detail = dict(memory.detail)
    if "dominated_by" in detail:
        detail["dominated_by"] = names.get(str(detail["dominated_by"]), detail["dominated_by"])
    if isinstance(winners := detail.get("superseded_by"), list):
        detail["superseded_by"] = [names.get(i, i) for i in winners]
    return replace(memory, detail=detail)


def _state(states: Sequence[State]) -> State:
    """The state of a memory with several claims: the best of them; CANDIDATE for one without a claim."""
    rank = (State.STABLE, State.ACTIVE, State.CANDIDATE, State.STALE, State.SUPERSEDED, State.ARCHIVED)
    return min(states, key=rank.index) if states else State.CANDIDATE


def memory_conflicts(conflicts: Sequence[Conflict], cells: Sequence[Cell]) -> tuple[MemoryConflict, ...]:
    """Conflicts between cells as conflicts between the memories that assert them, neighbours in time only.

    Of A -> B -> A it tells A1 -> B and B -> A2. An undated memory counts as the older, and equal times go by id.
    """
    by_id = {cell.id: cell for cell in cells}
    found: dict[tuple[str, str], float] = {}
    for conflict in conflicts:
        a, b = by_id[conflict.older], by_id[conflict.newer]
        line = sorted(
            ((e.time_us is not None, e.time_us or 0, e.record_id, c) for c in (a, b) for e in c.evidence),
            key=lambda item: item[:3],
        )
        for (_, _, old_id, old), (_, _, new_id, new) in pairwise(line):
            if old is not new and old_id != new_id:
                value = strength(conflict.probability, new.reliability, old.reliability)
                key = (old_id, new_id)
                found[key] = max(value, found.get(key, 0.0))
    return tuple(MemoryConflict(o, n, round(s, 6)) for (o, n), s in sorted(found.items()))
