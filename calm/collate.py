"""Cells, lives and queries -> the padded tensors of Stage III. Legend: B queries, K candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from calm.batch import ANY_SCOPE, GLOBAL, NO_OWNER, CandidateBatch
from calm.cells import Cell, Evidence, State
from calm.context import cost
from calm.fit import FitConfig, entity_fit, frame_fit
from calm.lifecycle import Life
from calm.query import Query
from calm.records import GLOBAL_SCOPE
from calm.times import MAX_US, MIN_US


@dataclass(frozen=True, slots=True)
class Seen:
    """One candidate as a question sees it.

    `cell` holds the evidence that is visible at the instant asked about (all of it where none is: `known` is False
    then); `life` is its life at that instant; `relevance` in [0, 1].
    """

    cell: Cell
    life: Life
    known: bool
    relevance: float


def collate(queries: Sequence[Query], rows: Sequence[Sequence[Seen]], fit: FitConfig | None = None) -> CandidateBatch:
    """B rows of candidates as one batch, padded to the longest row, on the CPU."""
    fit = fit or FitConfig()
    owners = _codes(
        [q.user for q in queries if q.user is not None]
        + [s.cell.user for row in rows for s in row if s.cell.user is not None]
    )
    scopes = _codes([GLOBAL_SCOPE, *sorted(_scopes(queries, rows))])
    width = max((len(row) for row in rows), default=0)

    def integers(value: Callable[[Query, Seen], int]) -> Tensor:
        return _padded(queries, rows, value, width, 0, torch.int64)

    def floats(value: Callable[[Query, Seen], float]) -> Tensor:
        return _padded(queries, rows, value, width, 0.0, torch.float32)

    def flags(value: Callable[[Query, Seen], bool]) -> Tensor:
        return _padded(queries, rows, value, width, False, torch.bool)

    return CandidateBatch(
        mask_BK=flags(lambda q, s: True),
        owner_BK=integers(lambda q, s: NO_OWNER if s.cell.user is None else owners[s.cell.user]),
        query_owner_B=_column([NO_OWNER if q.user is None else owners[q.user] for q in queries]),
        scope_BK=integers(lambda q, s: scopes[s.cell.scope]),
        query_scope_B=_column([ANY_SCOPE if q.scope is None else scopes[q.scope] for q in queries]),
        now_B=_column([q.at_us for q in queries]),
        intent_B=_column([int(q.intent) for q in queries]),
        time_BK=integers(lambda q, s: s.cell.time_us or 0),
        dated_BK=flags(lambda q, s: s.cell.time_us is not None),
        valid_from_BK=integers(lambda q, s: _valid_from(s.cell.evidence)),
        valid_to_BK=integers(lambda q, s: _valid_to(s.cell.evidence)),
        known_BK=flags(lambda q, s: s.known),
        state_BK=integers(lambda q, s: int(s.life.state)),
        validity_BK=floats(lambda q, s: s.life.validity),
        confidence_BK=floats(lambda q, s: s.life.confidence),
        reliability_BK=_padded(queries, rows, lambda q, s: s.cell.reliability, width, 1.0, torch.float32),
        asserts_BK=flags(lambda q, s: s.cell.asserts),
        type_BK=integers(lambda q, s: int(s.cell.semantic_type)),
        verified_BK=flags(lambda q, s: s.life.verified),
        contested_BK=flags(lambda q, s: bool(s.life.contested_by)),
        relevance_BK=floats(lambda q, s: s.relevance),
        entity_fit_BK=floats(lambda q, s: entity_fit(q, s.cell, fit)),
        frame_fit_BK=floats(lambda q, s: frame_fit(q, s.cell, fit)),
        dependency_risk_BK=floats(lambda q, s: _dependency_risk(s)),
        empty_BK=flags(lambda q, s: not s.cell.text.strip()),
        cost_BK=integers(lambda q, s: cost(s.cell)),
    )


def _codes(names: Sequence[str]) -> Mapping[str, int]:
    return {name: code for code, name in enumerate(dict.fromkeys(names), start=GLOBAL)}


def _scopes(queries: Sequence[Query], rows: Sequence[Sequence[Seen]]) -> set[str]:
    asked = {q.scope for q in queries if q.scope is not None}
    return (asked | {s.cell.scope for row in rows for s in row}) - {GLOBAL_SCOPE}


def _column(values: Sequence[int]) -> Tensor:
    return torch.tensor(values, dtype=torch.int64)


def _padded(
    queries: Sequence[Query],
    rows: Sequence[Sequence[Seen]],
    value: Callable[[Query, Seen], float],
    width: int,
    fill: float,
    dtype: torch.dtype,
) -> Tensor:
    table = [
        [value(query, seen) for seen in row] + [fill] * (width - len(row))
        for query, row in zip(queries, rows, strict=True)
    ]
    return torch.tensor(table, dtype=dtype).reshape(len(rows), width)


def _valid_from(evidence: Sequence[Evidence]) -> int:
    return min(MIN_US if e.valid_from_us is None else e.valid_from_us for e in evidence)


def _valid_to(evidence: Sequence[Evidence]) -> int:
    return max(MAX_US if e.valid_to_us is None else e.valid_to_us for e in evidence)


def _dependency_risk(seen: Seen) -> float:
    """1 where a dependency failed, else 0: explicit links are facts, not guesses (ours)."""
    failed = not seen.life.verified or any(step.rule.startswith("dependency_") for step in seen.life.steps)
    return 1.0 if failed and seen.life.state is State.STALE else 0.0
