"""Records: what a memory backend hands over, parsed once and checked at the edge.

A record is one dialogue turn, extracted fact or summary. Nothing here interprets its text.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from difflib import get_close_matches
from typing import Literal, get_args

from calm.errors import InvalidRecord, InvalidTimestamp, shown
from calm.times import parse_instant

Kind = Literal["dialogue", "fact", "summary"]
Support = Literal["all", "any"]

GLOBAL_SCOPE = "global"


@dataclass(frozen=True, slots=True)
class Record:
    """One memory as its backend stores it. Times are int64 µs UTC; None where the backend has none.

    `user` is the owner (tenant), `speaker` who said it, `time_us` when it was said or written (record time),
    `score` the retriever's own relevance, `scope` "global" or "key:value", `valid_from_us` and `valid_to_us`
    the backend's validity interval (half open), `state` the backend's own word for its state, `depends_on`
    ids of records of which `support` ("all" or "any") must hold. What the backend sent beyond that lies
    untouched in `metadata`.
    """

    id: str
    text: str
    time_us: int | None = None
    user: str | None = None
    speaker: str = "user"
    session: str | None = None
    kind: Kind = "fact"
    score: float | None = None
    embedding: tuple[float, ...] | None = None
    embedding_model: str | None = None
    scope: str = GLOBAL_SCOPE
    valid_from_us: int | None = None
    valid_to_us: int | None = None
    state: str | None = None
    depends_on: tuple[str, ...] = ()
    support: Support = "all"
    metadata: Mapping[str, object] = field(default_factory=dict)


class UnknownKeyWarning(UserWarning):
    """A record carries a key that calm doesn't know; its value is kept in `metadata`."""


MAX_DEPTH = 100
"""How deep a record may be nested: JSON's own writer gives up not far beyond."""
KNOWN_KEYS = frozenset(
    {
        "id",
        "text",
        "timestamp",
        "user",
        "speaker",
        "session",
        "kind",
        "score",
        "embedding",
        "embedding_model",
        "scope",
        "valid_at",
        "invalid_at",
        "state",
        "depends_on",
        "support",
        "metadata",
    }
)


def parse_record(data: object, *, strict: bool = True, naive_tz: tzinfo = UTC) -> Record:
    """One JSON object of the batch contract as a `Record`.

    A missing or null text becomes "" (Stage III blocks it as `empty`); unknown keys are kept in `metadata`.
    In lenient mode (`strict=False`) an unparsable time is missing instead of an error.
    Raises `InvalidRecord` (no id, a wrong type, a NaN score) or `InvalidTimestamp`, each naming the record.
    """
    if not isinstance(data, Mapping):
        raise InvalidRecord(f"{shown(data)} is not a JSON object", hint="one object a record")
    record_id = _identifier(data.get("id"))
    read = _Reader(data, record_id, strict, naive_tz)
    session = read.text("session")
    return Record(
        id=record_id,
        text=read.text("text") or "",
        time_us=read.instant("timestamp"),
        user=read.text("user"),
        speaker=read.text("speaker") or "user",
        session=session,
        kind=read.kind(default="fact" if session is None else "dialogue"),
        score=read.number("score"),
        embedding=read.vector("embedding"),
        embedding_model=read.text("embedding_model"),
        scope=read.text("scope") or GLOBAL_SCOPE,
        valid_from_us=read.instant("valid_at"),
        valid_to_us=read.instant("invalid_at"),
        state=read.text("state"),
        depends_on=read.ids("depends_on"),
        support=read.support(),
        metadata=read.metadata(),
    )


def _depth(value: object) -> int:
    """How deep lists and objects are nested in `value`; 0 for a scalar. Counts without recursion."""
    depth, level = 0, [value]
    while level := [v for v in level if isinstance(v, (Mapping, list))]:
        depth += 1
        level = [x for v in level for x in (v.values() if isinstance(v, Mapping) else v)]
    return depth


def _identifier(value: object, *, record: str | None = None, field: str = "id") -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise InvalidRecord(f"{shown(value)} is no id", record=record, field=field, hint="give each record a text id")
    return str(value)


def _finite(value: object) -> float | None:
    """The number as a float; None for what is no number, not finite, or an integer beyond every float."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one key at a time and names record and key in what it raises."""

    data: Mapping[str, object]
    record: str
    strict: bool
    naive_tz: tzinfo

    def fail(self, key: str, want: str) -> InvalidRecord:
        return InvalidRecord(f"{shown(self.data[key])} is not {want}", record=self.record, field=key)

    def text(self, key: str) -> str | None:
        value = self.data.get(key)
        if value is None or isinstance(value, str):
            return value
        if key in {"user", "session", "speaker"} and isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        raise self.fail(key, "a text or null")

    def instant(self, key: str) -> int | None:
        try:
            return parse_instant(self.data.get(key), record=self.record, field=key, naive_tz=self.naive_tz)
        except InvalidTimestamp:
            if self.strict:
                raise
            return None

    def number(self, key: str) -> float | None:
        value = self.data.get(key)
        if value is None:
            return None
        number = _finite(value)
        if number is None:
            raise self.fail(key, "a finite number or null")
        return number

    def vector(self, key: str) -> tuple[float, ...] | None:
        value = self.data.get(key)
        if value is None:
            return None
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            raise self.fail(key, "a list of numbers or null")
        numbers = tuple(number for x in value if (number := _finite(x)) is not None)
        if len(numbers) < len(value):
            raise self.fail(key, "a list of finite numbers or null")
        return numbers

    def ids(self, key: str) -> tuple[str, ...]:
        value = self.data.get(key)
        if value is None:
            return ()
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise self.fail(key, "a list of ids or null")
        return tuple(_identifier(x, record=self.record, field=key) for x in value)

    def kind(self, default: Kind) -> Kind:
        value = self.data.get("kind")
        if value is None:
            return default
        for kind in get_args(Kind):
            if value == kind:
                return kind  # type: ignore[no-any-return]
        raise self.fail("kind", f"one of {', '.join(get_args(Kind))}")

    def support(self) -> Support:
        value = self.data.get("support")
        if value is None or value == "all":
            return "all"
        if value == "any":
            return "any"
        raise self.fail("support", '"all" or "any"')

    def metadata(self) -> dict[str, object]:
        value = self.data.get("metadata")
        if value is not None and not isinstance(value, Mapping):
            raise self.fail("metadata", "an object or null")
        if _depth(self.data) > MAX_DEPTH:
            raise InvalidRecord(f"nested deeper than {MAX_DEPTH} levels", record=self.record, hint="flatten it")
        extra = {key: x for key, x in self.data.items() if key not in KNOWN_KEYS}
        for key in extra:
            close = get_close_matches(str(key), KNOWN_KEYS, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            warnings.warn(f"unknown key {shown(key)}: kept in metadata{hint}", UnknownKeyWarning, stacklevel=4)
        return {**extra, **(value or {})}
