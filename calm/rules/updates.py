"""Rules about change: corrections, cancellations, "moved from A to B", a habit done another way, another
addressee."""

from __future__ import annotations

import re

from calm.rules import align as al
from calm.rules import lexicon as lex
from calm.rules import predicates as pred
from calm.rules.align import Alignment
from calm.rules.directives import exclusive
from calm.rules.findings import HINT, LIKELY, STRONG, WEAK, Finding
from calm.rules.frame import Frame
from calm.rules.stems import stem
from calm.rules.tokens import bag

_FROM = re.compile(
    r"\b(?:(?:moved|switched|changed|migrated|went|transferred|converted|relocated|renamed|back|"
    r"over)\b[^,.;:!?]{0,30}?\bfrom|"
    r"replac(?:ed|es|ing)|instead of|rather than|no longer(?: use[sd]?| at| in| with| on)?|swapped|"
    r"in place of|ditched|dropped)\s"
    r"(?:the |my |our |a |an |her |his )?(?P<a>[^,.;:!?]{2,40}?)(?=\s(?:to|with|by|for|in|onto|into|"
    r"because|and|as)\b|[,.;:!?]|$)",
    re.I,
)
_WHEN = re.compile(r"\b(?:before|after|since|during|until)\s[^.,;]{2,80}", re.I)
_ALTERNATIVE = re.compile(r"\b(?:instead of|rather than)\b", re.I)
_CHOICE = re.compile(r"\b(?:can|could|may|try|choose|option)\b", re.I)
"""What may be done instead is no change, nor is what both say."""
_TO = re.compile(
    r"\b(?:switched|moved|changed|migrated|converted|went over)\b(?P<o>[^,.;:!?]{0,40}?)\b(?:to|"
    r"over to|onto)\s"
    r"(?P<b>[^,.;:!?]{2,50})",
    re.I,
)
_CANCELLED_THING = re.compile(lex.CANCELLED_THING, re.I)
_DENIED = re.compile(
    r"(?:,|\band|-|–|;)\s+not (?:the |a |an |on |in |at |by |to )?(?P<y>[^,.;:!?]{2,30})(?=[,.;:!?]|$)", re.I
)
_ORDERS = frozenset(stem(w) for w in "ask call contact email send route forward ping address".split())


