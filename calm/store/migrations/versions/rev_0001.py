"""The first tables.

A revision is frozen: it spells its columns out instead of importing `schema.py`, which moves on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, TEXT, nullable=nullable)


def number(name: str, kind: type[sa.types.TypeEngine[int]], *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, kind, nullable=nullable)


def share(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double, nullable=False)


def of_cell(column: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], ["calm_cell.id"], ondelete="CASCADE")


def upgrade() -> None:
    make_records_and_cells()
    make_cell_details()
    make_scores()
    make_ledger()


def make_records_and_cells() -> None:
    op.create_table(
        "calm_record",
        sa.Column("position", SERIAL, primary_key=True),
        text("owner"),
        text("id"),
        text("content_hash"),
        number("time_us", sa.BigInteger, nullable=True),
        text("session", nullable=True),
        text("data"),
        sa.UniqueConstraint("owner", "id", name="calm_record_owner_id"),
    )
    op.create_index("calm_record_owner_time", "calm_record", ["owner", "time_us", "id"])
    op.create_table(
        "calm_cell",
        text("id"),
        text("owner"),
        text("scope"),
        number("semantic_type", sa.SmallInteger),
        text("claim"),
        text("text"),
        text("bound"),
        text("subject", nullable=True),
        text("entities"),
        text("frames"),
        number("state", sa.SmallInteger),
        share("validity"),
        share("confidence"),
        sa.PrimaryKeyConstraint("id"),
        sa.CheckConstraint("validity BETWEEN 0 AND 1", name="calm_cell_validity"),
        sa.CheckConstraint("confidence BETWEEN 0 AND 1", name="calm_cell_confidence"),
    )
    op.create_index("ix_calm_cell_owner", "calm_cell", ["owner"])


def make_cell_details() -> None:
    op.create_table(
        "calm_evidence",
        text("cell_id"),
        text("record_id"),
        number("idx", sa.Integer),
        text("owner"),
        text("text"),
        text("speaker"),
        number("source", sa.SmallInteger),
        number("time_us", sa.BigInteger, nullable=True),
        number("record_time_us", sa.BigInteger, nullable=True),
        number("valid_from_us", sa.BigInteger, nullable=True),
        number("valid_to_us", sa.BigInteger, nullable=True),
        text("backend_state", nullable=True),
        text("depends_on"),
        text("support"),
        sa.PrimaryKeyConstraint("cell_id", "record_id", "idx"),
        of_cell("cell_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("calm_evidence_owner_record", "calm_evidence", ["owner", "record_id"])
    op.create_table(
        "calm_cell_key",
        text("owner"),
        text("key"),
        text("cell_id"),
        sa.PrimaryKeyConstraint("owner", "key", "cell_id"),
        of_cell("cell_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("calm_cell_key_cell", "calm_cell_key", ["cell_id"])
    op.create_table(
        "calm_vector",
        text("cell_id"),
        text("model"),
        number("dim", sa.Integer),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("cell_id", "model"),
        of_cell("cell_id"),
    )


def make_scores() -> None:
    op.create_table(
        "calm_conflict",
        text("older"),
        text("newer"),
        text("scorer"),
        share("probability"),
        sa.PrimaryKeyConstraint("older", "newer", "scorer"),
        of_cell("older"),
        of_cell("newer"),
        sqlite_with_rowid=False,
    )
    op.create_index("calm_conflict_newer", "calm_conflict", ["newer"])
    op.create_table(
        "calm_pair_score",
        text("fingerprint"),
        text("pair_hash"),
        share("probability"),
        sa.PrimaryKeyConstraint("fingerprint", "pair_hash"),
        sqlite_with_rowid=False,
    )


def make_ledger() -> None:
    op.create_table(
        "calm_event",
        sa.Column("seq", SERIAL, primary_key=True),
        text("cell_id"),
        number("at_us", sa.BigInteger),
        number("before", sa.SmallInteger),
        number("after", sa.SmallInteger),
        text("rule"),
        text("causes"),
        text("numbers"),
    )
    op.create_index("ix_calm_event_cell_id", "calm_event", ["cell_id"])
    op.create_table(
        "calm_progress", text("source"), number("position", sa.BigInteger), sa.PrimaryKeyConstraint("source")
    )
    op.create_table("calm_meta", text("name"), text("value"), sa.PrimaryKeyConstraint("name"))
