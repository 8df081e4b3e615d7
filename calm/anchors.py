"""When a text applies: event time and explicit window, resolved against the record's own time, never today's.

"I moved last month" happened a month before it was said; "only this week, 6 to 10 July 2026" is a window;
"from 1 May" takes effect later. Ours (DESIGN 3); dates are read by `dateparser` from the fragment that names them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import MAXYEAR, datetime, timedelta
from functools import lru_cache

import dateparser

from calm.cells import SemanticType
from calm.times import DAY_US, from_us, to_us

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_DAY_MONTH = rf"\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\.?(?:,? \d{{4}})?"
_MONTH_DAY = rf"{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?!\d)(?:,? \d{{4}})?"
_FULL_DATE = rf"(?:\d{{4}}-\d{{2}}-\d{{2}}|{_DAY_MONTH}|{_MONTH_DAY})"
_PERIOD = rf"(?:{_MONTH} (?:of )?\d{{4}}|(?:19|20)\d{{2}})"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_AGO = (
    r"(?:yesterday|(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|\d+) (?:day|week|month|year)s? ago|"
    rf"last (?:week|month|year|night|{_WEEKDAY}))"
)
DATE = re.compile(rf"\b(?:{_FULL_DATE}|{_PERIOD})(?!\w)", re.IGNORECASE)
"""A calendar date or period in a text."""

_CHANGED = re.compile(
    r"\b(?:moved?|switch(?:ed)?|chang(?:ed|es?)|start(?:ed|s)?|began|left|joined|became|renamed|replaced|cancelled|canceled|"
    r"took over|takes? over|stopped|quit|bought|sold|got|adopted|retired|promoted|opened|closed|ended|expired|divorced|"
    r"married|went|visited|attended|met|saw|ran|finished|happened|born)\b",
    re.IGNORECASE,
)
_EVENT_TIME = re.compile(
    rf"\b(?:back (?:on|in) |on |in |as of |since |from |effective |starting |(?=yesterday|last|\w+ \w+ ago))"
    rf"(?P<date>{_FULL_DATE}|{_PERIOD}|{_AGO})(?!\w)",
    re.IGNORECASE,
)
_EFFECTIVE = re.compile(
    rf"\b(?:from|as of|effective|starting|since|beginning) (?:on )?(?P<date>{_FULL_DATE}|{_PERIOD})(?!\w)"
    rf"(?! (?:to|until|till|through)\b)",
    re.IGNORECASE,
)
_RANGE = re.compile(
    rf"\b(?P<a>\d{{1,2}}(?:st|nd|rd|th)?(?: {_MONTH}\.?(?: \d{{4}})?)?|{_MONTH}\.? \d{{1,2}}|\d{{4}}-\d{{2}}-\d{{2}})"
    rf"\s*(?:to|until|till|through|-|–|—|and)\s*(?P<b>{_FULL_DATE})",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    rf"\b(?:until|till|through|expires?(?: on)?|valid to|ends? on) (?P<date>{_FULL_DATE}|{_WEEKDAY})(?!\w)",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"\bfor (?:the )?(?:next |coming )?(?P<n>a|an|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,3}) "
    r"(?P<unit>day|week|month|night)s?\b",
    re.IGNORECASE,
)
_NUMBER = {
    word: n
    for n, words in enumerate("zero|a an one|two|three|four|five|six|seven|eight|nine|ten".split("|"))
    for word in words.split()
}
_SOON = re.compile(
    rf"\b(?P<when>today|tonight|tomorrow|this (?:week|month|year|weekend|morning|afternoon|evening|{_WEEKDAY})|"
    rf"next (?:week|month|year|weekend|{_WEEKDAY})|(?:on )?{_WEEKDAY})\b",
    re.IGNORECASE,
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_YEARLESS = re.compile(rf"(?:{_DAY_MONTH}|{_MONTH_DAY})(?<!\d\d\d\d)", re.IGNORECASE)
_OCCASION = frozenset({SemanticType.TEMPORARY, SemanticType.PLAN})
"""Types that are about one occasion, so that a window such as "next week" bounds them."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """Event time and half-open window of a text, int64 µs UTC; None where the text doesn't say."""

    time_us: int | None
    valid_from_us: int | None = None
    valid_to_us: int | None = None


