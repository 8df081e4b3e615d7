"""Small households of memories for the tests of ingest, states and recall, and a full look into a store."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from calm.conflict import Conflict
from calm.detect import detect
from calm.embed import HashingEmbedder
from calm.ingest import IngestConfig, Ingester
from calm.lifecycle import LifecycleConfig
from calm.records import Record, parse_record
from calm.rules import RuleScorer
from calm.stage_one import stage_one
from calm.states import refresh
from calm.store import Store

EMBEDDER = HashingEmbedder(64)

HOUSE = [
    {"id": "m1", "text": "I live in Oslo.", "timestamp": "2025-01-10T09:00:00Z"},
    {"id": "m2", "text": "The wifi password is heron-42.", "timestamp": "2025-01-11T09:00:00Z"},
    {"id": "m3", "text": "I keep a tram card in the hall.", "timestamp": "2025-01-12T09:00:00Z", "depends_on": ["m1"]},
    {"id": "m4", "text": "I work at Acme.", "timestamp": "2025-02-01T09:00:00Z"},
    {"id": "m5", "text": "I live in Bergen.", "timestamp": "2025-03-01T09:00:00Z"},
    {"id": "m6", "text": "Do I need a visa for Japan?", "timestamp": "2025-03-02T09:00:00Z"},
    {"id": "m7", "text": "The wifi password is otter-7.", "timestamp": "2025-03-05T09:00:00Z", "speaker": "web page"},
    {"id": "m8", "text": "I work at Borealis.", "timestamp": "2025-04-01T09:00:00Z"},
    {"id": "m9", "text": "I live in Oslo.", "timestamp": "2025-05-01T09:00:00Z"},
    {"id": "m10", "text": "The spare key hangs in the shed.", "timestamp": None},
]
"""One user's memories: a move there and back, a new job, a password that only a web page contradicts."""


def house(user: str = "alice", **changes: object) -> list[Record]:
    """`HOUSE` as records of one user."""
    return [parse_record({"user": user, **line, **changes}) for line in HOUSE]


def write_jsonl(path: Path, lines: Iterable[object]) -> Path:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def house_file(path: Path, user: str = "alice") -> Path:
    return write_jsonl(path, ({"user": user, **line} for line in HOUSE))


def ingester(store: Store, batch_records: int = 512) -> Ingester:
    return Ingester(store, RuleScorer(), EMBEDDER, IngestConfig(batch_records=batch_records))


def absorb(store: Store, records: Sequence[Record], batch_records: int = 512) -> None:
    """Records into a store, some at a time."""
    for start in range(0, len(records), batch_records):
        ingester(store).absorb(records[start : start + batch_records])


def forget(store: Store, user: str | None, *record_ids: str) -> None:
    """Deletes records, and judges anew what that touches."""
    with store.transaction():
        refresh(store, store.delete_records(user, record_ids), LifecycleConfig(), 0)


def conflicts_among(records: Sequence[Record]) -> list[Conflict]:
    """The conflicts of a set of records without any store."""
    return detect(stage_one(records), RuleScorer())


def all_ids(store: Store) -> list[str]:
    return [i for user in store.users() for i in store.cell_ids(user)]


def everything(store: Store) -> dict[str, object]:
    """All that a store holds, save the wall clock of its events."""
    ids = all_ids(store)
    vectors: dict[str, NDArray[np.float32]] = {}
    for user in store.users():
        names, vectors_ND = store.vectors(user, EMBEDDER.fingerprint)
        vectors |= dict(zip(names, vectors_ND, strict=True))
    return {
        "counts": store.counts(),
        "cells": store.cells(ids),
        "conflicts": store.conflicts_of(ids),
        "states": store.states(ids),
        "events": {
            i: [(e.before, e.after, e.rule, e.causes, dict(e.numbers)) for e in store.events_of(i)] for i in ids
        },
        "vectors": {i: vector.tolist() for i, vector in vectors.items()},
    }


_TEXTS = [
    *(f"I live in {city}." for city in ("Oslo", "Bergen", "Bodø")),
    *(f"The wifi password is {word}." for word in ("heron-42", "otter-7", "finch-9")),
    *(f"I work at {firm}." for firm in ("Acme", "Borealis")),
    "The spare key hangs in the shed.",
    "Maybe I live in Tromsø.",
    "I live in Oslo. I work at Acme.",
]


_SPELLINGS = ["i live in oslo", "I LIVE IN BERGEN!", "i work at acme"]
"""Claims that others make in words that the rules read otherwise."""


def random_records(seed: int, n: int, spellings: bool = False) -> list[Record]:
    """Memories of two users that merge, contradict and lean on each other; some undated, some at one instant."""
    pick = random.Random(seed)
    texts = [*_TEXTS, *_SPELLINGS] if spellings else _TEXTS
    return [
        Record(
            id=f"m{number}",
            text=pick.choice(texts),
            time_us=None if pick.random() < 0.1 else pick.randint(1, 8),
            user=pick.choice(["alice", "alice", "alice", "bob"]),
            speaker=pick.choice(["user", "user", "user", "tool", "web page"]),
            kind="dialogue",
            scope=pick.choice(["global"] * 8 + ["project:x"]),
            state=pick.choice([None] * 12 + ["archived"]),
            depends_on=tuple(pick.choices([f"m{i}" for i in range(n + 1)], k=pick.choice([0, 0, 0, 1, 2]))),
            support=pick.choice(["all", "any"]),
        )
        for number in range(n)
    ]


def record_sets(max_records: int = 9, spellings: bool = False) -> st.SearchStrategy[list[Record]]:
    """Random sets of memories of every size, the empty one included; with one claim in several spellings or not."""
    return st.builds(random_records, st.integers(0, 2**32 - 1), st.integers(0, max_records), st.just(spellings))
