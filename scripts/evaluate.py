"""Evaluate calm.

python scripts/evaluate.py cases CASES.jsonl     which cases of batch admission hold, per tier and per family
python scripts/evaluate.py detector PAIRS.jsonl  how well a conflict scorer finds conflicts, per kind of pair
python scripts/evaluate.py detector DATA         the same on every test set of a data folder
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from jsonargparse import auto_cli
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import calm.models.late_join  # noqa: F401  so that a folder of this shape loads by its name
from calm.anchored import AnchoredScorer
from calm.bench.cases import CaseResult, run_cases, share
from calm.bench.detector import LabelledPair, Report, by_kind, labels, probabilities, read_pairs, report, symmetry_gap
from calm.bench.results import ORIGIN, append_row, origin
from calm.conflict import STRONG, ConflictScorer
from calm.embed import load_embedder
from calm.errors import CalmError
from calm.governor import Governor
from calm.scorers import load_scorer

ROOT = Path(__file__).parent.parent
CASE_HEADS = ("file", "scorer", "embedder", "tier", "hold", "fail", "command", *ORIGIN)
PAIR_HEADS = (
    "set", "scorer", "pairs", "conflicts", "precision", "recall", "F1", "average precision", "alarms without conflict",
    "ECE", "symmetry gap", "threshold", "command", *ORIGIN,
)  # fmt: skip
UNSEEN = "unseen_attributes"
CLUSTERED = (UNSEEN, "seen_attributes", "near_misses")
"""Sets whose pairs share texts within a kind: their intervals draw kinds whole."""


def cases(file: Path, scorer: str = "auto", embedder: str = "auto", output: Path | None = None) -> int:
    """Answer and check the cases of a file.

    Args:
        file: JSONL of the batch contract, with expectations
        scorer: "auto" (what calm uses), "rules", or a detector: folder or hub id
        embedder: "auto", "offline", "hashing", or an encoder: folder or hub id
        output: Markdown table to append the shares to, as `results/cases.md`

    Returns:
        0 where every case holds, else 1.
    """
    governor = Governor(scorer=load_scorer(scorer), embedder=load_embedder(embedder))
    with file.open(encoding="utf-8") as lines:
        results = run_cases(lines, governor)
    console = Console(highlight=False)
    console.print(_shares(results, "tier", lambda r: r.tier), _shares(results, "family", lambda r: r.prefix))
    for result in results:
        if not result.holds:
            console.print(f"{result.id} ({result.tier}): {'; '.join(result.wrong)}", markup=False)
    if output is not None:
        _record(output, file, scorer, embedder, results)
    return int(any(not result.holds for result in results))


def detector(
    source: Path,
    scorer: str = "auto",
    sets: list[str] | None = None,
    anchored: bool = False,
    symmetry_pairs: int = 500,
    threshold: float = STRONG,
    output: Path | None = None,
) -> None:
    """Measure a conflict scorer on labelled pairs, at the strength from which a conflict supersedes.

    Args:
        source: JSONL with `older`, `newer`, `conflict` and perhaps `kind`; or the folder of the test sets
        scorer: "auto" (what calm uses), "rules", or a detector: folder or hub id
        sets: names of test sets of the folder; all where none is named
        anchored: whether pairs of attributes with known states are scored through these too, alone and combined
        symmetry_pairs: how many pairs of a set are read in the other order as well; 0 for none
        threshold: score in [0, 1] from which a pair counts as a conflict
        output: Markdown table to append a row per set to, as `results/detector.md`
    """
    console = Console(highlight=False)
    command = f"`scripts/evaluate.py detector {source.name} --scorer {scorer}{' --anchored' if anchored else ''}`"
    judge = load_scorer(scorer)
    found = _pair_sets(source)
    unknown = sorted(set(sets or ()) - set(found))
    if unknown:
        raise ValueError(f"no test set {', '.join(unknown)}: choose from {', '.join(found)}")
    for name in sets or list(found):
        pairs = found[name]
        scores = judge.score([pair.texts for pair in pairs])
        gap = symmetry_gap(pairs, scores, judge, symmetry_pairs) if symmetry_pairs else None
        rows = {scorer: (scores, gap)}
        states = _states(source) if anchored and name == UNSEEN else {}
        if states:
            through = _through_states(pairs, judge, states)
            rows |= {f"{scorer}, anchored": (through, 0.0), f"{scorer}, either": (np.maximum(scores, through), None)}
        for label, (values, its_gap) in rows.items():
            _show(console, name, label, pairs, values, threshold)
            made = report(
                pairs, values, gap=its_gap, threshold=threshold, clustered=name in CLUSTERED,
                probability_P=probabilities(judge, values) if label == scorer else None,
            )  # fmt: skip
            _record_pairs(console, output, (name, label), made, (f"{threshold}", command))


def _pair_sets(source: Path) -> dict[str, list[LabelledPair]]:
    if source.is_file():
        with source.open(encoding="utf-8") as lines:
            return {_name(source): read_pairs(lines)}
    from calm.train.test_sets import load_test_sets

    return {
        name: [LabelledPair(e.older, e.newer, e.conflict, e.kind) for e in examples]
        for name, examples in load_test_sets(source).items()
    }


def _states(source: Path) -> dict[str, list[str]]:
    """The labels of each unseen attribute's states."""
    from calm.train.attributes import read_attributes

    folder = source / "temporal-mutation" / "test"
    return {attribute.name: [state.label for state in attribute.states] for attribute in read_attributes(folder)}


