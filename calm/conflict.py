"""κ, the conflict function: one small protocol, and the labels and thresholds that go with it (Eq. 4).

P pairs. A pair is (older text, newer text); the score is P(the newer contradicts the older) in [0, 1].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

TextPair = tuple[str, str]

STRONG = 0.75
"""Conflict strength from which supersession can follow (CALM, Stage II)."""


class ConflictScorer(Protocol):
    """Anything that can say how likely two statements contradict each other.

    `fingerprint` names the scorer and its version: cached scores of another fingerprint are never read.
    `score` gets P (older, newer) text pairs and returns float32 P(contradiction), shape (P,), in [0, 1];
    P may be 0. Equal inputs give equal outputs, whatever else is in the batch.
    """

    @property
    def fingerprint(self) -> str:
        """Names the scorer and its version: cached scores of another one are not reused."""

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        """P(contradiction) of P (older, newer) pairs, float32 (P,) in [0, 1]."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two cells that were scored, older first by (first event time, id); weak ones are recorded too.

    `probability` is κ before the reliability of the two sources is weighed in; `scorer` the fingerprint.
    """

    older: str
    newer: str
    probability: float
    scorer: str


def strength(probability: float, reliability_newer: float, reliability_older: float) -> float:
    """P(contradiction) x min(1, reliability of the newer / of the older), in [0, 1].

    Ours (DESIGN 4): a low-trust source can record a conflict but not supersede the user, while one web page
    can supersede another.
    """
    # Rounded, so that 1.0 x 0.6 / 0.8 is the 0.75 that it means and the tensor twin finds.
    return round(probability * min(1.0, reliability_newer / reliability_older), 6)


def move(probability_P: NDArray[np.float32], start: float, to: float) -> NDArray[np.float32]:
    """Probabilities (P,) with all odds multiplied alike, so that `start` becomes `to`; both in (0, 1).

    Order, 0 and 1 stay; `move(..., to, start)` takes it back. Ours: one strength supersedes, `STRONG`, while the score
    from which it pays to believe a detector is the detector's own.
    """
    ratio = to * (1 - start) / ((1 - to) * start)
    exact_P = probability_P.astype(np.float64)
    moved_P: NDArray[np.float32] = (exact_P * ratio / (1 - exact_P + exact_P * ratio)).astype(np.float32)
    return moved_P


@dataclass(frozen=True, slots=True)
class GoldScorer:
    """Labelled pairs as an oracle: the ceiling of GC-Mem's Table 3, and the scorer of the tests.

    `labels` maps (older text, newer text) to a probability; unlisted pairs score 0.
    """

    labels: Mapping[TextPair, float]

    @property
    def fingerprint(self) -> str:
        """Always "gold"."""
        return "gold"

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        """The labels of P pairs, float32 (P,); 0 for a pair without one."""
        return np.array([self.labels.get(pair, 0.0) for pair in pairs], dtype=np.float32)
