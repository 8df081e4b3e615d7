"""What two frames share and where they differ: the ground on which every rule of `compare` stands."""

from __future__ import annotations

from dataclasses import dataclass

from calm.rules import lexicon as lex
from calm.rules.frame import Frame
from calm.rules.quantities import Value, comparable, same
from calm.rules.stems import stem

LIGHT = frozenset(stem(w) for w in lex.LIGHT_WORDS)
_LOOSE = LIGHT | frozenset(stem(w) for w in "go be have say went now".split())


_VOID = frozenset(stem(w) for w in "go be have say went now user amount total keep need want".split())
_LOW = frozenset(stem(w) for w in "least minimum min less fewer".split())
_HIGH = frozenset(stem(w) for w in "most maximum max exceed more".split())


@dataclass(frozen=True, slots=True)
class Alignment:
    """`common`, `rest_older`, `rest_newer`: content stems; `light`: the light words that only one has. `changed` and
    `equal`: kinds of typed values that differ or agree; `sign`: -1 where the polarity is opposite.
    """

    common: frozenset[str]
    rest_older: frozenset[str]
    rest_newer: frozenset[str]
    light: frozenset[str]
    changed: tuple[tuple[Value, Value], ...]
    equal: tuple[tuple[Value, Value], ...]
    sign: int

    @property
    def coverage(self) -> float:
        """Share in [0, 1] of the shorter text's content that the other has as well."""
        shorter = len(self.common) + min(len(self.rest_older), len(self.rest_newer))
        return len(self.common) / shorter if shorter else 0.0


def align(older: Frame, newer: Frame) -> Alignment:
    """Lines up two frames."""
    common = older.content & newer.content
    changed, equal = _values(older.values, newer.values)
    return Alignment(
        common=common - LIGHT,
        rest_older=older.content - newer.content - newer.tail - _LOOSE,
        rest_newer=newer.content - older.content - older.tail - _LOOSE,
        light=((older.content ^ newer.content) & LIGHT) - newer.tail - older.tail - _VOID,
        changed=changed,
        equal=equal,
        sign=_sign(older, newer),
    )


def _sign(older: Frame, newer: Frame) -> int:
    sign = -1 if older.negative != newer.negative else 1
    groups = dict(newer.polar)
    for group, value in older.polar:
        if group in groups and groups[group] != value:
            sign = -sign
    return sign


def _values(
    older: tuple[Value, ...], newer: tuple[Value, ...]
) -> tuple[tuple[tuple[Value, Value], ...], tuple[tuple[Value, Value], ...]]:
    """Pairs of comparable values that differ, and pairs that agree; a value that agrees with any is no
    difference."""
    changed: list[tuple[Value, Value]] = []
    equal: list[tuple[Value, Value]] = []
    left = list(newer)
    open_: list[Value] = []
    for value in older:
        match = next((v for v in left if comparable(value, v) and same(value, v)), None)
        if match is None:
            open_.append(value)
        else:
            equal.append((value, match))
            left.remove(match)
    for value in open_:
        match = next((v for v in left if v.kind == value.kind and comparable(value, v)), None)
        match = match or next((v for v in left if comparable(value, v)), None)
        if match is not None:
            changed.append((value, match))
            left.remove(match)
    return tuple(changed), tuple(equal)


def labels(frame: Frame) -> frozenset[str]:
    """What the numbers and codes before the verb identify: "ticket=(12.0,)". Equal values in other forms are equal."""
    return frozenset(f"{v.unit}={v.canonical}" for v in frame.ids if v.unit and v.kind in ("number", "code"))


def labels_differ(older: Frame, newer: Frame) -> bool:
    """ "Ticket 12 is open" and "Ticket 13 is closed": both name what they are about, and it is not the same."""
    mine, theirs = labels(older), labels(newer)
    return bool(mine and theirs) and not mine & theirs


def ids_differ(older: Frame, newer: Frame) -> bool:
    """Whether identifiers differ: "chapter 3 is due" and "chapter 4 is due", "flat 3B" and "Flat 3A
    wants"."""
    changed, _ = _values(older.ids, newer.ids)
    return bool(changed) or _mislabelled(older, newer) or _mislabelled(newer, older)


def _mislabelled(one: Frame, other: Frame) -> bool:
    for mine in (*one.ids, *one.tail_values):
        label = mine.unit if mine.kind in ("number", "code") else ""
        theirs = [v for v in (*other.ids, *other.values, *other.tail_values) if v.kind == mine.kind and v.unit == label]
        if label and theirs and not any(same(mine, v) for v in theirs):
            return True
    return False


def bounds_differ(older: Frame, newer: Frame) -> bool:
    """ "at least 2" and "at most 15" are two limits, not two values."""
    return bool(older.content & _LOW and newer.content & _HIGH) or bool(older.content & _HIGH and newer.content & _LOW)


def scopes_differ(older: Frame, newer: Frame) -> bool:
    """Whether both or one of the statements limit themselves to an area that the other doesn't name."""
    mine = older.scope - newer.scope - newer.content - LIGHT
    theirs = newer.scope - older.scope - older.content - LIGHT
    return bool(mine or theirs)


def rates_differ(older: Frame, newer: Frame) -> bool:
    """ "900 a month" and "900 a week" are not two values of one quantity."""
    return bool(older.rates and newer.rates and not older.rates & newer.rates)


def owners_differ(older: Frame, newer: Frame) -> bool:
    """Whether possessives or relatives say that the two are about different people."""
    if older.kin - newer.content - newer.tail - newer.owners or newer.kin - older.content - older.tail - older.owners:
        return True
    mine, theirs = older.owners, newer.owners
    if mine and theirs:
        return not mine & theirs and not (mine & newer.content or theirs & older.content)
    for owners, other in ((mine, newer), (theirs, older)):
        named = owners - {"self"}
        if named and not named & (other.content | other.tail):
            return True
    return False


def surely_other(older: Frame, newer: Frame) -> bool:
    """Whether identifiers or two named owners prove that the statements are about different things."""
    return ids_differ(older, newer) or (owners_differ(older, newer) and bool(older.owners and newer.owners))


def subjects_differ(older: Frame, newer: Frame) -> bool:
    """Whether the statements are about different things or people. Inverted sentences are the caller's
    affair."""
    if owners_differ(older, newer) or ids_differ(older, newer):
        return True
    mine, theirs = older.subject - LIGHT, newer.subject - LIGHT
    if not mine or not theirs:
        return False
    if ("self" in mine) != ("self" in theirs):
        person = mine if "self" in theirs else theirs
        owned = older.owners | newer.owners
        return "self" not in owned and not person & (older.content & newer.content)
    shared = mine & theirs
    if not shared:
        return not (mine & newer.content and theirs & older.content)
    only_mine = mine - theirs - newer.content - newer.tail
    only_theirs = theirs - mine - older.content - older.tail
    return bool(only_mine) and bool(only_theirs)
