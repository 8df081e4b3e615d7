"""Stage II: deterministic lifecycle rules. (cells, conflicts) -> lives; no I/O, no clock, no arrival order.

A state is a pure function of the *set* of cells and conflicts: the same records in any order, in any batching,
twice, or merged from two machines, end in the same states. Validity is a list of intervals: an assertion opens
one, a superseder's assertion closes it, so A -> B -> A is active again and deleting B re-opens what B closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from calm.cells import Cell, SemanticType, Source, State
from calm.conflict import STRONG, Conflict, strength
from calm.ranges import all_in_unit
from calm.times import MAX_US


@dataclass(frozen=True)
class LifecycleConfig:
    """The rules' numbers. From the paper unless marked ours."""

    strong_conflict: float = STRONG
    """Conflict strength in [0, 1] from which supersession follows."""
    active_confidence: float = 0.60
    """Confidence in [0, 1] from which a cell is ACTIVE without direct user evidence."""
    stable_confidence: float = 0.80
    """Confidence in [0, 1] from which a cell is STABLE without repeated support."""
    superseded_validity: float = 0.15
    """Cap in [0, 1] on the stored validity of a superseded cell."""
    stale_validity: float = 0.30
    """Cap in [0, 1] on the stored validity of a STALE cell. Ours: between superseded and active."""
    assertion_confidence: float = 0.75
    """Confidence in [0, 1] of one assertion by a fully reliable source. Ours: one user statement is ACTIVE (>= 0.60),
    not yet STABLE (>= 0.80); one tool result just ACTIVE; an assistant's inference stays CANDIDATE."""
    hedged_confidence: float = 0.5
    """Factor in [0, 1] on hedged, hypothetical, quoted or fictional claims. Ours."""

    def __post_init__(self) -> None:
        all_in_unit(self)


