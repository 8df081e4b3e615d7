"""The project's own cases, one situation each, answered by the rule scorer: they hold, but for the named ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from calm.bench.cases import CaseResult, run_cases
from calm.embed import HashingEmbedder
from calm.governor import Governor

NEED_MORE_THAN_RULES = frozenset({"rel-2", "tmp-4", "upd-16"})
"""What these tell is only implied ("has arrived" after "is delayed"), which no rule sees."""


@pytest.fixture(scope="module")
def results() -> list[CaseResult]:
    with (Path(__file__).parent / "data" / "cases.jsonl").open(encoding="utf-8") as lines:
        return run_cases(lines, Governor(embedder=HashingEmbedder()))


@pytest.mark.filterwarnings("ignore:no CUDA device")
def test_all_cases_hold_but_the_named_ones(results: list[CaseResult]) -> None:
    wrong = {r.id: r.wrong for r in results if not r.holds}
    assert set(wrong) == NEED_MORE_THAN_RULES, wrong


@pytest.mark.filterwarnings("ignore:no CUDA device")
def test_every_case_that_needs_no_model_holds(results: list[CaseResult]) -> None:
    assert [r for r in results if r.tier == "rule" and not r.holds] == []
