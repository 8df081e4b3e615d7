"""Result tables in Markdown: a row per measurement, with where and when it was made."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

ORIGIN = ("commit", "hardware", "date")
"""The heads of the columns that `origin` fills."""


def append_row(output: Path, title: str, heads: Sequence[str], cells: Sequence[str]) -> None:
    """Append a row to the table in `output`; a new file begins with `title` and the heads."""
    output.parent.mkdir(parents=True, exist_ok=True)
    new = not output.exists()
    with output.open("a", encoding="utf-8") as stream:
        if new:
            stream.write(f"# {title}\n\n| {' | '.join(heads)} |\n{'| --- ' * len(heads)}|\n")
        stream.write(f"| {' | '.join(cells)} |\n")


def origin(root: Path) -> tuple[str, str, str]:
    """Commit of the checkout at `root` (marked where it has uncommitted changes), hardware, date (UTC)."""
    cores = (
        f"{os.cpu_count()} cores" if not hasattr(os, "sched_getaffinity") else f"{len(os.sched_getaffinity(0))} cores"
    )
    return _commit(root), f"{platform.machine()}, {cores}", datetime.now(UTC).date().isoformat()


def _commit(root: Path) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "describe", "--always", "--dirty"],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"