def correction(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "No, sorry, I meant the 21st", "her half-brother, not stepbrother": the same matter with another
    value."""
    if al.ids_differ(older, newer) or al.owners_differ(older, newer):
        return None
    denied = _DENIED.search(newer.text)
    if denied and not older.negative and not al.subjects_differ(older, newer):
        stems = bag(denied["y"]) - al.LIGHT
        if stems and stems <= older.content - newer.subject and aligned.common - stems and not newer.past:
            return Finding(STRONG, "correction")
    if newer.correction and aligned.changed and aligned.common:
        return Finding(STRONG if len(aligned.common) >= 2 or aligned.coverage >= 0.5 else WEAK, "correction")
    return None


def cancellation(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "The Lisbon trip is cancelled", "I cancelled my gym membership" against the booking, date or
    membership."""
    if older.cancel or newer.negative or al.ids_differ(older, newer) or al.owners_differ(older, newer):
        return None
    if aligned.changed or newer.limited or newer.adds or older.negative:
        return None
    return _cancelled_thing(older, newer) or _thing_cancelled(older, newer)


def _thing_cancelled(older: Frame, newer: Frame) -> Finding | None:
    subject = newer.subject - al.LIGHT - {"self"}
    if not newer.cancel or not subject:
        return None
    if _only_dates(older, subject):
        return None
    missing = subject - older.content - older.tail
    if not missing and (len(subject) >= 2 or len(older.content) <= 4):
        return Finding(STRONG, "cancellation")
    return Finding(HINT, "cancellation") if len(subject - missing) >= 2 else None


def _cancelled_thing(older: Frame, newer: Frame) -> Finding | None:
    match = _CANCELLED_THING.search(newer.text)
    if match is None:
        return None
    thing = bag(match["o"]) - al.LIGHT - (older.subject & newer.subject)
    if not thing or not thing <= older.content | older.tail or _only_dates(older, thing):
        return None
    who = not older.subject or not newer.subject or bool((older.subject | older.owners) & newer.subject)
    firm = match["verb"].lower().startswith(("cancel", "called", "scrapped", "terminated", "unsubscribed"))
    if who and (len(thing) >= 2 or (firm and len(older.content) <= 4)):
        return Finding(STRONG if firm else LIKELY, "cancellation")
    return None


def _only_dates(older: Frame, thing: frozenset[str]) -> bool:
    """ "It began before our trip to Lisbon": the thing that was cancelled only says when."""
    return any(thing <= bag(match[0]) for match in _WHEN.finditer(older.text))


def change(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "moved from A to B", "replaced A", "switched its builds to Bazel" against a statement of A."""
    if not newer.change or newer.negative:
        return None
    left = _FROM.search(newer.text)
    if left and not _ALTERNATIVE.search(older.text) and not _CHOICE.search(newer.text):
        was = bag(left["a"]) - al.LIGHT
        around = aligned.common - was
        if was and was <= older.content and around:
            return Finding(STRONG, "change")
    target = _TO.search(newer.text)
    if target is None or older.past:
        return None
    moved, goal = bag(target["o"]) - al.LIGHT, bag(target["b"])
    if not moved <= older.content or goal & older.content:
        return None
    if aligned.changed and aligned.common:
        return Finding(STRONG, "change")
    around = aligned.common - goal - moved
    if moved and around:
        return Finding(LIKELY, "change")
    subject = newer.subject - al.LIGHT - {"self"}
    if around and subject and subject <= older.content and older.verb in _RUNNING and not subject & older.tail:
        return Finding(LIKELY, "change")
    return Finding(HINT, "change") if around else None


_RUNNING = frozenset(stem(w) for w in "use run host store build deploy write rely".split())
"""Verbs of what a thing is made with or runs on."""


def manner(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """One habit done in two ways: "I sign letters with my full name" / "with just my initials"."""
    if aligned.sign < 0 or older.past or newer.past or aligned.changed:
        return None
    if older.verb != newer.verb or older.verb not in pred.VERBS:
        return None
    mine, theirs = aligned.rest_older, aligned.rest_newer
    if older.verb in pred.KEEPING_VERBS:
        mine = older.content - newer.content - al.LIGHT
    if not mine or not theirs or not mine <= older.phrases or not theirs <= newer.phrases:
        return None
    thing = aligned.common - older.subject - frozenset({older.verb})
    if thing - older.phrases and older.verb in pred.KEEPING_VERBS:
        return Finding(LIKELY, "slot:manner")
    if newer.change and (thing or older.verb not in _VAGUE) and older.subject & newer.subject:
        return Finding(LIKELY, "slot:manner")
    return Finding(HINT, "slot:manner") if thing - older.phrases else None


_VAGUE = frozenset(
    stem(w) for w in "work go be come get live look feel think know want need help stay love like".split()
)
"""Verbs whose places and manners go side by side: "works in marketing", "works in Leeds"."""


def restated(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "I prefer window seats" and "I prefer aisle seats now": the same deed with another object, told as a change."""
    if aligned.sign < 0 or not newer.change or older.past or newer.past or aligned.changed or older.verb != newer.verb:
        return None
    if older.verb not in pred.VERBS - _VAGUE or not older.subject & newer.subject or older.owners ^ newer.owners:
        return None
    mine, theirs = aligned.rest_older, aligned.rest_newer
    swapped = 1 <= len(mine) <= 2 and 1 <= len(theirs) <= 2 and not (mine | theirs) & (older.phrases | newer.phrases)
    shared = aligned.common - older.subject - frozenset({older.verb})
    return Finding(LIKELY, "change") if swapped and (shared or older.verb in _EXCLUSIVE) else None


_EXCLUSIVE = frozenset(stem(w) for w in "prefer use drive ride rent".split())
"""Verbs of which one does one thing at a time, once it is told as a change."""


def ordered(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "Answer in British English" and "Answer in American English": two orders that exclude each other."""
    a, b = older.directive, newer.directive
    if a is None or b is None or aligned.sign < 0 or al.owners_differ(older, newer) or al.scopes_differ(older, newer):
        return None
    return Finding(LIKELY, "slot:directive") if exclusive(a, b, newer.change) else None


def addressee(older: Frame, newer: Frame, aligned: Alignment) -> Finding | None:
    """ "Ask Gudrun for credentials" and "Ask Nikhil for credentials": an order names one person."""
    if older.verb != newer.verb or older.verb not in _ORDERS or older.subject or newer.subject or aligned.sign < 0:
        return None
    mine, theirs = aligned.rest_older, aligned.rest_newer
    named = bool(mine) and bool(theirs) and mine <= older.names and theirs <= newer.names
    return Finding(LIKELY, "value:name") if named and len(aligned.common) >= 2 and not aligned.light else None
