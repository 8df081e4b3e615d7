"""Relevance in [0, 1] of each cell to a question: the backend's own score, or else an embedding's cosine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calm.cells import Cell
from calm.embed import Embedder
from calm.records import Record


def relevance(question: str, cells: Sequence[Cell], records: Sequence[Record], embedder: Embedder) -> dict[str, float]:
    """Cell id -> relevance in [0, 1]. A cell takes the best score of the records that assert it."""
    given = backend_scores(records)
    scored = {c.id: [given[e.record_id] for e in c.evidence if e.record_id in given] for c in cells}
    blind = [c for c in cells if not scored[c.id]]
    cosines = _cosines(question, blind, embedder) if blind else {}
    return {c.id: max(scored[c.id]) if scored[c.id] else cosines[c.id] for c in cells}


def backend_scores(records: Sequence[Record]) -> Mapping[str, float]:
    """Record id -> the backend's score in [0, 1].

    Scores inside [0, 1] are taken as they are. If any lies outside (BM25, a negated distance), all of the question's
    scores are scaled so that the largest becomes 1 and the smallest 0 (ours).
    """
    scores = {r.id: r.score for r in records if r.score is not None}
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if low >= 0.0 and high <= 1.0:
        return scores
    # Halves, so that the width of the largest floats stays finite.
    width = high / 2 - low / 2
    return {i: (s / 2 - low / 2) / width if width > 0 else 1.0 for i, s in scores.items()}


def _cosines(question: str, cells: Sequence[Cell], embedder: Embedder) -> dict[str, float]:
    """Cosine to the question, negative ones as 0."""
    vectors = embedder.encode([question, *(c.bound for c in cells)])
    cosines = (vectors[1:] @ vectors[0]).clip(0.0, 1.0)
    return {c.id: float(x) for c, x in zip(cells, cosines, strict=True)}
