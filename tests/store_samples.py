"""Records and cells for the tests of the store, and a PostgreSQL server of their own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from calm.cells import Cell, Evidence, SemanticType, Source, cell_id
from calm.records import Record

NASTY = "nul \x00 sub \x1a0041 halves \ud83d\ude00 \udfff real 😀 quote \" back \\ 'tick' %s :n \r\n\t é \u2028"
"""Two adjacent lone surrogates (not the emoji), NUL, the store's own escape character, and friends."""

OWNERS = [None, "", "u", "alice", "bob", NASTY]
"""Tenants that a careless encoding would take for one another."""

FULL_RECORD = Record(
    id=f"m1 {NASTY}",
    text=f"I moved to Berlin. {NASTY}",
    time_us=1_767_225_600_000_001,
    user=f"alice {NASTY}",
    speaker="assistant",
    session=f"s {NASTY}",
    kind="dialogue",
    score=0.1,
    embedding=(0.1, -2.5e-30, 3.0),
    embedding_model="minilm",
    scope="project:atlas",
    valid_from_us=-(2**62),
    valid_to_us=2**62,
    state="superseded",
    depends_on=("m0", NASTY),
    support="any",
    metadata={"tags": ["a", {"b": None}], NASTY: NASTY, "n": 1.5},
)

FULL_EVIDENCE = Evidence(
    record_id=FULL_RECORD.id,
    index=3,
    text=f"I moved. {NASTY}",
    speaker="assistant",
    source=Source.ASSISTANT,
    time_us=1_767_225_600_000_001,
    record_time_us=1_767_225_600_000_002,
    valid_from_us=-5,
    valid_to_us=2**62,
    backend_state=NASTY,
    depends_on=("m0", NASTY),
    support="any",
)


def record(record_id: str, user: str | None = "alice", time_us: int | None = None, text: str = "") -> Record:
    return Record(id=record_id, text=text or f"text of {record_id}", time_us=time_us, user=user)


def cell(
    claim: str,
    *record_ids: str,
    user: str | None = "alice",
    time_us: int | None = 1,
    text: str | None = None,
    scope: str = "global",
    semantic_type: SemanticType = SemanticType.STATEMENT,
) -> Cell:
    """One claim with one assertion a record, each a microsecond after the one before."""
    words = claim if text is None else text
    evidence = tuple(
        Evidence(record_id, 0, words, "user", Source.USER, time, time)
        for i, record_id in enumerate(record_ids)
        for time in [None if time_us is None else time_us + i]
    )
    return Cell(
        id=cell_id(user, scope, semantic_type, claim),
        claim=claim,
        text=words,
        bound=f"alice: {words}",
        user=user,
        scope=scope,
        semantic_type=semantic_type,
        entities=frozenset({f"e {words}"}),
        evidence=evidence,
        subject=f"subject of {words}",
        frames=frozenset({"work"}),
    )


def full_cell() -> Cell:
    """A cell that has something in every field."""
    claim = f"alice moved {NASTY}"
    return Cell(
        id=cell_id(FULL_RECORD.user, "project:atlas", SemanticType.EVENT, claim),
        claim=claim,
        text=FULL_EVIDENCE.text,
        bound=f"alice moved to Berlin {NASTY}",
        user=FULL_RECORD.user,
        scope="project:atlas",
        semantic_type=SemanticType.EVENT,
        entities=frozenset({"Berlin", NASTY}),
        evidence=(FULL_EVIDENCE,),
        subject=NASTY,
        frames=frozenset({"home", "travel"}),
    )


@contextmanager
def postgres() -> Iterator[str]:
    """A server on a socket of its own; yields the socket's folder. `postgres_missing()` must be None."""
    # Not pytest's temporary folder: the server's user couldn't reach into it.
    folder = Path(tempfile.mkdtemp(prefix="calm-pg-", dir="/tmp"))
    account = _server_account()
    if account is not None:
        shutil.chown(folder, user=account)
    tools = _postgres_bin()
    assert tools is not None

    def call(*command: str) -> None:
        subprocess.run(command, check=True, user=account, cwd=folder, stdout=subprocess.DEVNULL, timeout=60)

    data = str(folder / "data")
    try:
        call(str(tools / "initdb"), "-D", data, "-U", "calm", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        call(str(tools / "pg_ctl"), "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield str(folder)
        finally:
            call(str(tools / "pg_ctl"), "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def postgres_missing() -> str | None:
    """Why no PostgreSQL can be started here, None where one can."""
    if _postgres_bin() is None:
        return "no PostgreSQL binaries under /usr/lib/postgresql"
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed"
    try:
        _server_account()
    except KeyError:
        return "PostgreSQL refuses to run as root, and there is no account named postgres"
    return None


def _postgres_bin() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def _server_account() -> str | None:
    """PostgreSQL refuses to run as root."""
    return pwd.getpwnam("postgres").pw_name if os.getuid() == 0 else None
