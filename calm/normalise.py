"""The normal form of a claim: NFKC, case, punctuation, contractions and white space, and nothing else.

Two texts of one normal form are one claim and merge. So the form may never drop a negation, a digit, a sign or a
unit: "not permitted" and "permitted", "-5" and "5", "C" and "C++" stay apart. Ours (DESIGN 3).
"""

from __future__ import annotations

import re
import unicodedata

_ALIKE = str.maketrans(dict.fromkeys("’‘ʼ`´", "'") | dict.fromkeys("‐‑‒–−", "-"))
"""Apostrophes (before NFKC takes "´" apart), and hyphens and dashes that can be a minus sign."""
_FEET_AND_INCHES = ((re.compile(r"(?<=\d)″|(?<=\d)′′"), " in"), (re.compile(r"(?<=\d)′"), " ft"))
_TYPED_FEET_AND_INCHES = (
    (re.compile(r"(?<![^\W_])\"(?=[^\W_])"), re.compile(r"(?<=\d)\"(?![^\W_])"), " in"),
    (re.compile(r"(?<![^\W_])'(?=[^\W_])"), re.compile(r"(?<=\d)'(?![^\W_])"), " ft"),
)
"""An opening quotation mark, and the same mark behind a digit: units only where no quotation opens."""
_RAISED = re.compile(r"(?<=\d)(?=[⁰¹²³⁴-⁹])")
_FRACTION = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_APART_FROM_PERCENT = re.compile(r"(?<=\d)\s+(?=[%‰])")
_CONTRACTIONS = (
    (re.compile(r"(?<![^\W_])can't(?![^\W_])"), "can not"),
    (re.compile(r"(?<![^\W_])cannot(?![^\W_])"), "can not"),
    (re.compile(r"(?<![^\W_])won't(?![^\W_])"), "will not"),
    (re.compile(r"(?<![^\W_])shan't(?![^\W_])"), "shall not"),
    (re.compile(r"(?<![^\W_])i'm(?![^\W_])"), "i am"),
)
_SUFFIXES = {"n't": " not", "'re": " are", "'ve": " have", "'ll": " will"}
_SUFFIX = re.compile("|".join(_SUFFIXES))
_CONTRACTED = re.compile(r"(?:n't|(?<=[a-z])'(?:re|ve|ll))+(?![^\W_])")
_SIGNS = frozenset("-+#%‰@&/$€£¥°<>=*§")
"""Characters that carry meaning beside a letter or digit ("-5", "5%", "C#", "A/B")."""


def expand_contractions(text: str) -> str:
    """Lower-case text with "n't", "'re", "'ve" and the like written out."""
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    return _CONTRACTED.sub(lambda run: _SUFFIX.sub(lambda one: _SUFFIXES[one[0]], run[0]), text)


def normalise(text: str) -> str:
    """The normal form of `text`; "" only for text without any visible character.

    Idempotent: `normalise(normalise(t)) == normalise(t)`.
    """
    form = _step(text)
    while (after := _step(form)) != form:
        form = after
    return form


def _step(text: str) -> str:
    """One pass. Where a pass lays bare something for the next ("_n't_"), `normalise` takes it again."""
    seen = _visible(text).translate(_ALIKE)
    # NFKC would turn "10²" into 102 and "1½" into 11/2.
    apart = _FRACTION.sub(" ", _RAISED.sub("^", _units_named(seen)))
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", apart).casefold())
    words = expand_contractions(_unpunctuated(_APART_FROM_PERCENT.sub("", folded)))
    return " ".join(words.split()) or " ".join(folded.split())


def _units_named(text: str) -> str:
    """ "5′ 11″" as "5 ft 11 in": the marks of feet and inches would go the way of quotation marks."""
    for mark, unit in _FEET_AND_INCHES:
        text = mark.sub(unit, text)
    for opening, mark, unit in _TYPED_FEET_AND_INCHES:
        if not opening.search(text):
            text = mark.sub(unit, text)
    return text


_UNSEEN = frozenset({"Cc", "Cf", "Cs"})


def _visible(text: str) -> str:
    """`text` without what nobody sees: format characters vanish ("do", U+200B, "n't"), other controls are blanks."""
    kinds = {char: kind for char in set(text) if (kind := unicodedata.category(char)) in _UNSEEN}
    blanks: dict[str, str | int | None] = {char: "" if kind == "Cf" else " " for char, kind in kinds.items()}
    return text.translate(str.maketrans(blanks)) if blanks else text


_LETTER = r"[^\W_]"
_SIGN = f"[{re.escape(''.join(sorted(_SIGNS)))}]"
_LONE_SIGN = rf"(?<!{_LETTER})(?<!{_SIGN}){_SIGN}(?!{_LETTER})(?!{_SIGN})"
_LONE_POINT = rf"\.(?!{_LETTER})|(?<!{_LETTER})\.(?!\d)|(?<=[\W_])(?<!\s)\."
"""A full stop that is neither inside a word or number nor the decimal point of ".5"."""


def _unpunctuated(text: str) -> str:
    """`text` with a blank for all punctuation that is neither inside a word or number nor a sign."""
    marks = {char for char in set(text) if unicodedata.category(char)[0] == "P"}
    if not marks:
        return text
    plain = re.escape("".join(sorted(marks - _SIGNS - {"."})))
    outside = rf"[{plain}](?!{_LETTER})|(?<!{_LETTER})[{plain}]|" if plain else ""
    lone = re.sub(rf"{outside}{_LONE_POINT}", " ", text)
    return re.sub(_LONE_SIGN, lambda match: match[0] if match[0] not in marks else " ", lone)
