"""Standing orders and chosen tools: "Answer in British English", "Use tabs for indentation", "we switched to X for Y".

Two of one kind about one matter exclude each other; orders about different matters stand side by side. Ours: many of
the papers' preference updates are orders without a subject, which no attribute or slot can hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from calm.rules.tokens import bag

Kind = Literal["style", "use", "call", "tool"]


@dataclass(frozen=True, slots=True)
class Directive:
    """What is ordered (`value`) about what (`about`), as stems; `tool` states what someone uses for a purpose."""

    kind: Kind
    about: frozenset[str]
    value: frozenset[str]
    noun: str
    """The last word of the value: "units" of "metric units"."""


_LEAD = r"^\W*(?:(?:please|always|just|now|only|do)\s+)*"
_END = r"(?:\s+(?:please|instead|now|again|from now on|from today|going forward|these days|nowadays))*\W*$"
_STYLE = re.compile(
    rf"{_LEAD}(?P<verb>answer|reply|respond|speak|talk|write|format|show|display|quote|give)\b(?P<o>[^,;:]{{0,60}}?)\s"
    rf"(?:in|with|as)\s(?P<v>[^,;:]{{2,50}}?){_END}",
    re.I,
)
_USE = re.compile(
    rf"{_LEAD}use\s(?P<v>(?!\d)\S+(?:\s(?!to\b)\S+){{0,4}}?)"
    rf"(?:\s(?:for|in|when|on|as|with)\s(?P<o>[^,;:]{{2,60}}?))?{_END}",
    re.I,
)
_CALL = re.compile(rf"{_LEAD}(?:call|address)\s(?:me|us)(?:\sas)?\s(?P<v>[^,;:]{{2,40}}?){_END}", re.I)
_TOOL = re.compile(
    r"\b(?:uses?|(?:switched|moved|migrated|changed|went)(?:\sback|\sover)?\sto|relies on|rely on)\s"
    rf"(?P<v>[^,;:]{{2,40}}?)\sfor\s(?P<o>[^,;:]{{2,60}}?){_END}",
    re.I,
)
_LANGUAGES = frozenset(
    "english german french spanish italian portuguese dutch swedish norwegian danish finnish polish czech greek turkish"
    " russian ukrainian chinese mandarin japanese korean hindi arabic hebrew latin catalan welsh irish".split()
)


def directive_of(head: str, subject: frozenset[str]) -> Directive | None:
    """The order or the choice of a tool in a clause, or None. `subject`: the stems of whoever the clause is about."""
    for kind, pattern in _ORDERS:
        if match := pattern.search(head):
            about = bag(match.groupdict().get("o") or "")
            value = bag(match["v"])
            verb = frozenset({match["verb"].lower()}) if kind == "style" else frozenset[str]()
            return Directive(kind, about | verb, value, match["v"].split()[-1].lower()) if value else None
    if not subject:
        return None
    match = _TOOL.search(head)
    value = bag(match["v"]) if match else frozenset()
    return Directive("tool", bag(match["o"]) | subject, value, "") if match and value else None


_ORDERS: tuple[tuple[Kind, re.Pattern[str]], ...] = (("call", _CALL), ("use", _USE), ("style", _STYLE))


def exclusive(a: Directive, b: Directive, changed: bool) -> bool:
    """Whether two orders can't both be followed. `changed`: the newer says that it is a change."""
    if a.kind != b.kind or a.value <= b.value or b.value <= a.value:
        return False
    if a.about != b.about and not (changed and (a.about <= b.about or b.about <= a.about)):
        return False
    if a.kind == "style":
        tongues = bool(a.value & _LANGUAGES) and bool(b.value & _LANGUAGES)
        return changed or tongues or bool(a.value & b.value)
    return a.kind == "call" or changed or (a.kind == "use" and (bool(a.about) or a.noun == b.noun))
