"""The rules: each looks at two aligned frames and says how likely the newer contradicts the older, and why.

A rule returns a `Finding` or None. Precision comes first: a wrong supersession destroys a memory, a missed one is left to
a model. Ours (DESIGN 4: unknown predicates are many-valued; where subject, attribute or scope differ, that vetoes).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from calm.rules import align as al
from calm.rules import lexicon as lex
from calm.rules.align import Alignment
from calm.rules.attributes import Attribute
from calm.rules.frame import Frame
from calm.rules.gazetteer import may_contain
from calm.rules.slots import Slot
from calm.rules.tokens import words

CERTAIN, STRONG, LIKELY, WEAK, HINT = 0.95, 0.9, 0.8, 0.65, 0.5
"""The five strengths that rules give. From LIKELY on, a conflict can supersede."""
HEDGED_CAP = 0.7
"""The most that a statement with "probably" can reach: below supersession."""


class Finding(NamedTuple):
    """A probability in [0, 1] and the rule that gave it; `final` when no model needs to look."""

    probability: float
    rule: str
    final: bool = False


NOTHING = Finding(0.0, "none")
Rule = Callable[[Frame, Frame, Alignment], Finding | None]
_EVENT_KINDS = frozenset({"date", "ordinal", "time", "weekday", "number", "money", "duration", "length", "percent", "code"})
_PERSONAL = {"marital": STRONG, "hand": STRONG, "diet": LIKELY, "approval": HINT, "employment": WEAK}
_CLASS_ONLY_AS_VALUE = frozenset({"colour", "level", "size", "fuel", "frequency"})
_FROM = re.compile(
    r"\b(?:(?:moved|switched|changed|migrated|went|transferred|converted|relocated|renamed|back|over)\b[^,.;:!?]{0,30}?\bfrom|replac(?:ed|es|ing)|instead of|rather than|no longer(?: use[sd]?| at| in| with| on)?|swapped|in place of|ditched|dropped)\s"
    r"(?:the |my |our |a |an |her |his )?(?P<a>[^,.;:!?]{2,40}?)(?=\s(?:to|with|by|for|in|onto|into|because|and|as)\b|[,.;:!?]|$)",
    re.I,
)
_TO = re.compile(r"\b(?:switched|moved|changed|migrated|converted|went over)\b(?P<o>[^,.;:!?]{0,40}?)\b(?:to|over to|onto)\s(?P<b>[^,.;:!?]{2,50})", re.I)
_CANCELLED_THING = re.compile(lex.CANCELLED_THING, re.I)
_DENIED = re.compile(r"(?:,|\band|-|–|;)\s+not (?:the |a |an |on |in |at |by |to )?(?P<y>[^,.;:!?]{2,30})(?=[,.;:!?]|$)", re.I)
_PREFERENCE = re.compile(r"(?P<a>[^,.;:!?]{2,40}?)\s(?:over|rather than|instead of|beats?|to)\s(?P<b>[^,.;:!?]{2,40})", re.I)
_PREFERS = re.compile(r"\b(?:prefers?|rather than|beats?|pick|over)\b", re.I)


def compare(older: Frame, newer: Frame) -> Finding:
    """The strongest finding about two clauses, after the vetoes."""
    aligned = al.align(older, newer)
    found = _first(older, newer, aligned, (correction, cancellation))
    if found is None:
        if newer.limited or older.limited:
            return Finding(0.0, "veto:scope")
        if newer.remembers and not newer.change:
            return Finding(0.0, "veto:past")
        if older.remembers:
            return Finding(0.0, "veto:past")
        found = _stated(older, newer, aligned)
    if found.probability > HEDGED_CAP and (older.hedged or newer.hedged):
        return Finding(HEDGED_CAP, found.rule)
    return found


def _stated(older: Frame, newer: Frame, aligned: Alignment) -> Finding:
    found = _first(older, newer, aligned, (holder, attribute, slot, diet))
    if found is None:
        if al.subjects_differ(older, newer):
            return Finding(0.0, "veto:subject", _surely_other(older, newer))
        if al.scopes_differ(older, newer):
            return Finding(0.0, "veto:scope")
        found = _best(older, newer, aligned, (swapped, polarity, typed, change, manner, addressee, personal))
    if found is None:
        return NOTHING
    if found.probability > 0 and (newer.adds or older.adds) and not found.rule.startswith("veto"):
        return Finding(0.0, "veto:many_valued")
    return found


def _surely_other(older: Frame, newer: Frame) -> bool:
    return al.ids_differ(older, newer) or (al.owners_differ(older, newer) and bool(older.owners and newer.owners))


def _first(older: Frame, newer: Frame, aligned: Alignment, rules: tuple[Rule, ...]) -> Finding | None:
    return next((found for rule in rules if (found := rule(older, newer, aligned)) is not None), None)


def _best(older: Frame, newer: Frame, aligned: Alignment, rules: tuple[Rule, ...]) -> Finding | None:
    found = [f for rule in rules if (f := rule(older, newer, aligned)) is not None]
    return max(found, key=lambda f: (f.probability, f.final), default=None)


def correction(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "No, sorry, I meant the 21st", "her half-brother, not stepbrother": the same matter with another value."""
    if al.ids_differ(older, newer) or al.owners_differ(older, newer):
        return None
    denied = _DENIED.search(newer.text)
    if denied and not older.negative:
        stems = _bag(denied["y"]) - al.LIGHT
        if stems and stems <= older.content - newer.subject and aligned.common - stems and not newer.past:
            return Finding(STRONG, "correction")
    if newer.correction and aligned.changed and aligned.common:
        return Finding(STRONG if len(aligned.common) >= 2 or aligned.coverage >= 0.5 else WEAK, "correction")
    return None


