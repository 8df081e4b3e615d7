"""Conflict detection over a set of cells: propose pairs, score each once, keep what is not zero (Stage II)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from calm.cells import Cell
from calm.conflict import Conflict, ConflictScorer, TextPair
from calm.pairs import ScoreCache, score_texts
from calm.propose import age, propose

RECORDED = 0.05
"""Conflicts from this probability on are recorded; the rest is noise (ours)."""


def detect(cells: Sequence[Cell], scorer: ConflictScorer, cache: ScoreCache | None = None) -> list[Conflict]:
    """Scored conflicts among `cells`, sorted by ids; a pure function of the set of cells."""
    return score_pairs(propose(cells, scorer), scorer, cache)


def score_pairs(
    pairs: Iterable[tuple[Cell, Cell]], scorer: ConflictScorer, cache: ScoreCache | None = None
) -> list[Conflict]:
    """Conflicts of (older, newer) cells. Where times can't order a pair, both orders are read and the higher counts."""
    ordered = sorted(pairs, key=lambda pair: (pair[0].id, pair[1].id))
    orders = [_orders(older, newer) for older, newer in ordered]
    flat = [texts for both in orders for texts in both]
    scores = dict(zip(flat, score_texts(flat, scorer, cache).tolist(), strict=True))
    found = []
    for (older, newer), both in zip(ordered, orders, strict=True):
        probability = max(scores[texts] for texts in both)
        if probability >= RECORDED:
            found.append(Conflict(older.id, newer.id, probability, scorer.fingerprint))
    return found


def _orders(older: Cell, newer: Cell) -> list[TextPair]:
    forward, backward = (older.bound, newer.bound), (newer.bound, older.bound)
    first, second = age(older), age(newer)
    decided = first[0] and second[0] and first[1] != second[1] and _disjoint(older, newer)
    return [forward] if decided else [forward, backward]


def _disjoint(older: Cell, newer: Cell) -> bool:
    """Every assertion of the older precedes every assertion of the newer, so that one order says it all."""
    ends = [e.time_us for e in older.evidence if e.time_us is not None]
    starts = [e.time_us for e in newer.evidence if e.time_us is not None]
    return len(ends) == len(older.evidence) and len(starts) == len(newer.evidence) and max(ends) < min(starts)
