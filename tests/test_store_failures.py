"""What can go wrong under a store: other versions, foreign files, no permission, a full disk, a dead writer.

Permission bits mean nothing to root, so read-only here is a mode of the connection, a file where a folder
should be, a kernel file system or a read-only mount.
"""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, event, text
from store_samples import cell, record

from calm.cells import Cell
from calm.errors import (
    InvalidOption,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
    StoreVersionError,
)
from calm.store import Store
from calm.store.migrate import SCRIPTS, bring_to_head
from calm.store.schema import VERSION_TABLE, metadata


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def make_store(path: Path) -> None:
    with Store.open(f"sqlite:///{path}") as store:
        store.put_records([record("m1")])
        store.put_cells([cell("kept", "m1")], {})


def cells_in(path: Path) -> list[Cell]:
    with Store.open(f"sqlite:///{path}", create=False) as store:
        return store.cells(store.cell_ids("alice"))


def run_sql(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_new_file_is_at_head_in_wal_mode_with_the_tables_that_the_code_expects(path: Path) -> None:
    with Store.open(f"sqlite:///{path}") as store, store.engine.connect() as connection:
        assert connection.scalar(text("PRAGMA journal_mode")) == "wal"
        assert connection.scalar(text("PRAGMA foreign_keys")) == 1
        assert connection.scalar(text("PRAGMA busy_timeout")) == 30_000
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []
        made = connection.scalars(text("SELECT sql FROM sqlite_master WHERE sql LIKE '%WITHOUT ROWID%'")).all()
        assert len(made) == len(
            [t for t in metadata.tables.values() if t.dialect_kwargs.get("sqlite_with_rowid") is False]
        )


@pytest.mark.parametrize("size", [0, None], ids=["empty file", "no tables"])
def test_an_empty_database_becomes_a_store(path: Path, size: int | None) -> None:
    if size == 0:
        path.touch()
    else:
        run_sql(path, "CREATE TABLE t (x)", "DROP TABLE t")
    with pytest.raises(StoreError, match="no store here yet"):
        Store.open(f"sqlite:///{path}", create=False)
    make_store(path)
    assert len(cells_in(path)) == 1


def test_a_missing_file_is_not_made_by_mistake(path: Path) -> None:
    for url, create in ((f"sqlite:///{path}", False), (f"sqlite:///file:{path}?mode=rw&uri=true", True)):
        with pytest.raises(StoreError, match=r"memory\.db.*ingest") as caught:
            Store.open(url, create=create)
        assert type(caught.value) is StoreError
        assert caught.value.exit_status == 3
    with pytest.raises(StoreError, match="make the folder first"):
        Store.open(f"sqlite:///{path}/deep/er.db")
    with pytest.raises(StoreError, match="is a folder"):
        Store.open(f"sqlite:///{path.parent}")
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("url", ["", "memory.db", "mysql://host/db", "sqlite+nonsense:///x.db"])
def test_what_is_not_a_database_url_is_an_invalid_option(url: str) -> None:
    with pytest.raises(InvalidOption):
        Store.open(url)


def test_an_unreachable_server_is_a_store_error_without_the_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError) as caught:
        Store.open("postgresql+psycopg://calm:s3cret@/db?host=/nowhere/at/all")
    assert type(caught.value) is StoreError
    assert "s3cret" not in str(caught.value)


@pytest.fixture
def next_scripts(tmp_path: Path) -> Path:
    """The migrations of a calm that is one revision ahead of this one."""
    folder = tmp_path / "migrations"
    shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "rev_9999.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\n"
        "revision, down_revision = '9999', '0001'\n"
        "def upgrade():\n"
        "    op.add_column('calm_cell', sa.Column('colour', sa.Text(), server_default='red'))\n"
        "    if op.get_bind().scalar(sa.text('SELECT count(*) FROM calm_cell')) > 1:\n"
        "        op.execute('nonsense')\n"
    )
    return folder


def upgrade(path: Path, scripts: Path) -> None:
    with Store.open(f"sqlite:///{path}") as store:
        bring_to_head(store.engine, "here", create=False, scripts=scripts)


