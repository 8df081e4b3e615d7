"""What an assistant explains at length is kept and can be found, and neither overrules nor is overruled."""

from __future__ import annotations

import pytest

from calm.cells import SemanticType
from calm.detect import detect
from calm.records import Record
from calm.rules import RuleScorer
from calm.stage_one import StageOneConfig, stage_one

ADVICE = "The hall is 3 km away. It opens at 9:00. The entry fee is 12 euros. Bring a coat."
LATER = "The hall is 5 km away. It opens at 8:00. The entry fee is 15 euros. Bring an umbrella."


def turn(record_id: str, text: str, speaker: str = "assistant", time_us: int = 0) -> Record:
    return Record(record_id, text, time_us=time_us, user="u", speaker=speaker, kind="dialogue")


def types(*records: Record, config: StageOneConfig | None = None) -> set[SemanticType]:
    return {cell.semantic_type for cell in stage_one(records, config)}


def test_a_long_answer_is_exposition() -> None:
    assert types(turn("m1", ADVICE)) == {SemanticType.EXPOSITION}


@pytest.mark.parametrize("speaker", ["user", "Ada"])
def test_a_person_asserts_at_any_length(speaker: str) -> None:
    assert SemanticType.EXPOSITION not in types(turn("m1", ADVICE, speaker))


def test_a_short_answer_asserts() -> None:
    assert types(turn("m1", "The pottery workshop is on 14 March.")) == {SemanticType.STATEMENT}


def test_the_length_can_be_set() -> None:
    assert SemanticType.EXPOSITION not in types(turn("m1", ADVICE), config=StageOneConfig(exposition_claims=5))


def test_a_question_in_a_long_answer_stays_a_question() -> None:
    assert SemanticType.QUESTION in types(turn("m1", f"{ADVICE} Do you want to go?"))


def test_two_long_answers_do_not_conflict_and_two_of_a_person_do() -> None:
    told = [turn("m1", ADVICE), turn("m2", LATER, time_us=1)]
    assert detect(stage_one(told), RuleScorer()) == []
    said = [turn("m1", ADVICE, "user"), turn("m2", LATER, "user", time_us=1)]
    assert detect(stage_one(said), RuleScorer())
