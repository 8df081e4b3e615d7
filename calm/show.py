"""Decisions and ledger chains for people: rich tables and plain lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from calm.cells import Cell
from calm.context import one_line
from calm.decision import Decision, Verdict
from calm.store import LedgerEvent
from calm.times import day, iso

_PLAIN = {
    "empty": "no text",
    "no_owner": "has no owner",
    "wrong_user": "another user's",
    "out_of_scope": "another scope",
    "not_yet_known": "not known yet at that time",
    "archived": "archived",
    "not_valid_at": "not valid at that time",
    "superseded": "superseded",
    "dominated": "dominated by newer (Φ_T)",
    "stale": "what it depends on no longer holds",
    "unverified": "what it depends on is gone",
    "low_score": "low score",
    "over_budget": "does not fit the budget",
}


def decision_table(decision: Decision, names: Mapping[str, Cell], limit: int | None = None) -> Table:
    """Admitted and blocked memories with their reasons; `names` resolves the ids of superseding cells.

    `limit` caps the blocked rows, the closest to the question first; what is left out is counted in the last row.
    """
    table = Table(show_lines=False, pad_edge=False, expand=True)
    table.add_column("", width=2)
    table.add_column("memory", ratio=5, overflow="fold")
    table.add_column("score", justify="right", width=5)
    table.add_column("why", ratio=4, overflow="fold")
    for verdict in decision.admitted:
        table.add_row(Text("✓", style="green"), _memory(verdict), f"{verdict.score:.2f}", _features(verdict))
    blocked = sorted(decision.blocked, key=lambda v: -v.features["relevance"])
    for verdict in blocked[:limit]:
        table.add_row(Text("✗", style="red"), _memory(verdict), f"{verdict.score:.2f}", _why(verdict, names))
    if limit is not None and len(blocked) > limit:
        table.add_row("", f"… and {len(blocked) - limit} more blocked", "", "")
    return table


def _memory(verdict: Verdict) -> Text:
    evidence = verdict.cell.evidence[-1]
    return Text.assemble(
        (f"{day(evidence.time_us)} {one_line(evidence.speaker)}: ", "dim"), one_line(verdict.cell.text)
    )


def _features(verdict: Verdict) -> Text:
    named = verdict.features
    text = (
        f"relevance {named['relevance']:.2f}, validity {named['validity']:.2f}, fit {named['compatibility']:.2f}, "
        f"risk {named['risk']:.2f}"
    )
    return Text(text, style="dim")


def _why(verdict: Verdict, names: Mapping[str, Cell]) -> Text:
    reasons = [
        _PLAIN.get(reason, reason) for reason in verdict.reasons if reason != "dominated" or not _superseded(verdict)
    ]
    text = Text("; ".join(reasons))
    for key in _winners(verdict)[:1]:
        winner = names.get(key)
        if winner is not None:
            text.append(f" by “{one_line(winner.text)}”", style="italic")
            text.append(f" ({day(winner.time_us)})", style="dim")
    if "low_score" in verdict.reasons:
        text.append(f" {verdict.score:.2f} < {verdict.detail['threshold']:.2f}", style="dim")
    return text


def _superseded(verdict: Verdict) -> bool:
    return "superseded" in verdict.reasons


def _winners(verdict: Verdict) -> list[str]:
    named = verdict.detail.get("superseded_by")
    single = verdict.detail.get("dominated_by")
    ids = [str(i) for i in named] if isinstance(named, list) else []
    return ids or ([str(single)] if single is not None else [])


def print_decision(
    console: Console, decision: Decision, names: Mapping[str, Cell], explain: bool, limit: int | None = None
) -> None:
    """The table (with `explain`), the flags and the packed context."""
    if explain:
        console.print(decision_table(decision, names, limit))
    if decision.flags:
        console.print(f"flags: {', '.join(decision.flags)}", style="yellow")
    body: RenderableType = Text(decision.context) if decision.context else Text("(empty)", style="dim")
    title = f"context, {decision.used_tokens} tokens"
    console.print(Panel(body, title=title, title_align="left", border_style="green"))


def _plain(text: str) -> str:
    """Foreign text for rich: one line, and nothing in it is markup."""
    return escape(one_line(text))


def print_chain(console: Console, cell: Cell, events: Sequence[LedgerEvent], names: Mapping[str, str]) -> None:
    """Why a cell is in its state: its claim, its evidence, and the chain of ledger events."""
    console.print(f"[bold]{cell.id}[/bold]  {_plain(cell.text)}")
    console.print(f"type {cell.semantic_type.name.lower()}, owner {_plain(str(cell.user))}, scope {_plain(cell.scope)}")
    for e in cell.evidence:
        said_at = iso(e.record_time_us) or "at an unknown time"
        said = f"said {said_at} by {_plain(e.speaker)} in record {_plain(e.record_id)}"
        applies = "" if e.time_us == e.record_time_us else f", applies from {iso(e.time_us)}"
        console.print(Padding(f"{said}{applies}", (0, 0, 0, 2)))
    for event in events:
        numbers = ", ".join(f"{k} {v:.2f}" for k, v in event.numbers.items())
        causes = "; ".join(f"{c}: {one_line(names[c])}" if c in names else c for c in event.causes)
        why = " | ".join(part for part in (numbers, causes) if part)
        console.print(
            Text.assemble(
                (f"{iso(event.at_us)}  ", "dim"),
                f"{event.before.name} -> ",
                (event.after.name, "bold"),
                f"  {event.rule}",
                (f"  {why}" if why else "", "dim"),
            )
        )
