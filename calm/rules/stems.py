"""A light English stemmer: enough to join "permitted" and "permits", never a dictionary."""

from __future__ import annotations

from functools import lru_cache

_IRREGULAR = {
    "lives": "liv", "living": "liv", "lived": "liv", "wives": "wife", "children": "child",
    "people": "person", "men": "man",
    "women": "woman", "feet": "foot", "teeth": "tooth", "mice": "mouse", "ate": "eat", "eaten": "eat",
    "drank": "drink",
    "drove": "driv", "driven": "driv", "wore": "wear", "worn": "wear", "kept": "keep", "held": "hold",
    "met": "meet",
    "paid": "pay", "spoke": "speak", "spoken": "speak", "sold": "sell", "bought": "buy", "taught": "teach",
    "led": "lead",
    "ran": "run", "swam": "swim", "slept": "sleep", "sat": "sit", "stood": "stand", "began": "begin",
    "left": "left",
    "grew": "grow", "chose": "choos", "chosen": "choos", "wrote": "writ", "written": "writ",
    "sung": "sing", "sang": "sing",
    "sent": "send", "spent": "spend", "built": "build", "took": "tak", "taken": "tak", "gave": "giv",
    "given": "giv",
    "allergies": "allerg", "allergy": "allerg", "allergic": "allerg", "news": "news", "bus": "bus",
    "gas": "gas",
    "during": "during", "spring": "spring", "string": "string", "king": "king", "ring": "ring",
    "thing": "thing",
    "wing": "wing", "wedding": "wedding", "evening": "evening", "morning": "morning",
    "building": "building", "red": "red",
    "bed": "bed", "speed": "speed", "need": "need", "feed": "feed", "seed": "seed", "has": "has",
    "his": "his", "this": "this",
    "favorite": "favourit", "color": "colour", "colors": "colour", "organization": "organisation",
    "center": "centre",
    "meeting": "meeting", "meetings": "meeting", "using": "us", "used": "us", "use": "us", "uses": "us",
    "mom": "mum",
    "cancelled": "cancel", "cancelling": "cancel", "travelled": "travel", "travelling": "travel",
    "labelled": "label",
    "modelled": "model", "fuelled": "fuel", "signalled": "signal",
}  # fmt: skip
_VOWELS = frozenset("aeiouy")


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of one lower-case word; equal for the usual inflections, the word itself where unsure."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    return _without_e(_without_suffix(_singular(word)))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_suffix(word: str) -> str:
    for suffix in ("ing", "ed"):
        base = word[: -len(suffix)]
        if word.endswith(suffix) and len(base) >= 3 and _VOWELS & set(base):
            if base[-1] == base[-2] and base[-1] not in "lsz":
                return base[:-1]
            return base[:-1] + "y" if base.endswith("i") else base
    return word


def _without_e(word: str) -> str:
    return word[:-1] if word.endswith("e") and len(word) > 3 else word
