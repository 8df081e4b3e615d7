"""Typed values, and when two of them are the same.

Two values of one kind are the same when they agree after unit conversion and rounding: 5 km and 3.1 miles,
1.2k and 1,200, 23:59 and 11:59 pm. Ours: the papers' κ is a model; units are what a small one gets wrong.
"""

from __future__ import annotations

from typing import NamedTuple


class Value(NamedTuple):
    """A typed value: kind, canonical form, unit as written, and the span in the clause [start, end)."""

    kind: str
    canonical: tuple[object, ...]
    unit: str
    start: int
    end: int


def comparable(a: Value, b: Value) -> bool:
    """Whether the two values can be two readings of one quantity."""
    if a.kind != b.kind:
        return {a.kind, b.kind} in ({"number", "money"}, {"number", "version"})
    return a.kind != "money" or a.unit == b.unit or "" in (a.unit, b.unit)


def same(a: Value, b: Value) -> bool:
    """Whether two comparable values agree within rounding, or one only says more than the other."""
    if a.kind == "time" and b.kind == "time":
        x, y = int(str(a.canonical[0])), int(str(b.canonical[0]))
        return x == y or (not (a.canonical[1] and b.canonical[1]) and (x - y) % 720 == 0)
    if a.kind == "date" and b.kind == "date" and "/" in (a.unit, b.unit):
        years = {v.canonical[0] for v in (a, b)} - {None}
        return len(years) < 2 and sorted(map(str, a.canonical[1:])) == sorted(map(str, b.canonical[1:]))
    if a.kind == "date" and b.kind == "date":
        return all(x is None or y is None or x == y for x, y in zip(a.canonical, b.canonical, strict=True))
    if {a.kind, b.kind} & {"version"}:
        mine, theirs = _parts(a), _parts(b)
        shorter = min(len(mine), len(theirs))
        return mine[:shorter] == theirs[:shorter]
    first, second = a.canonical[0], b.canonical[0]
    if isinstance(first, float) and isinstance(second, float):
        slack = 0.025 if a.unit != b.unit and a.kind == b.kind and a.kind not in ("number", "money") else 1e-9
        return abs(first - second) <= slack * max(abs(first), abs(second))
    if a.kind == "weekday":
        return bool(set(a.canonical) & set(b.canonical))
    return a.canonical == b.canonical


def _parts(value: Value) -> tuple[object, ...]:
    """A version's parts; a number's digits before and behind the point ("is 7.5" beside "version 7.5")."""
    if value.kind == "version":
        return value.canonical
    return tuple(int(part) for part in f"{value.canonical[0]:g}".split(".") if part.isdigit())
