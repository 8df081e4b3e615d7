"""Cells: the canonical, claim-sized memories of Stage I, and the vocabulary of their lives.

A cell is one normalised claim of one owner in one scope, with every assertion of it as evidence. Its id is a
hash of exactly that, so two machines that ingest the same records agree on it. `stage_one.py` makes cells.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from calm.records import GLOBAL_SCOPE, Support


class SemanticType(IntEnum):
    """What kind of speech act a cell is (DESIGN 3). The numbers index tensors: append, never renumber."""

    STATEMENT = 0
    PREFERENCE = 1
    EVENT = 2
    PLAN = 3
    HYPOTHETICAL = 4
    QUESTION = 5
    SMALL_TALK = 6
    QUOTE = 7
    FICTION = 8
    DIRECTIVE = 9
    TEMPORARY = 10
    HEDGED = 11
    INJECTION = 12
    EXPOSITION = 13
    """What an assistant explains at length: advice, lists, worked examples. It tells nothing of the user's world."""


ASSERTING = frozenset({SemanticType.STATEMENT, SemanticType.PREFERENCE, SemanticType.EVENT, SemanticType.DIRECTIVE})
"""Types that state how things are and may therefore supersede, and be superseded."""


class Source(IntEnum):
    """Who vouches for an assertion; `RELIABILITY` weighs it."""

    USER = 0
    TOOL = 1
    ASSISTANT = 2
    THIRD_PARTY = 3
    DOCUMENT = 4


RELIABILITY: dict[Source, float] = {
    Source.USER: 1.0,
    Source.TOOL: 0.8,
    Source.ASSISTANT: 0.6,
    Source.THIRD_PARTY: 0.5,
    Source.DOCUMENT: 0.4,
}
"""Reliability weight in (0, 1] by source. Ours (DESIGN 3): the paper names the weight but not its values."""


class State(IntEnum):
    """Lifecycle states of Stage II. The numbers index tensors and are stored: append, never renumber."""

    CANDIDATE = 0
    ACTIVE = 1
    STABLE = 2
    SUPERSEDED = 3
    STALE = 4
    ARCHIVED = 5


@dataclass(frozen=True, slots=True)
class Evidence:
    """One assertion of a claim: where it stands, when it was made, since when it applies, who says so.

    `record_time_us` is when it was said; `time_us` the event time from which it applies (the record time unless
    the backend or the text says otherwise). None means unknown, and unknown never dominates.
    `valid_from_us` and `valid_to_us` bound an explicit, half-open applicability interval.
    """

    record_id: str
    index: int
    text: str
    speaker: str
    source: Source
    time_us: int | None
    record_time_us: int | None
    valid_from_us: int | None = None
    valid_to_us: int | None = None
    backend_state: str | None = None
    depends_on: tuple[str, ...] = ()
    support: Support = "all"

    @property
    def reliability(self) -> float:
        """How much the source is trusted, in [0, 1] (`RELIABILITY`)."""
        return RELIABILITY[self.source]

    @property
    def key(self) -> tuple[str, int]:
        """What identifies a piece of evidence: the record and the clause's place in it."""
        return (self.record_id, self.index)


@dataclass(frozen=True, slots=True)
class Cell:
    """One claim of one owner. `claim` is the normalised text with the first person bound to its speaker, `text`
    the words of the latest evidence, `bound` the same words with the first person bound (what κ reads),
    `subject` whom it is about where that is known, `frames` the life areas that it applies to ("work", …).
    """

    id: str
    claim: str
    text: str
    bound: str
    user: str | None
    scope: str
    semantic_type: SemanticType
    entities: frozenset[str]
    evidence: tuple[Evidence, ...]
    subject: str | None = None
    frames: frozenset[str] = frozenset()

    @property
    def reliability(self) -> float:
        """Weight in (0, 1] of the most reliable assertion."""
        return max(e.reliability for e in self.evidence)

    @property
    def asserts(self) -> bool:
        """Whether the cell states how things are, and so can conflict or be superseded."""
        return self.semantic_type in ASSERTING

    @property
    def time_us(self) -> int | None:
        """Event time of the latest dated assertion (int64 µs UTC), or None."""
        return max((e.time_us for e in self.evidence if e.time_us is not None), default=None)


def cell_id(user: str | None, scope: str, semantic_type: SemanticType, claim: str) -> str:
    """16 hex digits that depend on owner, scope, type and normalised claim, and on nothing else."""
    parts = ("" if user is None else f"u{user}", scope or GLOBAL_SCOPE, str(int(semantic_type)), claim)
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()[:16]


def evidence_order(evidence: Evidence) -> tuple[bool, int, str, int]:
    """Undated first, then by event time; the record id breaks ties, so the order never depends on arrival."""
    return (evidence.time_us is not None, evidence.time_us or 0, evidence.record_id, evidence.index)


def merge(cells: Iterable[Cell]) -> list[Cell]:
    """Cells with one id become one cell with all their evidence (Stage II, merging of identical claims).

    Order-free and idempotent: the same set of cells in any order, any number of times, gives the same list,
    sorted by id. There is no support score; the evidence list is the support.
    """
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.id, []).append(cell)
    return [_join(groups[key]) for key in sorted(groups)]


def _join(group: list[Cell]) -> Cell:
    by_key = {e.key: (e, cell) for cell in group for e in cell.evidence}
    ordered = sorted((e for e, _ in by_key.values()), key=evidence_order)
    spoken = by_key[ordered[-1].key][1]
    return replace(spoken, evidence=tuple(ordered), text=ordered[-1].text)
