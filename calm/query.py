"""Query analysis (Stage III, step 1): intent, the instant asked about, user, scope, names and life areas.

Rules and `dateparser`; no model. Ours (DESIGN 5.1): the paper conditions on the query and leaves its analysis open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from calm.anchors import DATE, period
from calm.batch import Intent
from calm.cells import Cell
from calm.entities import entities, mentioned_frames
from calm.errors import EmptyQuery, InvalidOption, shown
from calm.records import GLOBAL_SCOPE

TimeAxis = Literal["event", "system"]

_CHANGE = re.compile(
    r"\b(?:chang(?:e|ed|es|ing)|since when|how long (?:have|has|did)|differ(?:s|ent|ence)?|compared (?:to|with)|"
    r"evol(?:ve|ved|ution)|when did \w+(?: \w+)? (?:move|switch|change|start|stop|become|quit|"
    r"leave|join|begin|replace|rename))\b",
    re.IGNORECASE,
)
_HISTORICAL = re.compile(
    r"\b(?:previous(?:ly)?|former(?:ly)?|used to|earlier|originally|initially|at first|in the past|back then|back when|"
    r"history|timeline|over (?:time|the years)|so far|ever|once|ex-\w+|my old|our old|the old|in the past|prior|"
    r"(?:list|name|give me|show me|which|what(?: are)?) (?:every|all)\b|every \w+ (?:that )?(?:i|we|he|she|they)\b|"
    r"last time|no longer|before|have (?:i|we|you|they) (?:\w+ )?(?:been|had|lived|worked|used|owned|visited|tried))\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:did|was|were|had|held|lived|worked|(?<!be )(?<!is )(?<!are )(?<!get )used|said|"
    r"told|believed|knew|drove|paid|owned|went|bought|met|wore|ate|ran|played|stayed|happened|ended|won|lost)\b",
    re.IGNORECASE,
)
_AS_OF = re.compile(r"\b(?:as of|as at|back in|back on|at the time|in|on|during|by)\s+$", re.IGNORECASE)
_RELATIVE_PAST = re.compile(
    r"\b(?P<when>yesterday|last (?:week|month|year|night|summer|winter)|(?:a|an|one|two|three|four|five|six|\d+) "
    r"(?:day|week|month|year)s? ago)\b",
    re.IGNORECASE,
)
_ANCHORED = re.compile(
    r"\b(?P<side>before|after|when|until|since|while|by the time)\s+(?P<clause>(?:i|we|he|she|they|it|the|my|our|"
    r"[A-Z]\w+)\s+[^?.!]+)",
    re.IGNORECASE,
)
_TIMELESS = re.compile(
    r"^\W*(?:what does .+ mean|what is the (?:meaning|definition) of|how do (?:you|people) |explain|define|"
    r"in general)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|we|our|us)\b", re.IGNORECASE)
_THE_USER = re.compile(r"\bthe user\b", re.IGNORECASE)
_OWN_ACT = re.compile(r"\b(?:did|do|have|had|am|was) (?:i|we)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Query:
    """A question, read. Times are int64 µs UTC.

    `at_us` is the instant that it asks about (as-of instant, else `time_us`, when it was asked); `axis` whether as-of
    means when things held ("event") or when they were recorded ("system"); `user` None means that no tenant was given;
    `scope` None that every scope counts; `event` the clause of "before I moved to Berlin", with its side;
    `budget_tokens` the size of the context (>= 0, None: no limit).
    """

    text: str
    time_us: int
    intent: Intent
    at_us: int
    axis: TimeAxis = "event"
    user: str | None = None
    scope: str | None = None
    entities: frozenset[str] = frozenset()
    frames: frozenset[str] = frozenset()
    asks_about_user: bool = False
    asks_own_act: bool = False
    event: tuple[str, str] | None = None
    budget_tokens: int | None = None


def read_query(
    text: str,
    time_us: int,
    *,
    as_of_us: int | None = None,
    axis: TimeAxis = "event",
    user: str | None = None,
    scope: str | None = None,
    budget_tokens: int | None = None,
) -> Query:
    """Analyse a question asked at `time_us`. An explicit `as_of_us` fixes the instant, whatever the text says.

    Raises `EmptyQuery` for a text without a letter or digit, `InvalidOption` for a scope that is none.
    """
    if not any(char.isalnum() for char in text):
        raise EmptyQuery("the query is blank", field="query", hint="ask a question in words")
    if scope is not None and scope != GLOBAL_SCOPE and not re.fullmatch(r"[^:]+:.+", scope, re.DOTALL):
        raise InvalidOption(f"{shown(scope)} is no scope", field="scope", hint='"global" or "key:value"')
    intent, at_us, event = _when(text, time_us, as_of_us)
    return Query(
        text=text,
        time_us=time_us,
        intent=intent,
        at_us=at_us,
        axis=axis,
        user=user,
        scope=scope,
        entities=entities(text),
        frames=mentioned_frames(text),
        asks_about_user=bool(_FIRST_PERSON.search(text) or _THE_USER.search(text)),
        asks_own_act=bool(_OWN_ACT.search(text)),
        event=event,
        budget_tokens=budget_tokens,
    )


def _when(text: str, time_us: int, as_of_us: int | None) -> tuple[Intent, int, tuple[str, str] | None]:
    """Intent, instant asked about, and the event clause that names it, if any."""
    if as_of_us is not None:
        asks_back = _CHANGE.search(text) or _looks_back(text)
        intent = Intent.AS_OF if not asks_back else Intent.CHANGE if _CHANGE.search(text) else Intent.HISTORICAL
        return intent, as_of_us, None
    if _CHANGE.search(text):
        return Intent.CHANGE, time_us, None
    dated = _dated(text, time_us)
    if dated is not None:
        return Intent.AS_OF, dated, None
    anchored = _ANCHORED.search(text)
    if anchored and (_PAST.search(text[: anchored.start()]) or anchored["side"].lower() == "before"):
        return Intent.HISTORICAL, time_us, (anchored["side"].lower(), anchored["clause"])
    if _HISTORICAL.search(text) or _PAST.search(text):
        return Intent.HISTORICAL, time_us, None
    return (Intent.TIMELESS if _TIMELESS.search(text) else Intent.CURRENT), time_us, None


def _looks_back(text: str) -> bool:
    """Historical words other than the past tense, which an as-of question uses anyway."""
    return bool(_HISTORICAL.search(text))


def _dated(text: str, time_us: int) -> int | None:
    """The last instant of a past date or period that a past-tense or "as of" question names, or None.

    "Where am I staying in June?" looks forward and "what happened on 3 May" may ask for the event itself; both get the
    state at the end of that day only when the day is over.
    """
    relative = _RELATIVE_PAST.search(text)
    match = relative or DATE.search(text)
    if match is None:
        return None
    asked_back = _PAST.search(text) or re.search(r"\b(?:as of|as at|back in|back on)\b", text, re.IGNORECASE)
    prepositioned = relative or _AS_OF.search(text[: match.start()])
    if not asked_back or not prepositioned:
        return None
    span = period(match[0], time_us)
    return span[1] - 1 if span is not None and span[1] <= time_us else None


def resolve_event(query: Query, cells: Iterable[Cell]) -> Query:
    """Anchor "before I moved to Berlin" in the cells' own times: the state just before, or just after, that event.

    The earliest dated cell that holds every content word of the clause is the event. Without one the question stays
    historical, so nothing is blocked for being old.
    """
    if query.event is None:
        return query
    side, clause = query.event
    wanted = _stems(clause)
    times = [c.time_us for c in cells if c.time_us is not None and wanted and wanted <= _stems(c.text)]
    if not times:
        return query
    moment = min(times)
    at_us = moment - 1 if side in ("before", "until", "by the time") else moment
    return replace(query, intent=Intent.AS_OF, at_us=min(at_us, query.time_us))


_STOP = frozenset(
    "i we he she they it the my our his her their a an to of in at on for with and was were had have".split()
)


def _stems(text: str) -> frozenset[str]:
    words = re.findall(r"[^\W_]+", text.casefold())
    return frozenset(re.sub(r"(?:ing|ed|es|s|d)$", "", w) if len(w) > 4 else w for w in words if w not in _STOP)
