"""The grammar that the rules can afford: the main verb of a clause, its tense, whether a part is a
statement."""

from __future__ import annotations

import re

from calm.rules import lexicon as lex
from calm.rules import predicates as pred
from calm.rules.tokens import Word, words

AUX = frozenset(
    "is are am was were be has have had will would can could may must should do does did shall might"
    " remains isn aren".split()
)
ADVERBS = frozenset("also usually always often now just normally never longer still only not mostly generally".split())
_PRESENT_AUX = AUX - frozenset("was were had did would could might have has".split())
_PAST_AUX = frozenset("was were had did".split())
_PAST_FORMS = frozenset(
    "struck beat lay grew shook flooded drew chose hit cut put set drove rang swore built lent went"
    " met saw took gave came bought ran won lost ate drank wrote drove flew swam left sold found told"
    " made got felt sent paid"
    " caught held spent brought taught read wore rode broke fell slept sang threw sat stood began"
    " scored".split()
)
_BECOME = frozenset(
    "climbed risen grown dropped fallen changed moved switched increased decreased gone shrunk settled".split()
)
_PAST_VERB = re.compile(r"^[a-z]{2,}(?:ed)$")
_PLACE = frozenset("at in on from until".split())
DETERMINERS = frozenset("the a an my our your his her their its this that these those no each every some any".split())
_PRONOUNS = frozenset("i we he she they you it user who".split())


def complete(part: str) -> bool:
    """Whether a part has a verb or a colon, and so can be a statement."""
    return ":" in part or any(w.low in AUX or w.stem in pred.VERBS or _past_form(w) for w in words(part))


def main_verb(head: str, kept: list[Word]) -> int | None:
    """Index of the first auxiliary, or of a verb whose neighbour to the left can be its subject."""
    aux = next(
        (i for i, w in enumerate(kept) if w.low in AUX and not (w.low in ("may", "will") and w.text[0].isupper())),
        None,
    )
    limit = len(kept) if aux is None else aux
    for i in range(1, limit):
        word = kept[i]
        if word.stem not in pred.VERBS:
            continue
        previous = kept[i - 1]
        if previous.low in DETERMINERS or "'s" in head[previous.start : previous.start + len(previous.text) + 2]:
            continue
        if previous.low in _PRONOUNS or (previous.text[0].isupper() and not word.text[0].isupper()):
            return i
        if (
            aux is None
            and previous.low not in lex.FUNCTION_WORDS
            and word.low.endswith(("s", "ed"))
            and _finite(head, kept, i)
        ):
            return i
        if aux is None and previous.low in ADVERBS:
            return i
    if (
        aux is None
        and len(kept) > 1
        and kept[0].stem in pred.VERBS
        and not kept[0].low.endswith(("s", "ing"))
        and ":" not in head
    ):
        return 0
    return aux


def _finite(head: str, kept: list[Word], i: int) -> bool:
    """Whether "chairs" is a verb here: it has an object, or never is a noun."""
    word = kept[i]
    if word.stem not in pred.NOUN_VERBS or word.low.endswith("ed"):
        return True
    follow = kept[i + 1] if i + 1 < len(kept) else None
    between = head[word.start + len(word.text) : follow.start if follow else len(head)]
    if any(c.isdigit() for c in between):
        return True
    return follow is not None and (follow.low in DETERMINERS or follow.text[0].isupper() or follow.low in _PLACE)


def is_past(verb: Word | None, kept: list[Word], after: list[Word]) -> bool:
    """Whether a clause tells a past event; "has climbed" tells a present state."""
    if verb is not None and (verb.low in _PAST_AUX or _past_form(verb)):
        return True
    if verb is not None and verb.low in ("has", "have"):
        return bool(after) and after[0].low not in _BECOME and (_past_form(after[0]) or after[0].low == "been")
    if any(w.low in _PRESENT_AUX for w in kept) or (verb is not None and verb.low in _PRESENT_AUX):
        return False
    return any(_past_form(w) and i < 8 for i, w in enumerate(kept)) and (verb is None or not verb.low.endswith("s"))


def _past_form(word: Word) -> bool:
    return word.low in _PAST_FORMS or (
        bool(_PAST_VERB.match(word.low)) and word.low not in ("need", "feed", "speed", "bed", "red", "shed")
    )
