"""Records -> the ledger: durable, resumable, idempotent; one transaction a batch, progress included.

A batch either stands in the store with its place in the file, or not at all; so a run that was killed, or stopped by
Ctrl-C or a full disk, goes on where it was, and a second run of the same file changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from calm.blocking import partner_keys
from calm.cells import Cell, merge
from calm.conflict import ConflictScorer
from calm.detect import score_pairs
from calm.embed import Embedder
from calm.errors import CalmError, DuplicateMemoryId
from calm.lifecycle import LifecycleConfig
from calm.loaders import Loaded
from calm.propose import Hinted, Keyed, by_age, keys_of
from calm.ranges import at_least, in_unit
from calm.records import Record
from calm.retrieve import VectorIndex
from calm.stage_one import StageOneConfig, cells_of
from calm.states import refresh
from calm.store import Store, content_hash


@dataclass(frozen=True)
class IngestConfig:
    """How a file becomes cells. Ours."""

    batch_records: int = 512
    """Records a transaction, >= 1: what a crash can cost."""
    similarity: float = 0.6
    """For scorers that need to see all that is alike: cosine in [0, 1] from which two cells are compared. A symmetric
    range query, so the proposal does not depend on arrival."""
    stage_one: StageOneConfig = field(default_factory=StageOneConfig)
    lifecycle: LifecycleConfig = field(default_factory=LifecycleConfig)

    def __post_init__(self) -> None:
        at_least("batch_records", self.batch_records, 1)
        in_unit("similarity", self.similarity)


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction did. `errors` are refused records, each named; `position` the last line or turn."""

    position: int
    added: int
    skipped: int
    cells: int
    pairs_scored: int
    conflicts: int
    errors: tuple[CalmError, ...]


@dataclass(frozen=True, slots=True)
class Ingester:
    """Writes records into a store with one scorer and one embedder."""

    store: Store
    scorer: ConflictScorer
    embedder: Embedder
    config: IngestConfig = field(default_factory=IngestConfig)

    def run(self, loaded: Iterable[Loaded], source: str) -> Iterator[Batch]:
        """Ingest a source from where its last run stopped; yields after each committed batch.

        `source` names the file's content: a changed file is another source, whose known records are skipped. Raises
        `StoreError` and its kin; bad records are reported, never raised.
        """
        done = self.store.progress(source)
        fresh = (item for item in loaded if item.position > done)
        while items := tuple(islice(fresh, self.config.batch_records)):
            refused = tuple(item.error for item in items if item.error is not None)
            with self.store.transaction():
                batch = self.absorb([i.record for i in items if i.record is not None], items[-1].position, refused)
                self.store.set_progress(source, items[-1].position)
            yield batch

    def absorb(self, records: Sequence[Record], position: int = 0, refused: tuple[CalmError, ...] = ()) -> Batch:
        """Put records into the store, with their cells, vectors, conflicts, states and events, in one transaction."""
        with self.store.transaction():
            new, clashes = self._unknown(records)
            fresh = merge(cell for record in new for cell in cells_of(record, self.config.stage_one))
            held = {c.id: c for c in self.store.cells([c.id for c in fresh])}
            cells = merge([*held.values(), *fresh])
            self._put(new, fresh)
            self._embed([c for c in cells if c.id not in held or held[c.id].bound != c.bound])
            # What is said again may have other words and another age: all its pairs are judged anew.
            touched = {c.id for c in cells} | self.store.drop_conflicts(held)
            pairs = self._pairs(cells)
            conflicts = score_pairs(pairs, self.scorer)
            self.store.put_conflicts(conflicts)
            touched |= {i for c in conflicts for i in (c.older, c.newer)}
            refresh(self.store, touched, self.config.lifecycle, time.time_ns() // 1_000)
        return Batch(
            position=position,
            added=len(new),
            skipped=len(records) - len(new) - len(clashes),
            cells=len(cells),
            pairs_scored=len(pairs),
            conflicts=len(conflicts),
            errors=(*refused, *clashes),
        )

    def _unknown(self, records: Sequence[Record]) -> tuple[list[Record], list[CalmError]]:
        """The records that the store doesn't hold yet, and those whose id it holds with another content."""
        held: dict[tuple[str | None, str], str] = {}
        for user in {r.user for r in records}:
            digests = self.store.known_records(user, [r.id for r in records if r.user == user])
            held |= {(user, i): digest for i, digest in digests.items()}
        new: list[Record] = []
        clashes: list[CalmError] = []
        for record in records:
            digest = content_hash(record)
            known = held.get((record.user, record.id))
            if known is None:
                held[record.user, record.id] = digest
                new.append(record)
            elif known != digest:
                clashes.append(
                    DuplicateMemoryId(
                        "the store holds this id with another content",
                        record=record.id,
                        field="id",
                        hint="give a changed memory a new id; the old one stays",
                    )
                )
        return new, clashes

    def _put(self, records: Sequence[Record], cells: Sequence[Cell]) -> None:
        self.store.put_records(records)
        self.store.put_cells(cells, keys_of(cells, self.scorer))

    def _embed(self, cells: Sequence[Cell]) -> None:
        """Store vectors of the words of `cells`."""
        vectors = self.embedder.encode([c.bound for c in cells])
        self.store.put_vectors(self.embedder.fingerprint, {c.id: v for c, v in zip(cells, vectors, strict=True)})

    def _pairs(self, cells: Sequence[Cell]) -> list[tuple[Cell, Cell]]:
        """Pairs of a batch's cells with all that the store holds, this batch included."""
        asserting = [c for c in cells if c.asserts]
        alike = set() if isinstance(self.scorer, Keyed) else _unordered(self._by_similarity(asserting))
        met = _unordered(self._by_keys(asserting)) if isinstance(self.scorer, Keyed | Hinted) else set()
        whole = {c.id: c for c in self.store.cells({i for pair in alike | met for i in pair})}
        pairs = [
            by_age(whole[a], whole[b])
            for a, b in sorted(alike | met)
            if whole[a].asserts and whole[b].asserts and whole[a].scope == whole[b].scope
        ]
        if not isinstance(self.scorer, Hinted):
            return pairs
        return [
            (older, newer)
            for older, newer in pairs
            if _pair(older.id, newer.id) in alike or self.scorer.hinted(older.bound, newer.bound)
        ]

    def _by_keys(self, cells: Sequence[Cell]) -> dict[str, set[str]]:
        keys = keys_of(cells, self.scorer)
        partners: dict[str, set[str]] = {c.id: set() for c in cells}
        for user in {c.user for c in cells}:
            mine = [c.id for c in cells if c.user == user]
            wanted = {i: {w for key in keys[i] for w in partner_keys(key)} for i in mine}
            holders = self.store.cells_by_key(user, set().union(*wanted.values()))
            for i in mine:
                partners[i] |= {other for key in wanted[i] for other in holders.get(key, ())}
        return partners

    def _by_similarity(self, cells: Sequence[Cell]) -> dict[str, set[str]]:
        partners: dict[str, set[str]] = {}
        for user in {c.user for c in cells}:
            ids, vectors_ND = self.store.vectors(user, self.embedder.fingerprint)
            index = VectorIndex(ids, vectors_ND)
            place = {i: n for n, i in enumerate(ids)}
            mine = [c.id for c in cells if c.user == user]
            near = index.within(vectors_ND[[place[i] for i in mine]], self.config.similarity)
            partners |= dict(zip(mine, near, strict=True))
        return partners


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)


def _unordered(partners: dict[str, set[str]]) -> set[tuple[str, str]]:
    return {_pair(a, b) for a, others in partners.items() for b in others if a != b}
