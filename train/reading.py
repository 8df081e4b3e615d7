"""Readers of labelled pairs: NLI sets, memory pairs and agent timelines as JSON lines, plain or compressed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from calm import sources
from calm.errors import MalformedLine
from calm.train.examples import Example, Label, label_of

OWN = Path(__file__).parent / "data"
"""Pairs and attributes written for calm, which come with its source."""
_NLI = {"contradiction": Label.CONTRADICTION, "entailment": Label.ENTAILMENT, "neutral": Label.NEUTRAL}


def json_lines(file: Path) -> Iterator[Mapping[str, Any]]:
    """The objects of a JSONL file, packed or not. Raises `ValueError` naming the line that is no object, and
    `InvalidOption` for a file that can't be read."""
    for _, found in sources.json_lines(file):
        if isinstance(found, MalformedLine):
            raise ValueError(f"{file.name}: {found}") from found
        yield found


def nli(file: Path) -> list[Example]:
    """Premise, hypothesis and one of three labels; the premise counts as the older text."""
    source = file.name.split(".jsonl")[0]
    return [
        Example(row["premise"], row["hypothesis"], _NLI[row["label"]], source, str(row.get("category", "")))
        for row in json_lines(file)
    ]


def kept_back(text: str, one_in: int) -> bool:
    """Whether what goes by `text` is kept from training: one in so many, by its hash, on every machine alike."""
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % one_in == 0


def is_dev(pair: Example) -> bool:
    """Whether an NLI pair is kept to tune on: one in twenty, by its premise, so that none is on both sides."""
    return kept_back(pair.older, 20)


def memory_pairs(files: Iterable[Path], source: str) -> list[Example]:
    """`older`, `newer`, `conflict`, `kind`; what is no conflict may be entailed or neutral."""
    return [
        Example(row["older"], row["newer"], label_of(row["conflict"]), source, row["kind"])
        for file in sorted(files)
        for row in json_lines(file)
    ]


def statebench(file: Path) -> list[Example]:
    """Values that one state write superseded (contradictions), and values of other keys of a timeline (compatible)."""
    return [pair for timeline in json_lines(file) for pair in _timeline(timeline)]


def _timeline(timeline: Mapping[str, Any]) -> Iterator[Example]:
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


def _writes(timeline: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from timeline["initial_state"]["persistent_facts"]
    for event in timeline["events"]:
        if event["type"] in ("state_write", "supersession"):
            yield from event["writes"]
