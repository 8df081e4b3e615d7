"""Slots: relations with one value at a time that are told in many words: residence, place, employer,
vehicle, name.

"I live in Tampere", "We moved to Aarhus" and "settled into our new home in Bergen" fill one slot. Ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from calm.rules.attributes import PLACE_PREPOSITIONS, content_of
from calm.rules.tokens import Word


@dataclass(frozen=True, slots=True)
class Slot:
    """A relation, whose it is, and its value; `named`: the value is a name, `moved`: told as a change."""

    relation: str
    subject: frozenset[str]
    value: frozenset[str]
    named: bool
    moved: bool


_NAME = r"(?-i:(?P<v>[A-Z][\w'.-]*(?:\s(?:[A-Z][\w'.-]*|of|de|la|le|upon|am|sur)){0,4}))"
_RESIDENCE = re.compile(
    rf"\b(?P<verb>lives?|living|resides?|residing|settled(?: down)?|based|moved(?: back| house| home|"
    rf" over)?|relocated|emigrated|"
    rf"new (?:home|flat|house|apartment|place)|home|"
    rf"rents? (?:a|an|my|our) (?:\w+ )?(?:flat|house|room|apartment|studio)|stay(?:s|ing)? with \w+)\s+"
    rf"(?:is |are |now |currently |just |back |over )?(?:in|into|to|at)\s+{_NAME}"
    rf"(?!\s+(?:project|team|office|department|search|branch|desk|group|account|plan|tier|version|"
    rf"server)\b|'s)",
    re.I,
)
_EMPLOYER = re.compile(
    rf"\b(?P<verb>works?|working|employed|joined|started|job)\s+(?:now |currently |full-time |"
    rf"part-time )?(?:for |at |with |by )?(?:the )?{_NAME}"
    r"(?!\s+[a-z]*\s?(?:project|migration|team|account|desk)\b|'s)",
    re.I,
)
_DRIVE = re.compile(r"\b(?:drives?|driving)\s+(?:a|an|my|our|the|his|her)?\s*(?P<v>[^,.;:!?]{2,40})", re.I)
_BORN = re.compile(rf"\bborn in (?:the city of )?{_NAME}", re.I)
_CALLED = re.compile(rf"\b(?:is|are) (?:now )?(?:called|named) {_NAME}", re.I)
_KEPT = frozenset(
    "located kept stored based parked moored housed headquartered hosted situated stocked deployed"
    " filed archived buried planted"
    " hung stationed displayed installed".split()
)
_THING_VERBS = frozenset("is are lives sits stands resides hangs sit live stand stays".split())
_DETERMINERS = frozenset("the my our your his her their this".split())
_TIMES = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday"
    " thursday friday saturday sunday spring summer autumn winter week month year morning afternoon evening half"
    " quarter end beginning middle".split()
)
_MOVED = frozenset("moved relocated migrated transferred shifted".split())
_FOREIGN: tuple[tuple[str, re.Pattern[str], bool], ...] = (
    ("residence", re.compile(r"我(?:们)?(?:现在|目前|一直)?(?:居)?住在(?P<v>[\u4e00-\u9fff]{2,8})"), False),
    (
        "residence",
        re.compile(r"我(?:们)?[^，。！？]{0,8}?搬(?:家)?(?:到|去)了?(?P<v>[\u4e00-\u9fff]{2,8})"),
        True,
    ),
    ("name", re.compile(r"我(?:现在)?(?:的名字)?(?:叫|是叫|名叫)(?P<v>[\u4e00-\u9fff]{2,4})"), False),
    ("residence", re.compile(rf"\bich (?:wohne|lebe)(?: jetzt| nun| derzeit)? in {_NAME}", re.I), False),
    ("residence", re.compile(rf"\bich bin (?:\w+ ){{0,3}}nach {_NAME} (?:um)?gezogen", re.I), True),
    (
        "residence",
        re.compile(rf"\b(?:j'habite|je vis)(?: maintenant| désormais)? (?:à|en|au) {_NAME}", re.I),
        False,
    ),
    ("residence", re.compile(rf"\bj'ai (?:\w+ )?déménagé (?:à|en|au) {_NAME}", re.I), True),
    ("residence", re.compile(rf"\b(?:vivo|vivimos)(?: ahora)? en {_NAME}", re.I), False),
    ("residence", re.compile(rf"\b(?:me he mudado|me mudé|nos mudamos) a {_NAME}", re.I), True),
    ("name", re.compile(rf"\b(?:ich heiße|je m'appelle|me llamo) {_NAME}", re.I), False),
)
_PARTICLES = re.compile(r"(?:[了的]|市)$")


def slots_of(head: str, subject: frozenset[str], before: list[Word], after: list[Word]) -> tuple[Slot, ...]:
    """All slots that a clause fills."""
    found: list[Slot] = []
    person = subject or _owner(head)
    if person:
        for relation, pattern in (
            ("residence", _RESIDENCE),
            ("employer", _EMPLOYER),
            ("born", _BORN),
            ("name", _CALLED),
        ):
            match = pattern.search(head)
            if match and (relation != "residence" or not _thing(before)):
                home = match.groupdict().get("verb", "").lower().split(" ")[-1] in {
                    "home",
                    "flat",
                    "house",
                    "apartment",
                    "place",
                }
                person = _owner(head) if home and _owner(head) else person
                moved = match.groupdict().get("verb", "").lower().split(" ")[0] in {
                    "moved",
                    "relocated",
                    "joined",
                    "started",
                    "new",
                }
                found.append(Slot(relation, person, _words(match["v"]), True, moved))
        drive = _DRIVE.search(head)
        if drive:
            found.append(Slot("vehicle", person, _words(drive["v"]), any(c.isupper() for c in drive["v"]), False))
    found.extend(_place(before, after, head))
    found.extend(
        Slot(relation, frozenset({"self"}), frozenset({_PARTICLES.sub("", match["v"]).lower()}), True, moved)
        for relation, pattern, moved in _FOREIGN
        if (match := pattern.search(head))
    )
    return tuple(found)


def _owner(head: str) -> frozenset[str]:
    """Whose home "Settled into our new home in Bergen" is about."""
    return frozenset({"self"}) if re.search(r"\b(?:my|our)\b", head, re.I) else frozenset()


def _thing(before: list[Word]) -> bool:
    return bool(before) and before[0].low in ("the", "this", "that", "these", "those", "a", "an")


def _words(text: str) -> frozenset[str]:
    return frozenset(
        w for w in re.findall(r"[^\W_]+", text.lower()) if w not in ("the", "a", "an", "of", "now", "s", "city")
    )


def _place(before: list[Word], after: list[Word], head: str) -> list[Slot]:
    """Where a definite thing is: "The herbarium is kept in Vienna", "The office moved to Quay Street"."""
    thing = content_of(before)
    if not thing or not after or before[0].low in ("i", "we", "he", "she", "they", "user", "it", "there"):
        return []
    rest = [w for w in after if w.low not in ("now", "currently", "still", "also", "up", "down", "out", "over", "back")]
    verb = next((w for w in rest[:1] if w.low in _KEPT), None)
    if (
        verb is None
        and before[0].text[0].isupper()
        and before[0].low not in _DETERMINERS
        and _stands(before, after, head)
    ):
        return []
    tail = [w for w in (rest[1:] if verb else rest) if w.low not in ("up", "down", "out", "over")]
    lowered = head.lower()
    moved = any(re.search(rf"\b{m} (?:to|into|onto)\b", lowered) for m in _MOVED)
    if moved:
        start = re.search(r"\b(?:moved|relocated|migrated|transferred|shifted) (?:to|into|onto)\b", lowered)
        tail = [w for w in after if start is not None and w.start > start.end()]
    elif not (tail and tail[0].low in PLACE_PREPOSITIONS) or not (verb or _stands(before, after, head)):
        return []
    value = []
    for i, w in enumerate(tail):
        if i and w.low in (
            "since",
            "because",
            "from",
            "back",
            "until",
            "as",
            "now",
            "after",
            "by",
            "to",
            "and",
        ):
            break
        value.append(w)
    inner = content_of(value)
    named = bool(inner) and all(w.text[0].isupper() for w in inner)
    stems = frozenset(w.stem for w in inner)
    if any(w.low in _TIMES for w in inner):
        return []
    return [Slot("place", frozenset(w.stem for w in thing), stems, named, moved)] if stems else []


def _stands(before: list[Word], after: list[Word], head: str) -> bool:
    between = head[before[-1].start + len(before[-1].text) : after[0].start].lower().split()
    return bool(between) and between[0] in _THING_VERBS
