"""What people see of a decision and of a cell's history: every verdict with its reason, text shown as it is."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest
from contract_samples import BERGEN, TEA, UTRECHT, governor, memory
from rich.console import Console

from calm.batch import Reason
from calm.cells import Cell, State
from calm.decision import Decision, Verdict
from calm.memories import MemoryDecision
from calm.records import parse_record
from calm.show import print_chain, print_decision
from calm.stage_one import stage_one
from calm.store import LedgerEvent
from calm.times import to_us

AT = to_us(datetime(2026, 1, 1, tzinfo=UTC))


def decided(*memories: dict[str, Any], question: str = "Where do I live?", **options: Any) -> MemoryDecision:
    return governor().admit(question, memories, query_time="2026-01-01T00:00:00Z", **options)


def cells_of(*memories: dict[str, Any]) -> dict[str, Cell]:
    return {c.id: c for c in stage_one([parse_record(m) for m in memories])}


def screen(width: int = 200, **options: Any) -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, width=width, highlight=False, **options), out


def shown(
    *memories: dict[str, Any], explain: bool = True, limit: int | None = None, width: int = 200, **options: Any
) -> str:
    console, out = screen(width)
    print_decision(console, decided(*memories, **options).decision, cells_of(*memories), explain, limit)
    return out.getvalue()


def row(text: str, containing: str) -> str:
    (found,) = [line for line in text.splitlines() if containing in line and ("✓" in line or "✗" in line)]
    return found


# --- Decisions


def test_each_memory_has_a_row_with_its_verdict() -> None:
    text = shown(UTRECHT, BERGEN, TEA)
    for containing, mark in (("user: I live in Bergen.", "✓"), ("green tea", "✓"), ("I live in Utrecht.", "✗")):
        assert mark in row(text, containing)
    assert "2025-06-02" in row(text, "user: I live in Bergen.")
    assert "relevance" in row(text, "green tea")


def test_a_superseded_memory_names_what_superseded_it_and_when() -> None:
    found = row(shown(UTRECHT, BERGEN), "I live in Utrecht.")
    assert "superseded by “I live in Bergen.” (2025-06-02)" in found
    assert "dominated" not in found, "one reason in words is enough where both are the same fact"


def test_a_low_score_shows_both_numbers() -> None:
    found = row(shown(memory("m1", "The printer is jammed.", score=0.0, speaker="web")), "printer")
    assert "low score 0.3" in found
    assert "< 0.60" in found


def test_without_explain_only_the_context_and_the_flags_are_shown() -> None:
    text = shown(UTRECHT, BERGEN, explain=False)
    assert "I live in Bergen." in text
    assert "Utrecht" not in text
    assert "✗" not in text


def test_flags_are_shown_and_an_empty_context_says_so() -> None:
    text = shown(UTRECHT, budget_tokens=0)
    assert "flags: budget_too_small" in text
    assert "(empty)" in text
    assert "does not fit the budget" in row(text, "Utrecht")
    assert "flags" not in shown(UTRECHT)


def test_the_tokens_of_the_context_are_told() -> None:
    found = decided(UTRECHT).decision
    assert f"{found.used_tokens} tokens" in shown(UTRECHT)


def test_a_limit_shows_the_closest_of_the_blocked_and_counts_the_rest() -> None:
    foreign = [memory(f"m{n}", f"Note {n} of Bob.", user="bob", score=n / 10) for n in range(1, 8)]
    text = shown(*foreign, user="ana", limit=2)
    assert [n for n in range(1, 8) if f"Note {n} of Bob." in text] == [6, 7]
    assert "5 more blocked" in text
    whole = shown(*foreign, user="ana")
    assert "more blocked" not in whole
    assert all(f"Note {n} of Bob." in whole for n in range(1, 8))


def test_no_admitted_memory_is_left_out_by_a_limit() -> None:
    text = shown(UTRECHT, TEA, limit=0)
    assert text.count("✓") == 2


@pytest.mark.parametrize("code", [c for c in Reason(2**14 - 1).codes() if c != "duplicate_of"])
def test_every_reason_has_words_for_people(code: str) -> None:
    decision = decided(TEA).decision
    one = decision.admitted[0]
    detail = {"threshold": 0.6} if code == "low_score" else {}
    blocked = Verdict(one.cell, one.life, one.score, one.features, (code,), detail)
    console, out = screen()
    print_decision(console, Decision(decision.query, (), (blocked,), (), "", 0, decision.threshold), {}, explain=True)
    why = row(out.getvalue(), "green tea").split("│")[-2].strip()
    assert why
    assert "_" not in code or code not in why


NASTY = "I [b]like[/b] [/x] green tea :cat: \\[red] 住."


def test_markup_and_emoji_codes_in_a_text_are_shown_as_they_are() -> None:
    assert shown({**TEA, "text": NASTY}).count(NASTY) == 2, "in the table and in the context"
    assert "[/i]bot: I like" in shown({**TEA, "speaker": "[/i]bot"})
    overruled = row(
        shown({**UTRECHT, "user": None}, {**BERGEN, "text": "I live in Bergen [/x].", "user": None}), "Utrecht"
    )
    assert "“I live in Bergen [/x].”" in overruled


def test_a_text_of_several_lines_is_one_row() -> None:
    text = shown({**TEA, "text": "I like\ngreen\r\n\ttea."})
    assert text.count("I like green tea.") == 2


def test_a_narrow_screen_folds_and_loses_no_word() -> None:
    text = shown(UTRECHT, BERGEN, TEA, width=60)
    assert all(len(line) <= 60 for line in text.splitlines())
    for word in ("Utrecht", "Bergen", "green", "superseded"):
        assert word in text


def test_a_text_cannot_steer_the_terminal() -> None:
    text = shown({**TEA, "text": "I like green tea.\x1b[2J\x1b]0;owned\x07"})
    assert "green tea" in text
    assert "\x1b" not in text


# --- Chains


def chain(cell: Cell, *events: LedgerEvent, names: dict[str, str] | None = None) -> str:
    console, out = screen()
    print_chain(console, cell, events, names or {})
    return out.getvalue()


def one_cell(**fields: Any) -> Cell:
    (cell,) = cells_of({**UTRECHT, **fields}).values()
    return cell


def happening(before: State, after: State, rule: str, causes: tuple[str, ...] = (), **numbers: float) -> LedgerEvent:
    return LedgerEvent(
        cell=one_cell().id, before=before, after=after, rule=rule, causes=causes, numbers=numbers, at_us=AT
    )


def test_a_chain_tells_claim_owner_scope_evidence_and_each_event_in_order() -> None:
    cell = one_cell(scope="project:atlas")
    text = chain(
        cell,
        happening(State.CANDIDATE, State.ACTIVE, "direct_user_evidence", ("m1",), confidence=0.75),
        happening(State.ACTIVE, State.SUPERSEDED, "superseded", ("abc",), strength=0.9),
        names={"abc": "I live in Bergen."},
    )
    for word in (cell.id, "I live in Utrecht.", "owner ana", "project:atlas", "2025-01-02T10:00:00+00:00", "by user"):
        assert word in text
    assert "in record m1" in text
    first, second = [line for line in text.splitlines() if "->" in line]
    assert "CANDIDATE -> ACTIVE" in first and "direct_user_evidence" in first and "confidence 0.75" in first
    assert "ACTIVE -> SUPERSEDED" in second and "strength 0.90" in second and "abc: I live in Bergen." in second
    assert second.startswith("2026-01-01T00:00:00+00:00")


def test_a_chain_of_an_undated_record_says_so() -> None:
    assert "said at an unknown time by user" in chain(one_cell(timestamp=None))


def test_a_chain_tells_when_a_claim_applies_where_that_is_not_when_it_was_said() -> None:
    text = chain(one_cell(valid_at="2024-05-01T00:00:00Z"))
    assert "applies from 2024-05-01T00:00:00+00:00" in text
    assert "applies from" not in chain(one_cell())


def test_markup_in_a_claim_its_speaker_scope_and_record_is_shown_as_it_is() -> None:
    text = chain(one_cell(text="I [/b] live [red]here[/red].", speaker="[/i]bot", scope="key:[/u]", id="[/s]m1"))
    for word in ("I [/b] live [red]here[/red].", "[/i]bot", "key:[/u]", "[/s]m1"):
        assert word in text


def test_markup_in_the_owners_name_is_shown_as_it_is() -> None:
    assert "owner [/b]ana[red]" in chain(one_cell(user="[/b]ana[red]"))
