"""The sets on which a detector is judged, by name; nothing of them is trained on or tuned on (see `leakage.py`)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from calm.train import attributes as attribute_pairs
from calm.train import reading
from calm.train.examples import Example, Label, label_of

PER_CLASS = 60
"""Behaviour pairs of one unseen attribute, of each class."""
SEEN_PER_CLASS = 4
"""Behaviour pairs of one seen attribute, of each class; there are 2 or 3 held-out behaviours a state."""


def load_test_sets(data: Path) -> dict[str, list[Example]]:
    """Every test set below `data`; `kind` is the kind of pair, the attribute or the round.

    `seen_attributes`: behaviours held out of learnt attributes. `unseen_attributes` and `near_misses`: of attributes
    never learnt. `longmemeval_claims` and `longmemeval_turns`: the same 68 updates, as one claim or as the full turn;
    a count that grows ("accumulates") counts as a conflict, because the old value no longer holds.
    """
    rng = random.Random(0)
    unseen = attribute_pairs.read_attributes(data / "temporal-mutation" / "test")
    return {
        "memory_pairs_dev": reading.memory_pairs([data / "memory-pairs" / "dev.jsonl"], "memory_pairs"),
        "seen_attributes": attribute_pairs.held_out_pairs(attribute_pairs.all_attributes(data), rng, SEEN_PER_CLASS),
        "unseen_attributes": [p for a in unseen for p in attribute_pairs.behaviour_pairs(a, rng, PER_CLASS)],
        "near_misses": near_misses(data / "temporal-mutation" / "test" / "near_misses.jsonl"),
        "longmemeval_claims": list(knowledge_updates(data, "claim")),
        "longmemeval_turns": list(knowledge_updates(data, "turn_text")),
        "statebench_test": reading.statebench(data / "statebench" / "statebench_v1.0_test.jsonl.gz"),
        "statebench_hidden": reading.statebench(data / "statebench" / "statebench_v1.0_hidden.jsonl.gz"),
        "wikicontradict": list(wiki_contradictions(data)),
        **{file: reading.nli(data / "nli" / f"{file}.jsonl.gz") for file in NLI_FILES},
    }


NLI_FILES = ("snli_test", "cad_nli_test", "conjnli_dev", "anli_dev", "fever_symmetric_v0.2_test")


def near_misses(file: Path) -> list[Example]:
    """Pairs that look like a conflict of an attribute and are none."""
    return [
        Example(row["a"], row["b"], Label.COMPATIBLE, "near_misses", row["attribute"])
        for row in reading.json_lines(file)
    ]


def knowledge_updates(data: Path, form: str) -> Iterator[Example]:
    """LongMemEval's updates in the form "claim" or "turn_text"."""
    for row in reading.json_lines(data / "longmemeval" / "knowledge_update_pairs.jsonl"):
        label = label_of(row["label"] != "compatible")
        yield Example(row["older"][form], row["newer"][form], label, "longmemeval", row["label"])


def wiki_contradictions(data: Path) -> Iterator[Example]:
    """Two passages that contradict each other, and, as many, the first with the next instance's second."""
    rows = list(reading.json_lines(data / "wikicontradict" / "wiki_contradict_refined.jsonl.gz"))
    for row, following in zip(rows, rows[1:] + rows[:1], strict=True):
        first = row["context1_self_contained"] or row["context1"]
        second = row["context2_self_contained"] or row["context2"]
        other = following["context2_self_contained"] or following["context2"]
        yield Example(first, second, Label.CONTRADICTION, "wikicontradict", row["contradiction_type"])
        yield Example(first, other, Label.COMPATIBLE, "wikicontradict", "unrelated")
