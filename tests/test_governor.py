"""The front door of the library: any retriever's results in, one verdict a memory out, the same for everybody."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from contract_samples import BERGEN, QUERIES, REASONS, TEA, UTRECHT, governor, memory, random_memories
from hypothesis import given, settings
from numpy.typing import NDArray

from calm import Governor
from calm.cells import State
from calm.conflict import GoldScorer, TextPair
from calm.context import count_tokens
from calm.errors import (
    CalmError,
    DuplicateMemoryId,
    EmbeddingDimensionError,
    EmbeddingModelMismatch,
    EmptyQuery,
    InvalidRecord,
    InvalidTimestamp,
)
from calm.gate import ZeroShotGate
from calm.governor import Case
from calm.memories import MemoryDecision
from calm.pipeline import PipelineConfig
from calm.query import read_query
from calm.records import Record, parse_record
from calm.times import to_us

ASKED = "2026-01-01T00:00:00Z"


def ids(decision: MemoryDecision) -> list[str]:
    return [m.record.id for m in decision.admitted]


def reasons(decision: MemoryDecision) -> dict[str, tuple[str, ...]]:
    return {m.record.id: m.reasons for m in decision.blocked}


def ask(
    *memories: Any, question: str = "Where do I live?", by: Governor | None = None, **options: Any
) -> MemoryDecision:
    return (by or governor()).admit(question, memories, **{"query_time": ASKED, **options})


# --- What comes in


def test_records_and_objects_of_the_contract_are_decided_alike() -> None:
    objects = [UTRECHT, BERGEN, TEA]
    records = [parse_record(o) for o in objects]
    assert ask(*objects) == ask(*records) == ask(objects[0], *records[1:])
    assert ids(ask(*objects)) == ["m2", "m3"]


@pytest.mark.parametrize(
    "asked",
    [
        "2025-03-01T00:00:00Z",
        "2025-03-01T01:00:00+01:00",
        datetime(2025, 3, 1, tzinfo=UTC),
        datetime(2025, 3, 1, 5, tzinfo=timezone(timedelta(hours=5))),
    ],
    ids=str,
)
def test_the_time_of_the_question_may_be_a_text_or_a_datetime(asked: datetime | str) -> None:
    found = ask(UTRECHT, BERGEN, query_time=asked)
    assert ids(found) == ["m1"]
    assert reasons(found) == {"m2": ("not_yet_known",)}
    assert found.decision.query.time_us == to_us(datetime(2025, 3, 1, tzinfo=UTC))


def test_a_question_without_a_time_is_asked_now() -> None:
    now = datetime.now(UTC)
    past = memory("m1", "I live in Utrecht.", (now - timedelta(days=1)).isoformat())
    future = memory("m2", "I live in Bergen.", (now + timedelta(days=1)).isoformat())
    found = governor().admit("Where do I live?", [past, future])
    assert (ids(found), reasons(found)) == (["m1"], {"m2": ("not_yet_known",)})


def test_naive_times_are_read_in_the_zone_given() -> None:
    naive, aware = {**UTRECHT, "timestamp": "2025-06-02T10:00:00"}, {**BERGEN, "timestamp": "2025-06-02T09:30:00Z"}
    assert ids(ask(naive, aware)) == ["m1"]
    assert ids(ask(naive, aware, naive_tz=timezone(timedelta(hours=2)))) == ["m2"]
    before_both = ask(naive, aware, naive_tz=timezone(timedelta(hours=2)), as_of="2025-06-02T11:00:00")
    assert reasons(before_both) == {"m2": ("not_yet_known",)}


def test_no_memories_are_a_decision_too() -> None:
    found = ask()
    assert (found.admitted, found.blocked, found.context, found.flags) == ((), (), "", ("nothing_eligible",))


@pytest.mark.parametrize(
    ("memories", "options", "error", "record"),
    [
        ([UTRECHT], {"question": " … "}, EmptyQuery, None),
        ([{"text": "no id"}], {}, InvalidRecord, None),
        (["a text"], {}, InvalidRecord, None),
        ([{**UTRECHT, "score": float("nan")}], {}, InvalidRecord, "m1"),
        ([{**UTRECHT, "timestamp": "soon"}], {}, InvalidTimestamp, "m1"),
        ([UTRECHT], {"query_time": "soon"}, InvalidTimestamp, None),
        ([UTRECHT], {"as_of": "soon"}, InvalidTimestamp, None),
        ([UTRECHT, {**TEA, "id": "m1"}], {}, DuplicateMemoryId, "m1"),
        ([{**UTRECHT, "embedding": [1]}, {**TEA, "embedding": [1, 2]}], {}, EmbeddingDimensionError, "m3"),
        (
            [
                {**UTRECHT, "embedding": [1], "embedding_model": "small"},
                {**TEA, "embedding": [1], "embedding_model": "large"},
            ],
            {},
            EmbeddingModelMismatch,
            "m3",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_decided_raises_a_typed_error_that_names_the_record(
    memories: list[object], options: dict[str, Any], error: type[CalmError], record: str | None
) -> None:
    with pytest.raises(error) as caught:
        ask(*memories, **options)
    assert caught.value.record == record


# --- What comes out


@settings(max_examples=40)
@given(random_memories())
def test_every_memory_is_either_admitted_or_blocked_with_a_reason(memories: list[dict[str, Any]]) -> None:
    for question in QUERIES[:3]:
        found = ask(*memories, question=question, user="ana", budget_tokens=40)
        given_ids = [m["id"] for m in memories]
        assert sorted([*ids(found), *reasons(found)]) == sorted(given_ids)
        assert list(reasons(found)) == [i for i in given_ids if i in reasons(found)]
        assert all(codes and set(codes) <= REASONS for codes in reasons(found).values())
        assert set(found.states) == set(given_ids)
        assert all(isinstance(state, State) for state in found.states.values())
        assert 0 <= found.pairs_scored <= found.pairs
        assert count_tokens(found.context) <= found.decision.used_tokens <= 40
        threshold = found.decision.threshold
        for m in found.admitted:
            assert m.record.user == "ana"
            assert threshold <= m.score <= 1.0
            features = m.features
            mean = (features["relevance"] + features["validity"] + features["compatibility"] + 1 - features["risk"]) / 4
            assert m.score == pytest.approx(mean, abs=1e-5)


def test_the_admitted_stand_in_the_order_of_the_context() -> None:
    memories = [
        {**UTRECHT, "score": 0.5},
        {**TEA, "score": 0.9},
        memory("m4", "I own a red bicycle.", score=0.7),
    ]
    found = ask(*memories)
    assert ids(found) == ["m3", "m4", "m1"]
    assert [m.score for m in found.admitted] == sorted((m.score for m in found.admitted), reverse=True)
    for line, m in zip(found.context.splitlines(), found.admitted, strict=True):
        assert line.endswith(m.record.text)


def test_the_score_of_the_backend_is_the_relevance() -> None:
    found = ask({**UTRECHT, "score": 0.25}, {**TEA, "score": 0.75})
    assert {m.record.id: m.features["relevance"] for m in found.admitted} == {"m1": 0.25, "m3": 0.75}


def test_scores_beyond_one_are_scaled_so_that_their_order_stays() -> None:
    bike = memory("m4", "I own a red bicycle.", score=11.0)
    found = ask({**UTRECHT, "score": 21.0}, {**TEA, "score": 1.0}, bike)
    relevance = {m.record.id: m.features["relevance"] for m in found.admitted}
    assert relevance == {"m1": 1.0, "m4": 0.5, "m3": 0.0}


def test_a_dialogue_turn_counts_once_whatever_it_claims() -> None:
    turn = memory("m1", "I live in Utrecht. I like green tea.", session="s1")
    found = ask(turn)
    assert ids(found) == ["m1"]
    assert len(found.decision.admitted) == 2
    assert len(found.context.splitlines()) == 2


def test_a_memory_stays_as_long_as_one_of_its_claims_stands() -> None:
    turn = memory("m1", "I live in Utrecht. I like green tea.", session="s1")
    found = ask(turn, BERGEN)
    assert sorted(ids(found)) == ["m1", "m2"]
    assert "Utrecht" not in found.context
    assert "green tea" in found.context
    assert found.states["m1"] is State.ACTIVE


def test_of_a_return_to_an_old_claim_the_neighbours_in_time_conflict() -> None:
    back = {**UTRECHT, "id": "m9", "timestamp": "2025-09-01T00:00:00Z"}
    found = ask(back, BERGEN, UTRECHT)
    assert ids(found) == ["m9"]
    assert [(c.older, c.newer) for c in found.conflicts] == [("m1", "m2"), ("m2", "m9")]
    assert all(c.strength >= 0.75 for c in found.conflicts)
    assert set(reasons(found)) == {"m1", "m2"}


def test_a_less_reliable_source_is_recorded_as_a_weak_conflict_and_supersedes_nothing() -> None:
    guess = {**BERGEN, "speaker": "assistant", "text": "The user lives in Bergen."}
    certain = governor(scorer=Contradicts(0.9))
    found = ask(UTRECHT, guess, by=certain)
    assert "m1" in ids(found)
    assert found.states["m1"] is State.ACTIVE
    assert [(c.older, c.newer, c.strength) for c in found.conflicts] == [("m1", "m2", pytest.approx(0.9 * 0.6))]
    assert ids(ask(UTRECHT, {**guess, "speaker": "user"}, by=certain)) == ["m2"], "the user's own word would"


# --- What it is made of


class Contradicts:
    """Finds a contradiction in every pair, or in none."""

    def __init__(self, probability: float) -> None:
        self.probability = probability
        self.pairs: list[TextPair] = []

    @property
    def fingerprint(self) -> str:
        return f"always-{self.probability}"

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        self.pairs += pairs
        return np.full(len(pairs), self.probability, dtype=np.float32)


def test_the_conflict_scorer_decides_what_is_superseded() -> None:
    assert sorted(ids(ask(UTRECHT, BERGEN, by=governor(scorer=Contradicts(0.0))))) == ["m1", "m2"]
    assert ids(ask(UTRECHT, TEA, by=governor(scorer=Contradicts(1.0)))) == ["m3"]
    found = ask(UTRECHT, TEA, by=governor(scorer=GoldScorer({})))
    assert sorted(ids(found)) == ["m1", "m3"]
    assert (found.pairs_scored, found.pairs) == (1, 1)


def test_a_pair_that_was_scored_is_not_scored_again() -> None:
    scorer = Contradicts(1.0)
    asking = governor(scorer=scorer)
    first = ask(UTRECHT, BERGEN, TEA, by=asking)
    asked = len(scorer.pairs)
    assert ask(UTRECHT, BERGEN, TEA, by=asking) == first
    assert 0 < asked == len(scorer.pairs) == len(set(scorer.pairs))


def test_the_gate_decides_who_is_good_enough() -> None:
    strict = ask(UTRECHT, TEA, by=governor(gate=ZeroShotGate(1.0)))
    assert strict.flags == ("nothing_eligible",)
    assert reasons(strict) == {"m1": ("low_score",), "m3": ("low_score",)}
    for m in strict.blocked:
        assert m.detail["threshold"] == 1.0
        assert 0.0 <= m.detail["score"] < 1.0  # type: ignore[operator]
    assert sorted(ids(ask(UTRECHT, TEA, by=governor(gate=ZeroShotGate(0.0))))) == ["m1", "m3"]


def test_a_higher_bar_for_conflicts_lets_both_stay() -> None:
    config = PipelineConfig(device="cpu", strong_conflict=0.99)
    lenient = governor(config=config, scorer=Contradicts(0.8))
    assert "dominated" not in {r for codes in reasons(ask(UTRECHT, TEA, by=lenient)).values() for r in codes}
    assert "dominated" in reasons(ask(UTRECHT, TEA, by=governor(scorer=Contradicts(0.8))))["m1"]


# --- One for everybody


def questions() -> list[tuple[str, list[dict[str, Any]], str]]:
    users = ["ana", "bob", "cleo", "dan"]
    homes = ["Utrecht", "Bergen", "Ghent", "Porto"]
    return [
        (
            question,
            [memory(f"m{n}", f"I live in {homes[(n + shift) % 4]}.", f"2025-0{n + 1}-01", user=user) for n in range(4)],
            user,
        )
        for shift, user in enumerate(users)
        for question in QUERIES
    ]


def test_one_governor_answers_many_threads_as_a_fresh_one_answers_each() -> None:
    alone = [ask(*memories, question=question, user=user) for question, memories, user in questions()]
    shared = governor()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda q: ask(*q[1], question=q[0], user=q[2], by=shared), questions() * 2))
    assert together == alone * 2


def test_many_cases_at_once_are_decided_as_each_alone() -> None:
    cases = [
        Case(
            read_query(question, to_us(datetime(2026, 1, 1, tzinfo=UTC)), user=user, budget_tokens=budget),
            tuple(parse_record(m) for m in memories),
        )
        for question, memories, user in questions()
        for budget in (None, 0, 20)
    ]
    asking = governor()
    together = asking.admit_all(cases)
    assert together == [governor().admit_all([case])[0] for case in cases]
    assert {len(d.admitted) for d in together} > {0, 1}
    assert asking.admit_all([]) == []


def test_a_decision_leaves_the_memories_as_they_were() -> None:
    objects = [dict(UTRECHT), dict(BERGEN)]
    ask(*objects)
    assert objects == [UTRECHT, BERGEN]


def test_no_user_sees_another_users_memories_nor_those_of_nobody() -> None:
    found = ask(UTRECHT, {**BERGEN, "user": "bob"}, {**TEA, "user": None}, user="ana")
    assert (ids(found), reasons(found)) == (["m1"], {"m2": ("wrong_user",), "m3": ("no_owner",)})


def test_a_scope_and_a_time_axis_are_passed_on() -> None:
    here = Record("m1", "I live in Utrecht.", time_us=to_us(datetime(2025, 1, 1, tzinfo=UTC)), scope="project:atlas")
    assert ids(ask(here, scope="project:atlas")) == ["m1"]
    assert reasons(ask(here, scope="project:borealis")) == {"m1": ("out_of_scope",)}
    late = memory("m1", "I live in Utrecht.", "2025-12-01", valid_at="2025-01-01")
    assert ids(ask(late, as_of="2025-02-01")) == ["m1"]
    assert reasons(ask(late, as_of="2025-02-01", time_axis="system")) == {"m1": ("not_yet_known",)}
