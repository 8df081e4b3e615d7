"""Blocking keys: two texts that conflict by these rules share at least one, so a hash join finds every such
pair.

The rules ask for a shared key before they look any further: that makes the keys lossless by construction. Ours:
similarity only proposes pairs (DESIGN 4), and a hash join proposes them without comparing everything with everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from calm.blocking import OPEN
from calm.rules import predicates as pred
from calm.rules.align import LIGHT, labels
from calm.rules.frame import Frame

MAX_PAIR_STEMS = 8
"""How many content stems of a clause are joined to pair keys (8 give 28 keys)."""
_PERSONAL_KINDS = frozenset({"marital", "hand", "diet", "approval", "employment"})


def keys_of(frame: Frame) -> frozenset[str]:
    """The keys of one clause. One that names what it is about ("ticket 12") has them behind `OPEN` and with it."""
    keys = {*_relations(frame), *_values(frame), *_matter(frame)}
    named = labels(frame)
    if not named:
        return frozenset(keys)
    return frozenset(OPEN + key for key in keys) | {f"{key}#{name}" for key in keys for name in named}


def _relations(frame: Frame) -> Iterator[str]:
    """Attribute, holder, slots, order, way of doing."""
    if frame.attribute is not None:
        yield f"a:{frame.attribute.head}"
    if frame.holder is not None:
        yield from (f"h:{frame.holder.predicate}|{s}" for s in frame.holder.object - LIGHT)
    for slot in frame.slots:
        yield from (f"r:{slot.relation}|{s}" for s in slot.subject - LIGHT)
    if frame.phrases and frame.verb in pred.VERBS - LIGHT:
        yield from (f"m:{frame.verb}|{s}" for s in frame.subject - LIGHT)
    if frame.directive is not None:
        kind = frame.directive.kind
        yield from (f"d:{kind}|{s}" for s in frame.directive.about)
        if kind in ("call", "use"):
            yield f"d:{kind}"


def _values(frame: Frame) -> Iterator[str]:
    """A kind of typed value with what it is a value of."""
    matter = frame.content - LIGHT - frame.people
    solid = matter - (pred.VERBS - frame.subject)
    for kind in {v.kind for v in frame.values}:
        joined = "number" if kind in ("money", "version") else kind
        yield from (f"v:{joined}|{s}" for s in solid or frame.content - LIGHT)
        if kind in _PERSONAL_KINDS:
            yield from (f"k:{kind}|{s}" for s in frame.subject - LIGHT)
    if frame.cancel:
        yield from (f"v:{kind}|{s}" for kind in ("date", "time", "weekday") for s in solid & frame.subject)
    if frame.eats:
        yield from (f"k:diet|{s}" for s in frame.subject - LIGHT)


def _matter(frame: Frame) -> Iterator[str]:
    """Pairs of content stems; single ones where there are no more."""
    matter = frame.content - LIGHT - frame.people
    ordered = sorted(matter, key=lambda s: (s in pred.VERBS, -len(s), s))[:MAX_PAIR_STEMS]
    yield from (f"p:{a}+{b}" for a, b in combinations(sorted(ordered), 2))
    if len(matter) <= 2:
        yield from (f"s:{s}|{who}" for s in matter - frame.subject for who in frame.subject - LIGHT)
        yield from (f"s:{s}" for s in matter - frame.names if not frame.subject - LIGHT or len(matter) == 1)
