"""Loaders: a JSONL, LoCoMo or LongMemEval file as a stream of records.

Each record or fault comes with its position, counted from 1 in file order, which stays the same for the same
bytes: an ingest that was interrupted can skip what it has. A fault is handed over in its place, never raised,
and the reading goes on; only a file that can't be read at all raises `InvalidOption`.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Literal, get_args

from calm.errors import CalmError, InvalidOption, InvalidRecord, InvalidTimestamp, shown
from calm.records import Record, parse_record
from calm.sources import Found, check_readable, json_items, json_lines, open_bytes

Format = Literal["jsonl", "locomo", "longmemeval"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """One record, or what is wrong at its place; exactly one of the two is set."""

    position: int
    """From 1, in file order: the line of a JSONL file, else the how-manieth turn or fault."""
    record: Record | None
    error: CalmError | None


Parsed = Record | CalmError


def load(path: Path, format: Format, *, strict: bool = True, naive_tz: tzinfo = UTC) -> Iterator[Loaded]:
    """The records of one file, in file order.

    In strict mode a time that can't be read is an error in the record's place, in lenient mode the record is undated;
    times without an offset are read in `naive_tz`. Raises `InvalidOption` at once for an unknown format or a file
    that can't be opened, and while reading for an archive that turns out damaged.
    """
    loader = _LOADERS.get(format)
    if loader is None:
        raise InvalidOption(
            f"{shown(format)} is no format", field="format", hint=f"one of {', '.join(get_args(Format))}"
        )
    check_readable(path)
    return loader(path, strict, naive_tz)


def count(path: Path, format: Format) -> int | None:
    """How many entries `load` will hand over, for a progress bar.

    None where telling would cost a full parse of a large file (LongMemEval). Raises `InvalidOption` as `load`
    does.
    """
    if format == "jsonl":
        with open_bytes(path) as stream:
            return sum(1 for line in stream if line.strip())
    return sum(1 for _ in load(path, format)) if format == "locomo" else None


def source_key(path: Path, format: Format) -> str:
    """A name for the file's content, "format:sha256", for an ingest to resume by, whatever its name is.

    Raises `InvalidOption` for a file that can't be read.
    """
    check_readable(path)
    with path.open("rb") as stream:
        return f"{format}:{hashlib.file_digest(stream, 'sha256').hexdigest()}"


def load_jsonl(path: Path, strict: bool, naive_tz: tzinfo) -> Iterator[Loaded]:
    """One record a line, in the keys of `parse_record`; the position is the line number."""
    for number, found in json_lines(path):
        parsed = found if isinstance(found, CalmError) else _parse(found, strict, naive_tz, f"line {number}")
        yield _loaded(number, parsed)


def load_locomo(path: Path, strict: bool, naive_tz: tzinfo) -> Iterator[Loaded]:
    """One record a turn of the published LoCoMo JSON: a list of conversations, each the memory of one user.

    The time is the session's plus a second for each turn before it. Ours: the file dates sessions only, and
    the order of the turns must survive. A photo's caption follows the text in brackets.
    """
    return _numbered(json_items(path), lambda item, name: _locomo_turns(item, name, strict, naive_tz))


def load_longmemeval(path: Path, strict: bool, naive_tz: tzinfo) -> Iterator[Loaded]:
    """One record a turn of each question's haystack, in a JSON list or JSONL; each question is its own user.

    Ids hold the session's place, because a question may repeat a session id. The time is the session's plus a
    second for each turn before it (ours, as for LoCoMo).
    """
    return _numbered(json_items(path), lambda item, name: _longmemeval_turns(item, name, strict, naive_tz))


_LOADERS: Mapping[str, Callable[[Path, bool, tzinfo], Iterator[Loaded]]] = {
    "jsonl": load_jsonl,
    "locomo": load_locomo,
    "longmemeval": load_longmemeval,
}


def _loaded(position: int, parsed: Parsed) -> Loaded:
    if isinstance(parsed, CalmError):
        return Loaded(position, None, parsed)
    return Loaded(position, parsed, None)


def _numbered(
    items: Iterator[Found], turns_of: Callable[[Mapping[str, object], str], Iterator[Parsed]]
) -> Iterator[Loaded]:
    positions = itertools.count(1)
    for number, found in items:
        turns = iter([found]) if isinstance(found, CalmError) else turns_of(found, f"item {number}")
        for parsed in turns:
            yield _loaded(next(positions), parsed)


def _parse(data: Mapping[str, object], strict: bool, naive_tz: tzinfo, name: str) -> Parsed:
    try:
        return parse_record(data, strict=strict, naive_tz=naive_tz)
    except CalmError as error:
        if error.record is None:
            error.record = name
        return error


def _locomo_turns(item: Mapping[str, object], name: str, strict: bool, naive_tz: tzinfo) -> Iterator[Parsed]:
    user, conversation = item.get("sample_id"), item.get("conversation")
    if not isinstance(user, str) or not user:
        yield InvalidRecord("a conversation without a sample_id", record=name, field="sample_id")
        return
    if not isinstance(conversation, Mapping):
        yield InvalidRecord("no conversation in it", record=user, field="conversation", hint="is this LoCoMo?")
        return
    people = [conversation[key] for key in ("speaker_a", "speaker_b") if key in conversation]
    for session in sorted(filter(_SESSION.fullmatch, conversation), key=lambda key: int(key.split("_")[1])):
        field = f"{session}_date_time"
        date = _Date(conversation.get(field), field, f"{user}/{session}", _LOCOMO_DATE, naive_tz)
        turns = conversation[session]
        if not isinstance(turns, Sequence) or isinstance(turns, str):
            yield InvalidRecord(f"{shown(turns)} is no list of turns", record=f"{user}/{session}")
            continue
        for index, turn in enumerate(turns):
            yield _locomo_turn(turn, user, session, index, people, date, strict)


def _locomo_turn(
    turn: object, user: str, session: str, index: int, people: list[object], date: _Date, strict: bool
) -> Parsed:
    place = f"{user}/{session} turn {index + 1}"
    if not isinstance(turn, Mapping) or not isinstance(turn.get("dia_id"), str) or not turn["dia_id"]:
        return InvalidRecord("a turn without a dia_id", record=place, field="dia_id")
    text, caption = turn.get("text"), turn.get("blip_caption")
    if caption and (text is None or isinstance(text, str)):
        text = f"{text or ''} [shares a photo: {caption}]".strip()
    kept = {key: turn[key] for key in ("dia_id", "img_url", "query") if key in turn}
    data = {
        "id": f"{user}/{turn['dia_id']}",
        "text": text,
        "user": user,
        "speaker": turn.get("speaker"),
        "session": f"{user}/{session}",
        "kind": "dialogue",
        "metadata": {**kept, "participants": people},
    }
    return _dated(data, date, index, strict, place)


def _longmemeval_turns(item: Mapping[str, object], name: str, strict: bool, naive_tz: tzinfo) -> Iterator[Parsed]:
    user = item.get("question_id")
    if not isinstance(user, str) or not user:
        yield InvalidRecord("a question without a question_id", record=name, field="question_id")
        return
    columns = [item.get(key) for key in ("haystack_sessions", "haystack_session_ids", "haystack_dates")]
    lists = [column for column in columns if isinstance(column, list)]
    if len(lists) < len(columns) or len({len(column) for column in lists}) != 1:
        yield InvalidRecord(
            "haystack_sessions, haystack_session_ids and haystack_dates are not three lists of one length",
            record=user,
        )
        return
    for place, (turns, session_id, said) in enumerate(zip(*lists, strict=True)):
        session = f"{user}/{place}:{session_id}"
        date = _Date(said, "haystack_dates", session, _LONGMEMEVAL_DATE, naive_tz)
        if not isinstance(turns, list):
            yield InvalidRecord(f"{shown(turns)} is no list of turns", record=session)
            continue
        for index, turn in enumerate(turns):
            yield _longmemeval_turn(turn, user, session, str(session_id), index, date, strict)


def _longmemeval_turn(
    turn: object, user: str, session: str, session_id: str, index: int, date: _Date, strict: bool
) -> Parsed:
    record_id = f"{session}/{index}"
    if not isinstance(turn, Mapping):
        return InvalidRecord(f"{shown(turn)} is not a JSON object", record=record_id)
    kept = {key: value for key, value in turn.items() if key not in {"role", "content"}}
    data = {
        "id": record_id,
        "text": turn.get("content"),
        "user": user,
        "speaker": turn.get("role"),
        "session": session,
        "kind": "dialogue",
        "metadata": {**kept, "session_id": session_id},
    }
    return _dated(data, date, index, strict, record_id)


@dataclass(frozen=True, slots=True)
class _Date:
    """What a file says about the time of a session, not yet read."""

    said: object
    field: str
    session: str
    pattern: re.Pattern[str]
    naive_tz: tzinfo

    def of_turn(self, index: int) -> datetime:
        """The session's begin and a second for each turn before this one.

        Raises `InvalidTimestamp` where the session's time is missing or in another form.
        """
        match = self.pattern.fullmatch(self.said.strip()) if isinstance(self.said, str) else None
        try:
            if match is not None:
                return _instant(match, self.naive_tz) + timedelta(seconds=index)
        except (ValueError, KeyError, OverflowError):
            pass  # 31 February, hour 25 or the month of Juno: the same error as any other text
        raise InvalidTimestamp(
            f"{shown(self.said)} is no time of a session",
            record=self.session,
            field=self.field,
            hint="lenient mode takes its turns as undated",
        )


def _dated(data: Mapping[str, object], date: _Date, index: int, strict: bool, name: str) -> Parsed:
    try:
        said = date.of_turn(index)
    except InvalidTimestamp as error:
        return error if strict else _parse(data, strict, UTC, name)
    return _parse({**data, "timestamp": said}, strict, UTC, name)


_SESSION = re.compile(r"session_\d{1,6}")
_LOCOMO_DATE = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2}) ?(?P<half>am|pm) on "
    r"(?P<day>\d{1,2}) (?P<month>[a-z]+),? (?P<year>\d{4})",
    re.IGNORECASE,
)
_LONGMEMEVAL_DATE = re.compile(
    r"(?P<year>\d{4})/(?P<month>\d{2})/(?P<day>\d{2}) (?:\([a-z]+\) )?(?P<hour>\d{2}):(?P<minute>\d{2})",
    re.IGNORECASE,
)
# Not strptime's %B and %p: those follow the machine's language.
_MONTHS = {
    month: number
    for number, month in enumerate(
        "january february march april may june july august september october november december".split(),
        start=1,
    )
}


def _instant(match: re.Match[str], naive_tz: tzinfo) -> datetime:
    part = match.groupdict()
    month = part["month"].lower()
    hour = int(part["hour"])
    if "half" in part:
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if part["half"].lower() == "pm" else 0)
    return datetime(
        int(part["year"]),
        int(month) if month.isdigit() else _MONTHS[month],
        int(part["day"]),
        hour,
        int(part["minute"]),
        tzinfo=naive_tz,
    )
