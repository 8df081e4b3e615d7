"""Cases of batch admission with an expectation: which hold, and the share that holds per tier and per id prefix.

A case holds when every id in `expect.admit` is admitted, none in `expect.block` is, and each check in its `options`
holds as well; ids in neither list are free. Checks on what an answer doesn't show (`no_reinforcement`, `network`) are
not made. Ours: the papers have no such cases.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calm.contract import admit_lines
from calm.governor import Governor

CONFLICT_STRENGTH = 0.75
"""A recorded conflict counts from this strength on, in [0, 1] (τ_eff of the CALM paper)."""
SHUFFLES = 5
"""How many random orders of the memories a case with `permutation_invariant` is asked in, beside the reversed one."""

JSON = Mapping[str, Any]
"""One parsed line: outside data, checked where it is read."""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of one case; it holds where nothing is `wrong`."""

    id: str
    tier: str
    wrong: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether every check held."""
        return not self.wrong

    @property
    def prefix(self) -> str:
        """The family of the case: "tie" of "tie-01"."""
        return re.split(r"[-_\d]", self.id, maxsplit=1)[0]


def run_cases(lines: Iterable[str], governor: Governor) -> list[CaseResult]:
    """Answer and check every case on `lines`; a line that is no JSON object with an expectation raises `ValueError`."""
    cases = [_read(line) for line in lines if line.strip()]
    answers = list(admit_lines((json.dumps(case) for case in cases), governor))
    return [
        CaseResult(
            str(case["id"]),
            _options(case).get("tier", "none"),
            (*failures(case, answer), *_unstable(case, answer, governor)),
        )
        for case, answer in zip(cases, answers, strict=True)
    ]


def _read(line: str) -> JSON:
    case = json.loads(line)
    if not isinstance(case, dict) or "id" not in case or not case.keys() & {"expect", "expect_error"}:
        raise ValueError(f"no case with an id and an expectation: {line.strip()[:80]}")
    return case


def failures(case: JSON, answer: JSON) -> list[str]:
    """What the case expects and the answer does not show; empty where the case holds."""
    error = answer["error"]
    if "expect_error" in case:
        got = error["type"] if error else "an answer"
        return [] if got == case["expect_error"] else [f"{got} where {case['expect_error']} was due"]
    if error:
        return [f"error {error['type']}: {error['message']}"]
    admitted = _admitted(answer)
    expect = case.get("expect") or {}
    options = _options(case)
    choices = {i for key in ("exactly_one_of", "at_least_one_of") for group in options.get(key, []) for i in group}
    wrong = [f"{i} not admitted" for i in expect.get("admit", []) if i not in admitted and i not in choices]
    wrong += [f"{i} admitted" for i in expect.get("block", []) if i in admitted and i not in choices]
    for option, check in _CHECKS.items():
        if option in options:
            wrong += check(options[option], case, answer)
    return wrong


def share(results: Sequence[CaseResult], group: Callable[[CaseResult], str]) -> dict[str, tuple[int, int]]:
    """(held, all) per group, in order of the group's name."""
    counts: dict[str, tuple[int, int]] = {}
    for result in sorted(results, key=group):
        held, total = counts.get(group(result), (0, 0))
        counts[group(result)] = (held + result.holds, total + 1)
    return counts


def _options(case: JSON) -> JSON:
    options: JSON = case.get("options") or {}
    return options


def _admitted(answer: JSON) -> set[str]:
    return {memory["id"] for memory in answer["admitted"]}


def _no_conflict(pairs: Sequence[Sequence[str]], _: JSON, answer: JSON) -> list[str]:
    found = {
        frozenset((c["older"], c["newer"])): c["strength"]
        for c in answer["conflicts"]
        if c["strength"] >= CONFLICT_STRENGTH
    }
    return [f"conflict {'/'.join(p)} of {found[frozenset(p)]}" for p in pairs if frozenset(p) in found]


def _not_superseded(ids: Sequence[str], _: JSON, answer: JSON) -> list[str]:
    return [f"{i} superseded" for i in ids if answer["states"].get(i) == "SUPERSEDED"]


def _exactly_one(groups: Sequence[Sequence[str]], _: JSON, answer: JSON) -> list[str]:
    counts = [(group, len(_admitted(answer) & set(group))) for group in groups]
    return [f"{n} of {'/'.join(group)} admitted, not one" for group, n in counts if n != 1]


def _at_least_one(groups: Sequence[Sequence[str]], _: JSON, answer: JSON) -> list[str]:
    return [f"none of {'/'.join(group)} admitted" for group in groups if not _admitted(answer) & set(group)]


def _flagged(flag: str, _: JSON, answer: JSON) -> list[str]:
    return [] if flag in answer["flags"] else [f"flag {flag} missing"]


def _reports_dropped(due: bool, case: JSON, answer: JSON) -> list[str]:
    told = _admitted(answer) | {memory["id"] for memory in answer["blocked"] if memory["reasons"]}
    return [f"{m['id']} dropped without a word" for m in case["memories"] if due and m["id"] not in told]


def _few_pairs(most: float, _: JSON, answer: JSON) -> list[str]:
    stats = answer["stats"]
    fraction = stats["pairs_scored"] / max(stats["pairs"], 1)
    return [] if fraction <= most else [f"{fraction:.3f} of all pairs judged, more than {most}"]


def _few_calls(most: int, _: JSON, answer: JSON) -> list[str]:
    calls = answer["stats"]["llm_calls"]
    return [] if calls <= most else [f"{calls} calls of a language model, more than {most}"]


_CHECKS: dict[str, Callable[[Any, JSON, JSON], list[str]]] = {
    "no_conflict": _no_conflict,
    "not_superseded": _not_superseded,
    "exactly_one_of": _exactly_one,
    "at_least_one_of": _at_least_one,
    "expect_flag": _flagged,
    "must_report_dropped": _reports_dropped,
    "max_pair_fraction": _few_pairs,
    "max_llm_calls": _few_calls,
}


def _unstable(case: JSON, answer: JSON, governor: Governor) -> list[str]:
    """Orders of the memories that change who is admitted, or any memory's state."""
    if not _options(case).get("permutation_invariant") or answer["error"]:
        return []
    memories = list(case["memories"])
    rng = random.Random(0)
    orders = [memories[::-1], *(rng.sample(memories, len(memories)) for _ in range(SHUFFLES))]
    lines = [json.dumps({**case, "memories": order}) for order in orders]
    wanted = (_admitted(answer), answer["states"])
    same = [(_admitted(other), other["states"]) == wanted for other in admit_lines(lines, governor)]
    return [f"another answer in order {n}" for n, ok in enumerate(same) if not ok]
