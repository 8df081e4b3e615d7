"""Anchors: the times that a text names are counted from when it was said, and bound what they say and no more."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calm.anchors import DATE, Anchor, anchor, period
from calm.cells import SemanticType
from calm.times import DAY_US, from_us, parse_instant

STATEMENT, EVENT = SemanticType.STATEMENT, SemanticType.EVENT
OCCASIONS = [SemanticType.TEMPORARY, SemanticType.PLAN]


def us(text: str) -> int:
    instant = parse_instant(text)
    assert instant is not None
    return instant


WEDNESDAY = us("2026-07-15T14:30")
"""When the texts below are said unless they say otherwise."""


@pytest.mark.parametrize("kind", list(SemanticType))
@pytest.mark.parametrize("text", ["I live in Oslo.", "My gym is at 5 May Street.", "Room 2023 is mine.", "", "?"])
def test_a_text_without_a_time_applies_from_when_it_was_said(text: str, kind: SemanticType) -> None:
    assert anchor(text, WEDNESDAY, kind) == Anchor(WEDNESDAY, None, None)


@pytest.mark.parametrize("kind", [EVENT, *OCCASIONS])
@pytest.mark.parametrize("text", ["I moved yesterday.", "Only this week.", "Until 31 July 2026.", "Since 2020."])
def test_without_a_record_time_nothing_can_be_resolved(text: str, kind: SemanticType) -> None:
    assert anchor(text, None, kind) == Anchor(None, None, None)


# --- when it happened


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("I moved yesterday.", "2026-07-14"),
        ("I met Bo last night.", "2026-07-14"),
        ("We met last Monday.", "2026-07-13"),
        ("I quit two days ago.", "2026-07-13T14:30"),
        ("I started 10 days ago.", "2026-07-05T14:30"),
        ("I moved a week ago.", "2026-07-08T14:30"),
        ("I moved last week.", "2026-07-08"),
        ("I quit three weeks ago.", "2026-06-24T14:30"),
        ("I moved to Lima last month.", "2026-06-01"),
        ("I quit 2 months ago.", "2026-05-01"),
        ("I moved last year.", "2025-01-01"),
        ("I quit a year ago.", "2025-01-01"),
        ("I moved in March 2025.", "2025-03-01"),
        ("I got a dog in may 2025.", "2025-05-01"),
        ("I moved back in 2019.", "2019-01-01"),
        ("I moved on 3 May.", "2026-05-03"),
        ("I moved on 20 July.", "2025-07-20"),
        ("I moved on 3rd of May 2024.", "2024-05-03"),
        ("I moved on May 3rd, 2024.", "2024-05-03"),
        ("I moved on 2024-05-03.", "2024-05-03"),
        ("Bo was born on 29 February 2024.", "2024-02-29"),
    ],
)
def test_a_dated_change_happened_when_it_says(text: str, moment: str) -> None:
    assert anchor(text, WEDNESDAY, EVENT) == Anchor(us(moment), None, None)


@pytest.mark.parametrize("text", ["I like the photo of 3 May 2024.", "I read about the war in 2019."])
def test_a_date_that_dates_no_change_moves_nothing(text: str) -> None:
    assert anchor(text, WEDNESDAY, STATEMENT).time_us == WEDNESDAY


RELATIVE = ["yesterday", "last night", "last Friday", "two days ago", "a week ago", "last month", "3 years ago"]


@given(st.integers(us("1900-01-01"), us("2200-01-01")), st.sampled_from(RELATIVE))
def test_relative_times_count_from_the_record_and_lie_before_it(said_us: int, when: str) -> None:
    happened = anchor(f"I moved {when}.", said_us, EVENT).time_us
    assert happened is not None
    assert said_us - 4 * 366 * DAY_US < happened < said_us


@given(st.integers(us("1900-01-01"), us("2200-01-01")))
def test_yesterday_is_the_day_before_whatever_the_hour(said_us: int) -> None:
    happened = anchor("I moved yesterday.", said_us, EVENT).time_us
    assert happened is not None
    assert from_us(happened).date() == from_us(said_us).date() - timedelta(days=1)


@pytest.mark.parametrize(
    ("said", "moment"),
    [("2026-01-01T00:30", "2025-12-31"), ("2024-03-01T23:59", "2024-02-29"), ("1969-01-01", "1968-12-31")],
)
def test_yesterday_crosses_months_years_and_leap_days(said: str, moment: str) -> None:
    assert anchor("I moved yesterday.", us(said), EVENT).time_us == us(moment)


# --- from when it applies


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("From 1 August I work in Rome.", "2026-08-01"),
        ("As of 1 May 2026 the fee is 5.", "2026-05-01"),
        ("Starting 1 August 2026, the fee is 5.", "2026-08-01"),
        ("Effective 2026-09-01 the fee is 6.", "2026-09-01"),
        ("The fee is 5 since 2020.", "2020-01-01"),
        ("I work there since March 2024.", "2024-03-01"),
    ],
)
def test_what_takes_effect_on_a_date_applies_from_it_but_is_no_secret_till_then(text: str, moment: str) -> None:
    assert anchor(text, WEDNESDAY, STATEMENT) == Anchor(us(moment), None, None)


# --- until when


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("The pass is valid until 31 July.", "2026-08-01"),
        ("The pass is valid until 31 July 2026.", "2026-08-01"),
        ("The lease ends on 1 March 2027.", "2027-03-02"),
        ("The card expires on 5 May.", "2027-05-06"),
        ("The pass was valid through 5 May 2020.", "2020-05-06"),
        ("I am in Rome till Friday.", "2026-07-18"),
    ],
)
def test_an_end_bounds_any_claim_and_includes_its_day(text: str, end: str) -> None:
    assert anchor(text, WEDNESDAY, STATEMENT) == Anchor(WEDNESDAY, None, us(end))


# --- occasions

WINDOWS = [
    ("Only today.", "2026-07-15T14:30", "2026-07-16"),
    ("Tonight only.", "2026-07-15T14:30", "2026-07-16"),
    ("Just for tomorrow, room 4.", "2026-07-16", "2026-07-17"),
    ("Only this week.", "2026-07-15T14:30", "2026-07-20"),
    ("This weekend only.", "2026-07-15T14:30", "2026-07-20"),
    ("Next week only.", "2026-07-15T14:30", "2026-07-27"),
    ("This month only.", "2026-07-15T14:30", "2026-08-01"),
    ("Next month only.", "2026-07-15T14:30", "2026-09-01"),
    ("Only this year.", "2026-07-15T14:30", "2027-01-01"),
    ("Next year only.", "2026-07-15T14:30", "2028-01-01"),
    ("On Friday only.", "2026-07-15T14:30", "2026-07-18"),
    ("Only on Wednesday.", "2026-07-15", "2026-07-16"),
    ("Next Wednesday only.", "2026-07-15T14:30", "2026-07-23"),
    ("Only from 6 to 10 July 2026.", "2026-07-06", "2026-07-11"),
    ("Only July 6 to July 10, 2026.", "2026-07-06", "2026-07-11"),
    ("6-10 August 2026 only.", "2026-08-06", "2026-08-11"),
    ("2026-07-20 to 2026-07-22 only.", "2026-07-20", "2026-07-23"),
    ("Only between 3 and 5 August.", "2026-08-03", "2026-08-06"),
    ("Only until Friday.", "2026-07-15T14:30", "2026-07-18"),
    ("Only until 20 July.", "2026-07-15T14:30", "2026-07-21"),
    ("For two weeks only.", "2026-07-15T14:30", "2026-07-29T14:30"),
    ("For the next 3 days only.", "2026-07-15T14:30", "2026-07-18T14:30"),
    ("For ten nights only.", "2026-07-15T14:30", "2026-07-25T14:30"),
    ("Only on 20 July 2026.", "2026-07-15T14:30", "2026-07-21"),
]


@pytest.mark.parametrize("kind", OCCASIONS)
@pytest.mark.parametrize(("text", "start", "end"), WINDOWS)
def test_an_occasion_has_the_window_that_it_names(text: str, start: str, end: str, kind: SemanticType) -> None:
    assert anchor(text, WEDNESDAY, kind) == Anchor(WEDNESDAY, us(start), us(end))


@pytest.mark.parametrize("text", ["We eat together this week.", "On Friday we swim.", "The gym opens next month."])
@pytest.mark.parametrize("kind", [k for k in SemanticType if k not in OCCASIONS])
def test_relative_words_bound_nothing_but_occasions(text: str, kind: SemanticType) -> None:
    assert anchor(text, WEDNESDAY, kind) == Anchor(WEDNESDAY, None, None)


@pytest.mark.parametrize("text", ["Only from 20 to 10 July 2026.", "I am in Rome for now.", "Only until 31 February."])
def test_a_window_that_makes_no_sense_is_no_window(text: str) -> None:
    assert anchor(text, WEDNESDAY, SemanticType.TEMPORARY) == Anchor(WEDNESDAY, None, None)


@given(st.integers(us("1900-01-01"), us("2200-01-01")), st.sampled_from([w[0] for w in WINDOWS if "2026" not in w[0]]))
def test_a_window_without_a_year_is_never_empty_and_ends_after_it_was_said(said_us: int, text: str) -> None:
    found = anchor(text, said_us, SemanticType.TEMPORARY)
    assert found.valid_from_us is not None and found.valid_to_us is not None
    assert found.valid_from_us < found.valid_to_us
    assert said_us < found.valid_to_us


@pytest.mark.parametrize("text", ["Only on 20 July 2026.", "Only until 20 July 2026."])
def test_an_occasion_told_of_afterwards_has_no_window_that_ends_before_it_opens(text: str) -> None:
    found = anchor(text, us("2026-07-25"), SemanticType.TEMPORARY)
    assert found.valid_from_us is None or found.valid_to_us is None or found.valid_from_us < found.valid_to_us


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Only on 20 July.", SemanticType.TEMPORARY),
        ("Only until 20 July.", SemanticType.TEMPORARY),
        ("The pass is valid until 20 July.", STATEMENT),
    ],
)
def test_a_date_without_a_year_said_on_that_day_is_today(text: str, kind: SemanticType) -> None:
    assert anchor(text, us("2026-07-20T09:00"), kind).valid_to_us == us("2026-07-21")


@pytest.mark.parametrize(
    ("said", "text", "end"),
    [
        ("2026-12-31T23:00", "Only this month.", "2027-01-01"),
        ("2026-12-05", "Next month only.", "2027-02-01"),
        ("2026-01-31", "Next month only.", "2026-03-01"),
        ("2024-02-29", "Next year only.", "2026-01-01"),
        ("2026-07-19T10:00", "Only this week.", "2026-07-20"),
        ("2026-07-20T00:00", "Only this week.", "2026-07-27"),
    ],
)
def test_windows_cross_the_ends_of_weeks_months_and_years(said: str, text: str, end: str) -> None:
    assert anchor(text, us(said), SemanticType.TEMPORARY).valid_to_us == us(end)


# --- periods


@pytest.mark.parametrize(
    ("fragment", "start", "end"),
    [
        ("yesterday", "2026-07-14", "2026-07-15"),
        ("last night", "2026-07-14", "2026-07-15"),
        ("a day ago", "2026-07-14", "2026-07-15"),
        ("last week", "2026-07-06", "2026-07-13"),
        ("two weeks ago", "2026-06-29", "2026-07-06"),
        ("last month", "2026-06-01", "2026-07-01"),
        ("three months ago", "2026-04-01", "2026-05-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("2 years ago", "2024-01-01", "2025-01-01"),
        ("11 March 2026", "2026-03-11", "2026-03-12"),
        ("March 11th, 2026", "2026-03-11", "2026-03-12"),
        ("2024-02-29", "2024-02-29", "2024-03-01"),
        ("May 2025", "2025-05-01", "2025-06-01"),
        ("december of 2025", "2025-12-01", "2026-01-01"),
        ("2023", "2023-01-01", "2024-01-01"),
        ("5 May", "2026-05-05", "2026-05-06"),
        ("20 July", "2025-07-20", "2025-07-21"),
    ],
)
def test_a_period_is_the_half_open_interval_that_it_names(fragment: str, start: str, end: str) -> None:
    assert period(fragment, WEDNESDAY) == (us(start), us(end))


@pytest.mark.parametrize("fragment", ["Oslo", "30 February 2026", "0 May 2026"])
def test_what_is_no_date_is_no_period(fragment: str) -> None:
    assert period(fragment, WEDNESDAY) is None


@pytest.mark.parametrize("base", ["2024-02-29T12:00", "2026-03-31", "2026-01-31T23:59:59.999999", "1965-07-01"])
def test_a_named_period_does_not_depend_on_the_day_it_is_seen_from(base: str) -> None:
    assert period("2023", us(base)) == (us("2023-01-01"), us("2024-01-01"))
    assert period("February 2023", us(base)) == (us("2023-02-01"), us("2023-03-01"))
    assert period("31 January 2023", us(base)) == (us("2023-01-31"), us("2023-02-01"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We met on 3 May 2024 in Rome.", "3 May 2024"),
        ("In March 2025 it rained", "March 2025"),
        ("since 2019", "2019"),
        ("due 2024-05-03!", "2024-05-03"),
    ],
)
def test_a_calendar_date_is_found_in_a_text(text: str, found: str) -> None:
    match = DATE.search(text)
    assert match is not None and match[0] == found


@pytest.mark.parametrize("text", ["May I go?", "I march on.", "Room 12023", "5 mayors", "2023rd"])
def test_words_and_numbers_are_no_dates(text: str) -> None:
    assert DATE.search(text) is None


# --- anything


@given(st.text(max_size=60), st.sampled_from(list(SemanticType)))
def test_any_text_has_an_anchor(text: str, kind: SemanticType) -> None:
    found = anchor(text, WEDNESDAY, kind)
    assert found.time_us is not None


@pytest.mark.parametrize("text", ["The pass is valid until 31 December 9999.", "The offer ends on 9999-12-31."])
def test_the_last_day_of_the_calendar_is_a_date_like_any_other(text: str) -> None:
    assert anchor(text, WEDNESDAY, STATEMENT).time_us == WEDNESDAY


@pytest.mark.parametrize("text", ["Only today.", "Only this year.", "For two weeks only."])
def test_a_text_said_on_the_last_day_of_the_calendar_has_an_anchor(text: str) -> None:
    said_us = us("9999-12-31T23:59:59Z")
    assert anchor(text, said_us, SemanticType.TEMPORARY).time_us == said_us
