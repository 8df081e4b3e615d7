"""Database errors as calm's typed errors: no SQLAlchemy or driver error leaves the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from calm.errors import (
    CalmError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreVersionError,
    UnknownCell,
)

Translation = Callable[[str], CalmError]


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Raises what SQLAlchemy raises inside as a `StoreError` or `UnknownCell` that names `where`."""
    try:
        yield
    except SQLAlchemyError as error:
        raise _translate(error, where) from error


def _translate(error: SQLAlchemyError, where: str) -> CalmError:
    origin = error.orig if isinstance(error, DBAPIError) else None
    code = _code(origin)
    if code in _TRANSLATIONS:
        return _TRANSLATIONS[code](where)
    return StoreError(f"{where}: {origin or error}".strip())


def _code(origin: BaseException | None) -> int | str | None:
    """SQLite's extended code where it is listed, else its primary code; PostgreSQL's SQLSTATE."""
    if isinstance(origin, sqlite3.Error):
        extended: int | None = getattr(origin, "sqlite_errorcode", None)
        return extended if extended is None or extended in _TRANSLATIONS else extended & 0xFF
    return getattr(origin, "sqlstate", None)


def _full(where: str) -> CalmError:
    return StoreFullError(f"{where}: the disk is full", hint="make room and try again; what was committed is safe")


def _read_only(where: str) -> CalmError:
    return StoreReadOnlyError(
        f"{where}: can't be written", hint="check the permissions of the file, its folder and its file system"
    )


def _unopenable(where: str) -> CalmError:
    return StoreReadOnlyError(
        f"{where}: can't be opened or created",
        hint="SQLite needs to read and write the file and its folder; check both",
    )


def _foreign(where: str) -> CalmError:
    return StoreVersionError(f"{where}: not a calm store, nor any SQLite database", hint="name another file")


def _damaged(where: str) -> CalmError:
    return StoreError(f"{where}: the file is damaged", hint="restore a copy, or ingest the records into a new store")


def _busy(where: str) -> CalmError:
    return StoreError(f"{where}: another process is writing", hint="wait until it is done and try again")


def _unknown_cell(where: str) -> CalmError:
    return UnknownCell(f"{where}: a conflict or vector names a cell that is not stored", hint="put the cells first")


_TRANSLATIONS: dict[int | str | None, Translation] = {
    sqlite3.SQLITE_FULL: _full,
    # The index of the write-ahead log could not be made as large as it must be.
    sqlite3.SQLITE_IOERR_SHMSIZE: _full,
    sqlite3.SQLITE_READONLY: _read_only,
    sqlite3.SQLITE_PERM: _read_only,
    sqlite3.SQLITE_CANTOPEN: _unopenable,
    sqlite3.SQLITE_NOTADB: _foreign,
    sqlite3.SQLITE_CORRUPT: _damaged,
    sqlite3.SQLITE_BUSY: _busy,
    sqlite3.SQLITE_LOCKED: _busy,
    sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: _unknown_cell,
    "53100": _full,
    "25006": _read_only,
    "42501": _read_only,
    "23503": _unknown_cell,
}
