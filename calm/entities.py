"""Named things in a text: the entities of a cell and of a query, whom a sentence is about, and its life areas.

Rules over words and capitals, so that Stage I needs no model. Ours (the papers list entities and applicability
scope as fields and leave their extraction open).
"""

from __future__ import annotations

import re

_CAPITAL = "[" + "".join(c for c in map(chr, range(0x530)) if c.isupper()) + "]"
"""Capitals of the Latin, Greek and Cyrillic scripts."""
_NAME = re.compile(rf"\b{_CAPITAL}[\w-]*(?:'{_CAPITAL}\w+)?(?:\s+(?:of\s+)?{_CAPITAL}[\w-]*)*")
_NOT_NAMES = frozenset(
    "i i'm i've i'd i'll a am an and any are as ask at be but by can could did do does don't for from give had"
    " has have he her here hers his how if in is it its just last let like list may me might my new next no not"
    " note now of oh ok on only our please previous she should since so some still that the their them then"
    " there these they this those to today tell tomorrow up was we well were what when where which while who"
    " whom whose why will with would write yes yesterday you your always never draft answer remember user"
    " assistant monday tuesday wednesday thursday friday saturday sunday january february march april june july"
    " august september october november december english".split()
)
_SUBJECT = re.compile(
    r"^(?:(?:No|So|Well|Actually|And|But|Also|These days|Now|From today)[,:]?\s+)*"
    r"(?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)*)(?P<rest>'s\b|\s+[a-z])"
)
_SELF_NAME = re.compile(r"\bI, ([A-Z][\w-]+),")

_FRAME_WORDS: dict[str, frozenset[str]] = {
    "work": frozenset(
        "work office job colleague colleagues boss manager client clients professional business team coworker"
        " coworkers customer customers company".split()
    ),
    "family": frozenset(
        "family sister brother mother mum mom father dad parents kids children son daughter wife husband"
        " grandma grandpa granny aunt uncle cousin cousins niece nephew relatives".split()
    ),
    "friends": frozenset("friends friend mates mate pals buddies".split()),
    "school": frozenset("school class teacher university college campus lecture lectures".split()),
}
_FRAME_PHRASE = re.compile(
    r"^(?:\W*(?:so|and|but|also),?\s+)?(?:at|in|with|for|among|around|towards|to|when i'm (?:at|with)|"
    r"when i am (?:at|with))\s+(?:my |our |the |a )?(?P<word>[a-z]+)\b",
    re.IGNORECASE,
)


def entities(text: str) -> frozenset[str]:
    """Case-folded names in `text` ("Kiruna Valley Rail", "KVR"), without function words, weekdays and months."""
    names: set[str] = set()
    for match in _NAME.finditer(text[:4_000]):
        words = match[0].split()
        while words and words[0].casefold() in _NOT_NAMES:
            words = words[1:]
        while words and words[-1].casefold() in _NOT_NAMES:
            words = words[:-1]
        if words and len("".join(words)) > 1:
            names.add(" ".join(words).casefold())
    return frozenset(names)


def subject(bound_text: str, speaker_name: str | None, first_person: bool) -> str | None:
    """Whom the sentence is about, case-folded: the speaker in the first person, else a leading name, else None.

    `bound_text` is the text with the first person bound; None also stands for the user who has no known name.
    """
    named = _SELF_NAME.search(bound_text)
    if named:
        return named[1].casefold()
    if first_person:
        return None if speaker_name is None else speaker_name.casefold()
    match = _SUBJECT.match(bound_text)
    if match is None or match["name"].split()[0].casefold() in _NOT_NAMES:
        return None
    return match["name"].casefold()


def stated_frames(text: str) -> frozenset[str]:
    """Life areas that a statement says it is limited to ("At work I …", "With my family I …")."""
    match = _FRAME_PHRASE.match(text.strip())
    return _frames_of_words({match["word"].casefold()}) if match else frozenset()


def mentioned_frames(text: str) -> frozenset[str]:
    """Life areas that a question touches ("a note to my sister" is family)."""
    return _frames_of_words(set(re.findall(r"[a-z]+", text.casefold())))


def _frames_of_words(words: set[str]) -> frozenset[str]:
    return frozenset(frame for frame, cues in _FRAME_WORDS.items() if words & cues)
