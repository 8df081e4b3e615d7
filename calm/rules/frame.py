"""A clause as the rules see it: subject, content, polarity, typed values, attribute, holder and slots.

A frame says nothing about truth. It is what `compare` lines up with the frame of another clause. Ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from calm.rules import lexicon as lex
from calm.rules import modality
from calm.rules import predicates as pred
from calm.rules.attributes import Attribute, Holder, attribute_of, holder_of
from calm.rules.directives import Directive, directive_of
from calm.rules.extraction import extract
from calm.rules.grammar import ADVERBS, DETERMINERS, complete, is_past, main_verb
from calm.rules.quantities import Value
from calm.rules.slots import Slot, slots_of
from calm.rules.tokens import Word, words

_LEAD = re.compile(
    r"^\W*(?:(?:no|yes|yep|well|so|sorry|oh|oh wait|wait|update|correction|note|noted|actually|ok|okay|"
    r"fyi|btw|hey|and|but|anyway|"
    r"turns out|oops|scratch that)[,:!]\s+(?:i meant(?: that)?\s+)?|(?:i meant(?: that)?|so|and|but|"
    r"turns out|it turns out)\s+|(?:now|"
    r"currently|these days|nowadays|lately|recently|from today|from now on|as of (?:today|now|"
    r"this \w+))[,:]?\s+|(?:as of|since|after|"
    r"starting|from|effective)\s[^,:]{1,60},\s+|since\s(?:the|my|our|last)\s\w+(?:\s\w+)?\s(?=(?:you|"
    r"we|i|the|it|our|my)\s)|(?:here|ps|p\.s\.)[,:]\s+)",
    re.I,
)
_SCOPE_LEAD = re.compile(r"^(?:in|on|at|for|with|when|within|among|during|under|by)\s[^,:]{2,50},\s+", re.I)
_TAIL = re.compile(
    r",\s|\s(?:because|now that|so that|having|which|although|though|while|whereas|but|after|following|"
    r"see)\s|\s[-–—]\s|\s\(|\ssince\s(?!\d|last|jan|feb|mar|apr|"
    r"may|jun|jul|aug|sep|oct|nov|dec)",
    re.I,
)
_TAIL_SUBJECT = re.compile(
    r"^\W*(?:it|they|he|she|that)\b(?:\s+(?:is|are|costs?|charges?|now|has|will|runs?|starts?|takes?)\b)",
    re.I,
)
_REPORT = re.compile(r"^([^:,]{3,60}):\s+(?=\S)")
_AGAIN = re.compile(r"(?:this (?!is\b|was\b|has\b)\w+|it|they|he|she)\s(?=\w)", re.I)
"""What takes up the label before a colon: "Akyuz Hotel: this hotel is …"."""
_CANCEL = re.compile(lex.CANCEL, re.I)
_CORRECTION = re.compile(lex.CORRECTION, re.I)
_CHANGE = re.compile(lex.CHANGE, re.I)
_HARMLESS = re.compile("|".join(r"\b" + re.escape(p) + r"\b" for p in lex.HARMLESS_NEGATIONS), re.I)
_CHANGE_LEAD = re.compile(r"\W*(?:since|from|as of|after|these days|now|starting)\b", re.I)
_SELF_NAMED = re.compile(r"^I, ([A-Z][\w-]+),?\s")
_FIRST = frozenset("i we me us my our mine ours myself ourselves user user's".split())
_ANAPHORS = frozenset("it they this that these those there".split())
"""Subjects that stand for something said elsewhere."""
_AT = re.compile(r"\b(?:at|in|into|to) $")
"""Before a possessive that belongs to the value: "meets at Ilse's place"."""
_POSSESSIVE = frozenset("my our".split())
_IGNORED = lex.INTENSIFIERS | frozenset(
    "new current number amount total set stand mr mrs ms dr prof st miss sir no will went gone rose"
    " risen rais increas reduc".split()
)
_SCOPING = frozenset("in on at for with during under among to from via within between of by".split())
_RATES = frozenset("day week month year hour night minute visit semester term quarter weekday weekend season".split())


@dataclass(frozen=True, slots=True)
class Frame:
    """One clause. Stems are lower case; `content` leaves out function words, typed values and degree words.

    `subject` are the content stems before the main verb, with "self" for the first person; `owners` whoever a
    possessive names; `kin` relatives among them. `polar` maps an opposition to its sign, `negative` is the parity of
    the negations. `values` stand after the main verb, `ids` before it. `tail` is what a comma or a subordinate clause
    adds; `phrases` are the stems inside prepositional phrases, `rates` the "month" of "900 a month". `people` are
    names that are the whole subject, or owners: too common in a conversation to tell what it is about.
    """

    text: str
    content: frozenset[str]
    names: frozenset[str]
    subject: frozenset[str]
    owners: frozenset[str]
    kin: frozenset[str]
    scope: frozenset[str]
    tail: frozenset[str]
    polar: tuple[tuple[str, int], ...]
    negative: bool
    values: tuple[Value, ...]
    ids: tuple[Value, ...]
    tail_values: tuple[Value, ...]
    attribute: Attribute | None
    holder: Holder | None
    slots: tuple[Slot, ...]
    directive: Directive | None
    verb: str
    past: bool
    change: bool
    correction: bool
    cancel: bool
    limited: bool
    remembers: bool
    adds: bool
    indefinite: bool
    hedged: bool
    phrases: frozenset[str]
    rates: frozenset[str]
    people: frozenset[str]
    eats: frozenset[str]
    anaphoric: bool


def frame_of(clause: str) -> Frame:
    """The frame of one prepared clause; never raises."""
    negated_out = _HARMLESS.sub(" ", clause)
    body = _strip_lead(negated_out)
    body, scope_text = _strip_scope(_strip_report(body))
    head, tail = _split(body)
    all_words = words(head)
    values = _labelled(head, all_words)
    kept = [w for w in all_words if not _inside(w, values)]
    at = main_verb(head, kept)
    verb_start = kept[at].start if at is not None else _colon(head)
    before = [w for w in kept if w.start < verb_start]
    after = [w for w in kept if w.start > verb_start]
    content = _content(kept)
    polar, negative = _polarity(all_words)
    subject, owners, kin = _subject(head, before, kept)
    verb = kept[at] if at is not None else None
    ids = tuple(v for v in values if v.start < verb_start and not _bare(v)) if verb_start < len(head) else ()
    ids = ids or (_numbered(kept, values) if verb is None else ())
    post = tuple(v for v in values if v not in ids)
    attribute = attribute_of(head, verb, before, after, post)
    return Frame(
        text=clause,
        content=content,
        names=frozenset(w.stem for w in kept if w.text[0].isupper() and w.stem in content and w.start > 0)
        | frozenset(w.stem for w in kept[:1] if len(before) == 1 and w.text[0].isupper() and w.stem in content),
        subject=subject,
        owners=owners,
        kin=kin,
        scope=_content(words(scope_text)) | frozenset(f"{v.kind}={v.canonical}" for v in extract(scope_text)),
        tail=_content(words(tail)),
        polar=polar,
        negative=negative,
        values=post,
        ids=ids,
        tail_values=tuple(_labelled(tail, words(tail))),
        attribute=attribute,
        holder=holder_of(verb, before, after, attribute),
        slots=slots_of(head, subject, before, after),
        directive=directive_of(head, subject - {verb.stem} if verb else subject),
        verb=verb.stem if verb else "",
        past=is_past(verb, kept, after),
        change=bool(_CHANGE.search(clause)) or bool(_CHANGE_LEAD.match(clause)),
        correction=bool(_CORRECTION.search(clause)),
        cancel=bool(_CANCEL.search(clause)),
        limited=modality.limited(clause),
        remembers=modality.remembers(clause),
        adds=modality.adds(clause),
        indefinite=_indefinite(verb, kept),
        hedged=modality.hedged(clause),
        phrases=_phrases(kept),
        rates=frozenset(w.stem for w in kept if w.low in _RATES),
        people=_people(head, verb, before, kept),
        eats=_eats(kept, after),
        anaphoric=bool(before) and all(w.low in _ANAPHORS for w in before),
    )


def _strip_lead(clause: str) -> str:
    start = 0
    for _ in range(4):
        match = _LEAD.match(clause, start) if start == 0 else _LEAD.match(clause[start:])
        if match is None or match.end() == 0:
            break
        start += match.end()
    return clause[start:]


def _strip_scope(body: str) -> tuple[str, str]:
    match = _SCOPE_LEAD.match(body)
    return (body[match.end() :], match[0]) if match and len(body) > match.end() + 3 else (body, "")


def _strip_report(body: str) -> str:
    """ "Counted again with the caretaker: the lab has 22 seats" without its report; "For flat 6: …" is a
    scope and stays."""
    match = _REPORT.match(body)
    if match and (again := _AGAIN.match(body, match.end())):
        return f"{match[1]} {body[again.end() :]}"
    if (
        match is None
        or _TAIL_SUBJECT.match(body[match.end() :])
        or not complete(body[match.end() :])
        or (complete(match[0].rstrip(": ")) and len(body) < match.end() + 4)
    ):
        return body
    return f"{match[1]}, {body[match.end() :]}" if _SCOPE_LEAD.match(match[1] + ", ") else body[match.end() :]


def _split(body: str) -> tuple[str, str]:
    """Main part and afterthought. "Rent went up, it is 900 now" stays whole: the afterthought holds the
    value."""
    for match in _TAIL.finditer(body):
        head, tail = body[: match.start()], body[match.end() :]
        if len(_content(words(head))) + len(extract(head)) < 2 and not _TAIL_SUBJECT.match(tail):
            continue
        if not complete(head) and complete(tail):
            continue
        if re.match(r"(?:and|or|&)\s", tail) or (_TAIL_SUBJECT.match(tail) and not extract(head)):
            continue
        return head, tail
    return body, ""


def _labelled(clause: str, found: list[Word]) -> list[Value]:
    """Numbers and codes get the noun before them as their unit: "bed 9", "permit PRK-118"."""
    labelled = []
    for found_value in extract(clause):
        value = found_value
        if value.kind in ("number", "code"):
            before = next((w for w in reversed(found) if w.start + len(w.text) <= value.start), None)
            gap = "" if before is None else clause[before.start + len(before.text) : value.start]
            if before is not None and gap in (" ", " #", " no. ") and before.low not in lex.FUNCTION_WORDS:
                value = value._replace(unit=before.stem)
        labelled.append(value)
    return labelled


def _bare(value: Value) -> bool:
    """A count, "six chairs are on order", and no identifier: a number without the noun that it numbers."""
    return value.kind == "number" and not value.unit


def _numbered(kept: list[Word], values: list[Value]) -> tuple[Value, ...]:
    """The identifier that opens a clause with an unknown verb: the 12 of "Room 12 seats 30"."""
    opening = [w for w in kept[:2] if w.low not in DETERMINERS][:1]
    labels = {w.stem: w.start for w in opening}
    return tuple(v for v in values[:1] if v.unit in labels and v.start > labels[v.unit] and len(kept) > 1)


def _inside(word: Word, values: list[Value]) -> bool:
    return any(v.start <= word.start < v.end for v in values)


def _colon(head: str) -> int:
    match = re.search(r":(?=\s)|\s=\s", head)
    return match.start() if match else len(head) + 1


def _content(found: list[Word]) -> frozenset[str]:
    stems: set[str] = set()
    for w in found:
        if w.low in lex.FUNCTION_WORDS or w.stem in _IGNORED:
            continue
        polar = lex.POLAR.get(w.stem)
        stems.add(polar[0] if polar else w.stem)
    return frozenset(stems)


def _polarity(found: list[Word]) -> tuple[tuple[tuple[str, int], ...], bool]:
    negative = False
    groups: dict[str, int] = {}
    for i, w in enumerate(found):
        if w.low == "no" and i + 1 < len(found) and found[i + 1].low[0].isdigit():
            continue
        if w.low in lex.NEGATIONS or w.stem in lex.ENDINGS:
            negative = not negative
        polar = lex.POLAR.get(w.stem)
        if polar:
            groups[polar[0]] = groups.get(polar[0], 1) * polar[1]
    return tuple(sorted(groups.items())), negative


def _subject(head: str, before: list[Word], kept: list[Word]) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    owners: set[str] = set()
    kin: set[str] = set()
    subject = set(_content(before))
    if any(w.low in ("i", "we", "user") for w in before):
        subject.add("self")
    for w in kept:
        if w.low in _POSSESSIVE:
            owners.add("self")
        elif (
            head[w.start + len(w.text) : w.start + len(w.text) + 2] == "'s"
            and w.low not in lex.FUNCTION_WORDS
            and not (before and w.start > before[-1].start and _AT.search(head, 0, w.start))
        ):
            owners.add("self" if w.low == "user" else w.stem)
            if w.low in lex.KIN:
                kin.add(w.stem)
    kin |= {w.stem for w in before if w.low in lex.KIN}
    named = _SELF_NAMED.match(head)
    if named:
        subject.discard("self")
        subject.add(named[1].lower())
    return frozenset(subject), frozenset(owners), frozenset(kin)


def _indefinite(verb: Word | None, kept: list[Word]) -> bool:
    """ "I have an appointment on 3 May": one of many, not the one."""
    follow = next((w for w in kept if verb is not None and w.start > verb.start), None)
    return (
        verb is not None
        and verb.low in ("have", "has", "had", "booked", "got")
        and follow is not None
        and (follow.low in ("a", "an", "another", "some"))
    )


def _people(head: str, verb: Word | None, before: list[Word], kept: list[Word]) -> frozenset[str]:
    whole = verb is not None and all(w.text[0].isupper() and w.low not in pred.FUNCTIONAL_NOUNS for w in before)
    owners = (w for w in kept if w.text[0].isupper() and head.startswith("'s", w.start + len(w.text)))
    return frozenset(w.stem for w in (*(before if whole else ()), *owners) if w.low not in lex.FUNCTION_WORDS)


def _eats(kept: list[Word], after: list[Word]) -> frozenset[str]:
    """Animal food that the subject eats or likes: "meat", "fish", "dairy"."""
    if not any(w.stem in lex.EATING for w in kept[:4]) or any(w.low in lex.PLANT for w in kept):
        return frozenset()
    groups = (("meat", lex.MEAT), ("fish", lex.FISH), ("dairy", lex.DAIRY))
    return frozenset(group for group, foods in groups if any(w.low in foods for w in after))


def _phrases(kept: list[Word]) -> frozenset[str]:
    inside = False
    stems: set[str] = set()
    for w in kept:
        if w.low in _SCOPING:
            inside = True
        elif w.low in DETERMINERS:
            continue
        elif w.low in lex.FUNCTION_WORDS and w.low not in ADVERBS:
            inside = False
        elif inside and w.low not in ADVERBS:
            stems.add(lex.POLAR[w.stem][0] if w.stem in lex.POLAR else w.stem)
    return frozenset(stems)
