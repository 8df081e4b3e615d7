"""Loaders: each trap of the three formats as a small file, then the published files if at hand."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import calm.sources
from calm.errors import CalmError, InvalidOption, InvalidRecord, InvalidTimestamp, MalformedLine
from calm.loaders import Format, Loaded, count, load, source_key
from calm.records import Record, UnknownKeyWarning
from calm.times import MICROS, to_us


def records(entries: list[Loaded]) -> list[Record]:
    assert [str(e.error) for e in entries if e.error is not None] == []
    return [e.record for e in entries if e.record is not None]


def errors(entries: list[Loaded]) -> list[CalmError]:
    return [e.error for e in entries if e.error is not None]


def us(*when: int) -> int:
    return to_us(datetime(*when, tzinfo=UTC))  # type: ignore[misc, arg-type]


@pytest.fixture
def written(tmp_path: Path) -> Callable[[bytes | str], Path]:
    def write(content: bytes | str, name: str = "memories.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# --- JSONL


def test_jsonl_reads_records_in_file_order_with_line_numbers(written):
    path = written(
        '{"id": "a", "text": "In Utrecht.", "timestamp": "2025-01-02T10:00:00+01:00", "user": "u", "n": 1}\n'
        '{"id": 7, "text": null, "session": "s1"}'
    )
    with pytest.warns(UnknownKeyWarning, match="unknown key 'n'"):
        first, second = load(path, "jsonl")
    assert (first.position, second.position) == (1, 2)
    assert first.record == Record("a", "In Utrecht.", us(2025, 1, 2, 9), user="u", kind="fact", metadata={"n": 1})
    assert second.record is not None
    assert (second.record.id, second.record.text, second.record.kind) == ("7", "", "dialogue")


@pytest.mark.parametrize(
    "content",
    [
        b'\xef\xbb\xbf{"id": "a"}\n{"id": "b"}\n',
        b'{"id": "a"}\r\n{"id": "b"}\r\n',
        b'\n  \n{"id": "a"}\n\r\n\t\n{"id": "b"}',
    ],
    ids=["byte-order mark", "CRLF", "blank lines"],
)
def test_jsonl_takes_files_as_editors_leave_them(written, content):
    path = written(content)
    assert [r.id for r in records(list(load(path, "jsonl")))] == ["a", "b"]
    assert count(path, "jsonl") == 2


def test_a_line_separator_inside_a_text_does_not_end_the_line(written):
    path = written('{"id": "a", "text": "one\u2028two\x85three"}\n')
    assert [r.text for r in records(list(load(path, "jsonl")))] == ["one\u2028two\x85three"]


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "x", "text": ',
        b"[1, 2]",
        b'"only a text"',
        b'{"id": "x", "text": "caf\xe9"}',
        b'{"id": "x", "text": "\\ud83d"}',
        b"[" * 100_000,
        b'{"id": ' + b"9" * 5_000 + b"}",
    ],
    ids=[
        "cut off",
        "a list",
        "a string",
        "Latin-1",
        "half a surrogate pair",
        "nested too deeply",
        "a huge number",
    ],
)
def test_a_malformed_line_is_named_and_the_next_line_is_read(written, line):
    good = b'{"id": "good"}\n'
    before, bad, after = load(written(good + line + b"\n" + good), "jsonl")
    assert before.record is not None and after.record is not None and after.position == 3
    assert bad.record is None
    assert isinstance(bad.error, MalformedLine)
    assert bad.error.record == "line 2"
    assert len(str(bad.error)) < 400


def test_a_whole_surrogate_pair_is_a_character(written):
    assert records(list(load(written('{"id": "a", "text": "\\ud83d\\ude00"}'), "jsonl")))[0].text == "😀"


def test_invalid_records_and_times_are_named_and_the_rest_is_read(written):
    path = written(
        '{"text": "no id"}\n'
        '{"id": "late", "timestamp": "next Friday"}\n'
        '{"id": "odd", "score": "high"}\n'
        '{"id": "good", "timestamp": "2025-01-02T10:00:00"}\n'
    )
    found = list(load(path, "jsonl"))
    assert [(type(e), e.record) for e in errors(found)] == [
        (InvalidRecord, "line 1"),
        (InvalidTimestamp, "late"),
        (InvalidRecord, "odd"),
    ]
    assert [e.position for e in found] == [1, 2, 3, 4]

    lenient = list(load(path, "jsonl", strict=False, naive_tz=timezone(timedelta(hours=2))))
    assert lenient[1].record is not None and lenient[1].record.time_us is None
    assert lenient[3].record is not None and lenient[3].record.time_us == us(2025, 1, 2, 8)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_packed_files_read_like_plain_ones(written, pack):
    plain = b'{"id": "a", "text": "x"}\nbroken\n{"id": "b"}\n'
    name = "memories.jsonl.gz" if pack is gzip.compress else "memories.jsonl.xz"
    packed = written(pack(plain), name)
    shown = [(e.position, e.record, str(e.error)) for e in load(packed, "jsonl")]
    assert shown == [(e.position, e.record, str(e.error)) for e in load(written(plain), "jsonl")]
    assert count(packed, "jsonl") == 3


def test_reading_is_lazy(written):
    """The first record arrives although the archive is cut off behind it."""
    lines = b"".join(b'{"id": "%d", "text": "%s"}\n' % (i, str(hash(i * i)).encode() * 20) for i in range(20_000))
    packed = gzip.compress(lines)
    stream = load(written(packed[: len(packed) // 2], "cut.jsonl.gz"), "jsonl")
    assert next(stream).record is not None
    with pytest.raises(InvalidOption, match="can't be unpacked"):
        list(stream)


# --- files that can't be read


@pytest.mark.parametrize("format", ["jsonl", "locomo", "longmemeval"])
def test_a_missing_file_and_a_folder_are_refused_at_once(tmp_path, format):
    with pytest.raises(InvalidOption, match=r"no file .*absent\.json.*check the path"):
        load(tmp_path / "absent.json", format)
    with pytest.raises(InvalidOption, match=r"is a folder.*one file"):
        load(tmp_path, format)
    with pytest.raises(InvalidOption, match="no file"):
        source_key(tmp_path / "absent.json", format)


@pytest.mark.parametrize("name", ["memories.jsonl.gz", "memories.jsonl.xz"])
def test_a_file_that_is_no_archive_in_spite_of_its_name_is_refused(written, name):
    with pytest.raises(InvalidOption, match="can't be unpacked"):
        load(written('{"id": "a"}', name), "jsonl")


def test_an_unknown_format_is_refused(written):
    with pytest.raises(InvalidOption, match=r"'csv' is no format.*jsonl, locomo, longmemeval"):
        load(written("id,text"), "csv")  # type: ignore[arg-type]


@pytest.mark.parametrize("format", ["jsonl", "locomo", "longmemeval"])
def test_an_empty_file_holds_nothing(written, format):
    assert list(load(written(""), format)) == []
    assert list(load(written("  \n\n"), format)) == []


def test_source_keys_follow_the_content_and_the_format(written):
    a, b = written('{"id": "a"}', "a.jsonl"), written('{"id": "a"}', "b.jsonl")
    assert source_key(a, "jsonl") == source_key(b, "jsonl")
    assert source_key(a, "jsonl") != source_key(a, "locomo")
    before = source_key(a, "jsonl")
    a.write_text('{"id": "c"}')
    assert source_key(a, "jsonl") != before


# --- LoCoMo


def turn(speaker: str, dia_id: str, text: str, **more: object) -> dict[str, object]:
    return {"speaker": speaker, "dia_id": dia_id, "text": text, **more}


def conversation(**sessions: object) -> list[dict[str, object]]:
    return [{"sample_id": "talk-1", "conversation": {"speaker_a": "Ada", "speaker_b": "Bo", **sessions}}]


def test_locomo_makes_one_record_a_turn(written):
    item = conversation(
        session_1_date_time="1:56 pm on 8 May, 2023",
        session_1=[
            turn("Ada", "D1:1", "I adopted a cat."),
            turn("Bo", "D1:2", "Look!", blip_caption="a cat on a chair", img_url=["u"], query="cat"),
        ],
    )
    first, second = records(list(load(written(json.dumps(item)), "locomo")))
    assert first == Record(
        "talk-1/D1:1",
        "I adopted a cat.",
        us(2023, 5, 8, 13, 56),
        user="talk-1",
        speaker="Ada",
        session="talk-1/session_1",
        kind="dialogue",
        metadata={"dia_id": "D1:1", "participants": ["Ada", "Bo"]},
    )
    assert second.text == "Look! [shares a photo: a cat on a chair]"
    assert second.time_us == us(2023, 5, 8, 13, 56, 1)
    assert second.metadata == {
        "dia_id": "D1:2",
        "img_url": ["u"],
        "query": "cat",
        "participants": ["Ada", "Bo"],
    }


@pytest.mark.parametrize(
    ("said", "hour"),
    [
        ("12:48 am on 1 February, 2023", 0),
        ("12:05 pm on 1 February, 2023", 12),
        ("11:59 PM on 1 February 2023", 23),
    ],
)
def test_locomo_clock_times(written, said, hour):
    item = conversation(session_1_date_time=said, session_1=[turn("Ada", "D1:1", "Hi")])
    assert records(list(load(written(json.dumps(item)), "locomo")))[0].time_us == us(
        2023, 2, 1, hour, int(said[said.index(":") + 1 :][:2])
    )


def test_locomo_session_times_are_read_in_the_named_zone(written):
    item = conversation(session_1_date_time="1:00 am on 8 May, 2023", session_1=[turn("Ada", "D1:1", "Hi")])
    zone = timezone(timedelta(hours=2))
    found = records(list(load(written(json.dumps(item)), "locomo", naive_tz=zone)))
    assert found[0].time_us == us(2023, 5, 7, 23)


def test_locomo_sessions_go_by_number_and_may_be_empty_or_dated_only(written):
    date = "1:00 am on 8 May, 2023"
    item = conversation(
        session_10_date_time=date,
        session_10=[turn("Ada", "D10:1", "ten")],
        session_2_date_time=date,
        session_2=[turn("Bo", "D2:1", "two")],
        session_3_date_time=date,
        session_3=[],
        session_11_date_time=date,
    )
    path = written(json.dumps(item))
    assert [r.text for r in records(list(load(path, "locomo")))] == ["two", "ten"]
    assert count(path, "locomo") == 2


@pytest.mark.parametrize("said", [None, "soon", "25:00 pm on 8 May, 2023", "1:00 pm on 31 June, 2023", 5])
def test_a_locomo_session_without_a_time_is_an_error_or_undated(written, said):
    item = conversation(session_1_date_time=said, session_1=[turn("Ada", "D1:1", "Hi")])
    path = written(json.dumps(item))
    (error,) = errors(list(load(path, "locomo")))
    assert isinstance(error, InvalidTimestamp)
    assert (error.record, error.field) == ("talk-1/session_1", "session_1_date_time")
    assert records(list(load(path, "locomo", strict=False)))[0].time_us is None


def test_faults_in_a_locomo_file_are_named_and_the_rest_is_read(written):
    date = "1:00 am on 8 May, 2023"
    good = conversation(session_1_date_time=date, session_1=[turn("Ada", "D1:1", "Hi")])
    bad = conversation(
        session_1_date_time=date,
        session_1=[{"speaker": "Bo"}, turn("Bo", "D1:2", "kept"), "a text", turn("Bo", "D1:4", 5)],  # type: ignore[arg-type]
        session_2_date_time=date,
        session_2="no list",
    )
    found = list(load(written(json.dumps(["a text", {"sample_id": "lone"}, {}, *bad, *good])), "locomo"))
    assert [e.record.id for e in found if e.record] == ["talk-1/D1:2", "talk-1/D1:1"]
    assert [e.record for e in errors(found)] == [
        "item 1",
        "lone",
        "item 3",
        "talk-1/session_1 turn 1",
        "talk-1/session_1 turn 3",
        "talk-1/D1:4",
        "talk-1/session_2",
    ]
    assert [e.position for e in found] == list(range(1, 10))


# --- LongMemEval


def question(**changes: object) -> dict[str, object]:
    return {
        "question_id": "q1",
        "haystack_session_ids": ["s1", "s2", "s1"],
        "haystack_dates": ["2023/05/30 (Tue) 23:40", "2023/05/31 (Wed) 08:00", "2023/06/01 (Thu) 09:00"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I got a dog.", "has_answer": True},
                {"role": "assistant", "content": "Congratulations!"},
            ],
            [],
            [{"role": "user", "content": "Hi"}],
        ],
        **changes,
    }


@pytest.mark.parametrize("as_list", [True, False], ids=["official list", "JSONL"])
def test_longmemeval_makes_one_record_a_turn_and_keeps_repeated_sessions_apart(written, as_list):
    content = json.dumps([question()], indent=1) if as_list else json.dumps(question()) + "\n"
    path = written(content)
    first, second, third = records(list(load(path, "longmemeval")))
    assert first == Record(
        "q1/0:s1/0",
        "I got a dog.",
        us(2023, 5, 30, 23, 40),
        user="q1",
        speaker="user",
        session="q1/0:s1",
        kind="dialogue",
        metadata={"has_answer": True, "session_id": "s1"},
    )
    assert (second.id, second.speaker, second.time_us) == (
        "q1/0:s1/1",
        "assistant",
        us(2023, 5, 30, 23, 40, 1),
    )
    assert (third.id, third.session) == ("q1/2:s1/0", "q1/2:s1")
    assert count(path, "longmemeval") is None


def test_faults_in_a_longmemeval_file_are_named_and_the_rest_is_read(written):
    lines = [
        json.dumps(question(question_id=None)),
        "{broken",
        json.dumps(question(haystack_dates=["2023/05/30 (Tue) 23:40"])),
        json.dumps(question(question_id="q2", haystack_sessions=["no list", [5], [{"role": "user"}]])),
        json.dumps(question(question_id="q3", haystack_dates=["9999/12/31 (Fri) 23:60", "", None])),
    ]
    path = written("\n".join(lines))
    found = list(load(path, "longmemeval"))
    assert [e.record for e in errors(found)] == [
        "item 1",
        "line 2",
        "q1",
        "q2/0:s1",
        "q2/1:s2/0",
        "q3/0:s1",
        "q3/0:s1",
        "q3/2:s1",
    ]
    assert [(e.record.id, e.record.text) for e in found if e.record] == [("q2/2:s1/0", "")]
    assert [e.position for e in found] == list(range(1, 10))
    undated = [e.record for e in load(path, "longmemeval", strict=False) if e.record and e.record.user == "q3"]
    assert [r.time_us for r in undated] == [None, None, None]


def test_a_turn_beyond_the_last_day_of_the_calendar_is_an_error(written):
    turns = [{"role": "user", "content": "Hi"}] * 61
    item = question(haystack_session_ids=["s"], haystack_dates=["9999/12/31 (Fri) 23:59"], haystack_sessions=[turns])
    found = list(load(written(json.dumps(item)), "longmemeval"))
    assert [type(e) for e in errors(found)] == [InvalidTimestamp]
    assert found[-1].error is not None


# --- one long list, read a piece at a time


@pytest.mark.parametrize(
    ("content", "read", "reason"),
    [
        ('[{"a": 1}, {"a": 2}', 2, "ends early"),
        ('[{"a": 1} {"a": 2}]', 1, "should stand"),
        ('[{"a": 1}, {"a": ', 1, "not JSON"),
        ('[{"a": 1}, {"a": 2}] trailing', 2, "after the end"),
        ('[{"a": 1},]', 1, "not JSON"),
        ("[" * 100_000, 0, "nested too deeply"),
    ],
)
def test_a_fault_in_a_list_ends_the_reading_and_says_so(written, content, read, reason):
    *items, (number, fault) = calm.sources.json_items(written(content))
    assert len(items) == read
    assert isinstance(fault, MalformedLine)
    assert number == read + 1 and fault.record == f"item {read + 1}"
    assert reason in str(fault) and "the rest" in str(fault)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    items=st.lists(json_values, max_size=5),
    indent=st.none() | st.integers(0, 2),
    ascii_only=st.booleans(),
    chunk=st.integers(1, 40),
    bom=st.booleans(),
)
@example(items=[123, {"a": 1}], indent=None, ascii_only=True, chunk=2, bom=False)
@example(items=[{}, 10000000.0], indent=None, ascii_only=True, chunk=9, bom=True)
@example(items=[1e22], indent=None, ascii_only=True, chunk=3, bom=False)
def test_a_list_is_the_same_wherever_the_chunks_end(tmp_path_factory, items, indent, ascii_only, chunk, bom):
    path = tmp_path_factory.mktemp("list") / "list.json"
    content = json.dumps(items, indent=indent, ensure_ascii=ascii_only).encode()
    path.write_bytes(b"\xef\xbb\xbf" * bom + content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calm.sources, "CHUNK_CHARS", chunk)
        found = list(calm.sources.json_items(path))
    assert [number for number, _ in found] == list(range(1, len(items) + 1))
    for item, (_, value) in zip(items, found, strict=True):
        assert value == item if isinstance(item, dict) else isinstance(value, MalformedLine)


# --- the published files


def tally(path: Path, format: Format) -> tuple[int, int, int, int]:
    """Users, sessions, distinct record ids, entries; every entry a dated record."""
    found = list(load(path, format))
    rows = records(found)
    assert all(row.time_us is not None and row.time_us % MICROS == 0 for row in rows)
    return (
        len({r.user for r in rows}),
        len({r.session for r in rows}),
        len({r.id for r in rows}),
        found[-1].position,
    )


@pytest.mark.data
def test_the_published_locomo_file(shared):
    path = shared / "data" / "locomo" / "locomo10.json"
    assert tally(path, "locomo") == (10, 272, 5_882, 5_882)
    assert count(path, "locomo") == 5_882


@pytest.mark.data
def test_a_longmemeval_shard(shared):
    users, _, ids, entries = tally(shared / "data" / "longmemeval" / "longmemeval_s_00.jsonl.xz", "longmemeval")
    assert (users, ids, entries) == (50, 25_024, 25_024)


@pytest.mark.data
def test_the_longmemeval_oracle_file(shared):
    path = shared / "data" / "longmemeval" / "longmemeval_oracle.jsonl.gz"
    assert tally(path, "longmemeval")[:2] == (500, 948)
    assert sum(bool(e.record and e.record.metadata.get("has_answer")) for e in load(path, "longmemeval")) == 896
