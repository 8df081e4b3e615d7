"""Hand-made and random cells and conflicts for the tests of Stage II."""

from __future__ import annotations

import random
from dataclasses import dataclass

from hypothesis import strategies as st

from calm.cells import Cell, Evidence, SemanticType, Source, cell_id, merge
from calm.conflict import Conflict
from calm.records import Support
from calm.times import MAX_US

HORIZON = 6
"""Random times lie in 0..HORIZON µs, so that ties are common."""


def said(
    record_id: str,
    time_us: int | None,
    source: Source = Source.USER,
    *,
    index: int = 0,
    record_time_us: int | None = None,
    valid_to_us: int | None = None,
    backend_state: str | None = None,
    depends_on: tuple[str, ...] = (),
    support: Support = "all",
) -> Evidence:
    """One assertion; it was recorded when it applied, unless told otherwise."""
    return Evidence(
        record_id=record_id,
        index=index,
        text=f"words of {record_id}",
        speaker=source.name.lower(),
        source=source,
        time_us=time_us,
        record_time_us=time_us if record_time_us is None else record_time_us,
        valid_to_us=valid_to_us,
        backend_state=backend_state,
        depends_on=depends_on,
        support=support,
    )


def claim(
    name: str,
    *evidence: Evidence,
    user: str | None = "alice",
    scope: str = "global",
    semantic_type: SemanticType = SemanticType.STATEMENT,
) -> Cell:
    """The cell of one claim with its assertions in the order that Stage I gives them."""
    i = cell_id(user, scope, semantic_type, name)
    parts = [
        Cell(i, name, e.text, f"{name} ({e.text})", user, scope, semantic_type, frozenset(), (e,)) for e in evidence
    ]
    return merge(parts)[0]


def clash(a: Cell, b: Cell, probability: float = 0.9, scorer: str = "gold") -> Conflict:
    """A scored pair."""
    return Conflict(a.id, b.id, probability, scorer)


@dataclass(frozen=True)
class World:
    """Cells and conflicts that belong together, and an instant to look at them."""

    cells: tuple[Cell, ...]
    conflicts: tuple[Conflict, ...]
    at_us: int


_SOURCES = (*Source, Source.USER, Source.USER)
_RECORDS = [f"m{n}" for n in range(10)]
_TYPES = [SemanticType.STATEMENT] * 30 + list(SemanticType)
_WORDS = [None] * 24 + ["superseded", " Archived ", "STALE", "active", "deleted", ""]
_PROBABILITIES = [0.5, 0.7499, 0.75, 0.9, 0.9375, 1.0, 1.0, 1.0]


def random_world(seed: int, n_cells: int) -> World:
    """Everything that can happen, ties, cycles, foreign ids and several owners included.

    A record has one source, as in Stage I.
    """
    pick = random.Random(seed)
    shells = [
        (
            f"c{n}",
            pick.choice(["alice"] * 6 + [None]),
            pick.choice(["global"] * 6 + ["project:x"]),
            pick.choice(_TYPES),
        )
        for n in range(n_cells)
    ]
    ids = [cell_id(user, scope, kind, name) for name, user, scope, kind in shells]

    def assertion() -> Evidence:
        number = pick.randrange(len(_RECORDS))
        names = ["never seen", *_RECORDS, *ids * 3]
        needs = pick.choices(names, k=pick.randint(1, 2)) if pick.random() < 0.3 else []
        return said(
            _RECORDS[number],
            None if pick.random() < 0.15 else pick.randint(0, HORIZON),
            _SOURCES[number % len(_SOURCES)],
            index=pick.randint(0, 1),
            valid_to_us=pick.choice([None, None, None, None, 2, HORIZON]),
            backend_state=pick.choice(_WORDS),
            depends_on=tuple(needs),
            support=pick.choice(["all", "any"]),
        )

    cells = [
        claim(name, *(assertion() for _ in range(pick.randint(1, 3))), user=user, scope=scope, semantic_type=kind)
        for name, user, scope, kind in shells
    ]
    sides = [*ids, "no such cell"]
    conflicts = [
        Conflict(pick.choice(sides), pick.choice(sides), pick.choice([*_PROBABILITIES, pick.random()]), scorer)
        for scorer in pick.choices("ab", k=pick.randint(0, n_cells * n_cells))
    ]
    at_us = pick.choice([MAX_US, pick.randint(-1, HORIZON + 1)])
    return World(tuple(pick.sample(cells, len(cells))), tuple(conflicts), at_us)


def worlds(max_cells: int = 7) -> st.SearchStrategy[World]:
    """Random worlds of every size, the empty one included."""
    return st.builds(random_world, st.integers(0, 2**32 - 1), st.integers(0, max_cells))
