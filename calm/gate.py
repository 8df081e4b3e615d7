"""The gate: four features -> one score, and the threshold above which a memory is admitted.

Legend: B queries, K candidates, F = 4 features in the order of `calm.features.FEATURES`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from calm.ranges import in_unit


class Gate(Protocol):
    """Anything that scores candidates by their features: CALM-ZS here, the trained MLP in `calm.models`.

    `scores` maps (B, K, 4) in [0, 1] to (B, K) in [0, 1]; a candidate's score depends on its own features
    alone.
    """

    @property
    def name(self) -> str:
        """What reports call the gate."""
        ...

    @property
    def threshold(self) -> float:
        """Scores from here on are admitted, in [0, 1]."""
        ...

    def scores(self, features_BKF: Tensor) -> Tensor:
        """Scores in [0, 1] of (B, K) candidates."""
        ...


@dataclass(frozen=True, slots=True)
class ZeroShotGate:
    """CALM-ZS: the mean of the four features, 1/4 each; needs no training.

    Raises `InvalidOption` for a threshold outside [0, 1].
    """

    threshold: float = 0.60
    """In [0, 1]. Ours: the paper doesn't give the threshold of CALM-ZS."""

    def __post_init__(self) -> None:
        in_unit("threshold", self.threshold)

    @property
    def name(self) -> str:
        """What reports call the gate."""
        return "zs"

    def scores(self, features_BKF: Tensor) -> Tensor:
        """Mean of the four features: float32 (B, K) in [0, 1].

        Summed in a fixed order, not by a reduction whose order may follow the batch's shape: a candidate
        scores the same, to the bit, alone and among others.
        """
        relevance_BK, validity_BK, compatibility_BK, safety_BK = features_BKF.float().unbind(dim=-1)
        return ((relevance_BK + validity_BK) + (compatibility_BK + safety_BK)) / 4


def admitted(scores_BK: Tensor, eligible_BK: Tensor, threshold: float) -> Tensor:
    """Eligible candidates whose score reaches the threshold: bool (B, K). A NaN never does."""
    return eligible_BK & (scores_BK >= threshold)
