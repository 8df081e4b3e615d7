"""Blocking keys: texts meet in a key that both have, so a hash join finds the pairs without comparing all with all.

A key behind `OPEN` meets only the same key without it. So a thousand notes on numbered tickets, each with its keys
behind `OPEN` and once more with its number, meet the note that names no ticket, and not each other. Ours.
"""

from __future__ import annotations

from collections.abc import Mapping

OPEN = "?"
"""Marks a key of a text that says which of many things it is about, for the texts that don't say."""


def meet(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two texts with these keys meet."""
    return any(other in second for key in first for other in partner_keys(key))


def partner_keys(key: str) -> tuple[str, ...]:
    """The keys under which a text with `key` finds the texts that it meets."""
    return (key.removeprefix(OPEN),) if key.startswith(OPEN) else (key, OPEN + key)


def joined(keys: Mapping[str, frozenset[str]]) -> set[tuple[str, str]]:
    """Unordered pairs of owners, smaller first, that meet in a key."""
    holders: dict[str, list[str]] = {}
    for owner in sorted(keys):
        for key in keys[owner]:
            holders.setdefault(key, []).append(owner)
    plain = {key: ids for key, ids in holders.items() if not key.startswith(OPEN)}
    pairs = {(a, b) for ids in plain.values() for n, a in enumerate(ids) for b in ids[n + 1 :]}
    opened = {(min(a, b), max(a, b)) for key, ids in plain.items() for a in ids for b in holders.get(OPEN + key, ())}
    return pairs | {(a, b) for a, b in opened if a != b}