def anchor(text: str, said_us: int | None, kind: SemanticType) -> Anchor:
    """Event time and window of `text`, said at `said_us` (int64 µs UTC, or None: nothing can be resolved).

    The event time is the record time unless the text dates a change; "from 1 May" said in April overrules nothing
    before May, yet is no secret till then, so it bounds no window. Only a temporary exception or a plan takes its
    window from relative words; "until DATE" bounds any claim.
    """
    if said_us is None or len(text) > 2_000:
        return Anchor(said_us)
    try:
        return _anchored(text, said_us, from_us(said_us), kind)
    except OverflowError:
        # A day or window past 31 December 9999, where the calendar of `datetime` ends.
        return Anchor(said_us)


def _anchored(text: str, said_us: int, said: datetime, kind: SemanticType) -> Anchor:
    if kind in _OCCASION:
        window = _window(text, said)
        if window is not None:
            start, end = window
            # Told of afterwards, an occasion was valid on its last day.
            return Anchor(said_us, start if start < end else end - DAY_US, end)
    until = _UNTIL.search(text)
    valid_to = _end(until["date"], said, "future") if until else None
    effective = _EFFECTIVE.search(text)
    dated = _EVENT_TIME.search(text) if _CHANGED.search(text) or effective else None
    found = effective or dated
    if found is None:
        return Anchor(said_us, None, valid_to)
    time_us = _start(found["date"], said, "past" if effective is None else "current_period")
    return Anchor(said_us if time_us is None else time_us, None, valid_to)


def _window(text: str, said: datetime) -> tuple[int, int] | None:
    """The half-open window that an occasion names, or None."""
    ranged = _RANGE.search(text)
    if ranged:
        end = _parse(ranged["b"], said, "future")
        start = _parse(_complete(ranged["a"], ranged["b"]), said, "future")
        if start is not None and end is not None and start <= end:
            return to_us(_midnight(start)), to_us(_midnight(end) + timedelta(days=1))
    until = _UNTIL.search(text)
    if until:
        end_us = _end(until["date"], said, "future")
        return None if end_us is None else (to_us(said), end_us)
    span = _SPAN.search(text)
    if span:
        n = _NUMBER.get(span["n"].lower()) or int(span["n"]) if span["n"].isdigit() else _NUMBER[span["n"].lower()]
        days = {"day": 1, "night": 1, "week": 7, "month": 31}[span["unit"].lower()] * n
        return to_us(said), to_us(said + timedelta(days=days))
    exact = re.search(rf"\b(?:on|for) (?P<date>{_FULL_DATE})", text, re.IGNORECASE)
    if exact:
        day_start = _parse(exact["date"], said, "future")
        if day_start is not None:
            return to_us(said), to_us(_midnight(day_start) + timedelta(days=1))
    soon = _SOON.search(text)
    return _calendar_window(soon["when"].lower(), said) if soon else None


def _calendar_window(when: str, said: datetime) -> tuple[int, int]:
    """ "this week", "next month", "on Friday", … as a half-open window, counted from the day it was said.

    A plan for "next week" is already true when it is said, so windows open no later than that.
    """
    today = _midnight(said)
    monday = today - timedelta(days=today.weekday())
    if when.endswith(("week", "weekend")):
        end = monday + timedelta(days=14 if when.startswith("next") else 7)
    elif when.endswith("month"):
        end = _next_month(_next_month(today) if when.startswith("next") else today)
    elif when.endswith("year"):
        end = _new_year(today, 2 if when.startswith("next") else 1)
    elif when == "tomorrow":
        return to_us(today + timedelta(days=1)), to_us(today + timedelta(days=2))
    elif (day := when.rsplit(maxsplit=1)[-1]) in _DAYS:
        ahead = (_DAYS.index(day) - today.weekday()) % 7
        ahead = ahead or (7 if when.startswith("next") else 0)
        start = today + timedelta(days=ahead)
        return to_us(min(start, said)), to_us(start + timedelta(days=1))
    else:
        end = today + timedelta(days=1)
    return to_us(said), to_us(end)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _next_month(moment: datetime) -> datetime:
    return (moment.replace(day=1) + timedelta(days=32)).replace(day=1)


