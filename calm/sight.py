"""What a question can see: the pool of cells behind R_k, with the evidence that is visible at the instant asked about.

Event axis (default): a question about the past sees what held by then, even if it was recorded later. System axis:
only what had been recorded by then. A question about now sees all that is recorded by now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from calm.batch import Intent
from calm.cells import Cell, Evidence
from calm.collate import Seen
from calm.conflict import Conflict
from calm.lifecycle import Life, LifecycleConfig, lifecycle
from calm.query import Query


@dataclass(frozen=True, slots=True)
class Pool:
    """What one question works on.

    `relevance` maps the ids of R_k to the retriever's relevance in [0, 1]; `cells` holds these and every cell that
    their states depend on (conflict partners, dependencies); `conflicts` the scored pairs among them, of
    `pairs_scored` that were judged.
    """

    cells: tuple[Cell, ...] = ()
    relevance: Mapping[str, float] = field(default_factory=dict)
    conflicts: tuple[Conflict, ...] = ()
    pairs_scored: int = 0


def visible(evidence: Evidence, query: Query) -> bool:
    """Whether an assertion is visible to a question, on its time axis; unknown times are visible."""
    if query.axis == "system" or query.intent is not Intent.AS_OF:
        return evidence.record_time_us is None or evidence.record_time_us <= query.at_us
    return evidence.time_us is None or evidence.time_us <= query.at_us


def seen(pool: Pool, query: Query, config: LifecycleConfig) -> list[Seen]:
    """R_k as the question sees it, in order of id: visible evidence and lives at `query.at_us`."""
    clipped = {cell.id: _clip(cell, query) for cell in pool.cells}
    shown = [cell for cell in clipped.values() if cell is not None]
    lives = lifecycle(shown, pool.conflicts, config, query.at_us)
    whole = {cell.id: cell for cell in pool.cells}
    return [_seen(whole[i], clipped[i], lives, pool.relevance[i], config) for i in sorted(pool.relevance)]


def _clip(cell: Cell, query: Query) -> Cell | None:
    """The cell with its visible evidence only, told in the words of the latest; None where nothing is visible."""
    evidence = tuple(e for e in cell.evidence if visible(e, query))
    if not evidence:
        return None
    return replace(cell, evidence=evidence, text=evidence[-1].text)


def _seen(
    whole: Cell, clipped: Cell | None, lives: Mapping[str, Life], relevance: float, config: LifecycleConfig
) -> Seen:
    if clipped is None:
        return Seen(whole, lifecycle([whole], (), config)[whole.id], known=False, relevance=relevance)
    return Seen(clipped, lives[clipped.id], known=True, relevance=relevance)
