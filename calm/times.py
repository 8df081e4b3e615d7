"""Instants: ISO 8601 in, int64 microseconds UTC out (DESIGN 2: float32 at epoch scale resolves 128 s)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

from calm.errors import InvalidOption, InvalidTimestamp, shown

MICROS = 1_000_000
DAY_US = 86_400 * MICROS
MIN_US = -(2**62)
"""Stands for "since ever" where a tensor needs a number."""
MAX_US = 2**62
"""Stands for "until further notice" where a tensor needs a number."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def to_us(instant: datetime) -> int:
    """An aware datetime as int64 µs since 1970-01-01 UTC, exactly (no float on the way)."""
    delta = instant - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * MICROS + delta.microseconds


def from_us(us: int) -> datetime:
    """The aware UTC datetime of an int64 µs instant."""
    return _EPOCH + timedelta(microseconds=us)


def iso(us: int | None) -> str | None:
    """An instant as ISO 8601 in UTC; None stays None."""
    return None if us is None else from_us(us).isoformat()


def day(us: int | None) -> str:
    """An instant's UTC calendar day for people to read; "undated" for None."""
    return "undated" if us is None else from_us(us).date().isoformat()


def parse_zone(name: str) -> tzinfo:
    """A time zone from an IANA name ("Europe/Oslo") or an offset ("+02:00").

    Raises `InvalidOption` for anything else.
    """
    try:
        if name[:1] in "+-":
            zone = datetime.fromisoformat(f"2000-01-01T00:00:00{name}").tzinfo
            if zone is not None:
                return zone
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:
        raise InvalidOption(
            f"{shown(name)} is no time zone",
            field="naive_tz",
            hint='give an IANA name such as "Europe/Oslo" or an offset such as "+02:00"',
        ) from error


def parse_instant(
    value: object, *, record: str | None = None, field: str = "timestamp", naive_tz: tzinfo = UTC
) -> int | None:
    """An ISO 8601 text, date or datetime as int64 µs UTC; None and blank text stay missing.

    Text is never compared as text: "11:59+02:00" is 09:59 UTC. A value without an offset is read in
    `naive_tz`. Raises `InvalidTimestamp` naming the record for anything that is not ISO 8601, or that falls
    outside the years 1 to 9999 once it is in UTC: no calendar could show it again.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        if isinstance(value, str):
            instant = datetime.fromisoformat(value.strip())
        elif isinstance(value, datetime):
            instant = value
        elif isinstance(value, date):
            instant = datetime.combine(value, time.min)
        else:
            raise ValueError(type(value).__name__)
        aware = instant if instant.tzinfo is not None else instant.replace(tzinfo=naive_tz)
        return to_us(from_us(to_us(aware)))
    except (ValueError, OverflowError) as error:
        raise InvalidTimestamp(
            f"{shown(value)} is not an ISO 8601 time",
            record=record,
            field=field,
            hint='write it as "2026-03-01T09:00:00+00:00", or null when it is unknown',
        ) from error