def _new_year(moment: datetime, ahead: int) -> datetime:
    if moment.year + ahead > MAXYEAR:
        raise OverflowError(moment.year + ahead)
    return moment.replace(year=moment.year + ahead, month=1, day=1)


def _complete(first: str, last: str) -> str:
    """ "6" of "6 to 10 July 2026" borrows month and year from the end of the range."""
    tail = re.sub(r"^\d{1,2}(?:st|nd|rd|th)?\s*", "", last)
    if re.fullmatch(r"\d{1,2}(?:st|nd|rd|th)?", first.strip()):
        return f"{first} {tail}"
    year = re.search(r"\d{4}$", last)
    return f"{first} {year[0]}" if year and not re.search(r"\d{4}", first) else first


def _start(fragment: str, said: datetime, prefer: str) -> int | None:
    moment = _parse(fragment, said, prefer)
    if moment is None:
        return None
    precise = re.search(r"\bago\b", fragment) and not re.search(r"month|year", fragment)
    return to_us(moment if precise else _midnight(moment))


def _end(fragment: str, said: datetime, prefer: str) -> int | None:
    moment = _parse(fragment, said, prefer)
    return None if moment is None else to_us(_midnight(moment) + timedelta(days=1))


def _parse(fragment: str, base: datetime, prefer: str) -> datetime | None:
    # On its own day a date without a year is today, not next year's: the future begins at midnight.
    base = _midnight(base) - timedelta(days=1) if prefer == "future" and _YEARLESS.fullmatch(fragment) else base
    moment = _dateparser(fragment.lower().replace("last night", "yesterday"), base.replace(microsecond=0), prefer)
    return None if moment is None else moment.replace(tzinfo=base.tzinfo)


@lru_cache(maxsize=65_536)
def _dateparser(fragment: str, base: datetime, prefer: str) -> datetime | None:
    return dateparser.parse(
        fragment,
        languages=["en"],
        settings={
            "RELATIVE_BASE": base.replace(tzinfo=None),
            "PREFER_DATES_FROM": prefer,
            "PREFER_DAY_OF_MONTH": "first",
            "PREFER_MONTH_OF_YEAR": "first",
        },
    )


def period(fragment: str, base_us: int) -> tuple[int, int] | None:
    """The half-open interval [start, end) in int64 µs UTC that a date or period names, seen from `base_us`.

    "11 March 2026" is a day, "May 2025" a month, "2023" a year; a date without a year is the latest one before the
    base. None where `dateparser` can't read it, or where it ends past the year 9999.
    """
    try:
        return _period(fragment, from_us(base_us))
    except OverflowError:
        return None


def _period(fragment: str, base: datetime) -> tuple[int, int] | None:
    if re.fullmatch(r"(?:19|20)\d{2}", fragment):
        start = base.replace(year=int(fragment), month=1, day=1)
        return to_us(_midnight(start)), to_us(_midnight(_new_year(start, 1)))
    moment = _parse(fragment, base, "past")
    if moment is None:
        return None
    start = _midnight(moment)
    if re.fullmatch(r"last year|.* years? ago", fragment, re.IGNORECASE):
        start = start.replace(month=1, day=1)
        return to_us(start), to_us(_new_year(start, 1))
    if re.fullmatch(r"last month|.* months? ago", fragment, re.IGNORECASE):
        start = start.replace(day=1)
        return to_us(start), to_us(_next_month(start))
    if re.fullmatch(r"last week|.* weeks? ago", fragment, re.IGNORECASE):
        start -= timedelta(days=start.weekday())
        return to_us(start), to_us(start + timedelta(days=7))
    if re.fullmatch(rf"{_MONTH} (?:of )?\d{{4}}", fragment, re.IGNORECASE):
        start = start.replace(day=1)
        return to_us(start), to_us(_next_month(start))
    return to_us(start), to_us(start + timedelta(days=1))
