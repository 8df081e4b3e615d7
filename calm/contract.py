"""Batch admission: one JSON case a line in, one JSON answer a line out, in the same order.

A bad case answers with its error on its own line; the others are still answered.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, tzinfo

from calm.errors import CalmError, InvalidOption, InvalidRecord, MalformedLine, shown
from calm.governor import Case, Governor
from calm.memories import MemoryDecision
from calm.query import TimeAxis, read_query
from calm.records import parse_record
from calm.times import parse_instant, parse_zone

CALLER_OPTIONS = frozenset(
    {
        "as_of",
        "time_axis",
        "query_user",
        "query_scope",
        "budget_tokens",
        "naive_tz",
        "user_name",
        "query_embedding_dim",
        "k",
        "admit",
    }
)
"""Options that a caller may set; any other key belongs to whoever checks the answers and changes nothing here."""


def parse_case(line: str | bytes, position: int = 0) -> tuple[str | None, Case | CalmError]:
    """(id, the case or the error that it earns) of one line. Never raises."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        return None, MalformedLine(f"not JSON: {error}", record=f"line {position}", hint="one JSON object a line")
    if not isinstance(data, dict):
        return None, MalformedLine(f"{shown(data)} is not a JSON object", record=f"line {position}")
    name = data.get("id")
    try:
        return (None if name is None else str(name)), _case(data)
    except CalmError as error:
        return (None if name is None else str(name)), error


def _case(data: Mapping[str, object]) -> Case:
    options = _Options(data.get("options"))
    zone = options.zone()
    question = data.get("query")
    if question is not None and not isinstance(question, str):
        raise InvalidOption(f"{shown(question)} is not a text", field="query")
    memories = data.get("memories")
    if not isinstance(memories, list):
        raise InvalidRecord(f"{shown(memories)} is not a list of memories", field="memories")
    asked = parse_instant(data.get("query_time"), field="query_time", naive_tz=zone)
    if asked is None:
        raise InvalidOption("no query_time", field="query_time", hint="say when the question is asked, in ISO 8601")
    options.gate()
    query = read_query(
        question or "",
        asked,
        as_of_us=parse_instant(options.value("as_of"), field="as_of", naive_tz=zone),
        axis=options.axis(),
        user=options.text("query_user"),
        scope=options.text("query_scope"),
        budget_tokens=options.count("budget_tokens", least=0),
    )
    return Case(
        query=query,
        records=tuple(parse_record(memory, naive_tz=zone) for memory in memories),
        k=options.count("k", least=1),
        user_name=options.text("user_name"),
        query_embedding_dim=options.count("query_embedding_dim", least=1),
    )


class _Options:
    """The caller's options of one case, each checked when it is read; raises `InvalidOption`."""

    def __init__(self, options: object) -> None:
        if options is None:
            options = {}
        if not isinstance(options, Mapping):
            raise InvalidOption(f"{shown(options)} is not an object", field="options")
        self._options = options

    def value(self, key: str) -> object:
        return self._options.get(key)

    def text(self, key: str) -> str | None:
        value = self._options.get(key)
        if value is None or isinstance(value, str):
            return value
        raise InvalidOption(f"{shown(value)} is not a text", field=key)

    def count(self, key: str, least: int) -> int | None:
        value = self._options.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**62:
            raise InvalidOption(f"{shown(value)} is not a whole number >= {least}", field=key)
        return value

    def axis(self) -> TimeAxis:
        value = self._options.get("time_axis")
        if value is None or value == "event":
            return "event"
        if value == "system":
            return "system"
        raise InvalidOption(f"{shown(value)} is no time axis", field="time_axis", hint='"event" or "system"')

    def zone(self) -> tzinfo:
        name = self.text("naive_tz")
        return UTC if name is None else parse_zone(name)

    def gate(self) -> None:
        value = self._options.get("admit")
        if value == "mlp":
            raise InvalidOption('no learned gate is installed for "mlp"', field="admit", hint='use "zs"')
        if value not in (None, "zs"):
            raise InvalidOption(f"{shown(value)} is no gate", field="admit", hint='use "zs"')


def admit_lines(lines: Iterable[str | bytes], governor: Governor, batch_size: int = 32) -> Iterator[dict[str, object]]:
    """Answers to the cases on `lines` (blank lines are skipped), `batch_size` cases a tensor batch, in order."""
    pending: list[tuple[str | None, Case | CalmError]] = []
    for position, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        pending.append(parse_case(line, position))
        if len(pending) == batch_size:
            yield from _answers(pending, governor)
            pending = []
    yield from _answers(pending, governor)


def _answers(pending: Sequence[tuple[str | None, Case | CalmError]], governor: Governor) -> Iterator[dict[str, object]]:
    checked = [(name, _checked(case)) for name, case in pending]
    sound = [case for _, case in checked if isinstance(case, Case)]
    decisions = iter(governor.admit_all(sound))
    for name, case in checked:
        yield failure(name, case) if isinstance(case, CalmError) else answer(name, next(decisions))


def _checked(case: Case | CalmError) -> Case | CalmError:
    """The case, or the error that its memories earn together (ids, embeddings)."""
    if isinstance(case, CalmError):
        return case
    try:
        case.check()
    except CalmError as error:
        return error
    return case


def answer(name: str | None, decided: MemoryDecision) -> dict[str, object]:
    """A decision in the contract's form. `stats` is ours: pairs that the conflict scorer judged, of all pairs."""
    return {
        "id": name,
        "intent": decided.decision.query.intent.name.lower(),
        "admitted": [
            {"id": m.record.id, "score": round(m.score, 6), "features": dict(m.features)} for m in decided.admitted
        ],
        "blocked": [{"id": m.record.id, "reasons": list(m.reasons), "detail": dict(m.detail)} for m in decided.blocked],
        "flags": list(decided.flags),
        "conflicts": [{"older": c.older, "newer": c.newer, "strength": c.strength} for c in decided.conflicts],
        "states": {i: state.name for i, state in decided.states.items()},
        "context": decided.context,
        "stats": {"pairs_scored": decided.pairs_scored, "pairs": decided.pairs, "llm_calls": 0},
        "error": None,
    }


def failure(name: str | None, error: CalmError) -> dict[str, object]:
    """The answer to a case that can't be decided."""
    return {
        "id": name,
        "intent": None,
        "admitted": [],
        "blocked": [],
        "flags": [],
        "conflicts": [],
        "states": {},
        "context": "",
        "error": error.as_dict(),
    }
