"""An ingest is atomic by batch, idempotent and resumable: no order, batching, kill or Ctrl-C changes the outcome."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memory_samples import EMBEDDER, HOUSE, absorb, all_ids, everything, house, house_file, ingester, record_sets
from memory_samples import write_jsonl as write
from numpy.typing import NDArray

from calm.cells import State
from calm.conflict import TextPair
from calm.detect import detect
from calm.errors import DuplicateMemoryId, InvalidTimestamp
from calm.ingest import Batch, IngestConfig, Ingester
from calm.lifecycle import lifecycle
from calm.loaders import load, source_key
from calm.records import Record
from calm.rules import RuleScorer
from calm.stage_one import stage_one
from calm.store import Store


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/memory.db"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url) as opened:
        yield opened


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return house_file(tmp_path / "house.jsonl")


def ingest(store: Store, path: Path, batch_records: int = 512) -> list[Batch]:
    return list(ingester(store, batch_records).run(load(path, "jsonl"), source_key(path, "jsonl")))


def lasting(store: Store) -> dict[str, object]:
    """What must not depend on how the records came in: all but what happened on the way."""
    found = everything(store)
    return {key: found[key] for key in ("cells", "states", "vectors")}


# What one run does


def test_a_batch_tells_what_it_did(store: Store, file: Path) -> None:
    first, second = ingest(store, file, 6)
    assert (first.position, first.added, first.skipped, first.errors) == (6, 6, 0, ())
    assert (second.position, second.added, second.skipped, second.errors) == (10, 4, 0, ())
    assert first.cells == 6
    # The move from Oslo to Bergen.
    assert first.conflicts == 1
    # The move back, the web page's password and the new job.
    assert second.conflicts == 3
    assert 1 <= first.pairs_scored < 15, "blocking keys spare most of the 15 pairs"
    assert store.progress(source_key(file, "jsonl")) == 10
    # m1 and m9 are one claim.
    assert (store.counts()["records"], store.counts()["cells"], store.counts()["evidence"]) == (10, 9, 10)


def test_an_empty_file_and_no_records_leave_the_store_empty(store: Store, tmp_path: Path) -> None:
    empty = everything(store)
    assert ingest(store, write(tmp_path / "empty.jsonl", [])) == []
    assert ingester(store).absorb([]) == Batch(0, 0, 0, 0, 0, 0, ())
    assert everything(store) == empty


def test_a_record_without_words_is_stored_without_a_cell(store: Store) -> None:
    batch = ingester(store).absorb([Record("m1", "  ", user="alice")])
    assert (batch.added, batch.cells) == (1, 0)
    assert store.counts()["records"] == 1


# Idempotent


def test_the_same_file_again_reads_nothing_and_changes_nothing(store: Store, file: Path) -> None:
    ingest(store, file)
    before = everything(store)
    assert ingest(store, file) == []
    assert everything(store) == before


def test_a_copy_of_the_file_under_another_name_is_the_same_source(store: Store, file: Path, tmp_path: Path) -> None:
    ingest(store, file)
    assert ingest(store, shutil.copy(file, tmp_path / "copy.jsonl")) == []


@pytest.mark.parametrize("batch_records", [1, 512])
def test_known_records_in_another_file_change_nothing(
    store: Store, file: Path, tmp_path: Path, batch_records: int
) -> None:
    ingest(store, file)
    before = everything(store)
    lines = file.read_text().splitlines()
    batches = ingest(store, write(tmp_path / "other.jsonl", lines[::-1]), batch_records)
    assert sum(b.skipped for b in batches) == len(lines)
    assert sum(b.added for b in batches) == sum(b.cells for b in batches) == 0
    assert everything(store) == before


def test_a_file_that_has_grown_adds_only_what_is_new(store: Store, file: Path) -> None:
    ingest(store, file)
    write(file, [*file.read_text().splitlines(), {"id": "m11", "text": "I live in Bodø.", "user": "alice"}])
    (batch,) = ingest(store, file)
    assert (batch.added, batch.skipped) == (1, 10)


def test_what_a_retriever_adds_does_not_make_a_record_another(store: Store) -> None:
    absorb(store, house())
    scored = [replace(r, score=0.5, embedding=(1.0, 0.0)) for r in house()]
    batch = ingester(store).absorb(scored)
    assert (batch.added, batch.skipped, batch.errors) == (0, 10, ())


# Order-free


@pytest.mark.parametrize("batch_records", [1, 3, 512])
@pytest.mark.parametrize("reverse", [False, True], ids=["forwards", "backwards"])
def test_batches_of_any_size_end_in_the_same_store(
    store: Store, tmp_path: Path, batch_records: int, reverse: bool
) -> None:
    with Store.open(f"sqlite:///{tmp_path}/reference.db") as reference:
        ingester(reference).absorb(house())
        lines = [{"user": "alice", **line} for line in HOUSE]
        ingest(store, write(tmp_path / "f.jsonl", lines[::-1] if reverse else lines), batch_records)
        assert lasting(store) == lasting(reference)


@settings(max_examples=15)
@given(record_sets(), st.data())
def test_any_order_of_records_ends_in_the_same_cells_and_states(records: list[Record], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(records))
    with Store.open("sqlite://") as one, Store.open("sqlite://") as other:
        absorb(one, records)
        absorb(other, shuffled, data.draw(st.integers(1, 4)))
        assert lasting(other) == lasting(one)
        assert other.users() == one.users()


def test_two_tenants_in_one_file_end_as_they_would_alone(store: Store, tmp_path: Path) -> None:
    mixed = [r for pair in zip(house("alice"), house("bob"), strict=True) for r in pair]
    absorb(store, mixed, 3)
    with Store.open(f"sqlite:///{tmp_path}/alone.db") as alone:
        for user in ("alice", "bob"):
            absorb(alone, house(user))
        assert everything(store)["states"] == everything(alone)["states"]
        for user in ("alice", "bob"):
            ids = store.cell_ids(user)
            assert State.SUPERSEDED in {s.state for s in store.states(ids).values()}
            assert {i for c in store.conflicts_of(ids) for i in (c.older, c.newer)} <= set(ids)


def test_claims_of_two_scopes_are_not_compared(store: Store) -> None:
    first, second = house()[0], replace(house()[4], scope="project:x")
    batch = ingester(store).absorb([first, second])
    assert (batch.cells, batch.pairs_scored, batch.conflicts) == (2, 0, 0)


def test_a_claim_that_is_known_is_not_embedded_again(store: Store) -> None:
    @dataclass(frozen=True)
    class Counting:
        seen: list[str] = field(default_factory=list)
        fingerprint: str = EMBEDDER.fingerprint

        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.seen.extend(texts)
            return EMBEDDER.encode(texts)

    embedder = Counting()
    for record in house():
        Ingester(store, RuleScorer(), embedder).absorb([record])
    assert len(embedder.seen) == store.counts()["cells"] == 9


class OneWay:
    """A scorer whose verdict depends on the order; its keys are those of tickets."""

    fingerprint = "one way"

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        return np.array([0.9 if older < newer else 0.0 for older, newer in pairs], dtype=np.float32)

    def keys(self, text: str) -> frozenset[str]:
        number = text.rsplit(maxsplit=1)[-1]
        return frozenset({"?ticket", f"ticket#{number}"}) if number.isdigit() else frozenset({"ticket"})


@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize(
    "texts",
    [("Tickets are open", "Tickets are closed", "Tickets are open"), ("Note in general", "Note no 1", "Note no 2")],
    ids=["said again", "numbered"],
)
def test_a_one_way_scorer_and_open_keys_do_not_make_the_order_matter(
    store: Store, order: tuple[int, ...], texts: tuple[str, ...]
) -> None:
    records = [Record(f"m{n}", text, n, "alice") for n, text in enumerate(texts)]
    for n in order:
        Ingester(store, OneWay(), EMBEDDER).absorb([records[n]])
    cells = stage_one(records)
    lives = lifecycle(cells, detect(cells, OneWay()))
    assert {i: s.state for i, s in store.states(all_ids(store)).items()} == {i: x.state for i, x in lives.items()}
    assert {s.state for s in store.states(all_ids(store)).values()} > {State.SUPERSEDED}


class Unkeyed:
    """The rules without their blocking keys: pairs are then proposed by similarity."""

    fingerprint = "rules without keys"

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        return RuleScorer().score(pairs)


@pytest.mark.parametrize("batch_records", [1, 512])
def test_a_scorer_without_keys_compares_what_is_similar(store: Store, batch_records: int) -> None:
    """The two passwords have a cosine of about 0.7, everything else in the house is below 0.5."""
    records = house(speaker="user")
    with Store.open("sqlite://") as strict:
        for target, similarity in ((store, 0.6), (strict, 0.999)):
            scribe = Ingester(target, Unkeyed(), EMBEDDER, IngestConfig(similarity=similarity))
            for start in range(0, len(records), batch_records):
                scribe.absorb(records[start : start + batch_records])
        old, new = (store.find_cell(i)[0] for i in ("m2", "m7"))
        assert [(c.older, c.newer) for c in store.conflicts_of(all_ids(store))] == [(old, new)]
        assert store.states([old])[old].state is State.SUPERSEDED
        assert strict.counts()["conflicts"] == 0


# Refused records


def test_a_known_id_with_another_content_is_refused_by_name_and_the_rest_is_kept(store: Store) -> None:
    absorb(store, house()[:2])
    before = store.records("alice", ["m1"])
    batch = ingester(store).absorb([replace(house()[0], text="I live in Bodø."), *house()[1:4]])
    (error,) = batch.errors
    assert isinstance(error, DuplicateMemoryId) and error.record == "m1"
    assert (batch.added, batch.skipped) == (2, 1)
    assert store.records("alice", ["m1"]) == before


def test_one_id_twice_in_a_batch_counts_once_and_clashes_where_the_contents_differ(store: Store) -> None:
    first, other = house()[0], house("bob")[0]
    batch = ingester(store).absorb([first, first, replace(first, text="I live in Bodø."), other])
    assert (batch.added, batch.skipped, [e.record for e in batch.errors]) == (2, 1, ["m1"])
    assert store.records("alice", ["m1"])["m1"].text == "I live in Oslo."


@pytest.mark.parametrize("batch_records", [1, 2, 512])
def test_bad_lines_are_reported_in_their_batch_and_passed_over(
    store: Store, tmp_path: Path, batch_records: int
) -> None:
    lines = [
        {"user": "alice", **HOUSE[0]},
        "not json",
        {"id": "m2", "text": "x", "timestamp": "soon"},
        {"user": "alice", **HOUSE[1], "id": "m3"},
    ]
    path = write(tmp_path / "bad.jsonl", lines)
    batches = ingest(store, path, batch_records)
    errors = [e for b in batches for e in b.errors]
    assert [e.record for e in errors] == ["line 2", "m2"]
    assert isinstance(errors[1], InvalidTimestamp)
    assert sum(b.added for b in batches) == 2
    assert batches[-1].position == 4
    assert ingest(store, path, batch_records) == [], "a bad line is not read again"


# Atomic


@dataclass(frozen=True)
class Failing(RuleScorer):
    """Rules that break down at one text."""

    at: str = ""
    error: type[BaseException] = RuntimeError

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        if any(self.at in text for pair in pairs for text in pair):
            raise self.error("in the middle of a batch")
        return super().score(pairs)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, MemoryError])
def test_an_exception_inside_a_batch_leaves_the_store_as_the_batch_before_left_it(
    store: Store, file: Path, tmp_path: Path, error: type[BaseException]
) -> None:
    broken = Ingester(store, Failing("Bergen", error), EMBEDDER, IngestConfig(batch_records=3))
    run = broken.run(load(file, "jsonl"), source_key(file, "jsonl"))
    assert next(run).position == 3
    after_first = everything(store)
    with pytest.raises(error, match="in the middle"):
        next(run)
    assert everything(store) == after_first
    assert store.progress(source_key(file, "jsonl")) == 3
    assert [b.position for b in ingest(store, file, 3)] == [6, 9, 10], "the store goes on working"
    with Store.open(f"sqlite:///{tmp_path}/straight.db") as straight:
        ingest(straight, file, 3)
        assert everything(store) == everything(straight)


@pytest.mark.parametrize("place", ["Oslo", "heron"])
def test_an_exception_while_absorbing_leaves_nothing_behind(store: Store, place: str) -> None:
    empty = everything(store)
    with pytest.raises(RuntimeError, match="in the middle"):
        Ingester(store, Failing(place), EMBEDDER).absorb(house(speaker="user"))
    assert everything(store) == empty


class Torn(Store):
    """A store whose writer stops just before it notes how far it got."""

    def set_progress(self, source: str, position: int) -> None:  # noqa: ARG002
        raise KeyboardInterrupt


def test_a_batch_is_not_stored_without_its_place_in_the_file(file: Path, url: str) -> None:
    with Torn.open(url) as torn:
        with pytest.raises(KeyboardInterrupt):
            ingest(torn, file, 3)
        assert torn.counts()["records"] == 0


def test_an_exception_in_a_transaction_around_several_batches_undoes_all_of_them(store: Store) -> None:
    absorb(store, house()[:2])
    before = everything(store)

    def interrupted() -> None:
        with store.transaction():
            absorb(store, house()[2:], 2)
            assert store.counts()["records"] == len(house())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert everything(store) == before


# Killed and stopped

STUCK = """
import sys
from memory_samples import EMBEDDER, ingester
from calm.ingest import IngestConfig, Ingester
from calm.lifecycle import lifecycle
from calm.loaders import load, source_key
from calm.rules import RuleScorer
from calm.store import Store
from pathlib import Path

