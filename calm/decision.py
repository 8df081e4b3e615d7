"""Tensors -> a decision to read: what was admitted, what was blocked with reasons and numbers, flags, context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from calm.batch import Reason
from calm.cells import Cell
from calm.collate import Seen
from calm.context import render
from calm.lifecycle import Life
from calm.pack import Packed
from calm.query import Query
from calm.times import iso

FEATURE_NAMES = ("relevance", "validity", "compatibility", "risk")
"""The contract's names; `risk` is the risk itself, the gate reads 1 - risk."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one candidate.

    `reasons` is empty for an admitted one, else contract codes; `detail` the numbers behind them; `score` in [0, 1].
    """

    cell: Cell
    life: Life
    score: float
    features: Mapping[str, float]
    reasons: tuple[str, ...]
    detail: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer of the gate to one question: `admitted` in context order, `blocked` in order of id."""

    query: Query
    admitted: tuple[Verdict, ...]
    blocked: tuple[Verdict, ...]
    flags: tuple[str, ...]
    context: str
    used_tokens: int
    threshold: float


@dataclass(frozen=True, slots=True, eq=False)
class Gated:
    """The tensors that a decision is read from. Legend: B queries, K candidates, F features.

    `reasons_BK` int64 hard reasons (0: eligible), `passed_BK` bool the gate let it through, `packed` what fit,
    `dominators_BK` int64 index of the candidate that dominates this one, -1 for none; `threshold` the gate's.
    """

    reasons_BK: Tensor
    features_BKF: Tensor
    scores_BK: Tensor
    passed_BK: Tensor
    packed: Packed
    dominators_BK: Tensor
    threshold: float


def decide(queries: Sequence[Query], rows: Sequence[Sequence[Seen]], gated: Gated) -> list[Decision]:
    """Read the batch's tensors back, one `Decision` a query."""
    reasons, scores, passed = gated.reasons_BK.tolist(), gated.scores_BK.tolist(), gated.passed_BK.tolist()
    values, ranks = gated.features_BKF.tolist(), gated.packed.rank_BK.tolist()
    winners, used = gated.dominators_BK.tolist(), gated.packed.used_B.tolist()
    threshold = gated.threshold
    decisions = []
    for b, (query, row) in enumerate(zip(queries, rows, strict=True)):
        verdicts: list[tuple[int, Verdict]] = []
        for k, seen in enumerate(row):
            bits = Reason(reasons[b][k]) | _gate_reason(reasons[b][k], passed[b][k], ranks[b][k])
            winner = row[winners[b][k]].cell if winners[b][k] >= 0 else None
            detail = _detail(bits, query, seen, scores[b][k], threshold, winner)
            named = _named(values[b][k])
            verdict = Verdict(seen.cell, seen.life, scores[b][k], named, tuple(bits.codes()), detail)
            verdicts.append((ranks[b][k], verdict))
        admitted = tuple(v for _, v in sorted((v for v in verdicts if v[0] >= 0), key=lambda v: v[0]))
        blocked = tuple(v for rank, v in verdicts if rank < 0)
        decisions.append(
            Decision(
                query=query,
                admitted=admitted,
                blocked=blocked,
                flags=_flags(admitted, blocked),
                context=render([v.cell for v in admitted]),
                used_tokens=used[b],
                threshold=threshold,
            )
        )
    return decisions


def _gate_reason(hard: int, passed: bool, rank: int) -> Reason:
    """Why an eligible candidate is not in the context: the gate, or the budget."""
    if hard or rank >= 0:
        return Reason.NONE
    return Reason.OVER_BUDGET if passed else Reason.LOW_SCORE


def _named(row: Sequence[float]) -> dict[str, float]:
    relevance, validity, compatibility, safety = (round(x, 6) for x in row)
    return dict(zip(FEATURE_NAMES, (relevance, validity, compatibility, round(1.0 - safety, 6)), strict=True))


def _detail(
    bits: Reason, query: Query, seen: Seen, score: float, threshold: float, winner: Cell | None
) -> dict[str, object]:
    """The machine-readable numbers behind each reason."""
    detail: dict[str, object] = {}
    if Reason.SUPERSEDED in bits:
        detail["superseded_by"] = list(seen.life.superseded_by)
    if Reason.DOMINATED in bits and winner is not None:
        detail["dominated_by"] = winner.id
    if Reason.NOT_VALID_AT in bits or Reason.NOT_YET_KNOWN in bits:
        detail["at"] = iso(query.at_us)
        detail["valid_from"] = iso(seen.cell.evidence[0].valid_from_us)
        detail["valid_to"] = iso(seen.cell.evidence[-1].valid_to_us)
    if Reason.STALE in bits or Reason.UNVERIFIED in bits:
        detail["causes"] = list(seen.life.steps[-1].causes)
    if Reason.LOW_SCORE in bits:
        detail |= {"score": round(score, 6), "threshold": threshold}
    if Reason.OVER_BUDGET in bits:
        detail["budget_tokens"] = query.budget_tokens
    return detail


def _flags(admitted: Sequence[Verdict], blocked: Sequence[Verdict]) -> tuple[str, ...]:
    """Contract flags: what the caller should know about the decision as a whole."""
    flags = []
    if any(v.life.contested_by for v in admitted):
        flags.append("unresolved_conflict")
    over = [v for v in blocked if "over_budget" in v.reasons]
    if not admitted and over:
        flags.append("budget_too_small")
    elif not admitted:
        flags.append("nothing_eligible")
    elif over:
        flags.append("over_budget")
    return tuple(flags)
