"""The normal form of a claim: NFKC, case, punctuation, contractions and white space, and nothing else.

Two texts of one normal form are one claim and merge. So the form may never drop a negation, a digit, a sign or a
unit: "not permitted" and "permitted", "-5" and "5", "C" and "C++" stay apart. Ours (DESIGN 3).
"""

from __future__ import annotations

import re
import unicodedata

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'"})
_CONTRACTIONS = (
    (re.compile(r"\bcan't\b"), "can not"),
    (re.compile(r"\bcannot\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"\bshan't\b"), "shall not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"(?<=[a-z])'re\b"), " are"),
    (re.compile(r"(?<=[a-z])'ve\b"), " have"),
    (re.compile(r"(?<=[a-z])'ll\b"), " will"),
)
_SIGNS = frozenset("-+#%@&/$€£¥°<>=*")
"""Characters that carry meaning beside a letter or digit ("-5", "5%", "C#", "A/B")."""


def expand_contractions(text: str) -> str:
    """Lower-case text with "n't", "'re", "'ve" and the like written out."""
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    return text


def normalise(text: str) -> str:
    """The normal form of `text`; "" only for text without any visible character.

    Idempotent: `normalise(normalise(t)) == normalise(t)`.
    """
    folded = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).casefold()
    folded = unicodedata.normalize("NFKC", folded)
    folded = expand_contractions(folded)
    kept = "".join(_keep(folded, i) for i in range(len(folded)))
    return " ".join(kept.split()) or " ".join(folded.split())


def _keep(text: str, i: int) -> str:
    """The character at `i`, or a blank where it is punctuation that carries no meaning there."""
    char = text[i]
    category = unicodedata.category(char)
    if category[0] not in "PC":
        return char
    if category[0] == "C":
        return " "
    before = text[i - 1] if i else " "
    after = text[i + 1] if i + 1 < len(text) else " "
    inside = before.isalnum() and after.isalnum()
    sign = char in _SIGNS and (before.isalnum() or after.isalnum() or before in _SIGNS or after in _SIGNS)
    return char if inside or sign else " "