class Stuck:
    fingerprint = EMBEDDER.fingerprint
    def encode(self, texts):
        if any("Borealis" in text for text in texts):
            print("in mid-transaction", flush=True)
            sys.stdin.read()
        return EMBEDDER.encode(texts)

path = Path(sys.argv[2])
with Store.open(sys.argv[1]) as store:
    run = Ingester(store, RuleScorer(), Stuck(), IngestConfig(batch_records=3))
    for batch in run.run(load(path, "jsonl"), source_key(path, "jsonl")):
        print(batch.position, flush=True)
"""


def test_a_killed_ingest_goes_on_as_if_nothing_had_happened(url: str, file: Path, tmp_path: Path) -> None:
    search = f"import sys; sys.path[:0] = {sys.path!r}\n"
    with subprocess.Popen(
        [sys.executable, "-c", search + STUCK, url, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        said = [child.stdout.readline().strip() for _ in range(3)]
        child.send_signal(signal.SIGKILL)
    assert said == ["3", "6", "in mid-transaction"]
    assert child.returncode == -signal.SIGKILL
    with Store.open(url, create=False) as store, Store.open(f"sqlite:///{tmp_path}/straight.db") as straight:
        assert store.progress(source_key(file, "jsonl")) == 6
        assert store.counts()["records"] == 6
        assert [b.position for b in ingest(store, file, 3)] == [9, 10]
        ingest(straight, file, 3)
        assert everything(store) == everything(straight)


N_LOCKERS = 800
"""Enough for some seconds at one transaction a record."""

CALM = "import sys; from calm.cli import main; sys.exit(main())"


def calm_ingest(file: Path, url: str) -> list[str]:
    options = ["--store", url, "--embedder", "hashing", "--ingest.batch_records", "1"]
    return [sys.executable, "-c", CALM, "ingest", str(file), *options]


def wait_for(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def records_in(path: Path) -> int:
    if not path.exists():
        return 0
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM calm_record").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def test_ctrl_c_leaves_with_130_says_so_and_the_next_run_goes_on(url: str, tmp_path: Path) -> None:
    lines = [
        {"id": f"m{n}", "text": f"The code of locker {n % 97} is {n * 7919 % 1000}.", "user": "alice"}
        for n in range(N_LOCKERS)
    ]
    file = write(tmp_path / "lockers.jsonl", lines)
    child = subprocess.Popen(calm_ingest(file, url), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: records_in(tmp_path / "memory.db") >= 2 or child.poll() is not None)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 130, err
    assert "Traceback" not in out + err
    assert "Exception ignored" not in err
    assert "calm: stopped; what was committed stays, and the same command goes on from there" in err
    with Store.open(url, create=False) as store, Store.open(f"sqlite:///{tmp_path}/straight.db") as straight:
        done = store.progress(source_key(file, "jsonl"))
        assert 2 <= done == store.counts()["records"] < N_LOCKERS
        assert sum(b.added for b in ingest(store, file)) == N_LOCKERS - done
        ingest(straight, file)
        assert store.states(all_ids(store)) == straight.states(all_ids(straight))
        assert store.cells(all_ids(store)) == straight.cells(all_ids(straight))
