"""The tables, as this version of calm expects them; `migrations/` makes them. A test keeps the two equal.

Columns named `owner` hold `codec.owner_of(user)`. Times are int64 µs UTC.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

from calm.store.codec import escape, unescape

VERSION_TABLE = "calm_version"
"""Alembic's table; its own name, so that a PostgreSQL database can be shared with other programs."""

SERIAL = BigInteger().with_variant(Integer(), "sqlite")
"""A 64-bit row number: SQLite counts only columns declared exactly INTEGER, which are 64 bits wide there."""


class ExactText(TypeDecorator[str]):
    """Text that comes back as it went in, whatever its characters, and sorts by code point everywhere."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[str]:
        """PostgreSQL sorts by locale unless told otherwise."""
        return dialect.type_descriptor(Text(collation="C") if dialect.name == "postgresql" else Text())

    def bind_processor(self, dialect: Dialect) -> Callable[[str | None], str | None]:  # noqa: ARG002
        """Python to database. Not `process_bind_param`, which costs three calls a value."""
        return _escape_or_null

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[str | None], str | None]:  # noqa: ARG002
        """Database to Python."""
        return _unescape_or_null


def _escape_or_null(value: str | None) -> str | None:
    return None if value is None else escape(value)


def _unescape_or_null(value: str | None) -> str | None:
    return None if value is None else unescape(value)


metadata = MetaData()

meta = Table(
    "calm_meta",
    metadata,
    Column("name", ExactText, primary_key=True),
    Column("value", ExactText, nullable=False),
)

record = Table(
    "calm_record",
    metadata,
    Column("position", SERIAL, primary_key=True),
    Column("owner", ExactText, nullable=False),
    Column("id", ExactText, nullable=False),
    Column("content_hash", ExactText, nullable=False),
    Column("time_us", BigInteger),
    Column("session", ExactText),
    Column("data", ExactText, nullable=False),
    UniqueConstraint("owner", "id", name="calm_record_owner_id"),
    Index("calm_record_owner_time", "owner", "time_us", "id"),
)

cell = Table(
    "calm_cell",
    metadata,
    Column("id", ExactText, primary_key=True),
    Column("owner", ExactText, nullable=False, index=True),
    Column("scope", ExactText, nullable=False),
    Column("semantic_type", SmallInteger, nullable=False),
    Column("claim", ExactText, nullable=False),
    Column("text", ExactText, nullable=False),
    Column("bound", ExactText, nullable=False),
    Column("subject", ExactText),
    Column("entities", ExactText, nullable=False),
    Column("frames", ExactText, nullable=False),
    Column("state", SmallInteger, nullable=False),
    Column("validity", Double, nullable=False),
    Column("confidence", Double, nullable=False),
    CheckConstraint("validity BETWEEN 0 AND 1", name="calm_cell_validity"),
    CheckConstraint("confidence BETWEEN 0 AND 1", name="calm_cell_confidence"),
)


def _cell_column(name: str, *, primary_key: bool = True) -> Column[str]:
    return Column(
        name,
        ExactText,
        ForeignKey("calm_cell.id", ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=False,
    )


evidence = Table(
    "calm_evidence",
    metadata,
    _cell_column("cell_id"),
    Column("record_id", ExactText, primary_key=True),
    Column("idx", Integer, primary_key=True),
    Column("owner", ExactText, nullable=False),
    Column("text", ExactText, nullable=False),
    Column("speaker", ExactText, nullable=False),
    Column("source", SmallInteger, nullable=False),
    Column("time_us", BigInteger),
    Column("record_time_us", BigInteger),
    Column("valid_from_us", BigInteger),
    Column("valid_to_us", BigInteger),
    Column("backend_state", ExactText),
    Column("depends_on", ExactText, nullable=False),
    Column("support", ExactText, nullable=False),
    Index("calm_evidence_owner_record", "owner", "record_id"),
    sqlite_with_rowid=False,
)

cell_key = Table(
    "calm_cell_key",
    metadata,
    Column("owner", ExactText, primary_key=True),
    Column("key", ExactText, primary_key=True),
    _cell_column("cell_id"),
    Index("calm_cell_key_cell", "cell_id"),
    sqlite_with_rowid=False,
)

conflict = Table(
    "calm_conflict",
    metadata,
    _cell_column("older"),
    _cell_column("newer"),
    Column("scorer", ExactText, primary_key=True),
    Column("probability", Double, nullable=False),
    Index("calm_conflict_newer", "newer"),
    sqlite_with_rowid=False,
)

pair_score = Table(
    "calm_pair_score",
    metadata,
    Column("fingerprint", ExactText, primary_key=True),
    Column("pair_hash", ExactText, primary_key=True),
    Column("probability", Double, nullable=False),
    sqlite_with_rowid=False,
)

vector = Table(
    "calm_vector",
    metadata,
    _cell_column("cell_id"),
    Column("model", ExactText, primary_key=True),
    Column("dim", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
)

event = Table(
    "calm_event",
    metadata,
    Column("seq", SERIAL, primary_key=True),
    # No foreign key: what happened to a cell outlives it.
    Column("cell_id", ExactText, nullable=False, index=True),
    Column("at_us", BigInteger, nullable=False),
    Column("before", SmallInteger, nullable=False),
    Column("after", SmallInteger, nullable=False),
    Column("rule", ExactText, nullable=False),
    Column("causes", ExactText, nullable=False),
    Column("numbers", ExactText, nullable=False),
)

progress = Table(
    "calm_progress",
    metadata,
    Column("source", ExactText, primary_key=True),
    Column("position", BigInteger, nullable=False),
)
