"""The normal form: variants of one claim meet, and no negation, digit, sign or unit is ever lost on the way."""

from __future__ import annotations

import time
import unicodedata
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from calm.normalise import expand_contractions, normalise

APOSTROPHES = "'’‘ʼ`´＇"
any_text = st.text(max_size=40) | st.text("nNoO'’t_-+.5²½% \u200b\u0301CaA?!\"′″", max_size=20)
words = st.text("abcdefgäéßøж日本", min_size=1, max_size=8)
sentences = st.lists(words, min_size=1, max_size=6)


def seen(text: str) -> bool:
    """Whether any character of `text` can be seen."""
    return any(unicodedata.category(char)[0] not in "CZ" or unicodedata.category(char) in {"Co", "Cn"} for char in text)


def folded(text: str) -> str:
    """`text` in compatibility form and without case, as far as both go."""
    while (after := unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())) != text:
        text = after
    return text


visible_text = st.text(st.characters(exclude_categories=["C"]), max_size=40).filter(
    lambda text: not set(APOSTROPHES + '"′″') & set(text + folded(text))
)
"""Neither contractions nor feet and inches, which are written out."""


@given(any_text)
@example("_n't_")
@example("ΐ")
@example("do\u200bn't")
@example("ﬁ’ͅ")
def test_the_normal_form_is_its_own_normal_form(text: str) -> None:
    form = normalise(text)
    assert normalise(form) == form


@given(any_text)
@example("?!")
@example("\u200b")
@example("\ufe0f")
def test_only_text_without_a_visible_character_has_an_empty_form(text: str) -> None:
    assert (normalise(text) != "") == seen(text)


@given(any_text)
def test_a_form_has_single_blanks_and_none_at_the_ends(text: str) -> None:
    assert normalise(text) == " ".join(normalise(text).split())


@given(visible_text)
@example("10²")
@example("1½")
@example("٣")
@example("①")
@example("ῆ")
def test_no_letter_and_no_digit_is_lost_or_moved(text: str) -> None:
    assert [c for c in normalise(text) if c.isalnum()] == [c for c in folded(text) if c.isalnum()]


@given(st.text(max_size=15), st.sampled_from(["not", "no", "never", "without", "nor"]), st.text(max_size=15))
def test_a_negation_is_never_lost(before: str, negation: str, after: str) -> None:
    assert negation in normalise(f"{before} {negation} {after}").split()


@given(sentences, st.sampled_from(APOSTROPHES))
def test_a_contracted_negation_is_the_full_one(sentence: list[str], apostrophe: str) -> None:
    rest = " ".join(sentence)
    assert normalise(f"Ada doesn{apostrophe}t {rest}") == normalise(f"Ada does not {rest}")
    assert normalise(f"Ada doesn{apostrophe}t {rest}") != normalise(f"Ada does {rest}")


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))
def test_two_numbers_never_meet(a: int, b: int) -> None:
    same = normalise(f"It is {a} outside.") == normalise(f"It is {b} outside.")
    assert same == (a == b)


SIGNS_BEFORE = ["", "-", "+", "±", "#", "$", "€", "£", "¥", "<", ">", "=", "≤", "≥", "≠", "@", "§", "¬", "~", "/"]
SIGNS_AFTER = ["", "%", "‰", "+", "-", "°", "*", "€", "$", " kg", " g", " km", "C", "K", "m²", "m"]


@pytest.mark.parametrize(("a", "b"), combinations(SIGNS_BEFORE, 2))
def test_a_sign_before_a_number_counts(a: str, b: str) -> None:
    assert normalise(f"The value is {a}5 now.") != normalise(f"The value is {b}5 now.")


