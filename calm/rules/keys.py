"""Blocking keys: two texts that conflict by these rules share at least one, so a hash join finds every such
pair.

The rules ask for a shared key before they look any further: that makes the keys lossless by construction. Ours:
similarity only proposes pairs (DESIGN 4), and a hash join proposes them without comparing everything with everything.
"""

from __future__ import annotations

from itertools import combinations

from calm.rules import predicates as pred
from calm.rules.align import LIGHT
from calm.rules.frame import Frame

MAX_PAIR_STEMS = 8
"""How many content stems of a clause are joined to pair keys (8 give 28 keys)."""
_PERSONAL_KINDS = frozenset({"marital", "hand", "diet", "approval", "employment"})


def keys_of(frame: Frame) -> frozenset[str]:
    """The keys of one clause: attribute, holder, slots, typed values, and pairs of content stems."""
    content = frame.content - LIGHT
    matter = content - frame.people
    solid = matter - (pred.VERBS - frame.subject)
    keys: set[str] = set()
    if frame.attribute is not None:
        keys.add(f"a:{frame.attribute.head}")
    if frame.holder is not None:
        keys.update(f"h:{frame.holder.predicate}|{s}" for s in frame.holder.object - LIGHT)
    for slot in frame.slots:
        keys.update(f"r:{slot.relation}|{s}" for s in slot.subject - LIGHT)
    for kind in {v.kind for v in frame.values}:
        joined = "number" if kind in ("money", "version") else kind
        keys.update(f"v:{joined}|{s}" for s in solid or content)
        if kind in _PERSONAL_KINDS:
            keys.update(f"k:{kind}|{s}" for s in frame.subject - LIGHT)
    if frame.cancel:
        keys.update(f"v:{kind}|{s}" for kind in ("date", "time", "weekday") for s in solid & frame.subject)
    if frame.phrases and frame.verb in pred.VERBS - LIGHT:
        keys.update(f"m:{frame.verb}|{s}" for s in frame.subject - LIGHT)
    if frame.eats:
        keys.update(f"k:diet|{s}" for s in frame.subject - LIGHT)
    ordered = sorted(matter, key=lambda s: (s in pred.VERBS, -len(s), s))[:MAX_PAIR_STEMS]
    keys.update(f"p:{a}+{b}" for a, b in combinations(sorted(ordered), 2))
    if len(matter) <= 2:
        keys.update(f"s:{s}|{who}" for s in matter - frame.subject for who in frame.subject - LIGHT)
        keys.update(f"s:{s}" for s in matter - frame.names if not frame.subject - LIGHT or len(matter) == 1)
    return frozenset(keys)
