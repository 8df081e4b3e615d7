"""Evaluate calm: `python scripts/evaluate.py cases CASES.jsonl` prints which cases hold, per tier and per family."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from jsonargparse import auto_cli
from rich.console import Console
from rich.table import Table

from calm.bench.cases import CaseResult, run_cases, share
from calm.bench.results import ORIGIN, append_row, origin
from calm.crossencoder import CrossEncoderScorer
from calm.embed import load_embedder
from calm.errors import CalmError
from calm.governor import Governor
from calm.rules import RuleScorer

ROOT = Path(__file__).parent.parent
HEADS = ("file", "scorer", "embedder", "tier", "hold", "fail", "command", *ORIGIN)


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
    judge = RuleScorer() if scorer == "rules" else CrossEncoderScorer(scorer)
    governor = Governor(scorer=judge, embedder=load_embedder(embedder))
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
        cells = (file.name, scorer, embedder, tier, f"{held} / {total} = {held / total:.1%}", missing)
        command = f"`scripts/evaluate.py cases {file.name} --scorer {scorer} --embedder {embedder}`"
        append_row(output, "Cases that hold", HEADS, (*cells, command, *origin(ROOT)))


if __name__ == "__main__":
    try:
        sys.exit(auto_cli({"cases": cases}))
    except (CalmError, OSError) as error:
        sys.exit(f"evaluate: {error}")
