"""Which texts do not assert how things stand now: questions, plans, quotes, fiction, exceptions, memories
of the past.

They are read as data by the same rules that type a cell (`calm.semantics`), plus what only matters between
two texts:
that a statement is about the past, adds to the other, or is limited to one occasion.
"""

from __future__ import annotations

import re

from calm.cells import SemanticType, Source
from calm.semantics import semantic_type

_PAST = re.compile(
    r"\b(?:used to|back (?:in|then|when)|in (?:my|our|his|her|their) (?:youth|twenties|teens|childhood|"
    r"first (?:year|job))|as a "
    r"(?:kid|child|boy|girl|teenager|student|toddler)|when i was|when we were|once upon|in those days|"
    r"those days|in the "
    r"(?:nineties|eighties|seventies|sixties|days of|old days|past)|remember(?:s|ed)? (?:when|how|the|"
    r"that)|recall(?:s|ed)? "
    r"(?:the|how|when|that)|before (?:taking|joining|moving|that|we|i|it|the|he|she)|formerly|"
    r"previously|originally|years ago|"
    r"in (?:19|20)[01]\d\b|in his first|in her first|at the time|at university|"
    r"old (?:photo|picture)|"
    r"earlier in|was once|were once|had been)\b",
    re.I,
)
_LIMITED = re.compile(
    r"\b(?:only this|this (?:week|month|time|morning|evening|afternoon|once|weekend) (?:only|alone)|"
    r"for (?:today|tonight|tomorrow|one "
    r"(?:day|week|night|month)|this (?:week|month|time)|once|the (?:next|two|three|four|week|day|"
    r"weekend|duration))|just (?:this|for)|"
    r"until (?:it|the|friday|monday|tuesday|wednesday|thursday|saturday|sunday|next|further|then|\d{1,2}\b)|"
    r"then (?:it's )?back|back to "
    r"normal|(?<!from )(?<!as of )(?<!since )(?:today|tonight|yesterday|this (?:morning|week|evening|"
    r"afternoon|month|weekend|monday|tuesday|wednesday|thursday|friday|"
    r"saturday|sunday))(?=[,\s]|$)|while (?:the|my|our|he|she|they|i|we|it)\b|exception|temporar\w+|"
    r"next (?:week|weekend|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|as usual|"
    r"holidays?\b(?! home)|stand-?in|covers? for|one-off|for now|for the moment|for the time being|"
    r"last (?:night|week|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|on (?:mon|"
    r"tues|wednes|thurs|fri|satur|sun)day "
    r"(?:only|\d)|during)\b",
    re.I,
)
_UNREAL = re.compile(
    r"\b(?:if|unless|should (?:the|he|she|it|we|they|i)|were (?:the|he|she|it|we|they|i) to|might|"
    r"perhaps|someday|would|wish|in future|"
    r"some day|idea|suggest(?:s|ed|ion)?|propos(?:e|es|ed|al|ing)|draft plan|considering|"
    r"asked (?:whether|if)|pledges?|motion to|"
    r"thinking|wondering|wonders|toying|dream(?:s|ing|t|ed)?|could|maybe|in case|hoping|hopes?|jok(?:e|"
    r"es|ed|ing)|floated|"
    r"plans? (?:to|on)|planned|planning|want(?:s)? to|going to|looking (?:to|at|into))\b",
    re.I,
)
_REPORTED = re.compile(
    r"\b(?:says?|said|claim(?:s|ed|ing)?|swears?|insist(?:s|ed)? (?:that|it|he|she|they|we|i)|"
    r"reckon(?:s|ed)?|according to|rumou?rs?|gossip|heckler|rival|allegedly|"
    r"supposedly|posted|tweet(?:ed|s)?|wrote that|quoted?|overheard|blogger|yelled|shouted|banner|"
    r"novel|narrator|screenplay|film|"
    r"character|fiction)\b|\"[^\"]{12,}\"",
    re.I,
)
_ADDS = re.compile(
    r"\b(?:also|too|besides|additionally|another|alongside|plus|extra|additional|as well|along with|"
    r"in addition|together with|on "
    r"top of|both|added|too|apart from|aside from|including|joined by|shares?|a second)\b",
    re.I,
)
_ENUMERATED = re.compile(
    r"^\s*(?:[*+•·▪]\s|\[[^\]\n]{1,30}\]\s|\d{1,3}[.)]\s|#{1,6}\s|\||\*\*|>|```|-\s+(?:\*\*|[^.]{1,40}:\s)|"
    r"(?:step|h|option|day|week|lesson|slide|scene|phase|tip|question|q|a)\s?\d{0,2}\s?[:.]\s)"
    r"|^\s*\([^()]*\)\W*$"
    r"|\n\s*(?:[*+•|-]\s|\d{1,3}[.)]\s)|\*\*[^*\n]{2,60}:\*\*",
    re.I,
)
"""Items of a list, headings, rows of a table, asides: they stand beside their neighbours, whatever they share."""
_CALCULATION = re.compile(r"=\s*[^=\n]{0,40}\d\s*[%)]?\s*[-+×x*/÷]\s*[(]?\d")
"""A line of a calculation: its numbers belong to its example."""
_PERMISSION = re.compile(
    r"\b([a-z]{2,}s|[A-Z][a-z]+ [a-z]{2,}s|(?:Visitors|Members|Guests|Students|Interns|Dogs|Cats|Pets"
    r"|Residents|Tenants|Staff|Children|"
    r"Kids|Agents|Contractors|Customers|Employees|Users|Passengers|Patients|Drivers|Nobody|Anyone)) may\b"
)
"""Whom a "may" permits, where it does not wonder."""
_ASIDE = re.compile(r",\s(?:he|she|they|i)\s(?:told (?:me|us)|said|says|asked)\b[^,.;]{0,40}(?=[.!]?\s*$)", re.I)
_HEDGED = re.compile(
    r"\b(?:probably|possibly|presumably|apparently|seems?|i think|i guess|i believe|likely|not sure)\b", re.I
)


def unreal(prepared: str) -> str:
    """Why a text states no fact: "list", "question", "hypothetical", "fiction", "quote", or "" where it may."""
    if _ENUMERATED.search(prepared) or _CALCULATION.search(prepared):
        return "list"
    prepared = _PERMISSION.sub(r"\1 can", _ASIDE.sub("", prepared))
    kind = semantic_type(prepared, Source.USER)
    named = {
        SemanticType.FICTION: "fiction",
        SemanticType.QUESTION: "question",
        SemanticType.HYPOTHETICAL: "hypothetical",
        SemanticType.PLAN: "plan",
        SemanticType.QUOTE: "quote",
        SemanticType.SMALL_TALK: "small_talk",
    }.get(kind, "")
    if named:
        return named
    if prepared.rstrip(" \"')”’]").endswith(("?", "？")):
        return "question"
    if _UNREAL.search(prepared):
        return "hypothetical"
    return "quote" if _REPORTED.search(prepared) else ""


def limited(clause: str) -> bool:
    """Whether a clause is about one occasion or a short while."""
    return bool(_LIMITED.search(clause)) or semantic_type(clause, Source.USER) is SemanticType.TEMPORARY


def remembers(clause: str) -> bool:
    """Whether a clause looks back at a state that has passed."""
    return bool(_PAST.search(clause))


def adds(clause: str) -> bool:
    """Whether a clause puts something beside what was known ("also", "as well")."""
    return bool(_ADDS.search(clause))


def hedged(clause: str) -> bool:
    """Whether the speaker is not certain."""
    return bool(_HEDGED.search(clause))
