"""How far a memory's names, subject and life area agree with the question's."""

from __future__ import annotations

import pytest

from calm.cells import Cell
from calm.fit import FitConfig, entity_fit, frame_fit
from calm.query import Query, read_query
from calm.records import Record
from calm.stage_one import stage_one

CONFIG = FitConfig(other_subject=0.01, unnamed=0.7, not_the_users=0.2, other_frame=0.3)
"""Values that tell the rules apart."""


def ask(text: str) -> Query:
    return read_query(text, 1_000)


def memory(text: str, speaker: str = "user", user_name: str | None = None) -> Cell:
    (cell,) = stage_one([Record("m1", text, time_us=1, speaker=speaker)], user_name=user_name)
    return cell


@pytest.mark.parametrize(
    ("question", "text", "speaker", "fit"),
    [
        ("What do I drink?", "I drink green tea.", "user", 1.0),
        ("What do I drink?", "Mira drinks coffee.", "user", 1.0),
        ("Where does Mira live?", "Mira lives in Lund.", "user", 1.0),
        ("Where does Mira live?", "I live in Lund.", "Mira", 1.0),
        ("Where does Mira live?", "My sister mira lives in Lund.", "user", 1.0),
        ("Where does Mira Holm live?", "Holm moved to Lund.", "user", 1.0),
        ("Where does Mira live?", "The flat in Lund is small.", "user", 0.7),
        ("When does Mira eat?", "Breakfast is at eight.", "user", 0.7),
        ("Where does Mira live?", "I live in Lund.", "user", 0.7),
        ("Where does Mira live?", "I live in Lund.", "Tomas", 0.01),
        ("Does Mira like Lund?", "I like Lund.", "Tomas", 1.0),
    ],
)
def test_names_of_the_question_are_looked_for_in_the_memory(question: str, text: str, speaker: str, fit: float) -> None:
    assert entity_fit(ask(question), memory(text, speaker), CONFIG) == fit


def test_a_memory_of_someone_else_fits_less_than_one_that_names_nobody() -> None:
    question, config = ask("Where does Mira live?"), FitConfig()
    fits = [
        entity_fit(question, memory(text, speaker), config)
        for text, speaker in [("I live in Lund.", "Tomas"), ("The flat is small.", "user"), ("I live here.", "Mira")]
    ]
    assert fits == sorted(fits)
    assert len(set(fits)) == 3


@pytest.mark.parametrize(
    ("question", "text", "speaker", "fit"),
    [
        ("Which books did I buy?", "Buy the second edition of the atlas.", "assistant", 0.2),
        ("Which books did I buy?", "The second edition is cheaper.", "web page", 0.2),
        ("Which books did I buy?", "You bought the second edition.", "assistant", 1.0),
        ("Which books did I buy?", "I bought the second edition.", "user", 1.0),
        ("Which books did I buy?", "The second edition was bought.", "Mira", 1.0),
        ("Which books are cheap?", "The second edition is cheaper.", "assistant", 1.0),
        ("Which books by Lem did I buy?", "The second edition is by Lem.", "assistant", 1.0),
    ],
)
def test_advice_does_not_answer_what_the_user_did(question: str, text: str, speaker: str, fit: float) -> None:
    assert entity_fit(ask(question), memory(text, speaker), CONFIG) == fit


@pytest.mark.parametrize(
    ("question", "text", "fit"),
    [
        ("How do I greet my boss?", "At work I shake hands.", 1.0),
        ("How do I greet my sister?", "At work I shake hands.", 0.3),
        ("How do I greet my sister?", "With my family I hug.", 1.0),
        ("How do I greet my sister at the office?", "At work I shake hands.", 1.0),
        ("How do I greet people?", "At work I shake hands.", 1.0),
        ("How do I greet my boss?", "I shake hands.", 1.0),
    ],
)
def test_a_memory_of_one_life_area_fits_less_in_another(question: str, text: str, fit: float) -> None:
    assert frame_fit(ask(question), memory(text), CONFIG) == fit


def test_the_user_by_name_is_the_subject_of_their_own_words() -> None:
    cell = memory("I live in Lund.", user_name="Mira")
    assert entity_fit(ask("Where does Mira live?"), cell, CONFIG) == 1.0
