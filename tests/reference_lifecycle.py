"""Stage II once more, from its documentation: plain loops over float64, slow and meant to be read.

Shares nothing with calm/lifecycle.py but the vocabulary of cells. Time is swept instant by instant, dependencies are
struck off one by one until nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from calm.cells import Cell, Evidence, SemanticType, State
from calm.conflict import Conflict

RELIABILITY = {"USER": 1.0, "TOOL": 0.8, "ASSISTANT": 0.6, "THIRD_PARTY": 0.5, "DOCUMENT": 0.4}
STRONG, ACTIVE, STABLE, SUPERSEDED_CAP, STALE_CAP, ONE_ASSERTION, HEDGE = 0.75, 0.60, 0.80, 0.15, 0.30, 0.75, 0.5
FOREVER = 2**62

SAYS_HOW_THINGS_ARE = {
    SemanticType.STATEMENT,
    SemanticType.PREFERENCE,
    SemanticType.EVENT,
    SemanticType.DIRECTIVE,
}
ONLY_MENTIONS = {
    SemanticType.HEDGED,
    SemanticType.HYPOTHETICAL,
    SemanticType.QUOTE,
    SemanticType.FICTION,
    SemanticType.INJECTION,
    SemanticType.QUESTION,
    SemanticType.SMALL_TALK,
}
VERDICTS = {
    **dict.fromkeys(("superseded", "invalidated", "expired", "replaced", "obsolete", "outdated"), State.SUPERSEDED),
    **dict.fromkeys(("archived", "deleted", "forgotten", "retracted", "disabled"), State.ARCHIVED),
    "stale": State.STALE,
}


@dataclass
class ReferenceLife:
    """What the rules say of one cell; `intervals` as (start, end), `chain` as (rule, state, causes)."""

    state: State = State.CANDIDATE
    validity: float = 0.0
    confidence: float = 0.0
    intervals: list[tuple[int | None, int | None]] = field(default_factory=list)
    superseded_by: list[str] = field(default_factory=list)
    contested_by: list[str] = field(default_factory=list)
    verified: bool = True
    chain: list[tuple[str, State, list[str]]] = field(default_factory=list)


def reference_lives(cells: Sequence[Cell], conflicts: Sequence[Conflict], at_us: int) -> dict[str, ReferenceLife]:
    """The life of every cell at an instant, with the default numbers."""
    lives = {}
    for cell in cells:
        rivals = {}
        for other in cells:
            how_strong = strength_against(cell, other, conflicts)
            if how_strong >= STRONG:
                rivals[other.id] = other
        lives[cell.id] = own_life(cell, [rivals[i] for i in sorted(rivals)], at_us)
    strike_off_dependents(cells, lives, at_us)
    return lives


def reliability(cell: Cell) -> float:
    return max(RELIABILITY[e.source.name] for e in cell.evidence)


def strength_against(cell: Cell, other: Cell, conflicts: Sequence[Conflict]) -> float:
    """How strongly `other` would supersede `cell`: P x min(1, reliability ratio), the strongest score counts."""
    if cell.id == other.id or cell.user != other.user or cell.scope != other.scope:
        return 0.0
    if cell.semantic_type not in SAYS_HOW_THINGS_ARE or other.semantic_type not in SAYS_HOW_THINGS_ARE:
        return 0.0
    strongest = 0.0
    for conflict in conflicts:
        if {conflict.older, conflict.newer} == {cell.id, other.id}:
            ratio = reliability(other) / reliability(cell)
            strongest = max(strongest, round(conflict.probability * min(1.0, ratio), 6))
    return strongest


def noisy_or(cell: Cell) -> float:
    """1 - the product of the doubts that each record leaves; a record counts once."""
    doubt = 1.0
    counted = []
    for evidence in cell.evidence:
        if evidence.record_id not in counted:
            counted.append(evidence.record_id)
            weight = RELIABILITY[evidence.source.name]
            if cell.semantic_type in ONLY_MENTIONS:
                weight *= HEDGE
            doubt *= 1.0 - ONE_ASSERTION * weight
    return 1.0 - doubt


def moments(cell: Cell, at_us: int) -> list[int]:
    return sorted({e.time_us for e in cell.evidence if e.time_us is not None and e.time_us <= at_us})


def undated(cell: Cell) -> bool:
    return all(e.time_us is None for e in cell.evidence)


def own_life(cell: Cell, rivals: Sequence[Cell], at_us: int) -> ReferenceLife:
    life = ReferenceLife(confidence=noisy_or(cell))
    life.chain.append(("created", State.CANDIDATE, []))
    promote(cell, life)
    life.intervals = sweep(cell, rivals, at_us)
    mine = moments(cell, at_us)
    for rival in rivals:
        theirs = moments(rival, at_us)
        if mine and any(t > mine[-1] for t in theirs):
            life.superseded_by.append(rival.id)
        has_happened = bool(theirs) or undated(rival)
        no_order = undated(cell) or undated(rival)
        if has_happened and (no_order if not (mine and theirs) else mine[-1] == theirs[-1]):
            life.contested_by.append(rival.id)
    if life.superseded_by:
        life.state = State.SUPERSEDED
        life.chain.append(("superseded", life.state, life.superseded_by))
    elif len(life.intervals) > 1:
        life.chain.append(("reasserted", life.state, [cell.evidence[-1].record_id]))
    if life.contested_by:
        life.chain.append(("unresolved_conflict", life.state, life.contested_by))
    verdict = backend_verdict(cell, at_us)
    if verdict is not None and not life.superseded_by:
        life.state = verdict
        life.chain.append(("backend_state", life.state, [cell.evidence[-1].record_id]))
    life.validity = life.confidence
    if life.state is State.SUPERSEDED:
        life.validity = min(life.validity, SUPERSEDED_CAP)
    if life.state is State.STALE:
        life.validity = min(life.validity, STALE_CAP)
    return life


def promote(cell: Cell, life: ReferenceLife) -> None:
    if cell.semantic_type in ONLY_MENTIONS:
        return
    records = sorted({e.record_id for e in cell.evidence})
    user_said_so = any(e.source.name == "USER" for e in cell.evidence)
    if user_said_so or life.confidence >= ACTIVE:
        life.state = State.ACTIVE
        life.chain.append(("direct_user_evidence" if user_said_so else "confidence", State.ACTIVE, records))
        if len(records) > 1 or life.confidence >= STABLE:
            life.state = State.STABLE
            life.chain.append(("repeated_support" if len(records) > 1 else "confidence", State.STABLE, records))


def sweep(cell: Cell, rivals: Sequence[Cell], at_us: int) -> list[tuple[int | None, int | None]]:
    """Walk through all instants: a rival's assertion ends what was open before it, an own one opens what is shut."""
    mine = moments(cell, at_us)
    if not mine:
        return [(None, None)]
    theirs = [t for rival in rivals for t in moments(rival, at_us)]
    intervals: list[tuple[int | None, int | None]] = []
    open_since: int | None = None
    for now in sorted({*mine, *theirs}):
        if now in theirs and open_since is not None:
            intervals.append((open_since, now))
            open_since = None
        if now in mine and open_since is None:
            open_since = now
    if open_since is not None:
        intervals.append((open_since, None))
    return intervals