def test_an_older_store_is_upgraded_and_keeps_its_memories(path: Path, next_scripts: Path) -> None:
    make_store(path)
    before = cells_in(path)
    upgrade(path, next_scripts)
    connection = sqlite3.connect(path)
    assert connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchall() == [("9999",)]
    assert connection.execute("SELECT id, colour FROM calm_cell").fetchall() == [(before[0].id, "red")]
    connection.close()


def test_an_upgrade_that_fails_leaves_the_older_store(path: Path, next_scripts: Path) -> None:
    make_store(path)
    with Store.open(f"sqlite:///{path}") as store:
        store.put_cells([cell("second", "m2")], {})
    before = path.read_bytes()
    with pytest.raises(Exception, match="nonsense"):
        upgrade(path, next_scripts)
    assert len(cells_in(path)) == 2
    assert b"colour" not in path.read_bytes()
    assert len(path.read_bytes()) == len(before)


def test_a_store_of_a_newer_calm_is_refused_untouched(path: Path, next_scripts: Path) -> None:
    make_store(path)
    upgrade(path, next_scripts)
    before = path.read_bytes()
    with pytest.raises(StoreVersionError, match=r"9999.*upgrade calm"):
        Store.open(f"sqlite:///{path}")
    assert path.read_bytes() == before


def test_a_file_that_is_no_calm_store_is_refused_untouched(path: Path) -> None:
    run_sql(path, "CREATE TABLE bookmarks (url TEXT)", "INSERT INTO bookmarks VALUES ('x')")
    other = path.with_suffix(".txt")
    other.write_text("dear diary\n" * 100)
    for file in (path, other):
        before = file.read_bytes()
        for create in (True, False):
            with pytest.raises(StoreVersionError, match=r"not a calm store.*name another file"):
                Store.open(f"sqlite:///{file}", create=create)
        assert file.read_bytes() == before
    assert sorted(f.name for f in path.parent.iterdir()) == ["memory.db", "memory.txt"]


def test_a_damaged_store_is_a_store_error(path: Path) -> None:
    make_store(path)
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StoreError), Store.open(f"sqlite:///{path}") as store:
        store.cells(store.cell_ids("alice"))


def test_a_read_only_store_can_be_read_and_says_so_when_written(path: Path) -> None:
    make_store(path)
    with Store.open(f"sqlite:///file:{path}?mode=ro&uri=true") as store:
        assert store.cells(store.cell_ids("alice")) == [cell("kept", "m1")]
        for write in (lambda: store.put_cells([cell("b", "m2")], {}), lambda: store.set_progress("s", 1)):
            with pytest.raises(StoreReadOnlyError, match="permissions") as caught:
                write()
            assert caught.value.exit_status == 3
        assert store.progress("s") == 0
        assert len(store.cell_ids("alice")) == 1


def test_a_place_where_no_file_can_be_made_is_read_only(path: Path) -> None:
    path.write_text("a file, not a folder")
    for place in (path / "memory.db", Path("/proc/calm-memory.db")):
        with pytest.raises(StoreReadOnlyError, match="can't be opened or created"):
            Store.open(f"sqlite:///{place}")


def limit_pages(engine: Engine, pages: int) -> None:
    """From now on the database can't grow beyond so many pages: SQLite's own "disk is full"."""

    def limit(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}").close()

    event.listen(engine, "connect", limit)
    engine.dispose()