def cancellation(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "The Lisbon trip is cancelled", "I cancelled my gym membership" against the booking, date or membership."""
    if older.cancel or newer.negative or al.ids_differ(older, newer) or al.owners_differ(older, newer):
        return None
    if aligned.changed or newer.limited or newer.adds or older.negative:
        return None
    return _thing_cancelled(older, newer) or _cancelled_thing(older, newer)


def _thing_cancelled(older: Frame, newer: Frame) -> Finding | None:
    subject = newer.subject - al.LIGHT - {"self"}
    if not newer.cancel or not subject:
        return None
    missing = subject - older.content - older.tail
    if not missing and (len(subject) >= 2 or len(older.content) <= 4):
        return Finding(STRONG, "cancellation")
    return Finding(HINT, "cancellation") if len(subject - missing) >= 2 else None


def _cancelled_thing(older: Frame, newer: Frame) -> Finding | None:
    match = _CANCELLED_THING.search(newer.text)
    if match is None or older.past and not older.attribute and "self" not in older.subject:
        return None
    thing = _bag(match["o"]) - al.LIGHT - older.subject
    if not thing or not thing <= older.content | older.tail:
        return None
    who = not older.subject or not newer.subject or bool(older.subject & newer.subject)
    firm = match["verb"].lower().startswith(("cancel", "called", "scrapped", "terminated", "unsubscribed"))
    if who and (len(thing) >= 2 or (firm and len(older.content) <= 4)):
        return Finding(STRONG if firm else LIKELY, "cancellation")
    return None


def holder(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "The lease is held by Norbex" and "Calder holds the lease": one holder at a time."""
    a, b = older.holder, newer.holder
    if a is None or b is None or a.predicate != b.predicate or older.negative or newer.negative:
        return None
    only_a, only_b = a.object - b.object, b.object - a.object
    shared = (a.object & b.object) - al.LIGHT
    if not shared or (only_a and only_b) or al.ids_differ(older, newer):
        return None
    if a.holder & b.holder or (older.past != newer.past and not newer.change and a.predicate not in _CREATION):
        return None
    if newer.adds:
        return Finding(0.0, "veto:many_valued")
    if older.owners and newer.owners and not older.owners & newer.owners and not (a.holder | b.holder) & (older.owners | newer.owners):
        return Finding(0.0, "veto:subject", True)
    if not (a.named and b.named):
        return Finding(HINT, "slot:holder")
    return Finding(STRONG if not only_a and not only_b else LIKELY if newer.change else HINT, "slot:holder")


_CREATION = frozenset({"compose", "write", "design", "make", "paint", "found"})
"""Predicates that stay true of the past: who composed it is who composed it."""


def attribute(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "My line manager is Alma" and "From today my line manager is Bruno": one definite description, two values."""
    a, b = older.attribute, newer.attribute
    if a is None or b is None or (a.typed and b.typed) or older.negative != newer.negative:
        return None
    if (a.typed or b.typed) and a.head not in _FUNCTIONAL:
        return None
    only_a, only_b = a.stems - b.stems, b.stems - a.stems
    if a.head != b.head or (only_a and only_b) or not a.value or not b.value:
        return None
    if al.owners_differ(older, newer) or al.ids_differ(older, newer):
        return Finding(0.0, "veto:subject", _surely_other(older, newer))
    if al.scopes_differ(older, newer):
        return Finding(0.0, "veto:scope")
    if aligned.changed and (a.value <= b.value or b.value <= a.value):
        return None
    if a.value <= b.value or b.value <= a.value:
        return Finding(0.0, "veto:equal_after_units", not newer.negative and a.value == b.value and not only_a and not only_b)
    if newer.adds:
        return Finding(0.0, "veto:many_valued")
    if a.past != b.past or aligned.sign < 0:
        return None
    return _attribute_strength(a, b, bool(only_a or only_b), newer, _names_differ(a.value, b.value, older, newer))


def _names_differ(a: frozenset[str], b: frozenset[str], older: Frame, newer: Frame) -> bool:
    """ "the Lumen bucket" and "the Harrow bucket": what differs are names."""
    return a - b <= older.names and b - a <= newer.names


def _attribute_strength(a: Attribute, b: Attribute, looser: bool, newer: Frame, names_differ: bool) -> Finding:
    functional = a.head in _FUNCTIONAL or bool(a.stems & b.stems & lex.UNIQUE_MODIFIERS)
    if bool(a.preposition) != bool(b.preposition):
        return Finding(WEAK if functional else HINT, "value:place")
    if a.value & b.value and not functional and not names_differ:
        return Finding(HINT, "value:name")
    if a.plural:
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


def _weaken(strength: float, looser: bool) -> float:
    return WEAK if looser else strength


_FUNCTIONAL = frozenset(lex.stem(w) for w in lex.FUNCTIONAL_NOUNS)


def slot(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """Residence, employer, vehicle, birthplace, name, place of a thing."""
    if al.owners_differ(older, newer) or al.scopes_differ(older, newer):
        return None
    found = [f for a in older.slots for b in newer.slots if a.relation == b.relation and (f := _slot(a, b, older, newer, aligned))]
    return max(found, default=None)


def _slot(a: Slot, b: Slot, older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    if not a.subject & b.subject or (a.subject - b.subject and b.subject - a.subject) or older.negative or newer.negative:
        return None
    if a.value <= b.value or b.value <= a.value:
        return None if aligned.changed else Finding(0.0, "veto:equal_after_units")
    rule = f"slot:{a.relation}"
    if a.relation in ("residence", "place", "born") and may_contain(a.value, b.value):
        return Finding(HINT, rule)
    if a.value & b.value and a.relation != "employer" and not _names_differ(a.value, b.value, older, newer):
        return Finding(HINT, rule)
    if a.relation == "place":
        if older.past and not a.moved or newer.past and not b.moved:
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


def swapped(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "phoned rather than emailed" and "emailed rather than phoned"."""
    if not (_PREFERS.search(older.text) and _PREFERS.search(newer.text)):
        return None
    a, b = _PREFERENCE.search(older.text), _PREFERENCE.search(newer.text)
    if not a or not b:
        return None
    first, second = _bag(a["a"]), _bag(a["b"])
    third, fourth = _bag(b["a"]), _bag(b["b"])
    crossed = (first & fourth) - third and (second & third) - fourth
    return Finding(CERTAIN, "preference") if crossed and not first & third - {"us"} - older.subject - al.LIGHT - lex.VERBS else None


def _bag(text: str) -> frozenset[str]:
    return frozenset(w.stem for w in words(text) if w.low not in lex.FUNCTION_WORDS)


def polarity(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """The same content with opposite sign, by negation or by antonyms; the same sign is a paraphrase."""
    mine, theirs = aligned.rest_older, aligned.rest_newer
    if aligned.sign > 0:
        plain = not mine and not theirs and not aligned.changed and bool(aligned.common)
        restated = plain and (older.negative or newer.negative or older.polar == newer.polar)
        return Finding(0.0, "veto:equal_after_units", True) if restated and not _open_values(older, newer) else None
    if aligned.changed or not aligned.common:
        return None
    if not aligned.common - older.subject - newer.subject - older.names:
        return None
    rule = "negation" if older.negative != newer.negative else "antonym"
    if len(aligned.common) < 2 and not _brief(older, newer):
        return Finding(HINT, rule) if not mine and not theirs else None
    if older.past != newer.past and not newer.change:
        return Finding(HINT, rule) if not mine and not theirs else None
    if _open_values(older, newer) or len(older.ids) != len(newer.ids):
        return Finding(HINT, rule) if not (mine and theirs) else None
    if not mine and not theirs:
        sure = not aligned.light
        return Finding(WEAK if not sure else LIKELY if older.past or rule == "antonym" else CERTAIN, rule)
    if aligned.light and not newer.change:
        return Finding(HINT, rule) if not (mine and theirs) else None
    if mine and theirs:
        return Finding(WEAK, rule) if newer.change and len(aligned.common) >= 3 else None
    rest = mine or theirs
    if rest & (older.names | newer.names) or rest & (older.subject | newer.subject) or len(rest) > 2:
        return Finding(HINT, rule)
    if mine and newer.negative and mine <= older.phrases:
        return Finding(LIKELY, rule)
    return Finding(HINT if rest & (newer.phrases | older.phrases) and not newer.change else WEAK, rule)


def _open_values(older: Frame, newer: Frame) -> bool:
    return len(older.values) != len(newer.values)


def _brief(older: Frame, newer: Frame) -> bool:
    """One content word may do in "I smoke" / "I don't smoke", where the subject is the same person."""
    return bool(older.subject & newer.subject) and max(len(older.content), len(newer.content)) <= 2


def typed(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """The same matter with another number, date, price, code, weekday, colour, …"""
    if aligned.sign < 0 or not (aligned.changed or aligned.equal):
        return None
    common = aligned.common
    if not common:
        return None
    if not aligned.changed:
        plain = not aligned.rest_older and not aligned.rest_newer and not _open_values(older, newer)
        return Finding(0.0, "veto:equal_after_units", plain)
    kinds = {a.kind for a, _ in aligned.changed}
    rule = f"value:{aligned.changed[0][0].kind}"
    if al.rates_differ(older, newer) or al.bounds_differ(older, newer):
        return Finding(0.0, "veto:scope")
    if (older.past or (newer.past and not newer.change)) and kinds & _EVENT_KINDS:
        return Finding(0.0, "veto:many_valued") if older.past and newer.past else None
    alike = not aligned.rest_older and not aligned.rest_newer and not aligned.light and kinds <= {"frequency"}
    if kinds <= _CLASS_ONLY_AS_VALUE and not alike and not (older.attribute and newer.attribute):
        return Finding(HINT, rule) if aligned.coverage >= 0.5 else None
    return _typed_strength(older, newer, aligned, rule)


def _typed_strength(older: Frame, newer: Frame, aligned: Alignment, rule: str) -> Finding | None:
    mine, theirs = aligned.rest_older - lex.NEUTRAL_VERBS, aligned.rest_newer - lex.NEUTRAL_VERBS
    solid = aligned.common - (lex.VERBS - (older.subject & newer.subject))
    if not solid or (rule == "value:number" and not solid - older.people - newer.people):
        return None
    if _open_values(older, newer) and not newer.change:
        return Finding(HINT, rule) if not (mine and theirs) else None
    if "money" in rule and older.rates != newer.rates and not newer.change:
        return Finding(HINT, rule)
    if not mine and not theirs:
        return Finding(CERTAIN, rule)
    names = older.names | newer.names
    if mine and theirs:
        if mine & names and theirs & names:
            return Finding(0.0, "veto:subject")
        if newer.change and len(solid) >= (3 if theirs & newer.names else 2) and aligned.coverage >= 0.5:
            return Finding(LIKELY, rule)
        return Finding(HINT, rule) if aligned.coverage >= 0.6 and len(solid) >= 2 else None
    rest = mine or theirs
    where = newer if theirs else older
    if rest & names or rest & where.subject:
        return Finding(LIKELY if newer.change and len(solid) >= 2 and not rest & names else HINT, rule)
    if rest & where.phrases and not newer.change:
        return Finding(HINT, rule)
    return Finding(LIKELY if len(rest) <= 2 or newer.change else HINT, rule)


def change(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "moved from A to B", "replaced A", "switched its builds to Bazel" against a statement of A."""
    if not newer.change or newer.negative:
        return None
    left = _FROM.search(newer.text)
    if left:
        was = _bag(left["a"]) - al.LIGHT
        around = aligned.common - was
        if was and was <= older.content and around:
            return Finding(STRONG, "change")
    target = _TO.search(newer.text)
    if target is None or older.past:
        return None
    moved, goal = _bag(target["o"]) - al.LIGHT, _bag(target["b"])
    if not moved <= older.content or goal & older.content:
        return None
    if aligned.changed and aligned.common:
        return Finding(STRONG, "change")
    around = aligned.common - goal - moved
    if moved and around:
        return Finding(LIKELY, "change")
    return Finding(HINT, "change") if around else None


def manner(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """One habit done in two ways: "I sign letters with my full name" / "with just my initials"."""
    if aligned.sign < 0 or older.past or newer.past or not older.verb or older.verb != newer.verb or aligned.changed:
        return None
    mine, theirs = aligned.rest_older, aligned.rest_newer
    if not mine or not theirs or not mine <= older.phrases or not theirs <= newer.phrases:
        return None
    thing = aligned.common - lex.VERBS - older.subject
    if not thing or thing <= older.phrases & newer.phrases:
        return None
    if older.verb not in lex.VERBS:
        return None
    if older.verb in lex.KEEPING_VERBS:
        return Finding(LIKELY, "slot:manner")
    return Finding(LIKELY if newer.change else HINT, "slot:manner")


def diet(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "I'm vegan" and "I love barbecue ribs"."""
    if older.negative or newer.negative or not older.subject & newer.subject or al.owners_differ(older, newer):
        return None
    for a, b in ((older, newer), (newer, older)):
        ruled_out = {food for v in a.values if v.kind == "diet" for food in lex.DIET_EXCLUDES.get(str(v.canonical[0]), ())}
        if ruled_out & b.eats:
            return Finding(LIKELY, "value:diet")
    return None


def addressee(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "Ask Gudrun for credentials" and "Ask Nikhil for credentials": an order names one person."""
    if older.verb != newer.verb or older.verb not in _ORDERS or older.subject or newer.subject or aligned.sign < 0:
        return None
    mine, theirs = aligned.rest_older, aligned.rest_newer
    named = bool(mine) and bool(theirs) and mine <= older.names and theirs <= newer.names
    return Finding(LIKELY, "value:name") if named and len(aligned.common) >= 2 and not aligned.light else None


_ORDERS = frozenset(lex.stem(w) for w in "ask call contact email send route forward ping address".split())


def personal(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """Classes of which a person has one: married or single, left- or right-handed, vegan or not."""
    if not older.subject & newer.subject or older.negative != newer.negative or older.past or newer.past:
        return None
    for a, b in aligned.changed:
        if a.kind in _PERSONAL and a.kind == b.kind:
            lean = len(aligned.rest_older) <= 1 and len(aligned.rest_newer) <= 1
            return Finding(_PERSONAL[a.kind] if lean else HINT, f"value:{a.kind}")
    return None
