"""Brings a database to the newest revision that this version of calm knows, or says why it can't."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, inspect, select, table, text
from sqlalchemy.sql import column

from calm.errors import StoreError, StoreVersionError
from calm.store.engine import connect
from calm.store.schema import VERSION_TABLE

SCRIPTS = Path(__file__).parent / "migrations"


def bring_to_head(engine: Engine, where: str, *, create: bool, scripts: Path = SCRIPTS) -> None:
    """Creates the tables, or upgrades them, in one transaction; nothing to do is nothing written.

    Raises `StoreVersionError` for a revision that `scripts` doesn't have and for an SQLite file with other
    tables than calm's; `StoreError` where there is no store yet and `create` is False.
    """
    folder = ScriptDirectory(str(scripts))
    head = folder.get_current_head()
    with connect(engine, "read") as connection, connection.begin():
        found = _checked_revision(connection, folder, where)
    if found == head:
        return
    if found is None:
        if not create:
            raise StoreError(f"{where}: there is no store here yet", hint="ingest records to make one")
        _set_wal(engine)
    with connect(engine, "write") as connection, connection.begin():
        # Another process may have been first while this one waited for its turn.
        if _checked_revision(connection, folder, where) != head:
            _upgrade(connection, scripts)


def _checked_revision(connection: Connection, folder: ScriptDirectory, where: str) -> str | None:
    """The revision of the tables, None where there are none."""
    names = inspect(connection).get_table_names()
    if VERSION_TABLE not in names:
        if names and connection.dialect.name == "sqlite":
            raise StoreVersionError(
                f"{where}: a database, but not a calm store",
                hint="name another file; this one is left untouched",
            )
        return None
    found = connection.scalar(select(column("version_num")).select_from(table(VERSION_TABLE)))
    if found is not None and found not in {script.revision for script in folder.walk_revisions()}:
        raise StoreVersionError(
            f"{where}: written by a newer calm (revision {found})",
            hint="upgrade calm, or use a store that this version has written; this one is left untouched",
        )
    return found


def _set_wal(engine: Engine) -> None:
    """Readers then go on while one writes. The mode is kept in the file, so it is set once."""
    if engine.dialect.name == "sqlite":
        with connect(engine, "none") as connection:
            connection.execute(text("PRAGMA journal_mode = WAL"))


def _upgrade(connection: Connection, scripts: Path) -> None:
    config = Config()
    # ConfigParser reads "%" as an interpolation.
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