@pytest.mark.parametrize(("a", "b"), combinations(SIGNS_AFTER, 2))
def test_a_sign_or_unit_after_a_number_counts(a: str, b: str) -> None:
    assert normalise(f"The value is 5{a}.") != normalise(f"The value is 5{b}.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C", "C++"),
        ("C", "C#"),
        ("C+", "C++"),
        ("A", "A*"),
        ("B-", "B"),
        ("I code in C.", "I code in C++."),
        ("Smoking is permitted.", "Smoking is not permitted."),
        ("Smoking is permitted.", "Smoking isn't permitted."),
        ("I can eat nuts.", "I can't eat nuts."),
        ("I can eat nuts.", "I cannot eat nuts."),
        ("I will move.", "I won't move."),
        ("It costs 3.5 euros.", "It costs 35 euros."),
        ("It costs 3,5 euros.", "It costs 35 euros."),
        ("It costs .5 euros.", "It costs 5 euros."),
        ("Call at 2:30.", "Call at 230."),
        ("Pages 10-12.", "Pages 1012."),
        ("Version 1.2.3", "Version 12.3"),
        ("It has 10² cells.", "It has 102 cells."),
        ("Add 1½ cups.", "Add 11⁄2 cups."),
        ("Add 1½ cups.", "Add 11/2 cups."),
        ("Use A/B.", "Use AB."),
        ("R&D", "RD"),
        ("Ida's cats.", "Idas cats."),
        ("We are here.", "Were here."),
        ("😀", "😢"),
        ("?", "!"),
        ("Open /etc now.", "Open etc now."),
        ("resume", "résumé"),
        ("snake_case", "snakecase"),
    ],
)
def test_two_claims_stay_apart(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize(
    "variants",
    [
        ["I live in Oslo.", "i live in oslo", "I LIVE IN OSLO!", "  I\tlive  in\n\nOslo …", "“I live in Oslo”"],
        ["Ada, my sister, is here.", "Ada my sister is here", "(Ada: my sister) is here;"],
        ["I can't swim.", "I cannot swim.", "I can not swim", "I can’t swim", "I canʼt swim", "I can`t swim"],
        ["She won't come.", "She will not come."],
        ["They aren't in.", "They are not in."],
        ["I'm well.", "I am well.", "I’m well"],
        ["We've met.", "We have met."],
        ["You'll see.", "You will see."],
        ["It's -5 today.", "It’s −5 today.", "it's –5 today", "it's ‑5 today"],
        ["5% fat", "5 % fat", "５％ fat"],
        ["Straße", "STRASSE", "strasse"],
        ["café", "cafe\u0301", "CAFÉ"],
        ["ﬁne wine", "fine wine"],
        ["Ｏｓｌｏ", "Oslo"],
        ["do\u200bn't go", "don't go", "do not go"],
        ["Os\u00adlo", "Oslo"],
        ["a\u00a0b", "a b", "a\u2003b", "a\x00b"],
        ["It is called “Room 5”.", 'It is called "Room 5".', "It is called 'Room 5'.", "It is called Room 5."],
        ["- Oslo", "Oslo", "• Oslo"],
    ],
)
def test_variants_of_one_claim_meet(variants: list[str]) -> None:
    assert len({normalise(text) for text in variants}) == 1


@given(
    sentences, st.sampled_from(["", ".", "!", "?", "…", "。", " ;"]), st.sampled_from([" ", "  ", "\n", "\t", "\u00a0"])
)
def test_case_space_and_closing_punctuation_do_not_matter(sentence: list[str], end: str, blank: str) -> None:
    assert normalise(blank.join(sentence).title() + end) == normalise(" ".join(sentence))


@given(sentences, sentences)
def test_other_words_are_another_claim(one: list[str], other: list[str]) -> None:
    same = [folded(w) for w in one] == [folded(w) for w in other]
    assert (normalise(" ".join(one)) == normalise(" ".join(other))) == same


@pytest.mark.parametrize(("one", "other"), [("5′", "5″"), ("5'", '5"'), ("5′", "5")])
def test_feet_and_inches_are_units(one: str, other: str) -> None:
    assert normalise(f"The board is {one} long.") != normalise(f"The board is {other} long.")


def test_contractions_of_a_name_are_not_taken_apart() -> None:
    assert expand_contractions("ada's cat isn't here; they've left") == "ada's cat is not here; they have left"


@pytest.mark.parametrize("piece", ["a", "n't ", "²", "'", "-", ". ", "¼1", "\u200b", "_n't_", "_n't", "5' ", "日本 "])
def test_a_long_text_takes_no_more_than_a_moment(piece: str) -> None:
    start = time.process_time()
    normalise(piece * (100_000 // len(piece)))
    assert time.process_time() - start < 3


def test_a_chain_of_contractions_takes_no_more_than_a_moment() -> None:
    start = time.process_time()
    normalise("n't" * 8_000)
    assert time.process_time() - start < 3
