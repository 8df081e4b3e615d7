"""Rules about relations with one value at a time: holders, attributes, slots. Each compares its own
subjects."""

from __future__ import annotations

from calm.rules import align as al
from calm.rules import predicates as pred
from calm.rules.align import Alignment
from calm.rules.attributes import Attribute
from calm.rules.findings import CERTAIN, HINT, LIKELY, STRONG, WEAK, Finding
from calm.rules.frame import Frame
from calm.rules.gazetteer import may_contain
from calm.rules.slots import Slot
from calm.rules.stems import stem

_FUNCTIONAL = frozenset(stem(w) for w in pred.FUNCTIONAL_NOUNS)
_CREATION = frozenset({"compose", "write", "design", "make", "paint", "found"})
"""Predicates that stay true of the past: who composed it is who composed it."""


def holder(older: Frame, newer: Frame, _: Alignment) -> Finding | None:
    """ "The lease is held by Norbex" and "Calder holds the lease": one holder at a time."""
    a, b = older.holder, newer.holder
    if a is None or b is None or a.predicate != b.predicate or older.negative or newer.negative:
        return None
    only_a, only_b = a.object - b.object, b.object - a.object
    shared = (a.object & b.object) - al.LIGHT
    if not shared or (only_a and only_b) or al.ids_differ(older, newer):
        return None
    if al.scopes_differ(older, newer):
        return Finding(0.0, "veto:scope")
    if a.holder & b.holder or (older.past != newer.past and not newer.change and a.predicate not in _CREATION):
        return None
    if newer.adds:
        return Finding(0.0, "veto:many_valued")
    if (
        older.owners
        and newer.owners
        and not older.owners & newer.owners
        and not (a.holder | b.holder) & (older.owners | newer.owners)
    ):
        return Finding(0.0, "veto:subject", True)
    if not (a.named and b.named):
        return Finding(HINT, "slot:holder")
    return Finding(STRONG if not only_a and not only_b else LIKELY if newer.change else HINT, "slot:holder")


def attribute(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "My line manager is Alma" and "From today my line manager is Bruno": one definite description, two
    values."""
    a, b = older.attribute, newer.attribute
    if a is None or b is None or (a.typed and b.typed) or older.negative != newer.negative:
        return None
    if (a.typed or b.typed) and a.head not in _FUNCTIONAL:
        return None
    only_a, only_b = a.stems - b.stems, b.stems - a.stems
    if a.head != b.head or (only_a and only_b) or not a.value or not b.value:
        return None
    if al.owners_differ(older, newer) or al.ids_differ(older, newer):
        return Finding(0.0, "veto:subject", al.surely_other(older, newer))
    if al.scopes_differ(older, newer):
        return Finding(0.0, "veto:scope")
    if aligned.changed and (a.value <= b.value or b.value <= a.value):
        return None
    if a.value <= b.value or b.value <= a.value:
        return Finding(
            0.0,
            "veto:equal_after_units",
            not newer.negative and a.value == b.value and not only_a and not only_b,
        )
    if newer.adds:
        return Finding(0.0, "veto:many_valued")
    if a.past != b.past or aligned.sign < 0:
        return None
    return _attribute_strength(a, b, bool(only_a or only_b), newer, _names_differ(a.value, b.value, older, newer))


def _attribute_strength(a: Attribute, b: Attribute, looser: bool, newer: Frame, names_differ: bool) -> Finding:
    functional = a.head in _FUNCTIONAL or bool(a.stems & b.stems & pred.UNIQUE_MODIFIERS)
    if bool(a.preposition) != bool(b.preposition):
        return Finding(WEAK if functional else HINT, "value:place")
    if a.value & b.value and not functional and not names_differ:
        return Finding(HINT, "value:name")
    if a.plural and not a.preposition:
        return Finding(HINT, "value:attribute")
    if a.preposition:
        strength = STRONG if a.named and b.named else LIKELY
        if may_contain(a.value, b.value):
            strength = HINT
        return Finding(_weaken(strength, looser), "slot:place")
    if functional:
        return Finding(_weaken(CERTAIN, looser), "value:name" if a.named else "value:attribute")
    if a.named and b.named:
        return Finding(_weaken(STRONG, looser), "value:name")
    return Finding(WEAK if newer.change and not looser else HINT, "value:attribute")


def _names_differ(a: frozenset[str], b: frozenset[str], older: Frame, newer: Frame) -> bool:
    """ "the Lumen bucket" and "the Harrow bucket": what differs are names."""
    return a - b <= older.names and b - a <= newer.names


def _weaken(strength: float, looser: bool) -> float:
    return WEAK if looser else strength


def slot(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """Residence, employer, vehicle, birthplace, name, place of a thing."""
    if al.owners_differ(older, newer) or al.scopes_differ(older, newer):
        return None
    found = [
        f
        for a in older.slots
        for b in newer.slots
        if a.relation == b.relation and (f := _slot(a, b, older, newer, aligned))
    ]
    return max(found, default=None)


def _slot(a: Slot, b: Slot, older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    if (
        not a.subject & b.subject
        or (a.subject - b.subject and b.subject - a.subject)
        or older.negative
        or newer.negative
    ):
        return None
    if a.value <= b.value or b.value <= a.value:
        return None if aligned.changed else Finding(0.0, "veto:equal_after_units")
    rule = f"slot:{a.relation}"
    if a.relation in ("residence", "place", "born") and may_contain(a.value, b.value):
        return Finding(HINT, rule)
    if a.value & b.value and a.relation != "employer" and not _names_differ(a.value, b.value, older, newer):
        return Finding(HINT, rule)
    if a.relation == "place":
        if (older.past and not a.moved) or (newer.past and not b.moved):
            return None
        looser = a.subject != b.subject
        return Finding(WEAK if looser else STRONG if a.named and b.named else LIKELY, rule)
    if a.relation == "vehicle":
        return Finding(LIKELY if a.named or b.named or newer.change else WEAK, rule)
    if (older.past and not a.moved) or (newer.past and not b.moved):
        return None
    if a.relation == "employer":
        return Finding(LIKELY, rule)
    return Finding(CERTAIN if newer.change or a.relation == "name" else STRONG, rule)
