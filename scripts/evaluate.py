"""Evaluate calm.

python scripts/evaluate.py cases CASES.jsonl     which cases of batch admission hold, per tier and per family
python scripts/evaluate.py detector PAIRS.jsonl  precision and recall of a conflict scorer, per kind of pair
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

from calm.bench.cases import CaseResult, run_cases, share
from calm.bench.detector import LabelledPair, confusion, read_pairs
from calm.bench.results import ORIGIN, append_row, origin
from calm.conflict import ConflictScorer
from calm.crossencoder import CrossEncoderScorer
from calm.embed import load_embedder
from calm.errors import CalmError
from calm.governor import Governor
from calm.rules import RuleScorer

ROOT = Path(__file__).parent.parent
CASE_HEADS = ("file", "scorer", "embedder", "tier", "hold", "fail", "command", *ORIGIN)
PAIR_HEADS = ("file", "scorer", "pairs", "conflicts", "precision", "recall", "command", *ORIGIN)


def cases(file: Path, scorer: str = "rules", embedder: str = "auto", output: Path | None = None) -> int:
    """Answer and check the cases of a file.

    Args:
        file: JSONL of the batch contract, with expectations
        scorer: "rules", or a cross-encoder: folder or hub id
        embedder: "auto", "offline", "hashing", or an encoder: folder or hub id
        output: Markdown table to append the shares to, as `results/cases.md`

    Returns:
        0 where every case holds, else 1.
    """
    governor = Governor(scorer=_scorer(scorer), embedder=load_embedder(embedder))
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


def detector(file: Path, scorer: str = "rules", output: Path | None = None) -> None:
    """Compare a conflict scorer with labelled pairs, at the strength from which a conflict supersedes.

    Args:
        file: JSONL with `older`, `newer`, `conflict` and perhaps `kind`
        scorer: "rules", or a cross-encoder: folder or hub id
        output: Markdown table to append a row to, as `results/detector.md`
    """
    console = Console(highlight=False)
    with file.open(encoding="utf-8") as lines:
        pairs = read_pairs(lines)
    scores = _scorer(scorer).score([pair.texts for pair in pairs])
    table = Table("kind", "pairs", "conflicts", "found", "false alarms", title=file.name)
    for kind in sorted({pair.kind for pair in pairs}):
        rows = [n for n, pair in enumerate(pairs) if pair.kind == kind]
        counts = confusion([pairs[n] for n in rows], scores[rows])
        table.add_row(
            kind, str(len(rows)), str(counts.hits + counts.misses), str(counts.hits), str(counts.false_alarms)
        )
    console.print(table)
    _record_pairs(console, output, file, scorer, pairs, scores)


def _record_pairs(
    console: Console,
    output: Path | None,
    file: Path,
    scorer: str,
    pairs: list[LabelledPair],
    scores: NDArray[np.float32],
) -> None:
    counts = confusion(pairs, scores)
    alarms, conflicts = counts.hits + counts.false_alarms, counts.hits + counts.misses
    precision = f"{counts.hits} / {alarms} = {counts.precision:.1%}"
    recall = f"{counts.hits} / {conflicts} = {counts.recall:.1%}"
    console.print(f"{file.name}: precision {precision}, recall {recall}")
    if output is not None:
        command = f"`scripts/evaluate.py detector {_name(file)} --scorer {scorer}`"
        cells = (_name(file), scorer, f"{len(pairs):,}", f"{conflicts:,}", precision, recall, command, *origin(ROOT))
        append_row(output, "What a conflict scorer finds", PAIR_HEADS, cells)


def _name(file: Path) -> str:
    """A file by its folder and name: several are called cases.jsonl."""
    return f"{file.resolve().parent.name}/{file.name}"


def _scorer(name: str) -> ConflictScorer:
    return RuleScorer() if name == "rules" else CrossEncoderScorer(name)


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
