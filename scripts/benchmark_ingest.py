"""What an ingest costs: seconds per 1,000 turns, pairs judged of all pairs, peak memory. Writes `results/ingest.md`.

    python scripts/benchmark_ingest.py FILE --format locomo [--embedder hashing] [--repeats 3]

Each repeat is a process of its own into a new store, so peak memory is that of one ingest.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Literal

from jsonargparse import auto_cli

from calm.bench.results import ORIGIN, append_row, origin

ROOT = Path(__file__).parent.parent
HEADS = (
    "file", "embedder", "turns", "cells", "pairs judged / all pairs of a user", "s per 1,000 turns, median (range)",
    "peak MiB", "n", "command", *ORIGIN,
)  # fmt: skip


def main(
    file: Path,
    format: Literal["jsonl", "locomo", "longmemeval"] = "locomo",
    embedder: str = "hashing",
    repeats: int = 3,
    output: Path = ROOT / "results" / "ingest.md",
    single: bool = False,
) -> None:
    """Measure an ingest.

    Args:
        file: the conversations.
        format: their format.
        embedder: as for `calm ingest`.
        repeats: runs, each in a new process; >= 1.
        output: the table to append to.
        single: measure once in this process and print JSON (used by the repeats).
    """
    if single:
        print(json.dumps(measure(file, format, embedder)))
        return
    command = [
        sys.executable,
        __file__,
        str(file),
        "--format",
        format,
        "--embedder",
        embedder,
        "--single",
        "true",
    ]
    runs = []
    for n in range(repeats):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
        print(f"run {n + 1}: {runs[-1]}", file=sys.stderr)
    title = "What an ingest costs"
    append_row(output, title, HEADS, row(file, format, embedder, runs))


def measure(file: Path, format: Literal["jsonl", "locomo", "longmemeval"], embedder: str) -> dict[str, float]:
    """One ingest into a throw-away store."""
    from calm.embed import load_embedder
    from calm.ingest import Ingester
    from calm.loaders import load, source_key
    from calm.rules import RuleScorer
    from calm.store import Store

    vectors = load_embedder(embedder)
    vectors.encode(["warm up"])
    with tempfile.TemporaryDirectory() as folder, Store.open(f"sqlite:///{folder}/store.db") as store:
        ingester = Ingester(store, RuleScorer(), vectors)
        start = time.perf_counter()
        batches = list(ingester.run(load(file, format), source_key(file, format)))
        seconds = time.perf_counter() - start
        sizes = [len(store.cell_ids(user)) for user in store.users()]
    return {
        "turns": sum(b.added for b in batches),
        "seconds": seconds,
        "cells": sum(sizes),
        "pairs_scored": sum(b.pairs_scored for b in batches),
        "pairs": sum(n * (n - 1) // 2 for n in sizes),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def row(file: Path, format: str, embedder: str, runs: list[dict[str, float]]) -> tuple[str, ...]:
    """One row of the results table: the median of the runs, each a new process."""
    first = runs[0]
    per_thousand = sorted(1_000 * r["seconds"] / r["turns"] for r in runs)
    spread = f"{statistics.median(per_thousand):.2f} ({per_thousand[0]:.2f} to {per_thousand[-1]:.2f})"
    share = f"{first['pairs_scored']:,.0f} / {first['pairs']:,.0f} = {first['pairs_scored'] / first['pairs']:.3%}"
    command = f"scripts/benchmark_ingest.py {file.name} --format {format} --embedder {embedder} --repeats {len(runs)}"
    return (
        file.name,
        embedder,
        f"{first['turns']:,.0f}",
        f"{first['cells']:,.0f}",
        share,
        spread,
        f"{max(r['peak_mib'] for r in runs):,.0f}",
        str(len(runs)),
        f"`{command}`",
        *origin(ROOT),
    )


if __name__ == "__main__":
    auto_cli(main, as_positional=True)
