"""What the ledger holds beside records, cells and conflicts: stored states and events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from calm.cells import State


@dataclass(frozen=True, slots=True)
class StoredState:
    """The outcome of Stage II for one cell: its state, and validity and confidence in [0, 1]."""

    state: State
    validity: float
    confidence: float


UNJUDGED = StoredState(State.CANDIDATE, validity=1.0, confidence=0.0)
"""What a cell is from `put_cells` until the first `put_states`. Ours: nothing has capped its validity yet."""


@dataclass(frozen=True, slots=True)
class LedgerEvent:
    """One transition of one cell: which rule led from `before` to `after`, by which ids and numbers.

    `at_us` is the wall clock at which it was written down (int64 µs UTC); rules never read it.
    """

    cell: str
    before: State
    after: State
    rule: str
    causes: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)
    at_us: int = 0
