"""From text to clauses and words. Only the first `MAX_CHARS` characters are read, so any input costs the
same."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from calm.rules import lexicon as lex
from calm.rules.stems import stem

MAX_CHARS = 2_000
"""How much of a text the rules read (characters)."""
MAX_CLAUSES = 6
"""How many clauses of a text are compared; the rest is left to a model."""
MAX_CLAUSE_CHARS = 400
"""How much of one clause the rules read (characters)."""

_APOSTROPHES = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "`": "'",
        "´": "'",
        "“": '"',
        "”": '"',
        "‐": "-",
        "‑": "-",
        "−": "-",
        "\u00a0": " ",
    }
)
_WORD = re.compile(r"[^\W_]+(?:['.\-_/&][^\W_]+)*[+#]*|[±][^\W_]+")
_BREAK = re.compile(r"[.!?;。！？；]+(?=[\s\"')\]]|$)|[。！？；]|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:dr|mr|mrs|ms|st|prof|no|vs|approx|e\.g|i\.e|inc|ltd|jr|sr|fig|gen|sgt|lt|[a-z])$", re.I
)
_ACRONYM = re.compile(r"((?:[A-Z][\w-]* ){2,6})\(([A-Z]{2,6})\)")
_HYPHENED = re.compile(r"[^\W\d_]{2,}(?:-[^\W\d_]{2,})+")
_CONTRACTIONS = (
    (re.compile(r"\b(?:can't|cannot)\b", re.I), "can not"),
    (re.compile(r"\bwon't\b", re.I), "will not"),
    (re.compile(r"\bshan't\b", re.I), "shall not"),
    (re.compile(r"\bain't\b", re.I), "is not"),
    (re.compile(r"n't\b", re.I), " not"),
    (re.compile(r"\bI'm\b", re.I), "I am"),
    (re.compile(r"\b(he|she|it|that|there|who|what|here)'s\b(?! (?:own|name)\b)", re.I), r"\1 is"),
    (re.compile(r"(?<=[a-z])'re\b", re.I), " are"),
    (re.compile(r"(?<=[a-z])'ve\b", re.I), " have"),
    (re.compile(r"(?<=[a-z])'ll\b", re.I), " will"),
    (re.compile(r"\be-?mail", re.I), "email"),
    (re.compile(r"\bwi-fi\b", re.I), "wifi"),
    (re.compile(r"\bnon-?(?=[a-z]{3})", re.I), "not "),
    (
        re.compile(r"\b(?:under|in) review\b|\b(?:waiting|awaiting) (?:for )?(?:approval|a decision)\b", re.I),
        "pending",
    ),
    (re.compile(r"\b(?:tied the knot|exchanged vows|got married|got hitched)\b", re.I), "is married"),
    (
        re.compile(
            r"(?<=[A-Za-z] )(?:(?:(?:took|takes|has taken) over as|(?:was|has been) (?:appointed|elected|promoted to))"
            r"(?: as)? (?:the |our )?(?!an? )|(?:became|(?:was|has been) (?:named|made)) (?:the|our) )",
        ),
        "is now the ",
    ),
    (
        re.compile(
            r"\bit (?:(?:is|has) (?:no longer|not)(?: been)? (?:true|the case|so|right)(?: any ?more)?|"
            r"(?:stopped|ceased) being (?:true|the case|so)|is (?:false|untrue)) that\b",
            re.I,
        ),
        "no longer",
    ),
    (re.compile(r"\bcan not (?:stand|bear)\b", re.I), "hate"),
    (
        re.compile(
            r"^\W*(?:please )?(?:change|set|update|switch|make) (?P<what>(?:my|our|the) [\w' -]{3,40}?) "
            r"(?:from .{2,30}? )?to ",
            re.I,
        ),
        r"\g<what> is now ",
    ),
    (re.compile(r"\bany more\b(?! \w+s\b)", re.I), "anymore"),
    (re.compile(r"\b(?:broke up|split up)\b", re.I), "separated"),
    (re.compile(r"\b(?:at all|of any (?:sort|kind)|in any way|whatsoever|at the last count)\b", re.I), ""),
)


class Word(NamedTuple):
    """One word: as written, lower case, its stem, and where it starts in the clause."""

    text: str
    low: str
    stem: str
    start: int


def prepare(text: str) -> str:
    """The beginning of `text` in NFKC, with plain quotes, contractions written out and acronyms joined.

    "The Kiruna Valley Rail (KVR) group" reads "The KVR group" when the letters are the initials.
    """
    text = unicodedata.normalize("NFKC", text[:MAX_CHARS])[:MAX_CHARS].translate(_APOSTROPHES)
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    return _ACRONYM.sub(_short, text)


def _short(match: re.Match[str]) -> str:
    names = match[1].split()
    letters = match[2]
    tail = names[-len(letters) :]
    if len(tail) == len(letters) and all(n[0] == c for n, c in zip(tail, letters, strict=True)):
        return " ".join([*names[: -len(letters)], letters])
    return match[0]


def clauses(prepared: str) -> list[str]:
    """The first clauses of a prepared text: split at sentence ends and semicolons, not after "Dr."."""
    pieces: list[str] = []
    start = 0
    for match in _BREAK.finditer(prepared):
        before = prepared[max(start, match.start() - 8) : match.start()]
        if match[0] == "." and _ABBREVIATION.search(before):
            continue
        pieces.append(prepared[start : match.end()])
        start = match.end()
        if len(pieces) == MAX_CLAUSES:
            return _clean(pieces)
    pieces.append(prepared[start:])
    return _clean(pieces)


def _clean(pieces: list[str]) -> list[str]:
    return [piece for piece in (p.strip()[:MAX_CLAUSE_CHARS] for p in pieces) if piece]


def words(clause: str) -> list[Word]:
    """The words of a clause in order; "left-handed" gives two, "PRK-118" and "v1.2" stay one, "'s" is cut
    off."""
    found: list[Word] = []
    for match in _WORD.finditer(clause):
        text = match[0]
        if _HYPHENED.fullmatch(text):
            offset = match.start()
            for part in text.split("-"):
                found.append(Word(part, part.lower(), stem(part.lower()), offset))
                offset += len(part) + 1
            continue
        low = text.lower()
        if low.endswith("'s"):
            text, low = text[:-2], low[:-2]
        found.append(Word(text, low, stem(low), match.start()))
    return found


def bag(text: str) -> frozenset[str]:
    """The stems of a phrase without its function words."""
    return frozenset(w.stem for w in words(text) if w.low not in lex.FUNCTION_WORDS)