def backend_verdict(cell: Cell, at_us: int) -> State | None:
    """The mildest of the backend's words, if every assertion has one that speaks of this instant."""
    found = []
    for evidence in cell.evidence:
        word = (evidence.backend_state or "").strip().casefold()
        still_held = evidence.valid_to_us is not None and at_us < evidence.valid_to_us
        if word not in VERDICTS or still_held:
            return None
        found.append(VERDICTS[word])
    for mildest_first in (State.SUPERSEDED, State.STALE, State.ARCHIVED):
        if mildest_first in found:
            return mildest_first
    return None


def strike_off_dependents(cells: Sequence[Cell], lives: dict[str, ReferenceLife], at_us: int) -> None:
    """Round by round: who lost every support in the rounds before goes STALE, until a round strikes off nobody."""
    gone = {c.id for c in cells if lives[c.id].state in (State.SUPERSEDED, State.STALE, State.ARCHIVED)}
    for cell in cells:
        if all(e.valid_to_us is not None and e.valid_to_us <= at_us < FOREVER for e in cell.evidence):
            gone.add(cell.id)
    while True:
        struck = {}
        for cell in cells:
            if cell.id not in gone:
                lost = [lost_support(e, cell, cells, gone) for e in cell.evidence]
                if all(names is not None for names in lost):
                    struck[cell.id] = [names for names in lost if names is not None]
        if not struck:
            return
        for i, lost_names in struck.items():
            missing = any(how == "missing" for names in lost_names for how in names.values())
            life = lives[i]
            life.state = State.STALE
            life.validity = min(life.validity, STALE_CAP)
            life.verified = not missing
            causes = sorted({name for names in lost_names for name in names})
            life.chain.append(("dependency_missing" if missing else "dependency_invalid", State.STALE, causes))
        gone |= set(struck)


def lost_support(evidence: Evidence, cell: Cell, cells: Sequence[Cell], gone: set[str]) -> dict[str, str] | None:
    """The names that this assertion can't lean on any more and why, or None where it still stands."""
    lost = {}
    for name in evidence.depends_on:
        holders = [c.id for c in cells if c.user == cell.user and name in (c.id, *(e.record_id for e in c.evidence))]
        others = [i for i in holders if i != cell.id]
        if not holders:
            lost[name] = "missing"
        elif others and all(i in gone for i in others):
            lost[name] = "failed"
    stands = not lost or (evidence.support == "any" and any(name not in lost for name in evidence.depends_on))
    return None if stands else lost
