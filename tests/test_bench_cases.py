"""A case holds where its answer shows all that it expects, and each miss is named; the script prints the shares."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from command_line import evaluate
from numpy.typing import NDArray
from torch import Tensor

from calm.bench.cases import CONFLICT_STRENGTH, CaseResult, failures, run_cases, share
from calm.conflict import TextPair
from calm.embed import HashingEmbedder
from calm.gate import ZeroShotGate
from calm.governor import Governor
from calm.pipeline import PipelineConfig

Json = dict[str, Any]


def answer(*admitted: str, blocked: dict[str, list[str]] | None = None, **changed: object) -> Json:
    """A sound answer that admits `admitted` and blocks `blocked`, id to reasons."""
    plain: Json = {
        "id": "a-1",
        "intent": "current",
        "admitted": [{"id": i, "score": 0.9, "features": {}} for i in admitted],
        "blocked": [{"id": i, "reasons": why, "detail": {}} for i, why in (blocked or {}).items()],
        "flags": [],
        "conflicts": [],
        "states": {},
        "context": "",
        "stats": {"pairs_scored": 1, "pairs": 10, "llm_calls": 0},
        "error": None,
    }
    return plain | changed


def refusal(kind: str) -> Json:
    return answer(error={"type": kind, "message": "no good", "record": "m1"})


def case(admit: list[str] | None = None, block: list[str] | None = None, **options: object) -> Json:
    """A case over m1, m2 and m3."""
    memories = [{"id": i, "text": "It is late."} for i in ("m1", "m2", "m3")]
    return {
        "id": "a-1",
        "memories": memories,
        "expect": {"admit": admit or [], "block": block or []},
        "options": options,
    }


def conflict(older: str, newer: str, strength: float) -> list[Json]:
    return [{"older": older, "newer": newer, "strength": strength}]


# --- One answer


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        (case(), answer("m1")),
        (case(admit=["m1"]), answer("m1", "m2")),
        (case(block=["m1"]), answer("m2")),
        (case(admit=["m2"], block=["m1"]), answer("m2", blocked={"m1": ["superseded"], "m3": ["low_score"]})),
        (case(no_conflict=[["m1", "m2"]]), answer(conflicts=conflict("m1", "m3", 1.0))),
        (case(no_conflict=[["m1", "m2"]]), answer(conflicts=conflict("m1", "m2", CONFLICT_STRENGTH - 0.001))),
        (case(not_superseded=["m1"]), answer(states={"m1": "ACTIVE", "m2": "SUPERSEDED"})),
        (case(exactly_one_of=[["m1", "m2"]]), answer("m2", "m3")),
        (case(admit=["m1", "m2"], exactly_one_of=[["m1", "m2"]]), answer("m1")),
        (case(at_least_one_of=[["m1", "m2"]]), answer("m1", "m2")),
        (case(admit=["m1"], block=["m2"], at_least_one_of=[["m1", "m2"]]), answer("m2")),
        (case(expect_flag="over_budget"), answer(flags=["unresolved_conflict", "over_budget"])),
        (case(must_report_dropped=True), answer("m1", blocked={"m2": ["over_budget"], "m3": ["low_score"]})),
        (case(must_report_dropped=False), answer()),
        (case(max_pair_fraction=0.1), answer()),
        (case(max_pair_fraction=0.0), answer(stats={"pairs_scored": 0, "pairs": 0, "llm_calls": 0})),
        (case(max_llm_calls=0), answer()),
        (case(no_reinforcement=True, network=False, policy="ours"), answer()),
        ({**case(), "expect_error": "EmptyQuery"}, refusal("EmptyQuery")),
    ],
)
def test_an_answer_that_shows_what_is_expected_holds(asked: Json, given: Json) -> None:
    assert failures(asked, given) == []


@pytest.mark.parametrize(
    ("asked", "given", "named"),
    [
        (case(admit=["m1", "m2"]), answer("m1"), ["m2"]),
        (case(block=["m1"]), answer("m1", "m2"), ["m1"]),
        (case(admit=["m1"], block=["m2"]), answer("m2"), ["m1", "m2"]),
        (case(no_conflict=[["m1", "m2"]]), answer(conflicts=conflict("m1", "m2", CONFLICT_STRENGTH)), ["m1/m2"]),
        (case(no_conflict=[["m1", "m2"]]), answer(conflicts=conflict("m2", "m1", 1.0)), ["m1/m2"]),
        (case(not_superseded=["m1", "m2"]), answer(states={"m1": "SUPERSEDED"}), ["m1"]),
        (case(exactly_one_of=[["m1", "m2"]]), answer("m1", "m2"), ["2 of m1/m2"]),
        (case(exactly_one_of=[["m1", "m2"]]), answer("m3"), ["0 of m1/m2"]),
        (case(exactly_one_of=[["m1"], ["m2", "m3"]]), answer("m1"), ["m2/m3"]),
        (case(at_least_one_of=[["m1", "m2"]]), answer("m3"), ["m1/m2"]),
        (case(admit=["m3"], at_least_one_of=[["m1", "m2"]]), answer("m1"), ["m3"]),
        (case(expect_flag="over_budget"), answer(flags=["nothing_eligible"]), ["over_budget"]),
        (case(must_report_dropped=True), answer("m1", blocked={"m2": []}), ["m2", "m3"]),
        (case(max_pair_fraction=0.09), answer(), ["0.100"]),
        (case(max_llm_calls=0), answer(stats={"pairs_scored": 0, "pairs": 1, "llm_calls": 2}), ["2 calls"]),
        (case(), refusal("InvalidOption"), ["InvalidOption"]),
        ({**case(), "expect_error": "EmptyQuery"}, answer("m1"), ["EmptyQuery"]),
        ({**case(), "expect_error": "EmptyQuery"}, refusal("InvalidRecord"), ["InvalidRecord"]),
    ],
)
def test_each_miss_is_named(asked: Json, given: Json, named: list[str]) -> None:
    wrong = failures(asked, given)
    assert len(wrong) == len(named)
    assert all(name in said for name, said in zip(named, wrong, strict=True))


# --- Whole runs


@dataclass(frozen=True)
class Fickle:
    """A gate that lets all in the first time and no one after that: its answers depend on when they are given."""

    asked: list[int]
    threshold: float = 0.5
    name: str = "fickle"

    def scores(self, features_BKF: Tensor) -> Tensor:
        self.asked.append(1)
        return torch.full(features_BKF.shape[:2], 1.0 if len(self.asked) == 1 else 0.0)


@dataclass(frozen=True)
class NoConflict:
    """Sees no conflict anywhere."""

    fingerprint: str = "none"

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        return np.zeros(len(pairs), dtype=np.float32)


def governor(gate: Fickle | ZeroShotGate | None = None) -> Governor:
    return Governor(
        gate=gate or ZeroShotGate(),
        embedder=HashingEmbedder(),
        config=PipelineConfig(device="cpu"),
        scorer=NoConflict(),
    )


def told(name: str, expect: Json | None = None, query: str = "Where is the key?", **options: object) -> str:
    texts = {"m1": "The key is under the pot.", "m2": "The key is red.", "m3": ""}
    memories = [{"id": i, "text": text, "timestamp": "2026-01-01", "user": "u"} for i, text in texts.items()]
    found = {"id": name, "memories": memories, "query": query, "query_time": "2026-02-01", "options": options}
    return json.dumps(found | (expect or {"expect": {"admit": ["m1"], "block": ["m3"]}}))


def test_every_case_is_answered_in_order_and_blank_lines_are_no_cases() -> None:
    lines = [
        told("key-1", tier="rule"),
        "\n",
        told("key-2", {"expect": {"admit": ["m3"]}}, tier="nli"),
        told("qry-1", {"expect_error": "EmptyQuery"}, query="  "),
    ]
    found = run_cases(lines, governor())
    assert [(r.id, r.tier, r.holds) for r in found] == [
        ("key-1", "rule", True),
        ("key-2", "nli", False),
        ("qry-1", "none", True),
    ]
    assert "m3" in found[1].wrong[0]


def test_an_answer_that_depends_on_the_order_of_the_memories_does_not_hold() -> None:
    line = told("key-1", permutation_invariant=True)
    (steady,) = run_cases([line], governor())
    assert steady.wrong == ()
    (moved,) = run_cases([line], governor(Fickle([])))
    assert not moved.holds
    assert all("order" in wrong for wrong in moved.wrong)


def test_orders_are_tried_only_where_a_case_asks_for_it() -> None:
    (found,) = run_cases([told("key-1")], governor(Fickle([])))
    assert found.holds


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "cut',
        pytest.param("[1]"),
        pytest.param('{"id": "a-1", "memories": [], "query": "Where?", "query_time": "2026-02-01"}'),
    ],
    ids=["no JSON", "no object", "no expectation"],
)
def test_a_line_that_is_no_case_is_an_error(line: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        run_cases([line], governor())


@pytest.mark.parametrize(
    ("name", "prefix"), [("tie-01", "tie"), ("tie-a", "tie"), ("k_3", "k"), ("tz2", "tz"), ("alone", "alone")]
)
def test_the_family_of_a_case_is_the_beginning_of_its_id(name: str, prefix: str) -> None:
    assert CaseResult(name, "rule", ()).prefix == prefix


def test_shares_count_what_holds_per_group_in_order_of_its_name() -> None:
    found = [
        CaseResult("b-1", "rule", ()),
        CaseResult("a-1", "rule", ("m1 admitted",)),
        CaseResult("b-2", "nli", ("m1 admitted",)),
        CaseResult("b-3", "rule", ()),
    ]
    assert list(share(found, lambda r: r.tier).items()) == [("nli", (0, 1)), ("rule", (2, 3))]
    assert list(share(found, lambda r: r.prefix).items()) == [("a", (0, 1)), ("b", (2, 3))]
    assert share([], lambda r: r.tier) == {}


# --- The script


def table(out: str, title: str) -> dict[str, tuple[int, int, float]]:
    """The rows of the printed table whose first column is called `title`: name to (hold, of, share)."""
    _, found, rest = out.partition(f" {title} ")
    assert found, out
    body = rest.partition("└")[0]
    rows = [[part.strip() for part in line.strip("│ ").split("│")] for line in body.splitlines() if "│" in line]
    return {row[0]: (int(row[1]), int(row[2]), float(row[3])) for row in rows}


def test_the_script_prints_the_shares_per_tier_and_family(tmp_path: Path, root: Path) -> None:
    lines = (root / "tests" / "data" / "cases.jsonl").read_text(encoding="utf-8").splitlines()[:9]
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = evaluate(root, "cases", str(path), "--embedder", "hashing")
    tiers, families = table(done.stdout, "tier"), table(done.stdout, "family")
    cases = [json.loads(line) for line in lines]
    assert {name: row[1] for name, row in tiers.items()} == {
        **{tier: sum(c["options"]["tier"] == tier for c in cases) for tier in ("hard", "nli", "rule")},
        "all": 9,
    }
    assert list(families) == ["add", "asof", "bk", "bud", "all"]
    for held, total, fraction in (*tiers.values(), *families.values()):
        assert fraction == pytest.approx(held / total, abs=0.0006)
    assert done.returncode == (0 if tiers["all"][0] == 9 else 1)


def test_the_script_names_the_case_that_fails_and_ends_with_1(tmp_path: Path, root: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(told("key-1") + "\n" + told("key-2", {"expect": {"block": ["m1"]}}, tier="rule"), encoding="utf-8")
    done = evaluate(root, "cases", str(path), "--embedder", "hashing")
    assert done.returncode == 1
    assert table(done.stdout, "tier") == {"none": (1, 1, 1.0), "rule": (0, 1, 0.0), "all": (1, 2, 0.5)}
    assert "key-2 (rule): m1 admitted" in done.stdout
    assert "key-1 (" not in done.stdout


def test_the_script_says_in_one_line_that_a_file_is_missing(tmp_path: Path, root: Path) -> None:
    done = evaluate(root, "cases", str(tmp_path / "missing.jsonl"), "--embedder", "hashing")
    assert done.returncode != 0
    assert "missing.jsonl" in done.stderr
    assert "Traceback" not in done.stderr
