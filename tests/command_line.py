"""Runs calm's command line in this process, and makes files and stores for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from calm.cli import main

NO_WEIGHTS = ("--embedder", "hashing")


def evaluate(root: Path, *arguments: str, columns: int = 160) -> subprocess.CompletedProcess[str]:
    """`scripts/evaluate.py` as a user starts it, in a terminal of so many columns."""
    return subprocess.run(
        [sys.executable, str(root / "scripts" / "evaluate.py"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": f"{columns}", "PYTHONIOENCODING": "utf-8"},
        timeout=120,
    )


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    status: int
    out: str
    err: str


class CommandLine:
    """`calm` in this process, in a folder of its own; no command may show a traceback."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def run(self, *argv: str | Path) -> Ran:
        self._capsys.readouterr()
        try:
            status: object = main([str(a) for a in argv])
        except SystemExit as left:
            status = left.code
        out, err = self._capsys.readouterr()
        assert "Traceback" not in out + err
        assert isinstance(status, int)
        return Ran(status, out, err)

    def file(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def jsonl(self, name: str, entries: Iterable[Mapping[str, object] | str | bytes]) -> Path:
        """A file with one entry a line: JSON for an object, a text or bytes as they are."""
        lines = [
            e if isinstance(e, bytes) else e.encode() if isinstance(e, str) else json.dumps(e).encode() for e in entries
        ]
        return self.file(name, b"\n".join(lines) + b"\n")

    @property
    def store(self) -> str:
        return f"sqlite:///{self.folder / 'memory.db'}"

    def ingest(self, path: Path, *more: str) -> Ran:
        return self.run("ingest", path, "--store", self.store, *NO_WEIGHTS, *more)

    def ask(self, question: str, *more: str) -> Ran:
        return self.run("query", question, "--store", self.store, *NO_WEIGHTS, *more)

    def explain(self, name: str) -> Ran:
        return self.run("explain", name, "--store", self.store)

    def admit(self, path: Path, *more: str) -> Ran:
        return self.run("admit", path, *NO_WEIGHTS, *more)


def command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """For a fixture: wide screen, no colours, whatever terminal runs the tests."""
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return CommandLine(tmp_path, capsys)
