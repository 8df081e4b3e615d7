"""Cells: an id that depends on owner, scope, type and claim alone, and merging that no order changes."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calm.cells import (
    ASSERTING,
    RELIABILITY,
    Cell,
    Evidence,
    SemanticType,
    Source,
    State,
    cell_id,
    evidence_order,
    merge,
)
from calm.records import GLOBAL_SCOPE

EVIDENCE = Evidence("m1", 0, "I live in Oslo.", "user", Source.USER, 10, 10)
CELL = Cell(
    id=cell_id("u", GLOBAL_SCOPE, SemanticType.STATEMENT, "i live in oslo"),
    claim="i live in oslo",
    text="I live in Oslo.",
    bound="I live in Oslo.",
    user="u",
    scope=GLOBAL_SCOPE,
    semantic_type=SemanticType.STATEMENT,
    entities=frozenset({"oslo"}),
    evidence=(EVIDENCE,),
)


def assertion(number: int) -> Cell:
    """One assertion of one of two claims; all that it says follows from its number, as with a real record."""
    g = random.Random(number)
    claim = g.choice(["i live in oslo", "bo has a cat"])
    words = g.choice([claim, claim.upper(), f"{claim}!"])
    time_us = g.choice([None, 1, 2, 3])
    evidence = Evidence(f"m{number}", g.randrange(2), words, "user", g.choice(list(Source)), time_us, time_us)
    return replace(
        CELL,
        id=cell_id("u", GLOBAL_SCOPE, SemanticType.STATEMENT, claim),
        claim=claim,
        text=words,
        bound=words,
        evidence=(evidence,),
    )


assertions = st.lists(st.integers(0, 40).map(assertion), max_size=8)


@given(assertions, st.randoms())
def test_merging_is_free_of_order(cells: list[Cell], g: random.Random) -> None:
    shuffled = cells[:]
    g.shuffle(shuffled)
    assert merge(shuffled) == merge(cells)


@given(assertions)
def test_merging_again_and_twice_the_same_changes_nothing(cells: list[Cell]) -> None:
    once = merge(cells)
    assert merge(once) == once
    assert merge(cells + cells) == once
    assert merge(once + cells) == once


@given(assertions, assertions, assertions)
def test_merging_in_parts_is_merging_at_once(a: list[Cell], b: list[Cell], c: list[Cell]) -> None:
    at_once = merge([*a, *b, *c])
    assert merge([*merge([*a, *b]), *c]) == at_once
    assert merge([*a, *merge([*b, *c])]) == at_once


@given(assertions)
def test_no_evidence_is_lost_and_none_is_made_up(cells: list[Cell]) -> None:
    merged = merge(cells)
    assert {(c.id, e) for c in merged for e in c.evidence} == {(c.id, e) for c in cells for e in c.evidence}
    assert [c.id for c in merged] == sorted({c.id for c in cells})
    for cell in merged:
        assert len({e.key for e in cell.evidence}) == len(cell.evidence)


@given(assertions)
def test_a_cell_speaks_in_the_words_of_its_latest_evidence(cells: list[Cell]) -> None:
    for cell in merge(cells):
        latest = max(cell.evidence, key=evidence_order)
        assert cell.evidence[-1] == latest
        assert cell.text == cell.bound == latest.text


def test_merging_nothing_gives_nothing() -> None:
    assert merge([]) == []


def test_evidence_goes_by_event_time_with_the_undated_first_and_ids_for_ties() -> None:
    undated, old, new = (replace(EVIDENCE, time_us=t) for t in (None, -5, 7))
    tied = replace(new, record_id="m2")
    second_clause = replace(new, index=1)
    assert sorted([tied, second_clause, new, old, undated], key=evidence_order) == [
        undated,
        old,
        new,
        second_clause,
        tied,
    ]


# --- what a cell says of itself


def test_a_cell_is_as_reliable_as_its_best_assertion_and_as_new_as_its_latest() -> None:
    web = replace(EVIDENCE, record_id="m2", source=Source.DOCUMENT, time_us=30)
    undated = replace(EVIDENCE, record_id="m3", source=Source.TOOL, time_us=None)
    assert replace(CELL, evidence=(undated, web)).reliability == RELIABILITY[Source.TOOL]
    assert replace(CELL, evidence=(undated, EVIDENCE, web)).reliability == RELIABILITY[Source.USER]
    assert replace(CELL, evidence=(undated, EVIDENCE, web)).time_us == 30
    assert replace(CELL, evidence=(undated,)).time_us is None
    assert replace(CELL, evidence=(undated, replace(EVIDENCE, time_us=-4))).time_us == -4


def test_sources_are_weighed_from_the_user_down_to_the_web_page() -> None:
    assert set(RELIABILITY) == set(Source)
    order = [Source.USER, Source.TOOL, Source.ASSISTANT, Source.THIRD_PARTY, Source.DOCUMENT]
    weights = [replace(EVIDENCE, source=source).reliability for source in order]
    assert weights == sorted(set(weights), reverse=True)
    assert weights[0] == 1.0 and weights[-1] > 0


@pytest.mark.parametrize("kind", list(SemanticType))
def test_only_what_is_stated_asserts(kind: SemanticType) -> None:
    stated = {"STATEMENT", "PREFERENCE", "EVENT", "DIRECTIVE"}
    assert replace(CELL, semantic_type=kind).asserts == (kind.name in stated) == (kind in ASSERTING)


TYPES = """STATEMENT PREFERENCE EVENT PLAN HYPOTHETICAL QUESTION SMALL_TALK QUOTE FICTION DIRECTIVE TEMPORARY HEDGED
INJECTION EXPOSITION"""


@pytest.mark.parametrize(
    ("enum", "names"),
    [
        (SemanticType, TYPES),
        (Source, "USER TOOL ASSISTANT THIRD_PARTY DOCUMENT"),
        (State, "CANDIDATE ACTIVE STABLE SUPERSEDED STALE ARCHIVED"),
    ],
)
def test_stored_numbers_never_change(enum: type[SemanticType | Source | State], names: str) -> None:
    assert [member.name for member in enum][: len(names.split())] == names.split()
    assert [int(member) for member in enum] == list(range(len(enum)))


# --- ids

owners = st.none() | st.text(max_size=3)
scopes = st.text(min_size=1, max_size=3)
kinds = st.sampled_from(SemanticType)
claims = st.text(st.characters(exclude_categories=[]), max_size=4)
identities = st.tuples(owners, scopes, kinds, claims)


@given(identities, identities)
def test_two_cells_share_an_id_only_if_owner_scope_type_and_claim_agree(
    one: tuple[str | None, str, SemanticType, str], other: tuple[str | None, str, SemanticType, str]
) -> None:
    assert (cell_id(*one) == cell_id(*other)) == (one == other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((None, "a", SemanticType.STATEMENT, "x"), ("", "a", SemanticType.STATEMENT, "x")),
        (("a", "bc", SemanticType.STATEMENT, "x"), ("ab", "c", SemanticType.STATEMENT, "x")),
        (("u", "a", SemanticType.STATEMENT, "2x"), ("u", "a0", SemanticType.STATEMENT, "2x")),
        (("u", "a", SemanticType.PREFERENCE, "2x"), ("u", "a", SemanticType.QUOTE, "x")),
        (("u", "a", SemanticType.STATEMENT, "-5"), ("u", "a", SemanticType.STATEMENT, "5")),
        (("u", "a", SemanticType.PREFERENCE, "0"), ("u", "a", SemanticType.DIRECTIVE, "")),
    ],
)
def test_parts_of_an_id_do_not_run_into_one_another(
    one: tuple[str | None, str, SemanticType, str], other: tuple[str | None, str, SemanticType, str]
) -> None:
    assert cell_id(*one) != cell_id(*other)


def test_no_scope_is_the_global_scope() -> None:
    assert cell_id("u", "", SemanticType.STATEMENT, "x") == cell_id("u", GLOBAL_SCOPE, SemanticType.STATEMENT, "x")


@pytest.mark.parametrize(
    ("owner", "claim", "expected"),
    [
        ("u", "i live in oslo", "cb01c5c6ce9d7cbb"),
        (None, "i live in oslo", "ef82438ad558b016"),
        ("u", "日本 \ud800", "68d0db3081008044"),
    ],
)
def test_ids_are_the_same_on_every_machine_and_in_every_stored_ledger(
    owner: str | None, claim: str, expected: str
) -> None:
    assert cell_id(owner, GLOBAL_SCOPE, SemanticType.STATEMENT, claim) == expected
