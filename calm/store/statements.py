"""The two shapes of statement that SQLite and PostgreSQL need in bulk: select by a list, and upsert."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

from sqlalchemy import Column, Connection, Delete, Insert, Row, Select, Table
from sqlalchemy.dialects import postgresql, sqlite

from calm.store.codec import escape

CHUNK = 900
"""Values of one IN list; old builds of SQLite allow 999 variables a statement."""


def chunks(values: Collection[str]) -> Iterator[list[str]]:
    """The distinct values in sorted lists of at most `CHUNK`; none for no values."""
    rest = iter(sorted(set(values)))
    while chunk := list(islice(rest, CHUNK)):
        yield chunk


def select_in(
    connection: Connection, statement: Select[*tuple[Any, ...]], column: Column[Any], values: Collection[str]
) -> Iterator[Row[Any]]:
    """Rows of `statement` whose `column` is one of `values`."""
    for chunk in chunks(values):
        yield from connection.execute(statement.where(column.in_(chunk)))


def delete_in(connection: Connection, statement: Delete, column: Column[Any], values: Collection[str]) -> None:
    """Runs `statement` on the rows whose `column` is one of `values`."""
    for chunk in chunks(values):
        connection.execute(statement.where(column.in_(chunk)))


def upsert(
    connection: Connection,
    table: Table,
    rows: Sequence[dict[str, object]],
    *,
    keys: Sequence[str],
    update: Sequence[str] = (),
) -> None:
    """Inserts rows; where one with equal `keys` stands already, sets its `update` columns, or nothing."""
    if not rows:
        return
    # The two dialects' inserts are twins without a common base class.
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table)
    if update:
        new = {name: statement.excluded[name] for name in update}
        statement = statement.on_conflict_do_update(index_elements=keys, set_=new)
    else:
        statement = statement.on_conflict_do_nothing(index_elements=keys)
    _execute_many(connection, statement, rows)


def _execute_many(connection: Connection, statement: Insert, rows: Sequence[dict[str, object]]) -> None:
    """The statement as SQLAlchemy writes it, with the rows handed straight to the driver.

    `Connection.execute` copies every row twice more, about a third of the time of an ingest. All that the
    columns ask of a value is `escape`.
    """
    first = rows[0]
    compiled = statement.compile(dialect=connection.dialect, column_keys=list(first))
    names = compiled.positiontup
    escaped = ({name: escape(x) if isinstance(x, str) else x for name, x in row.items()} for row in rows)
    if names is None:
        connection.exec_driver_sql(str(compiled), list(escaped))
    else:
        pick = itemgetter(*names)
        connection.exec_driver_sql(str(compiled), [pick(row) for row in escaped])
