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
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
_SELF_NAMED = re.compile(r"\bI, ([A-Z][\w-]+), (am|have|do|will|was)\b")
_AGREES = {"am": "is", "have": "has", "do": "does", "are": "is", "were": "was"}
_SELF_CALLED = re.compile(r"\bI(?:'m| am) ([A-Z][\w-]+)(?=[,.!?]|$)")


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


_REWRITES = (
    (re.compile(r"\b(?:I'm|I am|we're|we are)\b", re.IGNORECASE), "{name} is"),
    (re.compile(r"\b(?:I've|I have|we've|we have)\b", re.IGNORECASE), "{name} has"),
    (re.compile(r"\b(?:I'd|we'd)\b", re.IGNORECASE), "{name} would"),
    (re.compile(r"\b(?:I'll|we'll)\b", re.IGNORECASE), "{name} will"),
    (re.compile(r"\b(?:I|we) were\b", re.IGNORECASE), "{name} was"),
    (re.compile(r"\b(?:I|we) don't\b", re.IGNORECASE), "{name} doesn't"),
    (re.compile(r"\b(?:I|we) haven't\b", re.IGNORECASE), "{name} hasn't"),
    (re.compile(r"\b(?:I|we) do\b", re.IGNORECASE), "{name} does"),
    (re.compile(r"\b(?:I|we|me|us|myself)\b", re.IGNORECASE), "{name}"),
    (re.compile(r"\b(?:my|our|mine|ours)\b", re.IGNORECASE), "{name}'s"),
)
_SECOND_PERSON = (
    (re.compile(r"\b(?:you're|you are)\b", re.IGNORECASE), "{name} is"),
    (re.compile(r"\b(?:you've|you have)\b", re.IGNORECASE), "{name} has"),
    (re.compile(r"\byou don't\b", re.IGNORECASE), "{name} doesn't"),
    (re.compile(r"\byou\b", re.IGNORECASE), "{name}"),
    (re.compile(r"\byour\b", re.IGNORECASE), "{name}'s"),
)


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
        text = _rewrite(text, _REWRITES, voice.name)
    if voice.source is Source.ASSISTANT:
        text = _rewrite(text, _SECOND_PERSON, user_name or "the user")
    return text


def _rewrite(text: str, rules: tuple[tuple[re.Pattern[str], str], ...], name: str) -> str:
    for pattern, template in rules:
        replacement = template.format(name=name)
        text = pattern.sub(lambda _, fixed=replacement: fixed, text)  # type: ignore[misc]
    return text


def speaks_in_first_person(text: str) -> bool:
    """Whether a text says "I", "my", "we" or the like."""
    return bool(_FIRST_PERSON.search(text))
