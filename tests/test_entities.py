"""Names: who and what a text names, whom it is about, and which life areas it is limited to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calm.entities import entities, mentioned_frames, stated_frames, subject


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I met Ida in Oslo.", {"ida", "oslo"}),
        ("Kiruna Valley Rail (KVR) is late.", {"kiruna valley rail", "kvr"}),
        ("The Bank of England is shut.", {"bank of england"}),
        ("We sat in O'Neill's pub.", {"o'neill"}),
        ("The Rose-Marie Inn is full.", {"rose-marie inn"}),
        ("Ida's cat likes Bo's dog.", {"ida", "bo"}),
        ("I am Zoë.", {"zoë"}),
        ("Room B12 is free.", {"room b12"}),
        ("Tell Bo Ek that I'm in.", {"bo ek"}),
        ("We met Bo On Monday.", {"bo"}),
        ("Then Bo left. When Ida came, it rained.", {"bo", "ida"}),
    ],
)
def test_names_are_found_and_folded(text: str, names: set[str]) -> None:
    assert entities(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "",
        "i live in a small town.",
        "I'm here. My cat is not. What is that?",
        "On Monday we swim. In June it rains.",
        "Please remember that. Yes, always. The others do.",
        "User: hello. Assistant: hi.",
        "123 456",
    ],
)
def test_function_words_days_and_months_are_no_names(text: str) -> None:
    assert entities(text) == set()


def test_a_name_is_the_same_in_a_statement_and_in_a_question() -> None:
    assert entities("Ida Holm moved to New York.") == entities("Did Ida Holm like New York?")


@given(st.text(max_size=80))
def test_names_stand_in_the_text(text: str) -> None:
    for name in entities(text):
        assert all(word in text.casefold() for word in name.split())
        assert name == name.casefold()


@pytest.mark.parametrize("name", ["Élodie", "Åse", "Łukasz", "Øystein Æbelø"])
def test_a_name_may_begin_with_any_capital(name: str) -> None:
    assert entities(f"I met {name} again.") == {name.casefold()}


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Ida lives in Oslo.", "ida"),
        ("Ida Holm lives in Oslo.", "ida holm"),
        ("Ida's cat is old.", "ida"),
        ("Actually, Bo works at the mill.", "bo"),
        ("No, Bo works at the mill.", "bo"),
        ("And so Bo left.", None),
        ("The cat is old.", None),
        ("My cat is old.", None),
        ("It rains.", None),
        ("Today we swim.", None),
        ("", None),
    ],
)
def test_a_sentence_is_about_its_leading_name(text: str, about: str | None) -> None:
    assert subject(text, "Cy", first_person=False) == about


def test_the_first_person_is_about_its_speaker() -> None:
    assert subject("Bo Ek is in Oslo.", "Bo Ek", first_person=True) == "bo ek"
    assert subject("I met Ida.", None, first_person=True) is None


def test_who_says_their_name_is_meant_whoever_speaks() -> None:
    assert subject("I, Ada, have a cat.", None, first_person=True) == "ada"
    assert subject("I, Ada, have a cat.", "Bo", first_person=True) == "ada"


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        ("At work I drink tea.", {"work"}),
        ("In the office, I wear a tie.", {"work"}),
        ("With my family I speak Norwegian.", {"family"}),
        ("So, with friends I play chess.", {"friends"}),
        ("When I'm at the office I wear a tie.", {"work"}),
        ("For my sister I cook.", {"family"}),
        ("At school, Bo is quiet.", {"school"}),
        ("  at work i drink tea", {"work"}),
        ("I drink tea at work.", set()),
        ("My boss is Ida.", set()),
        ("At home I relax.", set()),
        ("Workshops are fun.", set()),
        ("", set()),
    ],
)
def test_a_statement_is_limited_to_the_area_that_it_opens_with(text: str, frames: set[str]) -> None:
    assert stated_frames(text) == frames


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        ("Draft a note to my sister.", {"family"}),
        ("Ask my BOSS and my kids.", {"work", "family"}),
        ("What do I drink?", set()),
        ("Is the workshop on?", set()),
        ("Which class does my son's friend take?", {"school", "family", "friends"}),
    ],
)
def test_a_question_touches_every_area_that_it_names(text: str, frames: set[str]) -> None:
    assert mentioned_frames(text) == frames


openings = st.lists(st.sampled_from("at At with my the work, family office I'm tea I So, friends school.".split()))


@given(openings.map(" ".join))
def test_what_a_text_is_limited_to_it_also_mentions(text: str) -> None:
    assert stated_frames(text) <= mentioned_frames(text)
