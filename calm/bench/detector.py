"""How well a conflict scorer tells pairs that conflict from pairs that don't. Legend: P pairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calm.conflict import STRONG, TextPair


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
class Confusion:
    """Counts at one threshold."""

    hits: int
    false_alarms: int
    misses: int
    rejections: int

    @property
    def precision(self) -> float:
        """Share of the alarms that are right, in [0, 1]; 1 where there is none."""
        alarms = self.hits + self.false_alarms
        return self.hits / alarms if alarms else 1.0

    @property
    def recall(self) -> float:
        """Share of the conflicts that are found, in [0, 1]; 1 where there is none."""
        conflicts = self.hits + self.misses
        return self.hits / conflicts if conflicts else 1.0


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


def confusion(pairs: Sequence[LabelledPair], scores_P: NDArray[np.float32], threshold: float = STRONG) -> Confusion:
    """Counts where a score of `threshold` in [0, 1] or more is an alarm."""
    labels_P = np.array([pair.conflict for pair in pairs], dtype=bool)
    alarms_P = scores_P >= threshold
    return Confusion(
        hits=int(np.sum(alarms_P & labels_P)),
        false_alarms=int(np.sum(alarms_P & ~labels_P)),
        misses=int(np.sum(~alarms_P & labels_P)),
        rejections=int(np.sum(~alarms_P & ~labels_P)),
    )
