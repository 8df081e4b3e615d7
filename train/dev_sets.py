"""What a detector is tuned and calibrated on: nothing of it is trained on, and nothing of it is a test set."""

from __future__ import annotations

import random
from pathlib import Path

from calm.train import attributes as attribute_pairs
from calm.train import reading
from calm.train.examples import Example
from calm.train.leakage import forbidden_keys, without

PER_CLASS = 12
"""Behaviour pairs of one unseen attribute, of each class."""
SEEN_PER_CLASS = 3
"""Behaviour pairs of one seen attribute, of each class."""


def load_dev_sets(data: Path) -> dict[str, list[Example]]:
    """The dev sets by name.

    `memory_pairs`: hand-written pairs of their own domains. `seen`: behaviours held out of attributes that are learnt.
    `unseen`, `unseen_near_misses`: attributes held out whole. `nli`: one SNLI and MNLI dev pair in twenty.
    """
    rng = random.Random(0)
    every = attribute_pairs.all_attributes(data)
    unseen = [a for a in every if attribute_pairs.is_unseen(a.name)]
    return {
        "memory_pairs": reading.memory_pairs([data / "memory-pairs" / "dev.jsonl"], "memory_pairs"),
        "seen": attribute_pairs.held_out_pairs(every, rng, SEEN_PER_CLASS),
        "unseen": [pair for a in unseen for pair in attribute_pairs.behaviour_pairs(a, rng, PER_CLASS)],
        "unseen_near_misses": attribute_pairs.near_miss_pairs(unseen),
        "nli": without(
            (
                pair
                for name in ("snli_dev", "mnli_dev")
                for pair in reading.nli(data / "nli" / f"{name}.jsonl.gz")
                if reading.is_dev(pair)
            ),
            forbidden_keys(data),
        ),
    }
