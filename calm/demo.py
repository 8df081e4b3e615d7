"""The demo: a shipped conversation, ingested into a throw-away ledger, and questions about now and about the past."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from rich.console import Console
from rich.rule import Rule

from calm.cells import State
from calm.conflict import ConflictScorer
from calm.embed import Embedder
from calm.ingest import Ingester
from calm.loaders import count, load, source_key
from calm.progress import Progress
from calm.query import read_query
from calm.recall import Recaller
from calm.retrieve import RetrieveConfig
from calm.show import print_decision
from calm.store import Store

QUESTIONS = (
    ("now", "Where does Noor live now?"),
    ("the past comes back", "Where did Noor live in January 2025?"),
    ("now", "What is Noor's favourite tea now?"),
    ("the past comes back", "What was Noor's favourite tea before?"),
    ("now", "Does Noor need the room at Hotel Aurora for the trip to Lisbon?"),
)
"""(what the question shows, the question)."""
BUDGET_TOKENS = 120
RETRIEVE = RetrieveConfig(k=8, stm_size=2)


@contextmanager
def conversation() -> Iterator[Path]:
    """The path of the shipped conversation (LoCoMo file format, our own words)."""
    with as_file(files("calm") / "data" / "demo.json") as path:
        yield path


def run_demo(console: Console, scorer: ConflictScorer, embedder: Embedder, progress: Progress) -> None:
    """Ingest and ask; prints a table of what was admitted and blocked, each with reasons, then the packed context."""
    with tempfile.TemporaryDirectory() as folder, Store.open(f"sqlite:///{folder}/demo.db") as store:
        with conversation() as path:
            ingester = Ingester(store, scorer, embedder)
            steps = ingester.run(load(path, "locomo"), source_key(path, "locomo"))
            for _ in progress.over(steps, "ingest", count(path, "locomo")):
                pass
            asked_us = max(i.record.time_us or 0 for i in load(path, "locomo") if i.record is not None)
        _introduce(console, store)
        recaller = Recaller(store, scorer, embedder, retrieve=RETRIEVE)
        for title, question in QUESTIONS:
            console.print(Rule(f"{title}: [bold]{question}[/bold]", align="left"))
            decision = recaller.ask(read_query(question, asked_us, budget_tokens=BUDGET_TOKENS))
            print_decision(console, decision, recaller.winners(decision), explain=True, limit=6)


def _introduce(console: Console, store: Store) -> None:
    counts = store.counts()
    states = store.states(store.cell_ids(store.users()[0]))
    old = sum(s.state is State.SUPERSEDED for s in states.values())
    console.print(
        f"Noor and Tomas have written to each other for a year: {counts['records']} turns, {counts['cells']} claims, "
        f"{old} of them superseded by later ones and kept. Each question retrieves its own candidates; ✓ may enter the "
        f"context of {BUDGET_TOKENS} tokens, ✗ may not."
    )
