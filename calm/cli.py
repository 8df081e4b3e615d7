"""The command line: `calm demo | ingest | query | admit | explain`. The composition root; parsing happens here only.

Exit status: 0 done, 1 some records or cases were bad (named on the error stream, the rest is done), 2 wrong usage,
3 the store or an output can't be read or written, 130 stopped by Ctrl-C (what was committed stays).
"""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Literal, TextIO

import torch
from jsonargparse import ActionYesNo, ArgumentParser, Namespace
from rich.console import Console

import calm
from calm.batch import resolve_device
from calm.conflict import ConflictScorer
from calm.embed import Embedder, load_embedder
from calm.errors import CalmError, InvalidOption, StoreError, UnknownCell, shown
from calm.gate import ZeroShotGate
from calm.ingest import IngestConfig
from calm.pipeline import PipelineConfig
from calm.progress import Progress
from calm.retrieve import RetrieveConfig
from calm.stage_one import StageOneConfig

INTERRUPTED = 130
SOME_BAD = 1


@dataclass(frozen=True, slots=True)
class Screen:
    """Where a command writes: results to `out`, notes and progress to `err`."""

    out: Console
    err: Console
    quiet: bool

    @property
    def progress(self) -> Progress:
        """A bar on standard error; silent with `--quiet` or where no one watches."""
        return Progress(self.err, quiet=self.quiet)

    def note(self, text: str) -> None:
        """Says something worth knowing, on standard error, unless quiet."""
        if not self.quiet:
            self.err.print(f"note: {text}", style="dim", highlight=False, markup=False)

    def complain(self, text: str) -> None:
        """Says what went wrong, on standard error, always."""
        self.err.print(f"calm: {text}", style="red", highlight=False, markup=False, soft_wrap=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit status. No traceback reaches a user for what a user can cause."""
    parser = build_parser()
    arguments = parser.parse_args(argv)
    command: str | None = arguments.subcommand
    if command is None:
        parser.print_help()
        return 2
    options = arguments[command]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 shows "?" for what it lacks
    screen = Screen(
        Console(highlight=False, emoji=False), Console(stderr=True, highlight=False, emoji=False), options.quiet
    )
    with _warnings_as_notes(screen):
        try:
            status = COMMANDS[command](parser.instantiate(arguments)[command], screen)
            sys.stdout.flush()
            return status
        except CalmError as error:
            screen.complain(str(error))
            return error.exit_status
        except KeyboardInterrupt:
            screen.complain("stopped; what was committed stays, and the same command goes on from there")
            return INTERRUPTED
        except OSError as error:
            _abandon(sys.stdout)
            if isinstance(error, BrokenPipeError):
                return 0  # the reader of a pipe went away: `calm query … | head`
            screen.complain(f"can't read or write: {error.strerror or error}")
            return StoreError.exit_status


def _abandon(stream: TextIO) -> None:
    """What still waits in `stream` goes nowhere, so that the interpreter does not fail on it again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def build_parser() -> ArgumentParser:
    """All commands with their options; each also reads `--config FILE.yaml`, where a misspelled key is an error."""
    parser = ArgumentParser(prog="calm", description="Decides which retrieved memories enter an agent's context.")
    parser.add_argument("--version", action="version", version=f"calm {calm.__version__}")
    commands = parser.add_subcommands(required=False, metavar="COMMAND")
    for add in (_demo_parser, _ingest_parser, _query_parser, _admit_parser, _explain_parser):
        name, help_text, sub = add()
        commands.add_subcommand(name, sub, help=help_text)
    return parser


def _common(description: str, models: bool = True) -> ArgumentParser:
    parser = ArgumentParser(description=description)
    parser.add_argument("--config", action="config", help="YAML file with any of these options")
    parser.add_argument("--quiet", action=ActionYesNo, default=False, help="no notes, no progress bars")
    if models:
        parser.add_argument(
            "--scorer",
            type=str,
            default="auto",
            help='"auto" (rules and the installed detector), "rules", "detector", or a detector: folder or hub id',
        )
        parser.add_argument(
            "--embedder",
            type=str,
            default="auto",
            help='"auto", "offline", "hashing", or an encoder: folder or hub id',
        )
    return parser


def _demo_parser() -> tuple[str, str, ArgumentParser]:
    text = "Govern a shipped conversation: questions about now, and the same about the past."
    return "demo", text, _common(text)


def _ingest_parser() -> tuple[str, str, ArgumentParser]:
    text = "Put a file of memories into a store; durable, resumable, idempotent."
    parser = _common(text)
    parser.add_argument("file", type=Path, help="the file; .gz and .xz are read as they are")
    parser.add_argument("--format", type=Literal["jsonl", "locomo", "longmemeval"], default="jsonl")
    _store_option(parser)
    parser.add_argument("--strict", action=ActionYesNo, default=True, help="a bad time is an error; else it is missing")
    parser.add_argument("--naive-tz", type=str, default="UTC", help="zone of times without an offset")
    parser.add_argument("--ingest", type=IngestConfig, default=IngestConfig())
    return "ingest", text, parser


def _query_parser() -> tuple[str, str, ArgumentParser]:
    text = "Ask a store; prints the governed context."
    parser = _common(text)
    parser.add_argument("question", type=str)
    _store_option(parser)
    parser.add_argument("--user", type=str | None, default=None, help="whose memories; needed where there are several")
    parser.add_argument("--scope", type=str | None, default=None, help='"global" or "key:value"')
    parser.add_argument("--as-of", type=str | None, default=None, help="ISO 8601: the state at that time")
    parser.add_argument("--time-axis", type=Literal["event", "system"], default="event")
    parser.add_argument("--query-time", type=str | None, default=None, help="ISO 8601: when it is asked (default: now)")
    parser.add_argument("--budget-tokens", type=int, default=1024)
    _threshold_option(parser)
    parser.add_argument("--explain", action=ActionYesNo, default=False, help="show what was blocked, and why")
    parser.add_argument("--retrieve", type=RetrieveConfig, default=RetrieveConfig())
    parser.add_argument("--pipeline", type=PipelineConfig, default=PipelineConfig())
    return "query", text, parser


def _admit_parser() -> tuple[str, str, ArgumentParser]:
    text = "Batch admission: one JSON case a line in, one JSON answer a line out."
    parser = _common(text)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--output", type=Path | None, default=None, help="JSONL file (default: standard output)")
    parser.add_argument("--batch-size", type=int, default=32, help="cases a tensor batch, >= 1")
    _threshold_option(parser)
    parser.add_argument("--stage-one", type=StageOneConfig, default=StageOneConfig())
    parser.add_argument("--pipeline", type=PipelineConfig, default=PipelineConfig())
    return "admit", text, parser


def _explain_parser() -> tuple[str, str, ArgumentParser]:
    text = "Why a cell is in its state: the chain of ledger events."
    parser = _common(text, models=False)
    parser.add_argument("cell_id", type=str, help="a cell id, the beginning of one, or a record id")
    _store_option(parser)
    return "explain", text, parser


def _store_option(parser: ArgumentParser) -> None:
    parser.add_argument("--store", type=str, default="sqlite:///memory.db", help="SQLAlchemy URL")


def _threshold_option(parser: ArgumentParser) -> None:
    help_text = "score in [0, 1] from which CALM-ZS admits"
    parser.add_argument("--threshold", type=float, default=ZeroShotGate().threshold, help=help_text)


def _demo(options: Namespace, screen: Screen) -> int:
    from calm.demo import run_demo

    scorer, embedder = _models(options, screen)
    run_demo(screen.out, scorer, embedder, screen.progress)
    return 0


def _ingest(options: Namespace, screen: Screen) -> int:
    from calm.ingest import Ingester
    from calm.loaders import count, load, source_key
    from calm.store import Store
    from calm.times import parse_zone

    path: Path = options.file
    source = source_key(path, options.format)
    loaded = load(path, options.format, strict=options.strict, naive_tz=parse_zone(options.naive_tz))
    scorer, embedder = _models(options, screen)
    added = skipped = bad = pairs = conflicts = 0
    with Store.open(options.store) as store:
        ingester = Ingester(store, scorer, embedder, options.ingest)
        for batch in screen.progress.over(ingester.run(loaded, source), "ingest", count(path, options.format)):
            added, skipped, bad = added + batch.added, skipped + batch.skipped, bad + len(batch.errors)
            pairs, conflicts = pairs + batch.pairs_scored, conflicts + batch.conflicts
            for error in batch.errors:
                screen.complain(f"skipped: {error}")
        counts = store.counts()
    if not options.quiet:
        screen.out.print(
            f"{added} records added, {skipped} known already, {bad} refused; {pairs} pairs judged, "
            f"{conflicts} conflicts; the store holds {counts['records']} records, {counts['cells']} cells"
        )
    return SOME_BAD if bad else 0


def _query(options: Namespace, screen: Screen) -> int:
    from calm.query import read_query
    from calm.recall import Recaller
    from calm.show import print_decision
    from calm.store import Store
    from calm.times import parse_instant, to_us

    if options.budget_tokens < 0:
        raise InvalidOption(f"{options.budget_tokens} is no token budget", field="budget_tokens", hint="0 or more")
    asked_us = parse_instant(options.query_time, field="query_time")
    query = read_query(
        options.question,
        to_us(datetime.now(UTC)) if asked_us is None else asked_us,
        as_of_us=parse_instant(options.as_of, field="as_of"),
        axis=options.time_axis,
        user=options.user,
        scope=options.scope,
        budget_tokens=options.budget_tokens,
    )
    gate = ZeroShotGate(options.threshold)
    scorer, embedder = _models(options, screen)
    with Store.open(options.store, create=False) as store:
        recaller = Recaller(store, scorer, embedder, gate, retrieve=options.retrieve, pipeline=options.pipeline)
        decision = recaller.ask(query)
        print_decision(screen.out, decision, recaller.winners(decision), options.explain)
    return 0


def _admit(options: Namespace, screen: Screen) -> int:
    from calm.contract import admit_lines
    from calm.governor import Governor

    if options.batch_size < 1:
        raise InvalidOption(f"{options.batch_size} is no batch size", field="batch_size", hint="1 or more")
    if options.output is not None and options.output.resolve() == options.cases.resolve():
        raise InvalidOption(f"{str(options.output)!r} holds the cases", field="output", hint="choose another file")
    gate = ZeroShotGate(options.threshold)
    scorer, embedder = _models(options, screen)
    governor = Governor(scorer, gate, embedder, options.pipeline, options.stage_one)
    bad = 0
    with _opened(options.cases, "rb") as lines:
        total = sum(1 for line in lines if line.strip())
        lines.seek(0)
        with _output(options.output) as out:
            answers = admit_lines(lines, governor, options.batch_size)
            for answered in screen.progress.over(_counted(answers), "admit", total):
                bad += answered.answer["error"] is not None
                out.write(json.dumps(answered.answer) + "\n")
    if bad:
        screen.complain(f"{bad} of {total} cases could not be answered; each says why on its own line")
    return SOME_BAD if bad else 0


@dataclass(frozen=True, slots=True)
class _Answered:
    position: int
    answer: dict[str, object]


def _counted(answers: Iterator[dict[str, object]]) -> Iterator[_Answered]:
    return (_Answered(n, answer) for n, answer in enumerate(answers, start=1))


def _explain(options: Namespace, screen: Screen) -> int:
    from calm.show import print_chain
    from calm.store import Store

    with Store.open(options.store, create=False) as store:
        found = store.find_cell(options.cell_id)
        if not found and any(store.record(user, options.cell_id) for user in store.users()):
            raise UnknownCell(f"record {shown(options.cell_id)} holds no claim", hint="its text has no words")
        if not found:
            raise UnknownCell(f"no cell or record {shown(options.cell_id)}", hint="calm query … --explain shows ids")
        for cell in store.cells(found):
            events = store.events_of(cell.id)
            names = {c.id: " ".join(c.text.split()) for c in store.cells({i for e in events for i in e.causes})}
            print_chain(screen.out, cell, events, names)
    return 0


COMMANDS: dict[str, Callable[[Namespace, Screen], int]] = {
    "demo": _demo,
    "ingest": _ingest,
    "query": _query,
    "admit": _admit,
    "explain": _explain,
}


def _models(options: Namespace, screen: Screen) -> tuple[ConflictScorer, Embedder]:
    """The conflict scorer and the embedder that the options name."""
    from calm.scorers import load_scorer
    from calm.shipped import shipped_detector

    if options.scorer not in {"auto", "rules", "detector"}:
        import calm.models.late_join  # noqa: F401  so that a folder of this shape loads by its name

    if options.scorer == "auto" and shipped_detector() is None:
        screen.note("conflicts are judged by rules alone: this installation has no detector (--scorer takes one)")
    return load_scorer(options.scorer, _named_device(options)), load_embedder(options.embedder)


def _named_device(options: Namespace) -> torch.device | None:
    """The device that the options name; None leaves it to the machine."""
    name = options.pipeline.device if "pipeline" in options else "auto"
    return None if name == "auto" else resolve_device(name)


@contextmanager
def _opened(path: Path, mode: Literal["rb"]) -> Iterator[IO[bytes]]:
    try:
        stream = path.open(mode)
    except OSError as error:
        raise InvalidOption(f"can't read {str(path)!r}: {error.strerror}", field="cases") from error
    with stream:
        yield stream


@contextmanager
def _output(path: Path | None) -> Iterator[IO[str]]:
    if path is None:
        yield sys.stdout
        return
    try:
        with path.open("w", encoding="utf-8") as stream:
            yield stream
    except OSError as error:
        raise StoreError(f"can't write {str(path)!r}: {error.strerror}", hint="choose another --output") from error


@contextmanager
def _warnings_as_notes(screen: Screen) -> Iterator[None]:
    """Calm's own warnings (CPU instead of CUDA, no encoder) as one-line notes, each once."""
    said: set[str] = set()

    def show(message: Warning | str, *_args: Any, **_kwargs: Any) -> None:
        text = str(message)
        if text not in said:
            said.add(text)
            screen.note(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield
