"""Attributes and holders: "the release captain is Wiola", "Wiola captains the release", "the lease is held
by Norbex".

An attribute is a definite description with its value; a holder the one person or firm that stands in a verb's or
noun's relation to a definite thing. Ours.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from calm.rules import lexicon as lex
from calm.rules import predicates as pred
from calm.rules.quantities import Value
from calm.rules.stems import stem
from calm.rules.tokens import Word

_COPULAS = frozenset("is are am was were remains".split())
_DEFINITE = frozenset("the my our your his her their this".split())
PLACE_PREPOSITIONS = frozenset(
    "in at on with under behind near by inside beside beneath above opposite outside".split()
)
_BLIND = frozenset(
    "i we he she they it there this that these those a an some you who what one nothing everything".split()
)
_TITLES = frozenset("mr mrs ms dr prof miss sir new current".split())


_EXACT = frozenset({"code", "size", "version", "host"})
"""Kinds of values that can stand against a name: "HEPA-E62" and "DX-119", "L" and "XL"."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A definite description and what it equals. `head` is the noun that is described, `stems` it with its
    modifiers.

    `named`: every word of the value is a name; `preposition`: the value is a place ("in the cellar"), else "".
    `article`: the value is indefinite; `typed`: it holds a typed value. `past` and `plural` are those of the copula.
    """

    stems: frozenset[str]
    head: str
    value: frozenset[str]
    named: bool
    preposition: str
    article: bool
    typed: bool
    past: bool
    plural: bool


@dataclass(frozen=True, slots=True)
class Holder:
    """Who stands in relation `predicate` to the definite thing `object`."""

    predicate: str
    object: frozenset[str]
    holder: frozenset[str]
    named: bool


def content_of(found: list[Word]) -> list[Word]:
    """The words that carry a name or an attribute."""
    return [
        w for w in found if w.low not in lex.FUNCTION_WORDS and w.stem not in lex.INTENSIFIERS and w.low not in _TITLES
    ]


def _stems(found: list[Word]) -> frozenset[str]:
    return frozenset(w.stem for w in content_of(found))


def _named(found: list[Word]) -> bool:
    inner = content_of(found)
    if not inner or any(w.low in PLACE_PREPOSITIONS | {"of", "from", "by"} for w in found[1:]):
        return bool(inner) and all(w.text[0].isupper() for w in inner)
    return inner[-1].text[0].isupper() or (inner[-1].text[0].isdigit() and inner[0].text[0].isupper())


def _until_break(after: list[Word]) -> list[Word]:
    """The value phrase: up to the first word that opens an adjunct of time or reason."""
    for i, w in enumerate(after):
        if i and w.low in (
            "as",
            "since",
            "from",
            "until",
            "now",
            "because",
            "after",
            "before",
            "these",
            "and",
            "when",
        ):
            return after[:i]
    return after


def attribute_of(
    head: str, verb: Word | None, before: list[Word], after: list[Word], values: tuple[Value, ...]
) -> Attribute | None:
    """The attribute that a copula or a colon states, whichever side the description stands on, or None."""
    colon = verb is None
    if (verb is not None and verb.low not in _COPULAS) or not before or not (after or values):
        return None
    if colon and (not re.search(r":(?=\s)|\s=\s", head) or _no_label(before)):
        return None
    after = _until_break(after)
    labelled = any(w.low in ("called", "named") for w in after[:2])
    while after and after[0].low in (
        "now",
        "still",
        "currently",
        "just",
        "actually",
        "called",
        "named",
        "not",
    ):
        if after[0].low == "not":
            return None
        after = after[1:]
    if [w.low for w in after[:2]] == ["next", "to"]:
        after, preposition = after[2:], "beside"
    else:
        preposition = after[0].low if after and after[0].low in PLACE_PREPOSITIONS else ""
    if before[0].low in _BLIND and not colon:
        return None
    left_definite = colon or before[0].low in _DEFINITE or "'s" in head[: before[-1].start] or not _named(before)
    right_definite = (
        bool(after) and (after[0].low in _DEFINITE or _owned(head, after) or _role(after)) and not _named(after)
    )
    if right_definite and _named(before) and before[0].low not in _DEFINITE:
        before, after, preposition = after, before, ""
    elif not left_definite:
        return None
    described = content_of(before)
    if (
        not described
        or len(described) > 6
        or len(after) > 12
        or (colon and described[-1].low.endswith("s") and described[-1].stem in pred.VERBS)
    ):
        return None
    if after and not preposition and not values and _participle(after):
        return None
    return Attribute(
        stems=frozenset(w.stem for w in described),
        head=_head(before),
        value=_stems(after) | frozenset(f"#{v.canonical}" for v in values if v.kind in _EXACT),
        named=labelled or _named(after),
        preposition=preposition,
        article=bool(after) and after[0].low in ("a", "an"),
        typed=any(v.kind != "colour" for v in values) or (bool(values) and not content_of(after)),
        past=verb is not None and verb.low in ("was", "were"),
        plural=verb is not None and verb.low in ("are", "were"),
    )


def _no_label(before: list[Word]) -> bool:
    """ "Check out: …" orders, "Category: …" heads one entry of many: neither describes the one thing."""
    nouns = content_of(before)
    first = before[0]
    ordering = first.stem in pred.VERBS - pred.NOUN_VERBS or first.low in ("try", "check", "consider", "note")
    return ordering or (len(nouns) == 1 and nouns[0].low in _ENTRIES)


_ENTRIES = frozenset(
    "category item topic example tip answer question result total description summary source note step option type"
    " ingredients instructions pros cons cost rating genre year date".split()
)
"""Labels that every entry of a list bears."""


def _role(after: list[Word]) -> bool:
    """ "head of finance at Quillon": a role without an article."""
    return (
        len(after) > 2 and after[1].low == "of" and after[0].text.islower() and after[0].low not in lex.FUNCTION_WORDS
    )


def _owned(head: str, found: list[Word]) -> bool:
    return any(head[w.start + len(w.text) : w.start + len(w.text) + 2] == "'s" for w in found[:3])


def _participle(after: list[Word]) -> bool:
    first = after[0].low
    return first.endswith(("ed", "ing")) or after[0].stem in pred.HOLDER_VERBS


def _head(described: list[Word]) -> str:
    """The last content word before a preposition: "manager" in "the line manager of the Ghent team"."""
    last = ""
    for w in described:
        if w.low in ("of", "for", "in", "on", "at", "to", "from", "with") and last:
            break
        if w.low not in lex.FUNCTION_WORDS:
            last = w.stem
    return last


def holder_of(verb: Word | None, before: list[Word], after: list[Word], attribute: Attribute | None) -> Holder | None:
    """The holder relation of a clause, from an active verb, a passive with "by", "belongs to", or a role
    noun."""
    if attribute is not None:
        return _from_noun(attribute)
    if verb is None or not before or not after:
        return None
    if verb.low in ("is", "are", "was", "were"):
        return _passive(before, after)
    if verb.low in ("belongs", "belong") and after[0].low == "to":
        return _holder("own", before, _until_break(after[1:]))
    predicate = "do" if verb.low in ("do", "does") and after[0].low == "the" else pred.HOLDER_VERBS.get(verb.stem)
    if predicate is None or not (after[0].low in _DEFINITE or after[0].text[0].isupper()):
        return None
    if before[0].low in _BLIND - {"i", "we"}:
        return None
    return _holder(predicate, _until_break(after), before)


def _passive(before: list[Word], after: list[Word]) -> Holder | None:
    by = next((i for i, w in enumerate(after) if w.low == "by"), None)
    while after and after[0].low in ("now", "still", "currently", "also"):
        after = after[1:]
        by = None if by is None else by - 1
    predicate = pred.HOLDER_VERBS.get(after[0].stem) if after else None
    if by is None or by < 1 or predicate is None:
        return None
    return _holder(predicate, [*before, *after[1:by]], _until_break(after[by + 1 :]))


def _from_noun(attribute: Attribute) -> Holder | None:
    group = _ROLE_STEMS.get(attribute.head)
    thing = attribute.stems - {attribute.head} - pred.UNIQUE_MODIFIERS - _RANKS
    return Holder(group, thing, attribute.value, True) if group and thing and attribute.named else None


_RANKS = frozenset({"head", "chief", "lead", "vice", "deputy"})
_ROLE_STEMS: dict[str, str] = {}
for _noun, _group in pred.HOLDER_NOUNS.items():
    _ROLE_STEMS[stem(_noun)] = _group


def _holder(predicate: str, thing: list[Word], who: list[Word]) -> Holder | None:
    named = _named(who) or (bool(who) and who[0].low in ("i", "we", "user"))
    holder = _stems(who) | ({"self"} if any(w.low in ("i", "we", "me", "us") for w in who) else frozenset())
    target = _stems(thing)
    return Holder(predicate, target, holder, named) if target and holder and len(target) <= 6 else None
