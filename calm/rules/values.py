"""Rules about the matter itself: opposite polarity, other typed values, closed classes of which a person
has one."""

from __future__ import annotations

import re

from calm.rules import align as al
from calm.rules import lexicon as lex
from calm.rules import predicates as pred
from calm.rules.align import Alignment
from calm.rules.findings import CERTAIN, HINT, LIKELY, STRONG, WEAK, Finding, open_values
from calm.rules.frame import Frame
from calm.rules.tokens import bag

_EVENT_KINDS = frozenset(
    {"date", "ordinal", "time", "weekday", "number", "money", "duration", "length", "percent", "code"}
)
"""Kinds that differ from one event to the next: past events with other dates don't contradict each other."""
_PERSONAL = {"marital": STRONG, "hand": STRONG, "diet": LIKELY, "approval": HINT, "employment": WEAK}
_CLASS_ONLY_AS_VALUE = frozenset({"colour", "level", "size", "fuel", "frequency"})
_SETS = re.compile(
    r"\b(?:went (?:up|down)|rose|fell|raised|lowered|reduced|increased|moved|changed|set|cut|upgraded|extended)\b"
    r"[^.]{0,20}\bto\b",
    re.I,
)
"""A past event that leaves a value behind: "the rent went up to 900 euros"."""
_PREFERENCE = re.compile(
    r"(?P<a>[^,.;:!?]{2,40}?)\s(?:over|rather than|instead of|beats?|to)\s(?P<b>[^,.;:!?]{2,40})", re.I
)
_PREFERS = re.compile(r"\b(?:prefers?|rather than|beats?|pick|over)\b", re.I)


def swapped(older: Frame, newer: Frame, _: Alignment) -> Finding | None:
    """ "phoned rather than emailed" and "emailed rather than phoned"."""
    if not (_PREFERS.search(older.text) and _PREFERS.search(newer.text)):
        return None
    a, b = _PREFERENCE.search(older.text), _PREFERENCE.search(newer.text)
    if not a or not b:
        return None
    first, second = bag(a["a"]), bag(a["b"])
    third, fourth = bag(b["a"]), bag(b["b"])
    crossed = (first & fourth) - third and (second & third) - fourth
    return (
        Finding(CERTAIN, "preference")
        if crossed and not first & third - {"us"} - older.subject - al.LIGHT - pred.VERBS
        else None
    )


