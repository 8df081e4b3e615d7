"""States in the ledger: recompute the lives that a change can have touched, store them, and record each transition."""

from __future__ import annotations

from collections.abc import Collection

from calm.cells import Cell, State
from calm.conflict import Conflict
from calm.lifecycle import Life, LifecycleConfig, Step, lifecycle
from calm.store import UNJUDGED, LedgerEvent, Store, StoredState


def neighbourhood(store: Store, ids: Collection[str]) -> tuple[list[Cell], list[Conflict]]:
    """Cells and conflicts that the lives of `ids` depend on: their conflict partners, what they (transitively) depend
    on, and the partners of that."""
    wanted = set(ids)
    while True:
        conflicts = store.conflicts_of(wanted)
        partners = {i for c in conflicts for i in (c.older, c.newer)}
        cells = store.cells(wanted | partners)
        needed: set[str] = set()
        for user in {c.user for c in cells}:
            names = {n for c in cells if c.user == user and c.id in wanted for e in c.evidence for n in e.depends_on}
            needed |= {i for held in store.cells_of_records(user, names).values() for i in held}
            needed |= {c.id for c in store.cells(names) if c.user == user}
        if needed <= wanted:
            return cells, conflicts
        wanted |= needed


def dependents(store: Store, ids: Collection[str]) -> set[str]:
    """Cells that depend, directly or through others, on one of `ids`."""
    cells = store.cells(ids)
    found: set[str] = set()
    for user in {c.user for c in cells}:
        links = store.dependencies(user)
        fresh = [c for c in cells if c.user == user] if links else []
        while fresh:
            names = {c.id for c in fresh} | {e.record_id for c in fresh for e in c.evidence}
            hit = {i for i, needs in links.items() if needs & names} - found
            found |= hit
            fresh = store.cells(hit)
    return found


def refresh(store: Store, touched: Collection[str], config: LifecycleConfig, at_us: int) -> None:
    """Bring the stored states of `touched` cells and their dependents up to date; `at_us` is the wall clock of the
    events, int64 µs UTC. Runs inside the caller's transaction."""
    affected = set(touched) | dependents(store, touched)
    cells, conflicts = neighbourhood(store, affected)
    lives = lifecycle(cells, conflicts, config)
    before = store.states(affected)
    present = [i for i in sorted(affected) if i in lives]
    store.append_events([e for i in present for e in _events(i, before.get(i), lives[i], at_us)])
    store.put_states({i: StoredState(lives[i].state, lives[i].validity, lives[i].confidence) for i in present})


def _events(cell: str, before: StoredState | None, life: Life, at_us: int) -> list[LedgerEvent]:
    """The transitions of one cell since it was last judged; none where its state stands."""
    if before is None or before == UNJUDGED:
        states = [State.CANDIDATE, *(step.state for step in life.steps)]
        return [_event(cell, a, step, at_us) for a, step in zip(states, life.steps, strict=False)]
    if before.state is life.state:
        return []
    return [_event(cell, before.state, _decisive(before.state, life), at_us)]


def _decisive(before: State, life: Life) -> Step:
    """The rule that put a cell into its present state."""
    step = next(s for s in reversed(life.steps) if s.state is life.state)
    if before in (State.SUPERSEDED, State.STALE) and life.state not in (
        State.SUPERSEDED,
        State.STALE,
        State.ARCHIVED,
    ):
        rule = "reasserted" if step.rule == "reasserted" else "restored"
        return Step(rule, step.state, step.causes, step.numbers)
    return step


def _event(cell: str, before: State, step: Step, at_us: int) -> LedgerEvent:
    return LedgerEvent(cell, before, step.state, step.rule, step.causes, dict(step.numbers), at_us)
