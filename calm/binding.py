"""Who speaks, who vouches, and whom the first person means.

"I'm free on Fridays" is a different claim when a guest says it. Binding the first person to its speaker keeps
the subject in the text that κ reads. Ours (DESIGN 3, 4).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from calm.cells import Source
from calm.records import Record

_USER_WORDS = frozenset({"user", "human", "me", "the user"})
_ASSISTANT_WORDS = frozenset({"assistant", "ai", "bot", "agent", "model", "chatbot", "the assistant"})
_TOOL_WORDS = frozenset({"tool", "function", "api", "system", "sensor", "calendar", "database", "plugin"})
_DOCUMENT_WORDS = frozenset(
    "web webpage website page document doc file pdf article news newsletter email e-mail mail forum blog post"
    " search result wiki leaflet unknown".split()
)
_OTHER_ROLES = frozenset(
    "visitor guest caller customer client stranger colleague coworker neighbour neighbor friend relative"
    " interviewer interviewee student teacher patient nurse third party third-party somebody someone".split()
)
_I = r"I(?!\.e\b)"
_US = r"(?-i:us|Us)"
"""Not "US", the country."""
_FIRST_PERSON = re.compile(rf"\b(?:{_I}|me|my|mine|myself|we|{_US}|our|ours)\b", re.IGNORECASE)
_SELF_NAMED = re.compile(r"\bI, ([A-Z][\w-]+), (am|have|do|will|was)\b")
_AGREES = {"am": "is", "have": "has", "do": "does", "are": "is", "were": "was"}


@dataclass(frozen=True, slots=True)
class Voice:
    """Who vouches for a record (`source`) and the name that its first person stands for (None: the user)."""

    source: Source
    name: str | None


def voice_of(record: Record, user_name: str | None = None) -> Voice:
    """The source and first-person name behind a record.

    A named person who speaks of themselves gives direct testimony (like the user), of others a third party's.
    Participants that a loader names (`metadata["participants"]`) count as users of their conversation.
    """
    speaker = " ".join(record.speaker.split())
    words = frozenset(re.findall(r"[\w-]+", speaker.casefold()))
    if speaker.casefold() in _USER_WORDS or (user_name and speaker.casefold() == user_name.casefold()):
        return Voice(Source.USER, user_name)
    if words & _ASSISTANT_WORDS:
        return Voice(Source.ASSISTANT, "the assistant")
    if words & _TOOL_WORDS:
        return Voice(Source.TOOL, "the tool")
    if words & _DOCUMENT_WORDS:
        return Voice(Source.DOCUMENT, "the document")
    participants = record.metadata.get("participants")
    if isinstance(participants, (list, tuple)) and record.speaker in participants:
        return Voice(Source.USER, speaker)
    direct = bool(_FIRST_PERSON.search(record.text)) and not words & _OTHER_ROLES
    return Voice(Source.USER if direct else Source.THIRD_PARTY, speaker)


_FIRST = (
    (r"I'm|I am|we're|we are", "{name} is"),
    (r"I've|I have|we've|we have", "{name} has"),
    (r"I'd|we'd", "{name} would"),
    (r"I'll|we'll", "{name} will"),
    (r"(?:I|we) were", "{name} was"),
    (r"(?:I|we) don't", "{name} doesn't"),
    (r"(?:I|we) haven't", "{name} hasn't"),
    (r"(?:I|we) do", "{name} does"),
    (rf"{_I}|we|me|{_US}|myself", "{name}"),
    (r"my|our|mine|ours", "{name}'s"),
)
_SECOND = (
    (r"you're|you are", "{name} is"),
    (r"you've|you have", "{name} has"),
    (r"you don't", "{name} doesn't"),
    (r"you", "{name}"),
    (r"your", "{name}'s"),
)
_Rules = tuple[tuple[str, str], ...]


def _any_rule(rules: _Rules) -> re.Pattern[str]:
    """One pattern for all rules, group n of rule n, the first that fits wins. One pass over the text: a name that has
    been put in ("My Bot") is not read again."""
    return re.compile("|".join(rf"\b({pattern})\b" for pattern, _ in rules), re.IGNORECASE)


_FIRST_PATTERN = _any_rule(_FIRST)
_SECOND_PATTERN = _any_rule(_SECOND)


def bind(text: str, voice: Voice, user_name: str | None = None) -> str:
    """`text` with the first person replaced by its speaker; the user's own "I" stays unless a name is known.

    An assistant's "you" is the user. "I, Ada, have …" names its speaker by itself.
    """
    text = text.replace("’", "'")
    named = _SELF_NAMED.search(text)
    if named:
        verb = _AGREES.get(named[2], named[2])
        text = f"{text[: named.start()]}{named[1]} {verb}{text[named.end() :]}"
    if voice.name is not None:
        text = _rewrite(text, _FIRST_PATTERN, _FIRST, voice.name)
    if voice.source is Source.ASSISTANT:
        text = _rewrite(text, _SECOND_PATTERN, _SECOND, user_name or "the user")
    return text


def _rewrite(text: str, pattern: re.Pattern[str], rules: _Rules, name: str) -> str:
    return pattern.sub(lambda match: rules[(match.lastindex or 1) - 1][1].format(name=name), text)


def speaks_in_first_person(text: str) -> bool:
    """Whether a text says "I", "my", "we" or the like."""
    return bool(_FIRST_PERSON.search(text))
