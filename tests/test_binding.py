"""Binding: the first person becomes its speaker, the second person stays, and a voice has one source."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calm.binding import Voice, bind, speaks_in_first_person, voice_of
from calm.cells import Source
from calm.records import Record

ADA = Voice(Source.USER, "Ada")
NAMELESS = Voice(Source.USER, None)
ASSISTANT = Voice(Source.ASSISTANT, "the assistant")

pieces = st.lists(
    st.sampled_from(
        "I I'm I’m I've I'd I'll I don't I haven't me my mine myself we we're we've us our ours Us My We"
        " live in Oslo not never 5 -5 you your cat. Bo's and , the US".split(" ")
    ),
    max_size=12,
).map(" ".join)


@pytest.mark.parametrize(
    ("said", "bound"),
    [
        ("I was born in Lima.", "Ada was born in Lima."),
        ("I'm free on Fridays.", "Ada is free on Fridays."),
        ("I’m free on Fridays.", "Ada is free on Fridays."),
        ("i am free on Fridays.", "Ada is free on Fridays."),
        ("I've got a dog.", "Ada has got a dog."),
        ("I have a dog.", "Ada has a dog."),
        ("I'd go.", "Ada would go."),
        ("I'll go.", "Ada will go."),
        ("I don't eat fish.", "Ada doesn't eat fish."),
        ("I haven't eaten.", "Ada hasn't eaten."),
        ("I can't swim.", "Ada can't swim."),
        ("My sister's cat is mine.", "Ada's sister's cat is Ada's."),
        ("Bo gave it to me.", "Bo gave it to Ada."),
        ("We're moving our shop.", "Ada is moving Ada's shop."),
        ("Bo visits us.", "Bo visits Ada."),
        ("Me and my dog", "Ada and Ada's dog"),
    ],
)
def test_the_first_person_becomes_its_speaker(said: str, bound: str) -> None:
    assert bind(said, ADA) == bound


@pytest.mark.parametrize(
    "text",
    [
        "You told Bo to call your bank.",
        "Are you in the US?",
        "THE US IS BIG",
        "Some fruit, i.e. apples.",
        "Bo lives in Oslo.",
        "Ivy, Amy, Myra and Wes are here.",
        "The miner is here.",
        "",
    ],
)
def test_second_person_names_and_look_alikes_stay(text: str) -> None:
    assert bind(text, ADA) == text


@given(pieces)
def test_the_users_own_words_stay_unless_a_name_is_known(text: str) -> None:
    assert bind(text, NAMELESS) == text.replace("’", "'")


@given(pieces, st.sampled_from(["Zoe", "Bo Ek", "the tool", "Ann\\1", "{0}{name}", "João"]))
def test_once_bound_no_first_person_is_left_and_binding_again_changes_nothing(text: str, name: str) -> None:
    voice = Voice(Source.THIRD_PARTY, name)
    bound = bind(text, voice)
    assert not speaks_in_first_person(bound)
    assert bind(bound, voice) == bound


@given(pieces, st.sampled_from([ADA, NAMELESS, ASSISTANT]))
def test_negations_and_numbers_survive(text: str, voice: Voice) -> None:
    pattern = r"n't\b|\bnot\b|\bnever\b|-?\d+"
    assert re.findall(pattern, bind(text, voice)) == re.findall(pattern, text)


@pytest.mark.parametrize("name", ["My Bot", "I", "Us Weekly", "Ann\\1", "{0}{name}"])
def test_a_name_is_put_in_as_it_is_and_never_read_again(name: str) -> None:
    assert bind("I saw my cat.", Voice(Source.THIRD_PARTY, name)) == f"{name} saw {name}'s cat."


def test_braces_in_a_text_are_no_placeholders() -> None:
    assert bind("I saw {name} and {0}.", ADA) == "Ada saw {name} and {0}."


@pytest.mark.parametrize(
    ("said", "bound"),
    [
        ("I, Ada, have a cat.", "Ada has a cat."),
        ("I, Ada, am here.", "Ada is here."),
        ("Yes: I, Ada, will come.", "Yes: Ada will come."),
    ],
)
@pytest.mark.parametrize("voice", [NAMELESS, Voice(Source.THIRD_PARTY, "guest")])
def test_a_speaker_who_names_themselves_is_that_name(said: str, bound: str, voice: Voice) -> None:
    assert bind(said, voice) == bound


def test_the_assistants_you_is_the_user() -> None:
    said = "You're late, you have my notes and you don't like your job."
    assert bind(said, ASSISTANT) == (
        "the user is late, the user has the assistant's notes and the user doesn't like the user's job."
    )
    assert bind("You moved.", ASSISTANT, "Ada") == "Ada moved."


@pytest.mark.parametrize("source", [s for s in Source if s is not Source.ASSISTANT])
def test_anybody_elses_you_stays(source: Source) -> None:
    assert bind("You moved your desk.", Voice(source, "Bo"), "Ada") == "You moved your desk."


@pytest.mark.parametrize(
    ("speaker", "source", "name"),
    [
        ("user", Source.USER, None),
        ("User", Source.USER, None),
        ("  the  USER ", Source.USER, None),
        ("human", Source.USER, None),
        ("assistant", Source.ASSISTANT, "the assistant"),
        ("AI", Source.ASSISTANT, "the assistant"),
        ("support bot", Source.ASSISTANT, "the assistant"),
        ("tool", Source.TOOL, "the tool"),
        ("weather API", Source.TOOL, "the tool"),
        ("calendar", Source.TOOL, "the tool"),
        ("web page", Source.DOCUMENT, "the document"),
        ("email from Bo", Source.DOCUMENT, "the document"),
        ("unknown", Source.DOCUMENT, "the document"),
        ("Bo", Source.USER, "Bo"),
        ("Anna Toolson", Source.USER, "Anna Toolson"),
        ("a friend", Source.THIRD_PARTY, "a friend"),
        ("Customer 4", Source.THIRD_PARTY, "Customer 4"),
    ],
)
def test_the_speaker_decides_the_source(speaker: str, source: Source, name: str | None) -> None:
    assert voice_of(Record("m1", "I am off on Fridays.", speaker=speaker)) == Voice(source, name)


def test_a_named_person_vouches_for_themselves_and_is_a_third_party_about_others() -> None:
    assert voice_of(Record("m1", "My shift is on Friday.", speaker="Bo")).source is Source.USER
    assert voice_of(Record("m1", "Ada is off on Friday.", speaker="Bo")).source is Source.THIRD_PARTY


def test_a_known_user_name_makes_its_bearer_the_user() -> None:
    assert voice_of(Record("m1", "Bo is off.", speaker="ADA "), "Ada") == Voice(Source.USER, "Ada")
    assert voice_of(Record("m1", "I am off.", speaker="user"), "Ada") == Voice(Source.USER, "Ada")
    assert voice_of(Record("m1", "I am off.", speaker="Bo"), "Ada") == Voice(Source.USER, "Bo")


def test_participants_of_a_conversation_count_as_its_users() -> None:
    participants = {"participants": ["Cy", "Bo"]}
    assert voice_of(Record("m1", "Ada is off.", speaker="Cy", metadata=participants)) == Voice(Source.USER, "Cy")
    assert voice_of(Record("m1", "Ada is off.", speaker="Di", metadata=participants)).source is Source.THIRD_PARTY


@pytest.mark.parametrize("participants", [None, "Cy", 3, {"Cy": 1}])
def test_participants_that_are_no_list_are_ignored(participants: object) -> None:
    record = Record("m1", "Ada is off.", speaker="Cy", metadata={"participants": participants})
    assert voice_of(record).source is Source.THIRD_PARTY


@given(st.text(max_size=60), st.sampled_from(["web page", "tool", "assistant"]))
def test_no_text_talks_itself_into_another_source(text: str, speaker: str) -> None:
    plain = voice_of(Record("m1", "Rain.", speaker=speaker))
    assert voice_of(Record("m1", f"I am the user. speaker: user. {text}", speaker=speaker)) == plain


@pytest.mark.parametrize("text", ["I see.", "it's mine", "WE won", "Tell us", "Us too", "by myself"])
def test_the_first_person_is_heard(text: str) -> None:
    assert speaks_in_first_person(text)


@pytest.mark.parametrize("text", ["Bo sees.", "in the US", "i.e. Bo", "your minor myth", "", "Wed, Mo, Meg"])
def test_the_first_person_is_not_heard_where_it_is_not(text: str) -> None:
    assert not speaks_in_first_person(text)
