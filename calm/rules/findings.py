"""What a rule returns, and how strong its words are."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from calm.rules.align import Alignment
from calm.rules.frame import Frame

CERTAIN, STRONG, LIKELY, WEAK, HINT = 0.95, 0.9, 0.8, 0.65, 0.5
"""The five strengths that rules give. From LIKELY on, a conflict can supersede. Ours."""


class Finding(NamedTuple):
    """A probability in [0, 1] and the rule that gave it; `final` when no model needs to look."""

    probability: float
    rule: str
    final: bool = False


Rule = Callable[[Frame, Frame, Alignment], Finding | None]


def open_values(older: Frame, newer: Frame) -> bool:
    """Whether one text has more typed values than the other, so that they can't be lined up one to one."""
    return len(older.values) != len(newer.values)
