"""A question to a store: now gets the new memory only, the past gets the old one back, tenants never mix."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from memory_samples import EMBEDDER, absorb, forget, house

from calm.conflict import Conflict
from calm.decision import Decision
from calm.embed import HashingEmbedder
from calm.errors import InvalidOption
from calm.pipeline import PipelineConfig
from calm.query import Query, TimeAxis, read_query
from calm.recall import Recaller, resolve_user
from calm.records import Record
from calm.retrieve import RetrieveConfig
from calm.rules import RuleScorer
from calm.store import Store
from calm.times import parse_instant

TODAY = "2025-06-01T12:00:00Z"
CPU = PipelineConfig(device="cpu")


@pytest.fixture
def store() -> Iterator[Store]:
    with Store.open("sqlite://") as opened:
        yield opened


@pytest.fixture
def home(store: Store) -> Store:
    """A store that holds one household."""
    absorb(store, house())
    return store


def us(instant: str) -> int:
    parsed = parse_instant(instant)
    assert parsed is not None
    return parsed


def query(
    question: str,
    at: str = TODAY,
    *,
    as_of: str | None = None,
    user: str | None = None,
    scope: str | None = None,
    axis: TimeAxis = "event",
) -> Query:
    as_of_us = None if as_of is None else us(as_of)
    return read_query(question, us(at), as_of_us=as_of_us, axis=axis, user=user, scope=scope)


def recaller(store: Store, **retrieve: object) -> Recaller:
    return Recaller(store, RuleScorer(), EMBEDDER, retrieve=RetrieveConfig(**retrieve), pipeline=CPU)


def admitted(decision: Decision) -> set[str]:
    return {v.cell.text for v in decision.admitted}


def blocked(decision: Decision) -> dict[str, tuple[str, ...]]:
    return {v.cell.text: v.reasons for v in decision.blocked}


# Time


def test_a_question_about_now_gets_the_new_memory_only(home: Store) -> None:
    decision = recaller(home).ask(query("Where do I work?"))
    assert "I work at Borealis." in admitted(decision)
    assert "superseded" in blocked(decision)["I work at Acme."]
    assert "Acme" not in decision.context


def test_a_fact_that_came_true_again_is_the_current_one(home: Store) -> None:
    decision = recaller(home).ask(query("Where do I live?"))
    assert "I live in Oslo." in admitted(decision)
    assert "superseded" in blocked(decision)["I live in Bergen."]


def test_a_question_about_the_past_gets_the_old_memory_back(home: Store) -> None:
    decision = recaller(home).ask(query("Where did I work before?"))
    assert admitted(decision) >= {"I work at Acme.", "I work at Borealis."}


@pytest.mark.parametrize(
    ("as_of", "there", "not_there"),
    [
        ("2025-01-20", {"I live in Oslo."}, {"I live in Bergen.", "I work at Acme.", "I work at Borealis."}),
        ("2025-02-10", {"I live in Oslo.", "I work at Acme."}, {"I live in Bergen.", "I work at Borealis."}),
        ("2025-03-10", {"I live in Bergen.", "I work at Acme."}, {"I live in Oslo.", "I work at Borealis."}),
        ("2025-04-10", {"I live in Bergen.", "I work at Borealis."}, {"I live in Oslo.", "I work at Acme."}),
        ("2025-05-10", {"I live in Oslo.", "I work at Borealis."}, {"I live in Bergen.", "I work at Acme."}),
    ],
)
@pytest.mark.parametrize("way", ["as_of", "asked_then", "said"])
def test_as_of_an_instant_gets_the_state_of_that_time(
    home: Store, as_of: str, there: set[str], not_there: set[str], way: str
) -> None:
    """Whether the caller gives the instant, the question names the day, or it was asked at that time."""
    question = "Where do I live and work?"
    asked = {
        "as_of": query(question, as_of=as_of),
        "asked_then": query(question, as_of),
        "said": query(f"Where did I live and work on {as_of}?"),
    }[way]
    shown = admitted(recaller(home).ask(asked))
    assert there <= shown
    assert not shown & not_there


def test_the_state_at_the_instant_of_a_change_is_the_new_one(home: Store) -> None:
    at, just_before = (
        admitted(recaller(home).ask(query("Where do I work?", as_of=instant)))
        for instant in ("2025-04-01T09:00:00Z", "2025-04-01T08:59:59.999999Z")
    )
    assert "I work at Borealis." in at
    assert "I work at Acme." not in at
    assert "I work at Acme." in just_before
    assert "I work at Borealis." not in just_before


def test_an_event_anchors_a_question_in_the_cells_own_times(store: Store) -> None:
    story = [
        Record("m1", "I live in Oslo.", us("2025-01-01"), "alice"),
        Record("m2", "I moved to Bergen.", us("2025-03-01"), "alice"),
        Record("m3", "I live in Bergen.", us("2025-03-02"), "alice"),
    ]
    absorb(store, story)
    decision = recaller(store).ask(query("Where did I live before I moved to Bergen?"))
    assert "I live in Oslo." in admitted(decision)
    assert "not_yet_known" in blocked(decision)["I live in Bergen."]


def test_the_system_axis_tells_what_was_recorded_by_then(store: Store) -> None:
    """In April somebody records that the job has changed in February."""
    absorb(
        store,
        [
            Record("m1", "I work at Acme.", us("2025-01-01"), "alice"),
            Record("m2", "I work at Borealis.", us("2025-04-01"), "alice", valid_from_us=us("2025-02-01")),
        ],
    )
    told = {
        axis: admitted(recaller(store).ask(query("Where do I work?", as_of="2025-03-01", axis=axis)))
        for axis in ("event", "system")
    }
    assert told == {"event": {"I work at Borealis."}, "system": {"I work at Acme."}}


# Deletion


def test_a_deleted_memory_is_never_told_and_what_it_superseded_is_back(home: Store) -> None:
    forget(home, "alice", "m8")
    decision = recaller(home).ask(query("Where do I work?"))
    assert "I work at Acme." in admitted(decision)
    told = {v.cell.text for v in (*decision.admitted, *decision.blocked)}
    assert "I work at Borealis." not in told


def test_a_memory_that_leaned_on_a_deleted_one_is_not_admitted(home: Store) -> None:
    forget(home, "alice", "m1", "m9")
    decision = recaller(home).ask(query("Where is my tram card?"))
    assert "unverified" in blocked(decision)["I keep a tram card in the hall."]


# Tenants and scopes

QUESTIONS = ["Where do I live?", "Where did I work before?", "What is the wifi password?", "Where is the spare key?"]


def other_house(user: str | None) -> list[Record]:
    """The same claims about another place and firm, so that every question would find them too."""
    swap = {"Oslo": "Lund", "Bergen": "Visby", "Acme": "Zephyr", "heron-42": "egret-9", "shed": "garage"}
    records = []
    for record in house("bob"):
        text = record.text
        for ours, theirs in swap.items():
            text = text.replace(ours, theirs)
        records.append(replace(record, text=text, user=user))
    return records


@pytest.mark.parametrize("other", ["bob", "alice ", "", None])
def test_tenants_never_mix(store: Store, other: str | None) -> None:
    """Each gets what it would get from a store of its own, to the last number."""
    absorb(store, [r for pair in zip(house(), other_house(other), strict=True) for r in pair], 4)
    for user, records in (("alice", house()), (other, other_house(other))):
        with Store.open("sqlite://") as alone:
            absorb(alone, records)
            for question in QUESTIONS:
                decision = recaller(store).recall(query(question, user=user))
                assert decision == recaller(alone).recall(query(question, user=user))
                assert {v.cell.user for v in (*decision.admitted, *decision.blocked)} == {user}


def test_an_unknown_user_is_refused_and_the_known_ones_are_named(store: Store) -> None:
    absorb(store, [*house("alice")[:1], *house("bob")[:1]])
    with pytest.raises(InvalidOption, match=r"'carol'.*alice, bob") as caught:
        recaller(store).ask(query("Where do I live?", user="carol"))
    assert caught.value.field == "user"
    with pytest.raises(InvalidOption, match=r"several users.*alice, bob"):
        recaller(store).ask(query("Where do I live?"))


def test_of_many_users_some_are_named(store: Store) -> None:
    absorb(store, [house(f"u{n}")[0] for n in range(8)])
    with pytest.raises(InvalidOption, match=r"u0, u1, u2, u3, u4, …"):
        resolve_user(store, None)


def test_the_only_user_needs_no_name(home: Store) -> None:
    assert resolve_user(home, None) == "alice"
    named, unnamed = (recaller(home).ask(query("Where do I live?", user=user)) for user in ("alice", None))
    assert named == unnamed


def test_memories_without_an_owner_are_for_questions_without_one(store: Store) -> None:
    absorb(store, [replace(r, user=None) for r in house()])
    assert resolve_user(store, None) is None
    assert "I live in Oslo." in admitted(recaller(store).ask(query("Where do I live?")))
    with pytest.raises(InvalidOption, match="'alice'"):
        resolve_user(store, "alice")


def test_an_empty_store_answers_nothing_and_says_so(store: Store) -> None:
    decision = recaller(store).ask(query("Where do I live?"))
    assert (decision.admitted, decision.blocked, decision.context) == ((), (), "")
    assert decision.flags == ("nothing_eligible",)
    with pytest.raises(InvalidOption, match="empty"):
        resolve_user(store, "alice")


def test_a_scope_hides_the_other_scopes_but_not_what_is_global(store: Store) -> None:
    texts = {"global": "I live in Oslo.", "project:a": "I live in Bergen.", "project:b": "I live in Lund."}
    absorb(store, [Record(f"m{n}", t, n + 1, "alice", scope=s) for n, (s, t) in enumerate(texts.items())])
    decision = recaller(store).ask(query("Where do I live?", scope="project:a"))
    assert "I live in Bergen." in admitted(decision)
    assert "out_of_scope" in blocked(decision)["I live in Lund."]


# Retrieval


def test_what_superseded_a_retrieved_memory_is_brought_in(store: Store) -> None:
    absorb(store, house()[:1] + house()[4:5])
    question = query("Is Oslo where I live?")
    followed, alone = (
        recaller(store, k=1, stm_size=0, expand=False, follow=follow).ask(question) for follow in (True, False)
    )
    assert admitted(followed) == {"I live in Bergen."}
    assert "superseded" in blocked(followed)["I live in Oslo."]
    # Without it nothing false is told either: the ledger knows that the memory is superseded.
    assert (admitted(alone), set(blocked(alone))) == (set(), {"I live in Oslo."})


def test_a_chain_of_supersession_is_climbed_to_its_end(store: Store) -> None:
    cities = ["Oslo", "Bergen", "Lund", "Visby"]
    absorb(store, [Record(f"m{n}", f"I live in {city}.", n + 1, "alice") for n, city in enumerate(cities)])
    decision = recaller(store, k=1, stm_size=0, expand=False).ask(query("Is Oslo where I live?"))
    assert admitted(decision) == {"I live in Visby."}


UNRELATED = ["The lamp is blue.", "A kettle whistles.", "Rain fell on the tent.", "Chess is on the shelf."]


@pytest.mark.parametrize(("probability", "reached"), [(0.9, 4), (0.75, 4), (0.74, 1)])
def test_strong_conflicts_are_climbed_to_the_end_of_the_chain_and_weak_ones_are_not(
    store: Store, probability: float, reached: int
) -> None:
    absorb(store, [Record(f"m{n}", text, n + 1, "alice") for n, text in enumerate(UNRELATED)])
    chain = [store.find_cell(f"m{n}")[0] for n in range(len(UNRELATED))]
    assert store.conflicts_of(chain) == []
    store.put_conflicts([Conflict(a, b, probability, "gold") for a, b in pairwise(chain)])
    pool = recaller(store, k=1, stm_size=0, expand=False).candidates(query("Is the lamp blue?", user="alice"))
    assert set(pool.relevance) == set(chain[:reached])


def test_the_winners_of_what_was_blocked_can_be_shown(home: Store) -> None:
    asking = recaller(home)
    decision = asking.ask(query("Where do I work?"))
    assert {c.text for c in asking.winners(decision).values()} == {"I live in Oslo.", "I work at Borealis."}


def test_a_winner_that_was_not_retrieved_can_be_shown_too(store: Store) -> None:
    absorb(store, house()[:1] + house()[4:5])
    asking = recaller(store, k=1, stm_size=0, expand=False, follow=False)
    decision = asking.ask(query("Is Oslo where I live?"))
    assert {c.text for c in asking.winners(decision).values()} == {"I live in Bergen."}


def test_an_as_of_question_is_not_crowded_out_by_what_came_later(store: Store) -> None:
    later = [
        Record(f"n{n}", f"I live in {city}.", 100 + n, "alice") for n, city in enumerate(["Lund", "Visby", "Rome"])
    ]
    absorb(store, [Record("m1", "Home is a cabin where pines grow.", 1, "alice"), *later])
    asking = recaller(store, k=1, stm_size=0, expand=False, follow=False)
    question = "Where do I live?"
    now = asking.candidates(query(question, user="alice"))
    then = asking.candidates(replace(query(question, as_of="2025-01-01", user="alice"), at_us=50))
    assert [len(now.relevance), len(then.relevance)] == [1, 1]
    (cell,) = store.find_cell("m1")
    assert set(then.relevance) == {cell}
    assert set(now.relevance) != {cell}


def test_the_short_term_memory_brings_the_most_recent_in(home: Store) -> None:
    asking = recaller(home, k=1, stm_size=2, expand=False, follow=False)
    pool = asking.candidates(query("What is the wifi password?", user="alice"))
    found = {c.text for c in home.cells(pool.relevance)}
    assert found >= {"I live in Oslo.", "I work at Borealis."}
    assert len(found) == 3
    assert all(0.0 <= x <= 1.0 for x in pool.relevance.values())


def test_the_order_of_ingest_does_not_change_an_answer(home: Store) -> None:
    shuffled = house()
    random.Random(3).shuffle(shuffled)
    with Store.open("sqlite://") as other:
        absorb(other, shuffled, 3)
        for question in QUESTIONS:
            assert recaller(other).ask(query(question)) == recaller(home).ask(query(question))


def test_another_embedder_than_the_ingests_is_refused_by_name(home: Store) -> None:
    asking = replace(recaller(home), embedder=HashingEmbedder(32))
    with pytest.raises(InvalidOption, match=r"hashing-1-64.*hashing-1-32") as caught:
        asking.ask(query("Where do I live?"))
    assert caught.value.field == "embedder"
