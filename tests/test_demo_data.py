"""The demo conversation loads without a fault, holds its answers, and says the old oftener than the new."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from calm.loaders import load
from calm.records import Record
from calm.times import DAY_US

DEMO = Path(str(files("calm") / "data" / "demo.json"))


@pytest.fixture(scope="module")
def turns() -> list[Record]:
    found = list(load(DEMO, "locomo"))
    assert [str(entry.error) for entry in found if entry.error] == []
    return [entry.record for entry in found if entry.record]


@pytest.fixture(scope="module")
def questions() -> list[dict]:
    return json.loads(DEMO.read_text(encoding="utf-8"))[0]["qa"]


def test_it_spans_more_than_a_year_in_the_order_of_its_sessions(turns):
    times = [turn.time_us for turn in turns]
    assert times == sorted(set(times))
    assert times[-1] - times[0] > 400 * DAY_US
    assert len({turn.session for turn in turns}) == 12
    assert {turn.speaker for turn in turns} == {"Noor", "Tomas"}
    assert len({turn.id for turn in turns}) == len(turns) == 248


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I (still )?live in Utrecht", "I (moved to|live in) Ghent"),
        ("Brightwater", "Lumen Labs on Monday|work at Lumen Labs"),
        ("class is (still )?on Tuesday|class on Tuesday", "class is on Thursday"),
        ("90 euros", "110 euros"),
        ("06 555 0142", "0470 555 017"),
        ("heron-lamp-42", "copper-owl-7"),
        ("I eat meat", "I don't eat meat"),
        ("Earl Grey", "genmaicha"),
        ("Volvo", "Kona"),
    ],
)
def test_an_old_value_is_said_more_often_than_the_new_one_and_only_before_it(turns, old, new):
    said_old = [turn.time_us for turn in turns if re.search(old, turn.text)]
    said_new = [turn.time_us for turn in turns if re.search(new, turn.text)]
    assert len(said_old) >= 3
    assert 1 <= len(said_new) <= 2
    assert sorted(said_old)[2] < min(said_new)


def test_every_question_names_turns_that_hold_its_answer(turns, questions):
    text_of = {turn.metadata["dia_id"]: turn.text for turn in turns}
    for question in questions:
        evidence = " ".join(text_of[dia_id] for dia_id in question["evidence"]).casefold()
        if question["category"] == 5:
            assert "answer" not in question
        elif not question["answer"].startswith(("Yes", "No", "The week")):
            first = re.split(r"[,]| a term", question["answer"])[0].casefold()
            assert first in evidence, question["question"]


def test_the_questions_ask_for_the_current_and_for_earlier_states(questions):
    asked = [question["question"] for question in questions]
    assert len(asked) == len(set(asked)) == 29
    assert sum(question.endswith("now?") for question in asked) >= 8
    assert sum(bool(re.search(r"before|at first|old|in \w+ 20\d\d", question)) for question in asked) >= 8
