"""From a URL to an engine whose transactions mean the same on SQLite and PostgreSQL.

A read sees one snapshot, however many statements it takes. Writers queue: there is one at a time, so a writer
may read, merge and write without losing what another wrote in between.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Literal

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from calm.errors import InvalidOption, MissingExtra, StoreError, shown

BUSY_TIMEOUT_MS = 30_000
"""How long SQLite waits for another writer, in ms."""

WRITER_LOCK = 0x63616C6D
"""Key of PostgreSQL's advisory lock that makes writers queue ("calm" in ASCII)."""

Mode = Literal["read", "write", "none"]

_BEGIN: dict[tuple[str, Mode], str] = {
    ("sqlite", "read"): "BEGIN",
    ("sqlite", "write"): "BEGIN IMMEDIATE",
    ("postgresql", "read"): "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
    # READ COMMITTED, so that what is read after the lock is what the writer before has left.
    ("postgresql", "write"): f"SELECT pg_advisory_xact_lock({WRITER_LOCK})",
}


def make_engine(address: str) -> Engine:
    """The engine of an SQLAlchemy URL. Connects to nothing yet.

    Raises `InvalidOption` for what is not the URL of an SQLite or PostgreSQL database, and `MissingExtra`
    where the PostgreSQL driver is not installed.
    """
    url = parse_url(address)
    try:
        engine = create_engine(url, hide_parameters=True, **_pool(url))
    except ImportError as error:
        raise MissingExtra(
            f"{error.name or 'a driver'} is not installed", hint="pip install 'calm-memory[postgres]'"
        ) from error
    except (ArgumentError, NoSuchModuleError) as error:
        raise InvalidOption(str(error), field="store") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin)
    return engine


def parse_url(address: str) -> URL:
    """`address` as a URL. Raises `InvalidOption` unless it names an SQLite or PostgreSQL database."""
    hint = "write sqlite:///memory.db, or postgresql+psycopg://user@host/database"
    try:
        url = make_url(address)
    except ArgumentError as error:
        raise InvalidOption(f"{shown(address)} is no database URL", field="store", hint=hint) from error
    if url.get_backend_name() not in {"sqlite", "postgresql"}:
        raise InvalidOption(f"{shown(url.drivername)} is not supported", field="store", hint=hint)
    return url


def sqlite_file(url: URL) -> Path | None:
    """The file of an SQLite URL; None in memory and on PostgreSQL."""
    database = url.database or ""
    if url.get_backend_name() != "sqlite" or url.query.get("mode") == "memory":
        return None
    name = database.removeprefix("file:") if "uri" in url.query else database
    return None if name in {"", ":memory:"} else Path(name)


def check_file(url: URL, *, create: bool) -> None:
    """Raises `StoreError` where an SQLite file is missing and may not be made, or has no folder."""
    path = sqlite_file(url)
    if path is None:
        return
    # os.path, because Path.exists raises where a folder may not be searched; SQLite then says so itself.
    if os.path.isdir(path):  # noqa: PTH112
        raise StoreError(f"{path} is a folder", hint="name a file in it")
    if os.path.exists(path):  # noqa: PTH110
        return
    if not create or url.query.get("mode") in {"ro", "rw"}:
        raise StoreError(f"there is no store at {path}", hint="check the path, or ingest records to make one")
    if not os.path.exists(path.parent):  # noqa: PTH110
        raise StoreError(f"there is no folder {path.parent}", hint="make the folder first")


def _pool(url: URL) -> dict[str, object]:
    """A database in memory lives as long as its one connection, so all threads take turns on that one."""
    if url.get_backend_name() != "sqlite" or sqlite_file(url) is not None:
        return {}
    return {
        "poolclass": QueuePool,
        "pool_size": 1,
        "max_overflow": 0,
        "connect_args": {"check_same_thread": False},
    }


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    # The driver's own BEGIN comes too late for DDL and reads; `_begin` says it instead.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.close()


def _begin(connection: Connection) -> None:
    mode: Mode = connection.get_execution_options().get("calm_mode", "read")
    if mode != "none":
        connection.exec_driver_sql(_BEGIN[connection.dialect.name, mode])


def connect(engine: Engine, mode: Mode) -> Connection:
    """A connection whose transaction sees one snapshot and writes nothing ("read"), waits for other writers
    and then keeps them out until it ends ("write"), or that has none, as some pragmas want ("none").
    """
    return engine.connect().execution_options(calm_mode=mode)
