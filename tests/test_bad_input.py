"""Bad input at the command line: named, with an exit status, never a traceback, and the rest of the data is kept."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from command_line import NO_WEIGHTS, CommandLine, Ran, command_line
from contract_samples import BERGEN, TEA, UTRECHT, admitted, case, memory, strict

from calm.store import Store
from calm.store.schema import VERSION_TABLE


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return command_line(tmp_path, capsys, monkeypatch)


@pytest.fixture
def filled(cli: CommandLine) -> CommandLine:
    """With a store that holds three memories of one user."""
    assert cli.ingest(cli.jsonl("memories.jsonl", [UTRECHT, BERGEN, TEA])).status == 0
    return cli


NAMES = ["m0", "m1", "m2", "m3", "m4", "bad"]
"""Ids that the files of these tests use."""


def records_in(cli: CommandLine, names: Iterable[str] = NAMES) -> dict[str, str]:
    """Id and text of what the store holds."""
    with Store.open(cli.store, create=False) as store:
        return {i: r.text for user in store.users() for i, r in store.records(user, list(names)).items()}


def complaints(ran: Ran) -> list[str]:
    return [line for line in ran.err.splitlines() if line.startswith("calm: ")]


# --- Lines of a file of memories


def line_of(**changes: object) -> str:
    return json.dumps({**memory("bad", "I own a red bicycle."), **changes})


BAD_LINES: list[tuple[str, str | bytes, list[str]]] = [
    ("half a line", '{"id": "bad", "text": "I ow', ["line 2", "not JSON"]),
    ("not JSON", "I own a red bicycle.", ["line 2", "not JSON"]),
    ("a list", '["bad"]', ["line 2", "not a JSON object"]),
    ("a number", "7", ["line 2", "not a JSON object"]),
    ("null", "null", ["line 2", "not a JSON object"]),
    ("invalid UTF-8", b'{"id": "bad", "text": "caf\xe9"}', ["line 2", "not UTF-8", "byte 27"]),
    ("binary", bytes(b for b in range(256) if b not in b"\n\r"), ["line 2"]),
    ("nested too deeply", "[" * 100_000, ["line 2", "nested too deeply"]),
    ("half a surrogate pair", '{"id": "bad", "text": "\\ud83d"}', ["line 2", "surrogate"]),
    ("a number too long", '{"id": 1' + "0" * 5_000 + "}", ["line 2"]),
    ("no id", '{"text": "I own a red bicycle."}', ["line 2", "'id'"]),
    ("an empty id", line_of(id=""), ["line 2", "'id'"]),
    ("a list for an id", line_of(id=["bad"]), ["line 2", "'id'"]),
    ("a text that is a number", line_of(text=7), ["'bad'", "'text'", "7"]),
    ("a score NaN", line_of(score="@").replace('"@"', "NaN"), ["'bad'", "'score'", "nan"]),
    ("a score Infinity", line_of(score="@").replace('"@"', "-Infinity"), ["'bad'", "'score'", "inf"]),
    ("a score too large", line_of(score="@").replace('"@"', "1e999"), ["'bad'", "'score'"]),
    ("a score in words", line_of(score="high"), ["'bad'", "'score'", "high"]),
    ("an embedding with NaN", line_of(embedding="@").replace('"@"', "[1, NaN]"), ["'bad'", "'embedding'"]),
    ("an embedding without numbers", line_of(embedding=[]), ["'bad'", "'embedding'"]),
    ("a time in words", line_of(timestamp="last Tuesday"), ["'bad'", "'timestamp'", "last Tuesday", "ISO 8601"]),
    ("a time as a number", line_of(timestamp=1735776000), ["'bad'", "'timestamp'"]),
    ("no such day", line_of(timestamp="2025-02-30"), ["'bad'", "'timestamp'"]),
    ("a time before the calendar", line_of(timestamp="0001-01-01T00:00+14:00"), ["'bad'", "'timestamp'"]),
    ("an interval in words", line_of(valid_at="then"), ["'bad'", "'valid_at'"]),
    ("a kind of its own", line_of(kind="poem"), ["'bad'", "'kind'", "poem"]),
    ("dependencies in words", line_of(depends_on="m0"), ["'bad'", "'depends_on'"]),
    ("another content under a known id", line_of(id="m1"), ["'m1'", "another content"]),
]


@pytest.mark.parametrize(("line", "words"), [case_[1:] for case_ in BAD_LINES], ids=[name for name, *_ in BAD_LINES])
def test_a_bad_line_is_named_and_the_lines_around_it_are_kept(
    cli: CommandLine, line: str | bytes, words: list[str]
) -> None:
    ran = cli.ingest(cli.jsonl("memories.jsonl", [UTRECHT, line, BERGEN, TEA]))
    assert ran.status == 1
    assert "3 records added, 0 known already, 1 refused" in ran.out
    (complaint,) = complaints(ran)
    assert complaint.startswith("calm: skipped: ")
    for word in words:
        assert word in complaint
    assert len(complaint) < 400
    assert records_in(cli) == {m["id"]: m["text"] for m in (UTRECHT, BERGEN, TEA)}
    assert "- [2025-06-02, user] I live in Bergen." in cli.ask("Where do I live?").out


def test_all_bad_lines_together_are_named_each_in_quiet_too(cli: CommandLine) -> None:
    lines = [line for _, line, _ in BAD_LINES]
    ran = cli.ingest(cli.jsonl("memories.jsonl", [UTRECHT, *lines, TEA]), "--quiet", "--ingest.batch_records", "7")
    assert (ran.status, ran.out) == (1, "")
    assert len(complaints(ran)) == len(lines) == len(ran.err.splitlines())
    assert set(records_in(cli)) == {"m1", "m3"}


def test_binary_garbage_is_refused_line_by_line_and_leaves_a_usable_store(cli: CommandLine) -> None:
    ran = cli.ingest(cli.file("memories.jsonl", bytes(range(256)) * 40))
    assert ran.status == 1
    assert "0 records added" in ran.out
    assert cli.ingest(cli.jsonl("more.jsonl", [UTRECHT])).status == 0
    assert "Utrecht" in cli.ask("Where do I live?").out


def test_in_lenient_mode_a_time_that_cannot_be_read_is_missing(cli: CommandLine) -> None:
    path = cli.jsonl("memories.jsonl", [{**UTRECHT, "timestamp": "last Tuesday"}])
    assert cli.ingest(path, "--no_strict").status == 0
    assert "said at an unknown time" in cli.explain("m1").out
    assert "[undated, user] I live in Utrecht." in cli.ask("Where do I live?").out


@pytest.mark.parametrize("text", [None, "", "  \n", "...", "missing"])
def test_a_memory_without_text_is_kept_and_never_told(cli: CommandLine, text: str | None) -> None:
    empty = memory("m0", text)
    if text == "missing":
        del empty["text"]
    ran = cli.ingest(cli.jsonl("memories.jsonl", [empty, UTRECHT]))
    assert ran.status == 0
    assert "2 records added" in ran.out
    assert "holds 2 records, 1 cells" in ran.out
    assert cli.ask("Where do I live?").out.count("- [") == 1


def test_one_megabyte_of_text_is_kept_whole(cli: CommandLine) -> None:
    long = "I live in Utrecht. " + "x" * 2**20
    assert cli.ingest(cli.jsonl("memories.jsonl", [memory("m0", long), TEA])).status == 0
    assert records_in(cli)["m0"] == long
    ran = cli.ask("Where do I live?", "--budget-tokens", "50")
    assert ran.status == 0
    assert "green tea" in ran.out
    assert "flags: over_budget" in ran.out


def test_an_id_twice_with_one_content_is_one_record(cli: CommandLine) -> None:
    ran = cli.ingest(cli.jsonl("memories.jsonl", [UTRECHT, UTRECHT, UTRECHT]))
    assert ran.status == 0
    assert "1 records added, 2 known already, 0 refused" in ran.out
    again = cli.ingest(cli.jsonl("again.jsonl", [UTRECHT, TEA]))
    assert again.status == 0
    assert "1 records added, 1 known already, 0 refused" in again.out


def test_an_id_with_another_content_is_refused_and_the_old_one_stays(filled: CommandLine) -> None:
    ran = filled.ingest(filled.jsonl("changed.jsonl", [{**UTRECHT, "text": "I live in Rome."}, memory("m4", "Hello.")]))
    assert ran.status == 1
    assert "1 records added, 0 known already, 1 refused" in ran.out
    assert "'m1'" in complaints(ran)[0]
    assert records_in(filled)["m1"] == "I live in Utrecht."


def test_one_id_may_belong_to_two_users(cli: CommandLine) -> None:
    ran = cli.ingest(cli.jsonl("memories.jsonl", [UTRECHT, {**BERGEN, "id": "m1", "user": "bob"}]))
    assert ran.status == 0
    assert "Bergen" in cli.ask("Where do I live?", "--user", "bob").out
    assert "Bergen" not in cli.ask("Where do I live?", "--user", "ana").out


def test_an_unknown_key_is_noted_with_a_guess_and_the_record_is_kept(cli: CommandLine) -> None:
    misspelt = cli.jsonl("memories.jsonl", [{**UTRECHT, "timestmp": "2025-01-01"}, {**TEA, "timestmp": "2025-01-01"}])
    ran = cli.ingest(misspelt)
    assert ran.status == 0
    assert "2 records added" in ran.out
    (note,) = [line for line in ran.err.splitlines() if "timestmp" in line]
    assert "did you mean 'timestamp'" in note
    assert complaints(ran) == []


def test_naive_and_aware_times_meet_as_instants(cli: CommandLine) -> None:
    naive, aware = {**UTRECHT, "timestamp": "2025-06-02T10:00:00"}, {**BERGEN, "timestamp": "2025-06-02T11:30:00+02:00"}
    assert cli.ingest(cli.jsonl("memories.jsonl", [naive, aware])).status == 0
    ran = cli.ask("Where do I live?")
    assert "Utrecht" in ran.out
    assert "Bergen" not in ran.out


def test_metadata_of_any_depth_is_kept_or_refused(cli: CommandLine) -> None:
    nested = [
        line_of(id=f"d{depth}", metadata={"x": "@"}).replace('"@"', "[" * depth + "]" * depth)
        for depth in range(800, 1000)
    ]
    ran = cli.ingest(cli.jsonl("memories.jsonl", [UTRECHT, *nested, TEA]))
    assert ran.status in {0, 1}
    assert {"m1", "m3"} <= set(records_in(cli))


# --- Files that are no file of memories


@pytest.mark.parametrize("command", ["ingest", "admit"])
def test_a_missing_file_and_a_folder_are_wrong_usage_and_leave_nothing(cli: CommandLine, command: str) -> None:
    (cli.folder / "folder").mkdir()
    for name, word in (("none.jsonl", "none.jsonl"), ("folder", "folder"), ("none.jsonl/deeper", "deeper")):
        ran = cli.ingest(cli.folder / name) if command == "ingest" else cli.admit(cli.folder / name)
        assert (ran.status, ran.out) == (2, "")
        assert word in complaints(ran)[0]
    assert [p.name for p in cli.folder.iterdir()] == ["folder"]


def test_a_damaged_archive_is_wrong_usage(cli: CommandLine) -> None:
    whole = gzip.compress(b"".join(line_of(id=f"m{n}").encode() + b"\n" for n in range(100)))
    for name, content in (("cut.jsonl.gz", whole[:-20]), ("plain.jsonl.gz", b"{}"), ("junk.jsonl.xz", b"junk")):
        ran = cli.ingest(cli.file(name, content))
        assert ran.status == 2
        assert name in complaints(ran)[0]
    assert cli.ingest(cli.file("whole.jsonl.gz", whole)).status == 0
    assert len(records_in(cli, [f"m{n}" for n in range(100)])) == 100


@pytest.mark.parametrize("format_", ["locomo", "longmemeval"])
@pytest.mark.parametrize(
    "content", ["{}", "[", "[1, 2", '[{"sample_id": "s"}]', "not JSON", '[{"question_id": "q"}]'], ids=repr
)
def test_a_file_of_another_format_is_refused_by_item(cli: CommandLine, format_: str, content: str) -> None:
    ran = cli.ingest(cli.file("talk.json", content), "--format", format_)
    assert ran.status == 1
    assert "0 records added" in ran.out
    assert complaints(ran)


# --- Cases


@pytest.mark.parametrize("key", ["score", "embedding"])
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_is_not_finite_spoils_its_own_case_only(cli: CommandLine, key: str, number: str) -> None:
    value = number if key == "score" else f"[{number}]"
    bad = json.dumps(case({**UTRECHT, key: "@"}, case_id="bad")).replace('"@"', value)
    ran = cli.admit(cli.jsonl("cases.jsonl", [case(UTRECHT, case_id="a"), bad, case(TEA, case_id="b")]))
    assert ran.status == 1
    first, second, third = (strict(line) for line in ran.out.splitlines())
    assert (admitted(first), admitted(third)) == (["m1"], ["m3"])
    assert (second["id"], second["error"]["type"], second["error"]["record"]) == ("bad", "InvalidRecord", "m1")


def test_embeddings_that_do_not_go_together_are_typed_errors(cli: CommandLine) -> None:
    sizes = case({**UTRECHT, "embedding": [1, 2]}, {**TEA, "embedding": [1, 2, 3]})
    models = case(
        {**UTRECHT, "embedding": [1], "embedding_model": "small"}, {**TEA, "embedding": [1], "embedding_model": "large"}
    )
    ran = cli.admit(cli.jsonl("cases.jsonl", [sizes, models, case(UTRECHT)]))
    assert ran.status == 1
    found = [strict(line) for line in ran.out.splitlines()]
    assert [a["error"] and a["error"]["type"] for a in found] == [
        "EmbeddingDimensionError",
        "EmbeddingModelMismatch",
        None,
    ]
    assert "2 of 3 cases" in complaints(ran)[0]


def test_garbage_among_the_cases_is_answered_line_by_line(cli: CommandLine) -> None:
    garbage: list[str | bytes] = [b"\xff\xfe\x00", "{", "[" * 100_000, b"\x00" * 100, '{"id": "x"}', "\x1f"]
    path = cli.jsonl("cases.jsonl", [case(UTRECHT, case_id="a"), *garbage, case(UTRECHT, case_id="b")])
    ran = cli.admit(path, "--quiet")
    assert ran.status == 1
    found = [strict(line) for line in ran.out.splitlines()]
    assert [a["error"] is None for a in found] == [True, *[False] * len(garbage), True]
    assert {a["error"]["type"] for a in found if a["error"]} == {"InvalidRecord"}
    assert [line for line in ran.err.splitlines() if line] == complaints(ran)


def test_an_unknown_key_of_a_case_is_noted_on_standard_error_only(cli: CommandLine) -> None:
    path = cli.jsonl("cases.jsonl", [case({**UTRECHT, "scoer": 0.5})])
    ran = cli.admit(path)
    assert ran.status == 0
    assert "did you mean 'score'" in " ".join(ran.err.split())
    assert admitted(strict(ran.out)) == ["m1"]


@pytest.mark.parametrize("place", ["folder", "file/answers.jsonl", "none/answers.jsonl", "/proc/answers.jsonl"])
def test_an_output_that_cannot_be_written_is_status_three(cli: CommandLine, place: str) -> None:
    (cli.folder / "folder").mkdir()
    cli.file("file", "a file, not a folder")
    ran = cli.admit(cli.jsonl("cases.jsonl", [case(UTRECHT)]), "--output", place)
    assert (ran.status, ran.out) == (3, "")
    assert place in complaints(ran)[0]


FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")


@needs_full
def test_an_output_on_a_full_disk_is_status_three(cli: CommandLine) -> None:
    ran = cli.admit(cli.jsonl("cases.jsonl", [case(UTRECHT)] * 3), "--output", str(FULL))
    assert ran.status == 3
    assert "No space left" in complaints(ran)[0]


@needs_full
@pytest.mark.parametrize("command", ["query", "admit", "explain"])
def test_a_standard_output_on_a_full_disk_is_status_three(
    filled: CommandLine, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    path = filled.jsonl("cases.jsonl", [case(UTRECHT)] * 300)
    with FULL.open("w", buffering=1) as full:
        monkeypatch.setattr(sys, "stdout", full)
        runs = {
            "query": lambda: filled.ask("Where do I live?"),
            "admit": lambda: filled.admit(path),
            "explain": lambda: filled.explain("m1"),
        }
        ran = runs[command]()
    assert ran.status == 3
    assert "No space left" in complaints(ran)[0]


def test_a_terminal_without_utf_8_still_shows_the_decision(
    filled: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", out)
    ran = filled.ask("Where do I live?", "--explain")
    assert ran.status == 0
    out.seek(0)
    assert "I live in Bergen." in out.read()


# --- Stores


def every_command(cli: CommandLine, store: str) -> dict[str, Ran]:
    path = cli.jsonl("new.jsonl", [memory("m9", "I own a red bicycle.")])
    return {
        "ingest": cli.run("ingest", path, "--store", store, *NO_WEIGHTS),
        "query": cli.run("query", "Where do I live?", "--store", store, *NO_WEIGHTS),
        "explain": cli.run("explain", "m1", "--store", store),
    }


def assert_refused(ran: Ran, *words: str) -> None:
    assert (ran.status, ran.out) == (3, "")
    (complaint,) = complaints(ran)
    for word in words:
        assert word in complaint


def test_a_store_of_another_version_is_refused_untouched(filled: CommandLine) -> None:
    path = filled.folder / "memory.db"
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    connection.close()
    before = path.read_bytes()
    for ran in every_command(filled, filled.store).values():
        assert_refused(ran, "9999", "upgrade calm")
    assert path.read_bytes() == before


def test_a_file_that_is_no_store_is_refused_untouched(cli: CommandLine) -> None:
    text = cli.file("diary.txt", "dear diary\n" * 100)
    garbage = cli.file("garbage.db", bytes(range(256)) * 40)
    other = cli.folder / "bookmarks.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    for path in (text, garbage, other):
        before = path.read_bytes()
        for ran in every_command(cli, f"sqlite:///{path}").values():
            assert_refused(ran, path.name, "not a calm store")
        assert path.read_bytes() == before


def test_a_damaged_store_is_status_three(filled: CommandLine) -> None:
    path = filled.folder / "memory.db"
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    for ran in every_command(filled, filled.store).values():
        assert_refused(ran, "memory.db")


def test_a_missing_store_is_made_by_ingest_only(cli: CommandLine) -> None:
    for ran in (cli.ask("Where do I live?"), cli.explain("m1")):
        assert_refused(ran, "memory.db", "no store")
    assert list(cli.folder.iterdir()) == []
    assert cli.ingest(cli.jsonl("memories.jsonl", [UTRECHT])).status == 0
    assert cli.ask("Where do I live?").status == 0


def test_a_store_where_no_file_can_be_is_status_three(cli: CommandLine) -> None:
    (cli.folder / "folder").mkdir()
    cli.file("file", "a file, not a folder")
    places = ["folder", "file/memory.db", "none/memory.db", "/proc/calm-memory.db"]
    for place in places:
        for ran in every_command(cli, f"sqlite:///{place}").values():
            assert_refused(ran, Path(place).parts[0])


def test_a_store_that_may_only_be_read_answers_and_refuses_to_grow(filled: CommandLine) -> None:
    ran = every_command(filled, f"sqlite:///file:{filled.folder / 'memory.db'}?mode=ro&uri=true")
    assert_refused(ran["ingest"], "permissions")
    assert "Bergen" in ran["query"].out
    assert "I live in Utrecht." in ran["explain"].out
    assert len(records_in(filled)) == 3


def mounted(folder: Path, options: str) -> bool:
    if not shutil.which("mount"):
        return False
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not mounted(folder, "size=1m"):
        pytest.skip("this account may not mount a file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_stops_an_ingest_which_goes_on_once_there_is_room(cli: CommandLine, small_disk: Path) -> None:
    store = f"sqlite:///{small_disk / 'memory.db'}"
    path = cli.jsonl("memories.jsonl", [memory(f"m{n}", f"Is {n} even, " + "x" * 900 + "?") for n in range(400)])
    command = ("ingest", path, "--store", store, *NO_WEIGHTS, "--ingest.batch_records", "20")
    assert_refused(cli.run(*command), "disk is full", "committed is safe")
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    with Store.open(store, create=False) as held:
        kept = held.counts()["records"]
    assert 0 < kept < 400
    assert kept % 20 == 0
    resumed = cli.run(*command)
    assert resumed.status == 0
    assert f"{400 - kept} records added, 0 known already, 0 refused" in resumed.out
    assert "the store holds 400 records" in resumed.out


def test_a_read_only_disk_answers_nothing_but_says_why(filled: CommandLine, small_disk: Path) -> None:
    shutil.copy(filled.folder / "memory.db", small_disk / "memory.db")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert_refused(every_command(filled, f"sqlite:///{small_disk / 'memory.db'}")["ingest"], "memory.db")
    assert_refused(every_command(filled, f"sqlite:///{small_disk / 'new.db'}")["ingest"], "new.db")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permission bits mean nothing to root")
def test_a_folder_without_permission_is_status_three(cli: CommandLine) -> None:
    locked = cli.folder / "locked"
    locked.mkdir(mode=0o500)
    assert_refused(every_command(cli, f"sqlite:///{locked / 'memory.db'}")["ingest"], "memory.db")


# --- Numbers out of range


@pytest.mark.parametrize(
    "option",
    ["--retrieve.k=0", "--retrieve.stm_size=-1", "--pipeline.device=abacus"],
)
def test_an_option_of_retrieval_out_of_range_is_wrong_usage(filled: CommandLine, option: str) -> None:
    ran = filled.ask("Where do I live?", option)
    assert (ran.status, ran.out) == (2, "")


@pytest.mark.parametrize("size", ["0", "-1"])
def test_a_batch_of_no_records_is_wrong_usage(cli: CommandLine, size: str) -> None:
    ran = cli.ingest(cli.jsonl("memories.jsonl", [UTRECHT]), f"--ingest.batch_records={size}")
    assert ran.status == 2


def test_a_question_that_is_no_utf_8_is_answered(filled: CommandLine) -> None:
    ran = filled.ask("Where do I live, caf\udce9?", "--explain")
    assert ran.status == 0
    assert "- [2025-06-02, user] I live in Bergen." in ran.out
