"""The demo: a shipped conversation, ingested into a throw-away ledger, and questions about now and about the past."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from rich.console import Console
from rich.rule import Rule

from calm.conflict import ConflictScorer
from calm.embed import Embedder
from calm.ingest import Ingester
from calm.loaders import count, load, source_key
from calm.progress import Progress
from calm.query import read_query
from calm.recall import Recaller, resolve_user
from calm.show import print_decision
from calm.store import Store
from calm.times import day

QUESTIONS: tuple[str, ...] = ()


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
            source = source_key(path, "locomo")
            for _ in progress.over(ingester.run(load(path, "locomo"), source), "ingest", count(path, "locomo")):
                pass
        _introduce(console, store)
        recaller = Recaller(store, scorer, embedder)
        user = resolve_user(store, None)
        asked_us = max(r.time_us or 0 for r in store.records(user, store.record_ids(user)).values())
        for title, question in QUESTIONS:
            console.print(Rule(f"[bold]{question}[/bold]  {title}", align="left"))
            query = read_query(question, asked_us, user=user, budget_tokens=200)
            decision = recaller.recall(query)
            names = {c.id: c for c in store.cells(store.cell_ids(user))}
            print_decision(console, decision, names, explain=True, limit=6)


def _introduce(console: Console, store: Store) -> None:
    counts = store.counts()
    console.print(f"{counts}")
