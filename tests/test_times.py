"""Times: any ISO 8601 time is one int64 instant in µs UTC, exactly; what is no time is missing or an error."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calm.errors import InvalidOption, InvalidTimestamp
from calm.records import parse_record
from calm.times import DAY_US, MAX_US, MICROS, MIN_US, day, from_us, iso, parse_instant, parse_zone, to_us

OSLO = ZoneInfo("Europe/Oslo")
FIRST_US = to_us(datetime(1, 1, 1, tzinfo=UTC))
LAST_US = to_us(datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))

instants_us = st.integers(FIRST_US, LAST_US)
offsets = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def us(*when: int) -> int:
    return to_us(datetime(*when, tzinfo=UTC))  # type: ignore[misc, arg-type]


@given(instants_us)
@example(-1)
@example(0)
@example(FIRST_US)
@example(LAST_US)
def test_an_instant_survives_the_way_through_datetime_and_text(instant: int) -> None:
    assert to_us(from_us(instant)) == instant
    assert parse_instant(iso(instant)) == instant


@given(st.integers(us(1000, 1, 2), us(9000, 1, 1)), offsets)
def test_an_offset_changes_the_text_but_never_the_instant(instant: int, offset: timezone) -> None:
    text = from_us(instant).astimezone(offset).isoformat()
    assert parse_instant(text, naive_tz=OSLO) == instant


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("1970-01-01T00:00:00+00:00", 0),
        ("1970-01-01T00:00:00.000001Z", 1),
        ("1969-12-31T23:59:59.999999Z", -1),
        ("1900-01-01T00:00:00Z", -2_208_988_800 * MICROS),
        ("2001-09-09T01:46:40Z", 1_000_000_000 * MICROS),
        ("2001-09-09T07:16:40+05:30", 1_000_000_000 * MICROS),
        ("2001-09-08T18:46:40-07:00", 1_000_000_000 * MICROS),
        ("  2001-09-09 01:46:40+00:00\n", 1_000_000_000 * MICROS),
        ("20010909T014640Z", 1_000_000_000 * MICROS),
        ("2001-09-09", us(2001, 9, 9)),
    ],
)
def test_iso_texts_are_the_instants_that_they_name(text: str, instant: int) -> None:
    assert parse_instant(text) == instant


def test_instants_order_by_time_and_not_by_text() -> None:
    early, late = "2026-05-01T11:59:00+02:00", "2026-05-01T10:30:00+00:00"
    assert early > late
    assert parse_instant(early) < parse_instant(late)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-01-15T12:00:00", (2026, 1, 15, 11)),
        ("2026-07-15T12:00:00", (2026, 7, 15, 10)),
        ("2026-03-29T01:59:59", (2026, 3, 29, 0, 59, 59)),
        ("2026-03-29T03:00:00", (2026, 3, 29, 1)),
        ("2026-10-25T01:59:59", (2026, 10, 24, 23, 59, 59)),
        ("2026-10-25T03:00:00", (2026, 10, 25, 2)),
        ("2026-07-15", (2026, 7, 14, 22)),
    ],
)
def test_a_naive_time_is_read_in_its_zone_summer_time_included(text: str, utc: tuple[int, ...]) -> None:
    assert parse_instant(text, naive_tz=OSLO) == us(*utc)


def test_of_an_hour_that_happens_twice_the_first_is_meant_unless_the_offset_tells() -> None:
    assert parse_instant("2026-10-25T02:30:00", naive_tz=OSLO) == us(2026, 10, 25, 0, 30)
    assert parse_instant("2026-10-25T02:30:00+01:00", naive_tz=OSLO) == us(2026, 10, 25, 1, 30)


def test_a_naive_time_is_utc_unless_told_otherwise() -> None:
    assert parse_instant("2026-07-15T12:00:00") == us(2026, 7, 15, 12)


def test_an_aware_time_ignores_the_naive_zone() -> None:
    assert parse_instant("2026-07-15T12:00:00Z", naive_tz=OSLO) == us(2026, 7, 15, 12)


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        (datetime(2026, 7, 15, 12, tzinfo=UTC), us(2026, 7, 15, 12)),
        (datetime(2026, 7, 15, 12, tzinfo=timezone(timedelta(hours=-5))), us(2026, 7, 15, 17)),
        (datetime(2026, 7, 15, 12), us(2026, 7, 15, 10)),  # noqa: DTZ001
        (date(2026, 7, 15), us(2026, 7, 14, 22)),
    ],
)
def test_datetimes_and_dates_read_like_their_texts(value: date, instant: int) -> None:
    assert parse_instant(value, naive_tz=OSLO) == instant


@pytest.mark.parametrize("value", [None, "", "  \n\t"])
def test_nothing_is_a_missing_time(value: object) -> None:
    assert parse_instant(value) is None


INVALID = [
    "yesterday",
    "2026-02-30",
    "2026-13-01",
    "2026-01-01T25:00:00",
    "2026-01-01T10:00:00+99:00",
    "01/02/2026",
    "0000-01-01",
    "10000-01-01",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "\x00",
    1_700_000_000,
    1.5,
    True,
    [],
    {"year": 2026},
]


@pytest.mark.parametrize("value", INVALID, ids=repr)
def test_what_is_no_time_is_an_error_that_names_record_field_and_value(value: object) -> None:
    with pytest.raises(InvalidTimestamp) as caught:
        parse_instant(value, record="m7", field="valid_at")
    assert (caught.value.record, caught.value.field) == ("m7", "valid_at")
    assert "'m7'" in str(caught.value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("value", INVALID, ids=repr)
@pytest.mark.parametrize(
    ("key", "attribute"),
    [("timestamp", "time_us"), ("valid_at", "valid_from_us"), ("invalid_at", "valid_to_us")],
)
def test_an_invalid_time_of_a_record_is_an_error_when_strict_and_missing_when_lenient(
    value: object, key: str, attribute: str
) -> None:
    data = {"id": "m7", "text": "Lives in Oslo.", key: value}
    with pytest.raises(InvalidTimestamp) as caught:
        parse_record(data)
    assert (caught.value.record, caught.value.field) == ("m7", key)
    assert getattr(parse_record(data, strict=False), attribute) is None


@given(st.text(max_size=40))
def test_any_text_is_an_instant_nothing_or_a_typed_error(text: str) -> None:
    try:
        instant = parse_instant(text)
    except InvalidTimestamp:
        return
    assert instant is None or FIRST_US <= instant <= LAST_US


def test_an_error_does_not_repeat_a_huge_value() -> None:
    with pytest.raises(InvalidTimestamp) as caught:
        parse_instant("9" * 1_000_000)
    assert len(str(caught.value)) < 500


def test_the_open_ends_lie_beyond_every_calendar_date_and_fit_int64() -> None:
    assert -(2**63) < MIN_US < FIRST_US < LAST_US < MAX_US < 2**63


def test_a_day_has_86400_seconds() -> None:
    assert us(2026, 3, 2) - us(2026, 3, 1) == DAY_US == 86_400 * MICROS


def test_times_for_people_are_calendar_days_in_utc() -> None:
    assert day(us(2026, 3, 1, 23, 59)) == "2026-03-01"
    assert day(-1) == "1969-12-31"
    assert day(None) == "undated"
    assert iso(None) is None


@pytest.mark.parametrize(
    ("name", "hours"), [("Europe/Oslo", 2), ("UTC", 0), ("+02:00", 2), ("-03:30", -3.5), ("Asia/Kolkata", 5.5)]
)
def test_zones_are_names_or_offsets(name: str, hours: float) -> None:
    noon = datetime(2026, 7, 15, 12, tzinfo=parse_zone(name))
    assert noon.utcoffset() == timedelta(hours=hours)


@pytest.mark.parametrize(
    "name", ["", "Mars/Olympus", "Europe/", "+2500", "+", "../../etc/passwd", "/etc/passwd", "\x00"]
)
def test_what_is_no_zone_is_an_error_that_shows_the_value(name: str) -> None:
    with pytest.raises(InvalidOption, match="time zone") as caught:
        parse_zone(name)
    assert repr(name) in str(caught.value)
