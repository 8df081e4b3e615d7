"""The project's own cases, one situation each, answered by the rule scorer: they hold, but for the named ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calm.bench.cases import CaseResult, run_cases
from calm.embed import HashingEmbedder
from calm.governor import Governor
from calm.rules import RuleScorer

NEED_MORE_THAN_RULES = frozenset({"rel-2", "tmp-4", "upd-16"})
"""What these tell is only implied ("has arrived" after "is delayed"), which no rule sees."""


RULES = "The pool rules go on and on about towels and caps. " * 20_000
HUGE = {
    "id": "huge-a",
    "kind": "huge",
    "memories": [
        {"id": "m1", "text": RULES, "timestamp": "2026-01-01T09:00:00+00:00", "speaker": "user", "user": "u1"},
        {
            "id": "m2",
            "text": "The pool opens at 7.",
            "timestamp": "2026-02-01T09:00:00+00:00",
            "speaker": "user",
            "user": "u1",
        },
    ],
    "query": "When does the pool open?",
    "query_time": "2026-03-01T09:00:00+00:00",
    "expect": {"admit": ["m2"], "block": ["m1"]},
    "options": {"tier": "rule", "budget_tokens": 200},
}
"""A case with 1 MB of text, which no file need hold."""


@pytest.fixture(scope="module")
def results() -> list[CaseResult]:
    lines = (Path(__file__).parent / "data" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return run_cases([*lines, json.dumps(HUGE)], Governor(scorer=RuleScorer(), embedder=HashingEmbedder()))


@pytest.mark.filterwarnings("ignore:no CUDA device")
def test_all_cases_hold_but_the_named_ones(results: list[CaseResult]) -> None:
    wrong = {r.id: r.wrong for r in results if not r.holds}
    assert set(wrong) == NEED_MORE_THAN_RULES, wrong


@pytest.mark.filterwarnings("ignore:no CUDA device")
def test_every_case_that_needs_no_model_holds(results: list[CaseResult]) -> None:
    assert [r for r in results if r.tier == "rule" and not r.holds] == []
