"""How well a conflict scorer tells pairs that conflict from pairs that don't. Legend: P pairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from calm.bench import measures
from calm.bench.measures import Interval, Labels, Scores
from calm.conflict import STRONG, ConflictScorer, TextPair, move
from calm.crossencoder import CrossEncoderScorer


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two texts, older first; whether the newer contradicts the older, and of which kind the pair is."""

    older: str
    newer: str
    conflict: bool
    kind: str

    @property
    def texts(self) -> TextPair:
        """What a scorer takes."""
        return (self.older, self.newer)


@dataclass(frozen=True, slots=True)
class Report:
    """A scorer on one set of pairs. `alarm_rate` is over pairs without conflict; `gap` None where not measured."""

    pairs: int
    conflicts: int
    precision: Interval
    recall: Interval
    f1: Interval
    average_precision: Interval
    alarm_rate: Interval
    calibration_error: float
    gap: float | None


def read_pairs(lines: Iterable[str]) -> list[LabelledPair]:
    """Pairs of JSON lines with `older`, `newer`, `conflict`, and `kind` ("" where it is missing).

    Raises `ValueError` for a line that is no such object.
    """
    pairs = []
    for number, line in enumerate(lines, start=1):
        try:
            data = json.loads(line)
            pairs.append(LabelledPair(data["older"], data["newer"], bool(data["conflict"]), data.get("kind", "")))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"line {number} is no pair with older, newer and conflict: {error}") from error
    return pairs


def labels(pairs: Sequence[LabelledPair]) -> Labels:
    """Whether each pair conflicts: bool (P,)."""
    return np.array([pair.conflict for pair in pairs], dtype=bool)


def report(
    pairs: Sequence[LabelledPair],
    scores_P: Scores,
    *,
    gap: float | None = None,
    threshold: float = STRONG,
    clustered: bool = False,
    probability_P: Scores | None = None,
) -> Report:
    """All measures of a set, with intervals over pairs, or over kinds drawn whole where `clustered`.

    `probability_P` is what the calibration error is of, where the scores are not probabilities themselves.
    """
    labels_P = labels(pairs)
    groups_P = np.array([pair.kind for pair in pairs]) if clustered else None
    interval = partial(measures.bootstrap, scores_P=scores_P, labels_P=labels_P, groups_P=groups_P)
    return Report(
        pairs=len(pairs),
        conflicts=int(labels_P.sum()),
        precision=interval(partial(measures.precision, threshold=threshold)),
        recall=interval(partial(measures.recall, threshold=threshold)),
        f1=interval(partial(measures.f1, threshold=threshold)),
        average_precision=interval(measures.average_precision),
        alarm_rate=interval(partial(measures.alarm_rate, threshold=threshold)),
        calibration_error=measures.calibration_error(scores_P if probability_P is None else probability_P, labels_P),
        gap=gap,
    )


def probabilities(scorer: ConflictScorer, scores_P: Scores) -> Scores:
    """The probabilities behind a scorer's scores: a cross-encoder moves their odds to where it is to be believed."""
    return move(scores_P, STRONG, scorer.threshold) if isinstance(scorer, CrossEncoderScorer) else scores_P


def symmetry_gap(pairs: Sequence[LabelledPair], scores_P: Scores, scorer: ConflictScorer, most: int) -> float:
    """Mean |P(a, b) - P(b, a)| over up to `most` pairs, evenly spaced in the set."""
    step = max(1, -(-len(pairs) // max(1, most)))
    rows = range(0, len(pairs), step)
    backward = scorer.score([(pairs[n].newer, pairs[n].older) for n in rows])
    return measures.symmetry_gap(scores_P[list(rows)], backward)


def by_kind(pairs: Sequence[LabelledPair], scores_P: Scores, threshold: float = STRONG) -> dict[str, tuple[int, int]]:
    """Per kind of pair: alarms at `threshold`, and pairs."""
    alarms_P = scores_P >= threshold
    counts: dict[str, tuple[int, int]] = {}
    for pair, alarm in sorted(zip(pairs, alarms_P.tolist(), strict=True), key=lambda row: row[0].kind):
        alarms, total = counts.get(pair.kind, (0, 0))
        counts[pair.kind] = (alarms + alarm, total + 1)
    return counts