def polarity(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """The same content with opposite sign, by negation or by antonyms; the same sign is a paraphrase."""
    mine = aligned.rest_older - pred.NEUTRAL_VERBS - lex.ENDINGS
    theirs = aligned.rest_newer - pred.NEUTRAL_VERBS - lex.ENDINGS
    if aligned.sign > 0:
        plain = not mine and not theirs and not aligned.changed and bool(aligned.common)
        restated = plain and (older.negative or newer.negative or older.polar == newer.polar)
        return Finding(0.0, "veto:equal_after_units", True) if restated and not open_values(older, newer) else None
    if aligned.changed or not aligned.common:
        return None
    if not aligned.common - older.subject - newer.subject - older.people and not _same_verb(older, newer, aligned):
        return None
    rule = "negation" if older.negative != newer.negative else "antonym"
    if len(aligned.common) < 2 and not _brief(older, newer):
        return Finding(HINT, rule) if not mine and not theirs else None
    if older.past != newer.past and not newer.change:
        return Finding(HINT, rule) if not mine and not theirs else None
    if open_values(older, newer) or len(older.ids) != len(newer.ids):
        return Finding(HINT, rule) if not (mine and theirs) else None
    if not mine and not theirs:
        sure = not aligned.light - pred.NEUTRAL_VERBS
        return Finding(WEAK if not sure else LIKELY if older.past or rule == "antonym" else CERTAIN, rule)
    if aligned.light - pred.NEUTRAL_VERBS and not newer.change:
        return Finding(HINT, rule) if not (mine and theirs) else None
    if mine and theirs:
        return Finding(WEAK, rule) if newer.change and len(aligned.common) >= 3 else None
    rest = mine or theirs
    if rest & (older.names | newer.names) or rest & (older.subject | newer.subject) or len(rest) > 2:
        return Finding(HINT, rule)
    if mine and newer.negative and (newer.change or mine <= older.phrases):
        return Finding(LIKELY, rule)
    return Finding(HINT if rest & (newer.phrases | older.phrases) and not newer.change else WEAK, rule)


def _same_verb(older: Frame, newer: Frame, aligned: Alignment) -> bool:
    """ "The lift works" and "The lift doesn't work": a light verb is all that is said of a thing."""
    said = (older.content & newer.content) - older.subject
    alike = not aligned.rest_older and not aligned.rest_newer and not aligned.light
    return bool(said) and alike and bool(aligned.common - older.people) and not older.past


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
        plain = not aligned.rest_older and not aligned.rest_newer and not open_values(older, newer)
        return Finding(0.0, "veto:equal_after_units", plain)
    kinds = {a.kind for a, _ in aligned.changed}
    if kinds == {"host"} and not (older.attribute and newer.attribute):
        return Finding(HINT, "value:host")
    rule = f"value:{aligned.changed[0][0].kind}"
    if al.rates_differ(older, newer) or al.bounds_differ(older, newer):
        return Finding(0.0, "veto:scope")
    if ((older.past and not _SETS.search(older.text)) or (newer.past and not newer.change)) and kinds & _EVENT_KINDS:
        return Finding(0.0, "veto:many_valued") if older.past and newer.past else None
    alike = not aligned.rest_older and not aligned.rest_newer and not aligned.light and kinds <= {"frequency"}
    if kinds <= _CLASS_ONLY_AS_VALUE and not alike and not (older.attribute and newer.attribute):
        return Finding(HINT, rule) if aligned.coverage >= 0.5 else None
    return _typed_strength(older, newer, aligned, rule)


def _typed_strength(older: Frame, newer: Frame, aligned: Alignment, rule: str) -> Finding | None:
    mine, theirs = aligned.rest_older - pred.NEUTRAL_VERBS, aligned.rest_newer - pred.NEUTRAL_VERBS
    solid = aligned.common - (pred.VERBS - (older.subject & newer.subject))
    if not solid and not mine and not theirs and _same_deed(older, newer):
        return Finding(LIKELY, rule) if newer.change or older.verb in pred.GAUGE_VERBS else None
    if not solid or (rule == "value:number" and not solid - older.people - newer.people):
        return None
    if older.indefinite and newer.indefinite and not newer.change:
        return Finding(HINT, rule)
    if open_values(older, newer) and not newer.change:
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


def _same_deed(older: Frame, newer: Frame) -> bool:
    """ "We deploy on Fridays" and "We now deploy on Tuesdays": one habit of one subject."""
    return older.verb == newer.verb and older.verb in pred.VERBS and bool(older.subject & newer.subject)


def personal(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """Classes of which a person has one: married or single, left- or right-handed, vegan or not."""
    if not older.subject & newer.subject or older.negative != newer.negative or older.past or newer.past:
        return None
    for a, b in aligned.changed:
        if a.kind in _PERSONAL and a.kind == b.kind:
            lean = len(aligned.rest_older) <= 1 and len(aligned.rest_newer) <= 1
            return Finding(_PERSONAL[a.kind] if lean else HINT, f"value:{a.kind}")
    return None


def diet(older: Frame, newer: Frame, _: Alignment) -> Finding | None:
    """ "I'm vegan" and "I love barbecue ribs"."""
    if older.negative or newer.negative or not older.subject & newer.subject or al.owners_differ(older, newer):
        return None
    for a, b in ((older, newer), (newer, older)):
        ruled_out = {
            food for v in a.values if v.kind == "diet" for food in lex.DIET_EXCLUDES.get(str(v.canonical[0]), ())
        }
        if ruled_out & b.eats:
            return Finding(LIKELY, "value:diet")
    return None
