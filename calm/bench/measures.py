"""Measures of a conflict scorer against labels, each a small pure function. Legend: P pairs, R resamples, G groups.

Scores are P(contradiction) in [0, 1]; labels say whether a pair conflicts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float32]
Labels = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Interval:
    """A measure and the 2.5th and 97.5th percentile of its resamples."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


@dataclass(frozen=True, slots=True)
class Bin:
    """One bar of a reliability diagram: mean score and share of conflicts of the pairs whose scores fall in it."""

    score: float
    share: float
    pairs: int


def precision(scores_P: Scores, labels_P: Labels, threshold: float) -> float:
    """Share of the alarms (score >= threshold) that are right; 1 without alarms."""
    alarms_P = scores_P >= threshold
    return float(labels_P[alarms_P].mean()) if alarms_P.any() else 1.0


def recall(scores_P: Scores, labels_P: Labels, threshold: float) -> float:
    """Share of the conflicts that are found; 1 without conflicts."""
    return float((scores_P[labels_P] >= threshold).mean()) if labels_P.any() else 1.0


def alarm_rate(scores_P: Scores, labels_P: Labels, threshold: float) -> float:
    """Share of the pairs without conflict that are called one; 0 without such pairs."""
    return float((scores_P[~labels_P] >= threshold).mean()) if (~labels_P).any() else 0.0


def f1(scores_P: Scores, labels_P: Labels, threshold: float) -> float:
    """Harmonic mean of precision and recall, 2 hits / (alarms + conflicts); 0 without either."""
    alarms_P = scores_P >= threshold
    total = alarms_P.sum() + labels_P.sum()
    return float(2 * (alarms_P & labels_P).sum() / total) if total else 0.0


def average_precision(scores_P: Scores, labels_P: Labels) -> float:
    """Mean precision at the rank of each conflict, equal scores taken together; NaN without a conflict.

    Sum over thresholds of (recall gained x precision there), as scikit-learn has it.
    """
    if not labels_P.any():
        return float("nan")
    order_P = np.argsort(-scores_P, kind="stable")
    hits_P = np.cumsum(labels_P[order_P])
    last_P = np.append(np.diff(scores_P[order_P]) != 0, True)  # the last of each run of equal scores
    hits = hits_P[last_P]
    alarms = np.flatnonzero(last_P) + 1
    gained = np.diff(hits, prepend=0)
    return float((gained * hits / alarms).sum() / hits[-1])


def reliability(scores_P: Scores, labels_P: Labels, bins: int = 10) -> list[Bin]:
    """The filled ones of `bins` bins of equal width; a score of 1 falls in the last."""
    which_P = np.minimum((scores_P * bins).astype(int), bins - 1)
    filled = (which_P == n for n in range(bins))
    return [
        Bin(float(scores_P[in_P].mean()), float(labels_P[in_P].mean()), int(in_P.sum()))
        for in_P in filled
        if in_P.any()
    ]


def calibration_error(scores_P: Scores, labels_P: Labels, bins: int = 10) -> float:
    """Expected calibration error (Guo et al., 2017, Eq. 3): the bins' gaps weighted by their pairs; 0 for no pairs."""
    gaps = ((b.pairs * abs(b.score - b.share)) for b in reliability(scores_P, labels_P, bins))
    return sum(gaps) / max(1, len(scores_P))


def symmetry_gap(forward_P: Scores, backward_P: Scores) -> float:
    """Mean |P(a, b) - P(b, a)|; 0 without pairs."""
    return float(np.abs(forward_P - backward_P).mean()) if len(forward_P) else 0.0


def bootstrap(
    measure: Callable[[Scores, Labels], float],
    scores_P: Scores,
    labels_P: Labels,
    groups_P: NDArray[np.str_] | NDArray[np.int64] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Interval:
    """`measure` with its 95 % percentile interval over resampled pairs, or over resampled groups where given.

    Groups (of one attribute, say) are drawn whole: pairs that share texts are not independent.
    """
    rng = np.random.default_rng(seed)
    value = measure(scores_P, labels_P)
    names, inverse_P = np.unique(np.arange(len(scores_P)) if groups_P is None else groups_P, return_inverse=True)
    members = np.split(np.argsort(inverse_P, kind="stable"), np.cumsum(np.bincount(inverse_P))[:-1])
    drawn = []
    for _ in range(resamples if len(names) else 0):
        picked = rng.integers(len(names), size=len(names))
        rows = np.concatenate([members[g] for g in picked])
        drawn.append(measure(scores_P[rows], labels_P[rows]))
    if not drawn or np.isnan(drawn).all():
        return Interval(value, value, value)
    low, high = np.nanpercentile(drawn, [2.5, 97.5])
    return Interval(value, float(low), float(high))
