"""Which pairs of cells deserve a score: a hash join on the scorer's blocking keys, so that no pair explodes.

A scorer that publishes `keys(text)` promises that it gives 0 to any two texts that don't meet in one (`blocking.py`).
For any other scorer every pair that can meet is proposed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from calm.blocking import joined
from calm.cells import Cell
from calm.conflict import ConflictScorer
from calm.lifecycle import may_meet


@runtime_checkable
class Keyed(Protocol):
    """A scorer with lossless blocking keys."""

    def keys(self, text: str) -> frozenset[str]:
        """Keys of `text`, some behind `OPEN`: two texts that meet in none can't conflict."""


@runtime_checkable
class Hinted(Protocol):
    """A scorer that knows of some pairs by keys, and for the rest has to see all that are alike."""

    def hint_keys(self, text: str) -> frozenset[str]:
        """Keys of `text`, some behind `OPEN`: two texts that meet in one may be worth a look."""

    def hinted(self, older: str, newer: str) -> bool:
        """Whether two texts that meet in a key are worth a look."""


def keys_of(cells: Iterable[Cell], scorer: ConflictScorer) -> dict[str, frozenset[str]]:
    """Cell id -> blocking keys; only for cells that say how things are, and only where the scorer has keys."""
    if not isinstance(scorer, Keyed | Hinted):
        return {}
    keys = scorer.keys if isinstance(scorer, Keyed) else scorer.hint_keys
    return {cell.id: keys(cell.bound) for cell in cells if cell.asserts}


def propose(cells: Sequence[Cell], scorer: ConflictScorer) -> list[tuple[Cell, Cell]]:
    """Pairs of cells that can meet and that the scorer should see, (older, newer) by `age`; order-free."""
    by_id = {cell.id: cell for cell in cells}
    if isinstance(scorer, Keyed):
        pairs = joined(keys_of(by_id.values(), scorer))
    else:
        ids = sorted(by_id)
        pairs = {(a, b) for n, a in enumerate(ids) for b in ids[n + 1 :]}
    return [by_age(by_id[a], by_id[b]) for a, b in sorted(pairs) if may_meet(by_id[a], by_id[b])]


def age(cell: Cell) -> tuple[bool, int, str]:
    """Sort key of a cell's first assertion: undated first, then by event time, then by id."""
    times = [e.time_us for e in cell.evidence if e.time_us is not None]
    return (bool(times), min(times, default=0), cell.id)


def by_age(a: Cell, b: Cell) -> tuple[Cell, Cell]:
    """The two cells, older first."""
    return (a, b) if age(a) <= age(b) else (b, a)


def proposed_BKK(rows: Sequence[Sequence[Cell]], scorer: ConflictScorer, width: int) -> Tensor:
    """Bool (B, K, K), symmetric: the scorer should see this pair of candidates of one question."""
    mask_BKK = torch.zeros((len(rows), width, width), dtype=torch.bool)
    for b, cells in enumerate(rows):
        if not isinstance(scorer, Keyed):
            mask_BKK[b, : len(cells), : len(cells)] = True
            continue
        place = {cell.id: k for k, cell in enumerate(cells)}
        for first, second in joined(keys_of(cells, scorer)):
            mask_BKK[b, place[first], place[second]] = mask_BKK[b, place[second], place[first]] = True
    return mask_BKK