def _through_states(
    pairs: list[LabelledPair], judge: ConflictScorer, states: dict[str, list[str]]
) -> NDArray[np.float32]:
    scores = np.zeros(len(pairs), dtype=np.float32)
    for kind in sorted({pair.kind for pair in pairs}):
        rows = [n for n, pair in enumerate(pairs) if pair.kind == kind]
        scores[rows] = AnchoredScorer(judge, states[kind]).score([pairs[n].texts for n in rows])
    return scores


def _show(
    console: Console, name: str, scorer: str, pairs: list[LabelledPair], scores: NDArray[np.float32], threshold: float
) -> None:
    found = by_kind([p for p in pairs if p.conflict], scores[labels(pairs)], threshold)
    false = by_kind([p for p in pairs if not p.conflict], scores[~labels(pairs)], threshold)
    table = Table("kind", "conflicts found", "false alarms", title=f"{name}: {scorer}")
    for kind in sorted(found | false):
        table.add_row(kind, *("{} of {}".format(*counts.get(kind, (0, 0))) for counts in (found, false)))
    console.print(table)


def _record_pairs(
    console: Console, output: Path | None, names: tuple[str, str], made: Report, setting: tuple[str, str]
) -> None:
    cells = (
        *names, f"{made.pairs:,}", f"{made.conflicts:,}", str(made.precision), str(made.recall), str(made.f1),
        str(made.average_precision), str(made.alarm_rate), f"{made.calibration_error:.3f}",
        "" if made.gap is None else f"{made.gap:.3f}", *setting,
    )  # fmt: skip
    console.print(", ".join(f"{head} {cell}" for head, cell in zip(PAIR_HEADS[1:], cells[1:], strict=False)))
    if output is not None:
        append_row(output, "What a conflict scorer finds", PAIR_HEADS, (*cells, *origin(ROOT)))


def _name(file: Path) -> str:
    """A file by its folder and name: several are called cases.jsonl."""
    return f"{file.resolve().parent.name}/{file.name}"


def _shares(results: list[CaseResult], title: str, group: Callable[[CaseResult], str]) -> Table:
    table = Table(title, "hold", "of", "share")
    rows = share(results, group)
    rows["all"] = (sum(r.holds for r in results), len(results))
    for name, (held, total) in rows.items():
        table.add_row(name, str(held), str(total), f"{held / max(total, 1):.3f}")
    return table


def _record(output: Path, file: Path, scorer: str, embedder: str, results: list[CaseResult]) -> None:
    for tier, (held, total) in share(results, lambda r: r.tier).items():
        missing = ", ".join(r.id for r in results if r.tier == tier and not r.holds) or "none"
        cells = (_name(file), scorer, embedder, tier, f"{held} / {total} = {held / total:.1%}", missing)
        command = f"`scripts/evaluate.py cases {_name(file)} --scorer {scorer} --embedder {embedder}`"
        append_row(output, "Cases that hold", CASE_HEADS, (*cells, command, *origin(ROOT)))


if __name__ == "__main__":
    try:
        sys.exit(auto_cli({"cases": cases, "detector": detector}))
    except (CalmError, OSError, ValueError) as error:
        sys.exit(f"evaluate: {error}")
