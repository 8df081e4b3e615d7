"""Readers of labelled pairs: NLI sets, memory pairs and agent timelines as JSON lines, plain or compressed."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from calm.train.examples import Example, Label

OWN = Path(__file__).parent / "data"
"""Pairs and attributes written for calm, which come with its source."""
_NLI = {"contradiction": Label.CONTRADICTION, "entailment": Label.ENTAILMENT, "neutral": Label.NEUTRAL}


def json_lines(file: Path) -> Iterator[dict[str, Any]]:
    """The objects of a `.jsonl` or `.jsonl.gz` file. Raises `ValueError` naming the line that is no object."""
    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                data = json.loads(line)
            except ValueError as error:
                raise ValueError(f"{file.name}, line {number}: {error}") from error
            if not isinstance(data, dict):
                raise ValueError(f"{file.name}, line {number}: not an object")
            yield data


def nli(file: Path) -> list[Example]:
    """Premise, hypothesis and one of three labels; the premise counts as the older text."""
    source = file.name.split(".jsonl")[0]
    return [
        Example(row["premise"], row["hypothesis"], _NLI[row["label"]], source, str(row.get("category", "")))
        for row in json_lines(file)
    ]


def is_dev(pair: Example) -> bool:
    """Whether an NLI pair is kept to tune on: one in twenty, by its premise's hash: no premise is on both sides."""
    return int(hashlib.sha256(pair.older.encode()).hexdigest(), 16) % 20 == 0


def memory_pairs(files: Iterable[Path], source: str) -> list[Example]:
    """`older`, `newer`, `conflict`, `kind`; what is no conflict may be entailed or neutral."""
    return [
        Example(
            row["older"],
            row["newer"],
            Label.CONTRADICTION if row["conflict"] else Label.COMPATIBLE,
            source,
            row["kind"],
        )
        for file in sorted(files)
        for row in json_lines(file)
    ]


def statebench(file: Path) -> list[Example]:
    """Values that one state write superseded (contradictions), and values of other keys of a timeline (compatible)."""
    return [pair for timeline in json_lines(file) for pair in _timeline(timeline)]


def _timeline(timeline: dict[str, Any]) -> Iterator[Example]:
    """What a write supersedes is named by the id or by the key of an earlier one."""
    held: dict[str, str] = {}
    superseded: set[str] = set()
    for write in _writes(timeline):
        old, value = write["supersedes"], write["value"]
        for key, earlier in list(held.items()):
            if key == old and earlier not in superseded:
                superseded.add(earlier)
                yield Example(earlier, value, Label.CONTRADICTION, "statebench", "supersession")
        if old is None and held:
            earlier = next(reversed(held.values()))
            if earlier != value:
                yield Example(earlier, value, Label.COMPATIBLE, "statebench", "other_key")
        held[write["id"]] = held[write["key"]] = value


def _writes(timeline: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from timeline["initial_state"]["persistent_facts"]
    for event in timeline["events"]:
        if event["type"] in ("state_write", "supersession"):
            yield from event["writes"]
