"""No test text in training: every text of every test set, in a form that spelling and tokenising don't change."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Set
from functools import lru_cache
from pathlib import Path
from typing import Any

from calm.sources import open_bytes
from calm.train.examples import Example

TEST_FILES = (
    "nli/snli_test.jsonl.gz",
    "nli/cad_nli_test.jsonl.gz",
    "nli/conjnli_dev.jsonl.gz",
    "nli/anli_dev.jsonl.gz",
    "nli/sick_test.jsonl.gz",
    "nli/fever_symmetric_v0.2_test.jsonl.gz",
    "statebench/statebench_v1.0_test.jsonl.gz",
    "statebench/statebench_v1.0_hidden.jsonl.gz",
    "longmemeval/knowledge_update_pairs.jsonl",
    "longmemeval/longmemeval_oracle.jsonl.gz",
    "locomo/locomo10.json",
    "factconsolidation/factconsolidation.jsonl.gz",
    "wikicontradict/wiki_contradict_refined.jsonl.gz",
    "mquake/MQuAKE-hard.json.gz",
    "halumem/halumem_pilot_3users.jsonl.gz",
    "precisionmembench/beliefs.seed.json",
    "memtrust/contradiction_cases.json",
    "memory-pairs/dev.jsonl",
)
"""Files below the data folder that nothing may learn from; the folder `temporal-mutation/test` comes on top.

`memory-pairs/dev.jsonl` is for calibration, so it counts as well.
"""
_WORD = re.compile(r"[^\W_]+")


def key(text: str) -> str:
    """Words and digits alone, case folded: equal for a text and its tokenised or repunctuated copy."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


@lru_cache(maxsize=1)
def forbidden_keys(data: Path) -> frozenset[str]:
    """The keys of all strings of two words or more in the test files below `data`, read once: it takes seconds."""
    files = [data / name for name in TEST_FILES] + sorted((data / "temporal-mutation" / "test").iterdir())
    return frozenset(form for file in files for text in _strings(_read(file)) if " " in (form := key(text)))


def without(examples: Iterable[Example], forbidden: Set[str]) -> list[Example]:
    """The examples neither text of which is a test text."""
    return [e for e in examples if key(e.older) not in forbidden and key(e.newer) not in forbidden]


def _read(file: Path) -> Any:
    with open_bytes(file) as stream:
        if ".jsonl" in file.name:
            return [json.loads(line) for line in stream]
        return json.load(stream)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
