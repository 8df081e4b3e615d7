"""What a detector learns from: two texts, older first, and what the newer one does to the older one."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from enum import IntEnum


class Label(IntEnum):
    """The classes of the detector's head, in its order, and COMPATIBLE: either of the last two, not known which."""

    CONTRADICTION = 0
    ENTAILMENT = 1
    NEUTRAL = 2
    COMPATIBLE = 3


def label_of(conflict: bool) -> Label:
    """The label of a pair of which only this is known."""
    return Label.CONTRADICTION if conflict else Label.COMPATIBLE


@dataclass(frozen=True, slots=True)
class Example:
    """Two texts, older first, their label, the source that they are from and the kind of pair."""

    older: str
    newer: str
    label: Label
    source: str
    kind: str = ""

    @property
    def conflict(self) -> bool:
        """Whether the newer text contradicts the older one."""
        return self.label is Label.CONTRADICTION


def swapped(example: Example) -> Example:
    """The pair in the other order.

    A contradiction stays one. What B entails need not entail B, so the other labels become COMPATIBLE. Ours: seen in
    both orders, a model's two scores of a pair come close, so that one order is enough at inference.
    """
    return replace(example, older=example.newer, newer=example.older, label=label_of(example.conflict))


def either_order(example: Example, rng: random.Random) -> Example:
    """The pair as it is, or swapped, with even odds."""
    return swapped(example) if rng.random() < 0.5 else example
