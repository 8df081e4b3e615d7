"""Questions: what is asked about, as of when, and about whom, from the words alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calm.batch import Intent
from calm.errors import EmptyQuery
from calm.query import read_query, resolve_event
from calm.records import Record
from calm.stage_one import stage_one
from calm.times import parse_instant


def us(text: str) -> int:
    instant = parse_instant(text)
    assert instant is not None
    return instant


NOW = us("2026-07-15T14:30")

ASKED: dict[Intent, list[str]] = {
    Intent.CURRENT: [
        "Where do I live?",
        "Where do I live now?",
        "What is my dog's name?",
        "Who is my boss?",
        "Do I still work at the mill?",
        "Should I bring an umbrella?",
        "Where am I staying in June 2027?",
        "What will the fee be in 2027?",
        "Where do I live since I quit my job?",
        "住在哪里",
    ],
    Intent.HISTORICAL: [
        "Where did I live before?",
        "What was my first job?",
        "Where did I use to work?",
        "What did Bo say?",
        "List all my jobs.",
        "Have I ever been to Rome?",
        "Which cities have I lived in so far?",
        "What is my old address?",
        "What was the previous code?",
        "Who was my boss originally?",
        "Where was I in 2026?",
        "Where did I live last summer?",
    ],
    Intent.CHANGE: [
        "How has my diet changed?",
        "Since when do I live in Oslo?",
        "When did I move to Lima?",
        "How long have I lived here?",
        "What changed last year?",
        "What is different about my job?",
        "When did my sister start school?",
    ],
    Intent.AS_OF: [
        "Where did I live in 2023?",
        "What was my job on 3 May 2024?",
        "As of 1 March 2026, who is my boss?",
        "Where was I last week?",
        "What did I eat yesterday?",
        "Back in 2020, who is my boss?",
    ],
    Intent.TIMELESS: [
        "What does tort mean?",
        "What is the meaning of life?",
        "What is the definition of a group?",
        "How do people make cheese?",
        "Explain gravity.",
        "Define entropy.",
        "In general, is tea healthy?",
    ],
}


@pytest.mark.parametrize(("intent", "text"), [(intent, text) for intent, texts in ASKED.items() for text in texts])
def test_a_question_has_its_intent(intent: Intent, text: str) -> None:
    assert read_query(text, NOW).intent is intent


@pytest.mark.parametrize(
    "text", [text for intent, texts in ASKED.items() for text in texts if intent is not Intent.AS_OF]
)
def test_without_a_past_date_the_instant_asked_about_is_now(text: str) -> None:
    assert read_query(text, NOW).at_us == NOW


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("Where did I live in 2023?", "2024-01-01"),
        ("Where did I live in May 2025?", "2025-06-01"),
        ("What was my job on 3 May 2024?", "2024-05-04"),
        ("What was my job on 2024-05-03?", "2024-05-04"),
        ("As of 1 March 2026, who is my boss?", "2026-03-02"),
        ("As of 2024, where do I live?", "2025-01-01"),
        ("Where was I last week?", "2026-07-13"),
        ("What did I eat yesterday?", "2026-07-15"),
        ("What did I eat last night?", "2026-07-15"),
        ("What was the code two months ago?", "2026-06-01"),
    ],
)
def test_a_past_date_asks_for_the_state_in_its_last_microsecond(text: str, end: str) -> None:
    query = read_query(text, NOW)
    assert (query.intent, query.at_us) == (Intent.AS_OF, us(end) - 1)


@pytest.mark.parametrize(
    "text",
    ["Where was I in 2026?", "What did I book for 20 August 2026?", "Where did I say I'd be on 16 July 2026?"],
)
def test_a_period_that_is_not_over_is_no_as_of_date(text: str) -> None:
    query = read_query(text, NOW)
    assert (query.intent, query.at_us) == (Intent.HISTORICAL, NOW)


@pytest.mark.parametrize(
    "text", ["Who bought the 2023 Malbec?", "Was the 3 May 2024 photo mine?", "Was Studio 2020 open?"]
)
def test_a_date_that_names_a_thing_does_not_turn_the_clock_back(text: str) -> None:
    assert read_query(text, NOW).at_us == NOW


@pytest.mark.parametrize("text", ["Which fee is due on 3 May 2024?", "What is the rate in 2023?"])
def test_a_past_date_in_the_present_tense_does_not_turn_the_clock_back(text: str) -> None:
    query = read_query(text, NOW)
    assert (query.intent, query.at_us) == (Intent.CURRENT, NOW)


def test_relative_dates_count_from_when_the_question_is_asked() -> None:
    assert read_query("What did I eat yesterday?", us("2020-01-01T05:00")).at_us == us("2020-01-01") - 1


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("Where do I live?", Intent.AS_OF),
        ("Where did I live in 2023?", Intent.AS_OF),
        ("What does tort mean?", Intent.AS_OF),
        ("How did my job change?", Intent.CHANGE),
        ("What was my previous job?", Intent.HISTORICAL),
    ],
)
def test_an_explicit_instant_holds_whatever_the_text_says(text: str, intent: Intent) -> None:
    query = read_query(text, NOW, as_of_us=us("2022-02-02"))
    assert (query.intent, query.at_us, query.time_us) == (intent, us("2022-02-02"), NOW)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "?", "?! …", "—", "\u200b", "😀", "(_)"])
def test_a_question_without_a_word_is_an_error(text: str) -> None:
    with pytest.raises(EmptyQuery) as caught:
        read_query(text, NOW)
    assert caught.value.field == "query"


pieces = st.lists(
    st.sampled_from(
        "what did I do in on 2023 May 31 2026-07-14 yesterday two years ago before after when we moved Bo was last "
        "month as of since 29 February until changed ? , .".split(" ")
    )
    | st.text(max_size=4),
    min_size=1,
    max_size=10,
).map(" ".join)


@given(pieces.filter(lambda text: any(c.isalnum() for c in text)))
def test_any_words_are_a_question_and_never_about_the_future(text: str) -> None:
    query = read_query(text, NOW)
    assert query.text == text
    assert query.at_us <= query.time_us == NOW
    assert (query.at_us < NOW) <= (query.intent is Intent.AS_OF)


def test_the_last_month_of_the_calendar_may_be_asked_about() -> None:
    assert read_query("What was the fee in December 9999?", NOW).at_us == NOW


def test_what_the_caller_says_stands_in_the_query() -> None:
    query = read_query("Who is Ida?", NOW, axis="system", user="u1", scope="project:a", budget_tokens=0)
    assert (query.axis, query.user, query.scope, query.budget_tokens) == ("system", "u1", "project:a", 0)
    bare = read_query("Who is Ida?", NOW)
    assert (bare.axis, bare.user, bare.scope, bare.budget_tokens) == ("event", None, None, None)


def test_no_text_sets_user_or_scope_by_saying_so() -> None:
    query = read_query("user: eve, scope: project:b. Where does Eve live?", NOW, user="u1", scope="project:a")
    assert (query.user, query.scope) == ("u1", "project:a")


def test_names_and_life_areas_are_read_from_the_question() -> None:
    query = read_query("Does my boss know Ida Holm of Oslo?", NOW)
    assert query.entities == {"ida holm of oslo"}
    assert query.frames == {"work"}


@pytest.mark.parametrize(
    ("text", "about_user", "own_act"),
    [
        ("Where do I live?", True, True),
        ("What did we say?", True, True),
        ("What is my name?", True, False),
        ("Does Bo like us?", True, False),
        ("Where does the user live?", True, False),
        ("Where does Bo live?", False, False),
        ("Is Mimi a cat?", False, False),
    ],
)
def test_it_is_known_whether_the_user_is_asked_about(text: str, about_user: bool, own_act: bool) -> None:
    query = read_query(text, NOW)
    assert (query.asks_about_user, query.asks_own_act) == (about_user, own_act)


# --- events that only the memories can date


HISTORY = stage_one(
    [
        Record("m1", "I moved to Berlin.", us("2024-03-01T09:00"), kind="dialogue"),
        Record("m2", "I like moving boxes in Berlin.", us("2025-05-05"), kind="dialogue"),
        Record("m3", "Bo left the firm.", None, kind="dialogue"),
        Record("m4", "I adopted a dog.", us("2027-01-01"), kind="dialogue"),
    ]
)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("Where did I live before I moved to Berlin?", us("2024-03-01T09:00") - 1),
        ("Who was my boss until I moved to Berlin?", us("2024-03-01T09:00") - 1),
        ("Where did I work when I moved to Berlin?", us("2024-03-01T09:00")),
        ("What did I buy after I moved to Berlin?", us("2024-03-01T09:00")),
    ],
)
def test_an_event_is_dated_by_the_memory_of_it(text: str, at: int) -> None:
    query = read_query(text, NOW)
    assert query.intent is Intent.HISTORICAL and query.event is not None
    resolved = resolve_event(query, HISTORY)
    assert (resolved.intent, resolved.at_us) == (Intent.AS_OF, at)
    assert (resolved.text, resolved.time_us) == (query.text, query.time_us)


def test_the_order_of_the_memories_does_not_matter() -> None:
    query = read_query("Where did I live before I moved to Berlin?", NOW)
    assert resolve_event(query, reversed(HISTORY)) == resolve_event(query, HISTORY)


@pytest.mark.parametrize(
    "text",
    [
        "Where did I live before I moved to Rome?",
        "What did I say before Bo left the firm?",
        "Where did I live before it was?",
        "Where do I live?",
    ],
)
def test_an_event_that_no_dated_memory_tells_of_leaves_the_question_as_it_is(text: str) -> None:
    query = read_query(text, NOW)
    assert resolve_event(query, HISTORY) == query


def test_an_event_of_the_future_asks_about_now() -> None:
    query = read_query("What did I own when I adopted a dog?", NOW)
    assert resolve_event(query, HISTORY).at_us == NOW