@dataclass(frozen=True, slots=True)
class Interval:
    """Half open, int64 µs UTC; `start_us` None: since ever, `end_us` None: until further notice."""

    start_us: int | None
    end_us: int | None


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that fired for a cell: the state it led to, the ids that caused it and the numbers behind it."""

    rule: str
    state: State
    causes: tuple[str, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Life:
    """What Stage II knows of one cell at one instant.

    `validity` and `confidence` lie in [0, 1]; `superseded_by` are cells whose later assertion closed this one's last
    interval; `contested_by` cells in a strong conflict that time can't decide; `verified` is False where evidence that
    the cell depends on is missing; `steps` is the chain of rules, in the order in which they apply.
    """

    state: State
    validity: float
    confidence: float
    intervals: tuple[Interval, ...]
    superseded_by: tuple[str, ...]
    contested_by: tuple[str, ...]
    verified: bool
    steps: tuple[Step, ...]


_UNASSERTED = frozenset(
    {
        SemanticType.HEDGED,
        SemanticType.HYPOTHETICAL,
        SemanticType.QUOTE,
        SemanticType.FICTION,
        SemanticType.INJECTION,
        SemanticType.QUESTION,
        SemanticType.SMALL_TALK,
    }
)
_SUPERSEDED_WORDS = frozenset({"superseded", "invalidated", "expired", "replaced", "obsolete", "outdated"})
_ARCHIVED_WORDS = frozenset({"archived", "deleted", "forgotten", "retracted", "disabled"})
_STALE_WORDS = frozenset({"stale"})


def lifecycle(
    cells: Sequence[Cell],
    conflicts: Iterable[Conflict],
    config: LifecycleConfig | None = None,
    at_us: int = MAX_US,
) -> dict[str, Life]:
    """The lives of `cells` at `at_us` (int64 µs UTC; an assertion that takes effect later has not happened yet).

    Rules, in order: confidence from the evidence -> CANDIDATE / ACTIVE / STABLE; strong conflict with a later
    assertion -> SUPERSEDED; a dependency that no longer holds -> STALE, one whose evidence is missing -> unverified;
    the backend's own verdicts. Conflicts with cells that are not given are ignored.
    """
    config = config or LifecycleConfig()
    by_id = {cell.id: cell for cell in cells}
    rivals = _rivals(by_id, conflicts, config.strong_conflict)
    lives = {cell.id: _own_life(cell, rivals.get(cell.id, ()), config, at_us) for cell in by_id.values()}
    return _with_dependencies(by_id, lives, config, at_us)


@dataclass(frozen=True, slots=True)
class _Rival:
    """A cell that is in strong conflict with this one, and how strongly it would supersede it."""

    cell: Cell
    strength: float


def _rivals(by_id: Mapping[str, Cell], conflicts: Iterable[Conflict], strong: float) -> dict[str, tuple[_Rival, ...]]:
    """Per cell the rivals that may close its intervals, strongest knowledge only, sorted by id."""
    found: dict[str, dict[str, float]] = {}
    for conflict in conflicts:
        a, b = by_id.get(conflict.older), by_id.get(conflict.newer)
        if a is None or b is None or not may_meet(a, b):
            continue
        for old, new in ((a, b), (b, a)):
            value = strength(conflict.probability, new.reliability, old.reliability)
            if value >= strong:
                known = found.setdefault(old.id, {})
                known[new.id] = max(value, known.get(new.id, 0.0))
    return {old: tuple(_Rival(by_id[new], found[old][new]) for new in sorted(found[old])) for old in sorted(found)}


def may_meet(a: Cell, b: Cell) -> bool:
    """Whether two cells can be in conflict at all: one owner, one scope, both say how things are."""
    return a.id != b.id and a.user == b.user and a.scope == b.scope and a.asserts and b.asserts


def confidence(cell: Cell, config: LifecycleConfig) -> float:
    """Noisy-or over the asserting records, each `assertion_confidence` x reliability; in [0, 1]. Ours.

    A record that repeats itself counts once.

    Retellings, quotes and guesses are mentions: they are other cells and never add to this one.
    """
    doubt = 1.0
    factor = config.hedged_confidence if cell.semantic_type in _UNASSERTED else 1.0
    for weight in sorted({e.record_id: e.reliability for e in cell.evidence}.values()):
        doubt *= 1.0 - config.assertion_confidence * weight * factor
    return 1.0 - doubt


def _own_life(cell: Cell, rivals: Sequence[_Rival], config: LifecycleConfig, at_us: int) -> Life:
    """The life of a cell as far as its own evidence and its rivals decide it."""
    sure = confidence(cell, config)
    steps = [Step("created", State.CANDIDATE), *_promotion(cell, sure, config)]
    past = [r for r in rivals if r.cell.time_us is None or _times(r.cell, at_us)]
    intervals, closers = _intervals(cell, past, at_us)
    contested = tuple(r.cell.id for r in past if _undecided(cell, r.cell, at_us))
    state = steps[-1].state
    if closers:
        state = State.SUPERSEDED
        steps.append(
            Step(
                "superseded",
                state,
                tuple(r.cell.id for r in closers),
                {"strength": max(r.strength for r in closers)},
            )
        )
    elif any(i.start_us is not None for i in intervals[1:]):
        steps.append(Step("reasserted", state, (cell.evidence[-1].record_id,)))
    if contested:
        steps.append(Step("unresolved_conflict", state, contested))
    verdict = _backend_verdict(cell, at_us)
    if verdict is not None and not closers:
        state = verdict
        steps.append(Step("backend_state", state, (cell.evidence[-1].record_id,)))
    return Life(
        state=state,
        validity=_stored_validity(state, sure, config),
        confidence=sure,
        intervals=intervals,
        superseded_by=tuple(r.cell.id for r in closers),
        contested_by=contested,
        verified=True,
        steps=tuple(steps),
    )


def _promotion(cell: Cell, sure: float, config: LifecycleConfig) -> list[Step]:
    """CANDIDATE -> ACTIVE -> STABLE by direct user evidence, repeated support and confidence."""
    if cell.semantic_type in _UNASSERTED:
        return []
    steps = []
    direct = any(e.source is Source.USER for e in cell.evidence)
    if direct or sure >= config.active_confidence:
        rule = "direct_user_evidence" if direct else "confidence"
        steps.append(Step(rule, State.ACTIVE, _witnesses(cell), {"confidence": sure}))
        repeated = len({e.record_id for e in cell.evidence}) > 1
        if repeated or sure >= config.stable_confidence:
            rule = "repeated_support" if repeated else "confidence"
            steps.append(Step(rule, State.STABLE, _witnesses(cell), {"confidence": sure}))
    return steps


def _witnesses(cell: Cell) -> tuple[str, ...]:
    return tuple(sorted({e.record_id for e in cell.evidence}))


def _times(cell: Cell, at_us: int) -> list[int]:
    """Distinct instants at which the cell was asserted, up to `at_us`, ascending."""
    return sorted({e.time_us for e in cell.evidence if e.time_us is not None and e.time_us <= at_us})


def _intervals(cell: Cell, rivals: Sequence[_Rival], at_us: int) -> tuple[tuple[Interval, ...], list[_Rival]]:
    """Validity intervals, and the rivals that closed the last one (empty while it is open).

    Swept in time: an assertion opens (or keeps open), the first strictly later assertion of a rival closes. An undated
    cell is one interval without bounds: unknown time neither dominates nor is dominated.
    """
    opens = _times(cell, at_us)
    if not opens:
        return (Interval(None, None),), []
    closes = sorted({t for r in rivals for t in _times(r.cell, at_us) if t > opens[0]})
    intervals: list[Interval] = []
    for start in opens:
        if intervals and (intervals[-1].end_us is None or start < intervals[-1].end_us):
            continue
        end = next((t for t in closes if t > start), None)
        intervals.append(Interval(start, end))
    last_open = opens[-1]
    closers = [r for r in rivals if any(t > last_open for t in _times(r.cell, at_us))]
    return tuple(intervals), closers


def _undecided(cell: Cell, rival: Cell, at_us: int) -> bool:
    """A strong conflict that time can't decide: a side without a time, or both last asserted at one instant."""
    mine, theirs = _times(cell, at_us), _times(rival, at_us)
    if not mine or not theirs:
        return any(side.time_us is None for side in (cell, rival))
    return mine[-1] == theirs[-1]