def test_a_full_disk_loses_nothing_that_was_committed(path: Path) -> None:
    with Store.open(f"sqlite:///{path}") as store:
        store.put_cells([cell("kept", "m1")], {})
        limit_pages(store.engine, 60)
        with pytest.raises(StoreFullError, match="committed is safe") as caught:
            store.put_cells([cell(f"claim {i} " + "x" * 500, "m2") for i in range(2000)], {})
        assert caught.value.exit_status == 3
        assert store.cells(store.cell_ids("alice")) == [cell("kept", "m1")]
        with pytest.raises(StoreFullError), store.transaction():  # noqa: PT012
            store.set_progress("s", 1)
            store.put_scores("f", {str(i) * 100: 0.5 for i in range(5000)})
        assert store.progress("s") == 0
        store.put_cells([cell("small", "m3")], {})
        assert len(store.cell_ids("alice")) == 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=False, capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("this account may not mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_really_full_disk(small_disk: Path) -> None:
    path = small_disk / "memory.db"
    with Store.open(f"sqlite:///{path}") as store:
        store.put_cells([cell("kept", "m1")], {})
        with pytest.raises(StoreFullError):
            store.put_cells([cell(f"claim {i} " + "x" * 500, "m2") for i in range(5000)], {})
        assert store.cells(store.cell_ids("alice")) == [cell("kept", "m1")]
    assert cells_in(path) == [cell("kept", "m1")]


def test_a_disk_that_others_have_filled(small_disk: Path) -> None:
    path = small_disk / "memory.db"
    make_store(path)
    with pytest.raises(OSError, match="space"):
        (small_disk / "filler").write_bytes(b"x" * 2**20)
    for other in ("second.db", "memory.db"):
        with pytest.raises(StoreFullError), Store.open(f"sqlite:///{small_disk / other}") as store:
            store.put_cells([cell("no room for this", "m3")], {})
    (small_disk / "filler").unlink()
    assert cells_in(path) == [cell("kept", "m1")]


def test_a_read_only_disk(small_disk: Path) -> None:
    path = small_disk / "memory.db"
    make_store(path)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StoreReadOnlyError), Store.open(f"sqlite:///{path}") as store:
        store.set_progress("s", 1)
    with pytest.raises(StoreReadOnlyError):
        Store.open(f"sqlite:///{small_disk / 'second.db'}")


WRITER = """
import sys
from store_samples import cell
from calm.store import Store
store = Store.open(sys.argv[1])
store.put_cells([cell("kept", "m1")], {})
with store.transaction():
    for i in range(60):
        store.put_cells([cell(f"{i} {j} " + "x" * 500, "m2") for j in range(100)], {})
    print("in mid-transaction", flush=True)
    sys.stdin.read()
"""


def test_a_killed_writer_leaves_what_it_had_committed(path: Path) -> None:
    """More is written than SQLite keeps in memory, so uncommitted pages lie on the disk when it dies."""
    search = f"import sys; sys.path[:0] = {sys.path!r}\n"
    writer = subprocess.Popen(
        [sys.executable, "-c", search + WRITER, f"sqlite:///{path}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "in mid-transaction\n"
        with Store.open(f"sqlite:///{path}") as reader:
            assert len(reader.cell_ids("alice")) == 1, "readers see only what is committed, and don't wait"
        assert path.with_name("memory.db-wal").stat().st_size > 1_000_000
        writer.send_signal(signal.SIGKILL)
    assert writer.returncode == -signal.SIGKILL
    assert cells_in(path) == [cell("kept", "m1")]
    make_store(path)
    with Store.open(f"sqlite:///{path}") as store:
        assert store.counts()["cells"] == 1
        with store.engine.connect() as connection:
            assert connection.scalar(text("PRAGMA integrity_check")) == "ok"


def test_a_second_writer_waits_and_then_says_who_is_to_blame(path: Path) -> None:
    make_store(path)
    hasty = Store.open(f"sqlite:///{path}")
    event.listen(hasty.engine, "connect", lambda c, _: c.execute("PRAGMA busy_timeout = 50").close())
    hasty.engine.dispose()
    with Store.open(f"sqlite:///{path}") as store, hasty:
        with store.transaction():
            store.set_progress("s", 1)
            assert hasty.progress("s") == 0
            with pytest.raises(StoreError, match="another process is writing"):
                hasty.set_progress("s", 2)
        hasty.set_progress("s", 3)
        assert store.progress("s") == 3


def test_a_closed_store_says_so(path: Path) -> None:
    with Store.open(f"sqlite:///{path}") as store:
        pass
    uses: list[Callable[[], object]] = [store.counts, lambda: store.set_progress("s", 1)]
    for use in uses:
        with pytest.raises(StoreError, match="closed"):
            use()
