"""The ledger in memory: any order, batching and text; what the content hash covers."""

from __future__ import annotations

import threading
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from store_samples import FULL_RECORD, NASTY, OWNERS

from calm.cells import Cell, Evidence, SemanticType, Source, cell_id, merge
from calm.records import Record
from calm.store import Store, content_hash

texts = st.text(st.characters(exclude_categories=[]), max_size=6)
optional_times = st.none() | st.integers(-(2**62), 2**62)


@st.composite
def assertions(draw: st.DrawFn) -> Cell:
    """A cell with one assertion; what it says beyond its claim depends on that alone, as in Stage I."""
    user, claim = draw(st.sampled_from(OWNERS)), draw(st.sampled_from(["a", "b", NASTY]))
    evidence = Evidence(
        draw(st.sampled_from(["m1", "m2", "m3", NASTY])),
        draw(st.integers(0, 2)),
        draw(texts),
        draw(texts),
        draw(st.sampled_from(Source)),
        draw(optional_times),
        draw(optional_times),
        draw(optional_times),
        draw(optional_times),
        draw(st.none() | texts),
        tuple(draw(st.lists(texts, max_size=2))),
        draw(st.sampled_from(["all", "any"])),
    )
    words = evidence.text
    return Cell(
        id=cell_id(user, "global", SemanticType.STATEMENT, claim),
        claim=claim,
        text=words,
        bound=f"bound {words}",
        user=user,
        scope="global",
        semantic_type=SemanticType.STATEMENT,
        entities=frozenset({words}),
        evidence=(evidence,),
        subject=words,
        frames=frozenset({words, "work"}),
    )


@settings(max_examples=60)
@given(
    cells=st.lists(assertions(), max_size=8, unique_by=lambda c: (c.id, c.evidence[0].key)),
    data=st.data(),
)
def test_cells_do_not_depend_on_order_or_batching(cells: list[Cell], data: st.DataObject) -> None:
    ids = [c.id for c in cells]
    batches = data.draw(st.lists(st.lists(st.sampled_from(cells), max_size=4), max_size=4)) if cells else []
    batches += [[c] for c in data.draw(st.permutations(cells))]
    with Store.open("sqlite://") as store:
        for batch in batches:
            store.put_cells(batch, {})
        assert store.cells(ids) == merge(cells)
        store.put_cells(store.cells(ids), {})
        assert store.cells(ids) == merge(cells)


@settings(max_examples=60)
@given(text=texts, user=st.none() | texts, record_id=texts.filter(bool), metadata=st.dictionaries(texts, texts))
def test_any_text_survives(text: str, user: str | None, record_id: str, metadata: dict[str, str]) -> None:
    stored = Record(record_id, text, user=user, session=text, depends_on=(text,), metadata=metadata)
    with Store.open("sqlite://") as store:
        store.put_records([stored])
        assert store.records(user, [record_id]) == {record_id: stored}
        assert store.users() == [user]


def test_the_content_hash_ignores_only_what_a_retriever_adds() -> None:
    plain = content_hash(FULL_RECORD)
    assert len(plain) == 64
    assert content_hash(replace(FULL_RECORD, score=None, embedding=None, embedding_model=None)) == plain
    assert content_hash(replace(FULL_RECORD, metadata=dict(reversed(FULL_RECORD.metadata.items())))) == plain
    others: dict[str, object] = {
        **dict.fromkeys(("id", "text", "user", "speaker", "session", "scope", "state"), "other"),
        **dict.fromkeys(("time_us", "valid_from_us", "valid_to_us"), 1),
        "kind": "fact",
        "support": "all",
        "depends_on": (),
        "metadata": {},
    }
    for name, value in others.items():
        assert content_hash(replace(FULL_RECORD, **{name: value})) != plain, name
    assert content_hash(replace(FULL_RECORD, user=None)) != content_hash(replace(FULL_RECORD, user=""))


def test_a_store_in_memory_is_one_for_all_threads() -> None:
    with Store.open("sqlite://") as store:
        thread = threading.Thread(target=store.set_progress, args=("s", 5))
        thread.start()
        thread.join()
        assert store.progress("s") == 5