def _backend_verdict(cell: Cell, at_us: int) -> State | None:
    """The backend's own state, where every assertion carries one (the least damning wins).

    A backend that also says until when a memory held speaks of the time from then on only.
    """
    verdicts = [
        None if e.valid_to_us is not None and at_us < e.valid_to_us else _verdict(e.backend_state)
        for e in cell.evidence
    ]
    return None if not verdicts or None in verdicts else min(v for v in verdicts if v is not None)


def _verdict(word: str | None) -> State | None:
    folded = (word or "").strip().casefold()
    if folded in _SUPERSEDED_WORDS:
        return State.SUPERSEDED
    if folded in _ARCHIVED_WORDS:
        return State.ARCHIVED
    return State.STALE if folded in _STALE_WORDS else None


def _stored_validity(state: State, sure: float, config: LifecycleConfig) -> float:
    """Stored validity in [0, 1]: the confidence, capped for superseded (0.15) and stale cells."""
    cap = {State.SUPERSEDED: config.superseded_validity, State.STALE: config.stale_validity}
    return min(sure, cap.get(state, 1.0))


def _with_dependencies(
    by_id: Mapping[str, Cell], lives: dict[str, Life], config: LifecycleConfig, at_us: int
) -> dict[str, Life]:
    """Spread failed dependencies to a fixed point: the largest set of cells that support each other stays.

    Sweeps over sorted ids and only ever invalidates, so the result depends neither on order nor on cycles.
    """
    holders = _holders(by_id)
    failed = {i for i, life in lives.items() if life.state in (State.SUPERSEDED, State.STALE, State.ARCHIVED)}
    failed |= {i for i in lives if _outlived(by_id[i], at_us)}
    while True:
        fresh = {
            i: broken for i in sorted(set(lives) - failed) if (broken := _broken(by_id[i], holders, failed)) is not None
        }
        if not fresh:
            return lives
        for i, (causes, missing) in fresh.items():
            lives[i] = _invalidated(lives[i], causes, missing, config)
        failed |= fresh.keys()


def _outlived(cell: Cell, at_us: int) -> bool:
    return all(e.valid_to_us is not None and e.valid_to_us <= at_us < MAX_US for e in cell.evidence)


def _holders(by_id: Mapping[str, Cell]) -> dict[tuple[str | None, str], set[str]]:
    """(owner, record id or cell id) -> the cells that hold what it says."""
    holders: dict[tuple[str | None, str], set[str]] = {}
    for cell in by_id.values():
        for name in {cell.id, *(e.record_id for e in cell.evidence)}:
            holders.setdefault((cell.user, name), set()).add(cell.id)
    return holders


def _broken(
    cell: Cell, holders: Mapping[tuple[str | None, str], set[str]], failed: set[str]
) -> tuple[tuple[str, ...], bool] | None:
    """(causes, whether evidence is missing) where no assertion of the cell is supported any more, else None."""
    causes: set[str] = set()
    missing = False
    for evidence in cell.evidence:
        if not evidence.depends_on:
            return None
        gone = {name for name in evidence.depends_on if not holders.get((cell.user, name))}
        dead = {
            name
            for name in set(evidence.depends_on) - gone
            if holders[(cell.user, name)] - {cell.id} <= failed and holders[(cell.user, name)] != {cell.id}
        }
        lost = gone | dead
        if not lost or (evidence.support == "any" and len(lost) < len(set(evidence.depends_on))):
            return None
        causes |= lost
        missing = missing or bool(gone)
    return tuple(sorted(causes)), missing


def _invalidated(life: Life, causes: tuple[str, ...], missing: bool, config: LifecycleConfig) -> Life:
    rule = "dependency_missing" if missing else "dependency_invalid"
    return Life(
        state=State.STALE,
        validity=min(life.validity, config.stale_validity),
        confidence=life.confidence,
        intervals=life.intervals,
        superseded_by=life.superseded_by,
        contested_by=life.contested_by,
        verified=not missing,
        steps=(*life.steps, Step(rule, State.STALE, causes)),
    )
