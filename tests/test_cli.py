"""The command line: each command does what its help says, with the exit status that the README promises."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import NO_WEIGHTS, CommandLine, command_line
from contract_samples import BERGEN, TEA, UTRECHT, Json, admitted, case, memory, strict

import calm
import calm.loaders
from calm.loaders import Loaded
from calm.store import Store

COMMANDS = ["demo", "ingest", "query", "admit", "explain"]


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return command_line(tmp_path, capsys, monkeypatch)


@pytest.fixture
def filled(cli: CommandLine) -> CommandLine:
    """With a store that holds three memories of one user."""
    assert cli.ingest(cli.jsonl("memories.jsonl", [UTRECHT, BERGEN, TEA])).status == 0
    return cli


def line_with(text: str, *words: str) -> str:
    """The one line that holds all words."""
    (found,) = [line for line in text.splitlines() if all(word in line for word in words)]
    return found


# --- Usage


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(cli: CommandLine, command: str) -> None:
    ran = cli.run(command, "--help")
    assert (ran.status, ran.err) == (0, "")
    for option in ("--config", "--quiet"):
        assert option in ran.out
    assert ("--store" in ran.out) == (command in {"ingest", "query", "explain"})


def test_the_help_and_a_call_without_a_command_name_every_command(cli: CommandLine) -> None:
    for argv, status in (([], 2), (["--help"], 0)):
        ran = cli.run(*argv)
        assert ran.status == status
        for command in COMMANDS:
            assert re.search(rf"^ +{command} +\w", ran.out, flags=re.MULTILINE)


def test_the_version_is_the_packages(cli: CommandLine) -> None:
    ran = cli.run("--version")
    assert (ran.status, ran.out) == (0, f"calm {calm.__version__}\n")


@pytest.mark.parametrize(
    "argv",
    [
        ["forget"],
        ["query"],
        ["ingest"],
        ["admit"],
        ["explain"],
        ["query", "Where?", "--no-such-option"],
        ["query", "Where?", "--budget-tokens", "lots"],
        ["query", "Where?", "--budget-tokens", "-1"],
        ["query", "Where?", "--time-axis", "both"],
        ["query", "Where?", "--as-of", "yesterday"],
        ["query", "Where?", "--query-time", "noon"],
        ["query", "Where?", "--threshold", "2"],
        ["query", " ?! "],
        ["ingest", "memories.jsonl", "--format", "csv"],
        ["ingest", "memories.jsonl", "--naive-tz", "Mars/Olympus"],
        ["ingest", "memories.jsonl", "--store", "no url"],
        ["ingest", "memories.jsonl", "--store", "mysql://host/db"],
        ["admit", "cases.jsonl", "--batch-size", "0"],
        ["admit", "cases.jsonl", "--threshold", "-0.5"],
        ["admit", "cases.jsonl", "--scorer", "/no/such/model"],
        ["admit", "cases.jsonl", "--embedder", "/no/such/model"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_status_two_and_says_why(filled: CommandLine, argv: list[str]) -> None:
    filled.jsonl("cases.jsonl", [case(UTRECHT)])
    common = [] if "--embedder" in argv or argv[0] in {"forget", "explain"} else [*NO_WEIGHTS]
    store = ["--store", filled.store] if argv[0] == "query" else []
    ran = filled.run(*argv, *common, *store)
    assert ran.status == 2
    assert ran.out == ""
    assert ran.err.splitlines()[-1].strip()
    culprit = argv[-2] if len(argv) > 3 else argv[-1]
    assert culprit.lstrip("-").replace("-", "_").strip(" ?!") in ran.err.replace("-", "_")


def test_a_config_file_sets_any_option_and_the_command_line_overrides_it(filled: CommandLine) -> None:
    config = filled.file(
        "query.yaml",
        f"store: {filled.store}\nembedder: hashing\nquiet: true\nexplain: true\nbudget_tokens: 0\n"
        "retrieve:\n  k: 1\n  stm_size: 0\n  follow: false\n",
    )
    ran = filled.run("query", "What tea do I like?", "--config", config)
    assert (ran.status, ran.err) == (0, "")
    assert "flags: budget_too_small" in ran.out
    assert "does not fit the budget" in line_with(ran.out, "✗", "green tea")
    ran = filled.run("query", "What tea do I like?", "--config", config, "--budget-tokens", "100", "--no_explain")
    assert ran.status == 0
    assert "green tea" in ran.out
    assert "Bergen" not in ran.out, "k of the file still holds"
    assert "✗" not in ran.out


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("budget_token: 10\n", "budget_token"),
        ("retrieve:\n  kay: 3\n", "kay"),
        ("budget_tokens: lots\n", "budget_tokens"),
        ("- a list\n", "config"),
        ("store: [unclosed\n", "config"),
    ],
)
def test_a_config_file_with_a_mistake_is_wrong_usage(filled: CommandLine, content: str, word: str) -> None:
    ran = filled.ask("Where do I live?", "--config", str(filled.file("bad.yaml", content)))
    assert (ran.status, ran.out) == (2, "")
    assert word in ran.err


def test_a_missing_config_file_is_wrong_usage(filled: CommandLine) -> None:
    ran = filled.ask("Where do I live?", "--config", str(filled.folder / "none.yaml"))
    assert ran.status == 2
    assert "none.yaml" in ran.err


@pytest.mark.parametrize("command", COMMANDS)
def test_quiet_leaves_standard_error_empty(filled: CommandLine, command: str) -> None:
    arguments: dict[str, list[str | Path]] = {
        "demo": [*NO_WEIGHTS],
        "ingest": [filled.jsonl("more.jsonl", [memory("m7", "I own a red bicycle.")]), *NO_WEIGHTS],
        "query": ["Where do I live?", *NO_WEIGHTS],
        "admit": [filled.jsonl("cases.jsonl", [case(UTRECHT)]), *NO_WEIGHTS],
        "explain": ["m1"],
    }
    store = [] if command in {"demo", "admit"} else ["--store", filled.store]
    ran = filled.run(command, *arguments[command], *store, "--quiet")
    assert (ran.status, ran.err) == (0, "")
    assert bool(ran.out) == (command != "ingest")


def test_without_a_detector_a_note_says_who_judges_conflicts(
    filled: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calm.shipped._places", list)
    ran = filled.ask("Where do I live?")
    assert "note: conflicts are judged by rules" in ran.err
    assert "note" not in ran.out


# --- Demo


def test_the_demo_shows_what_is_admitted_and_blocked_and_the_past_comes_back(cli: CommandLine) -> None:
    ran = cli.run("demo", *NO_WEIGHTS)
    assert ran.status == 0
    now, past = re.split(r"the past comes back: ", ran.out)[:2]
    home_now = now[now.index("Where does Noor live now?") :]
    home_then = past[: past.index("now: ")]
    superseded = line_with(home_now, "✗", "Noor: I live in Utrecht.")
    assert "superseded by “I live in Ghent now" in superseded
    assert line_with(home_now, "✓", "I live in Ghent now")
    assert "Utrecht" not in home_now[home_now.index("╭") :], "the context of now"
    assert line_with(home_then, "✓", "Noor: I live in Utrecht.")
    assert "I live in Utrecht." in home_then[home_then.index("╭") :], "the context of then"
    assert "Ghent" not in home_then[home_then.index("╭") :]


def test_the_demo_leaves_nothing_behind(cli: CommandLine) -> None:
    assert cli.run("demo", *NO_WEIGHTS, "--quiet").status == 0
    assert list(cli.folder.iterdir()) == []


# --- Ingest, query, explain


def test_ingest_counts_what_it_did_and_a_second_run_adds_nothing(cli: CommandLine) -> None:
    path = cli.jsonl("memories.jsonl", [UTRECHT, BERGEN, TEA])
    first = cli.ingest(path)
    assert first.status == 0
    assert "3 records added, 0 known already, 0 refused" in first.out
    assert "1 conflicts; the store holds 3 records, 3 cells" in first.out
    second = cli.ingest(path)
    assert second.status == 0
    assert "0 records added" in second.out
    assert "the store holds 3 records, 3 cells" in second.out


def test_a_file_that_has_grown_adds_only_what_is_new(filled: CommandLine) -> None:
    grown = filled.jsonl("memories.jsonl", [UTRECHT, BERGEN, TEA, memory("m4", "I own a red bicycle.")])
    ran = filled.ingest(grown)
    assert ran.status == 0
    assert "1 records added, 3 known already, 0 refused" in ran.out


def test_a_question_gets_the_current_memory_and_explain_says_why_not_the_old_one(filled: CommandLine) -> None:
    ran = filled.ask("Where do I live now?", "--explain")
    assert ran.status == 0
    assert line_with(ran.out, "✓", "I live in Bergen.")
    assert "superseded by “I live in Bergen.” (2025-06-02)" in line_with(ran.out, "✗", "I live in Utrecht.")
    plain = filled.ask("Where do I live now?")
    assert "Utrecht" not in plain.out
    assert "- [2025-06-02, user] I live in Bergen." in plain.out


def test_a_question_about_the_past_gets_the_old_memory_back(filled: CommandLine) -> None:
    for more in ((), ("--as-of", "2025-02-01")):
        question = "Where do I live?" if more else "Where did I live before?"
        ran = filled.ask(question, *more)
        assert ran.status == 0
        assert "- [2025-01-02, user] I live in Utrecht." in ran.out
    assert "Bergen" not in ran.out, "not yet at that time"


def test_the_time_axis_and_the_time_of_the_question_are_passed_on(cli: CommandLine) -> None:
    late = memory("m1", "I live in Utrecht.", "2025-12-01T00:00:00Z", valid_at="2025-01-01T00:00:00Z")
    assert cli.ingest(cli.jsonl("memories.jsonl", [late])).status == 0
    assert "Utrecht" in cli.ask("Where do I live?", "--as-of", "2025-02-01").out
    for more in (("--as-of", "2025-02-01", "--time-axis", "system"), ("--query-time", "2024-12-01")):
        ran = cli.ask("Where do I live?", *more)
        assert (ran.status, "Utrecht" in ran.out) == (0, False)
        assert "flags: nothing_eligible" in ran.out


def test_budget_scope_and_threshold_of_a_question(cli: CommandLine) -> None:
    here, there = {**UTRECHT, "scope": "project:atlas"}, {**BERGEN, "scope": "project:borealis"}
    assert cli.ingest(cli.jsonl("memories.jsonl", [here, there])).status == 0
    scoped = cli.ask("Where do I live?", "--scope", "project:atlas", "--explain")
    assert line_with(scoped.out, "✓", "Utrecht")
    assert "another scope" in line_with(scoped.out, "✗", "Bergen")
    assert "flags: budget_too_small" in cli.ask("Where do I live?", "--budget-tokens", "0").out
    assert "flags: nothing_eligible" in cli.ask("Where do I live?", "--threshold", "1").out


def test_where_a_store_holds_several_users_one_must_be_named(cli: CommandLine) -> None:
    path = cli.jsonl("memories.jsonl", [UTRECHT, {**BERGEN, "user": "bob"}, {**TEA, "user": None}])
    assert cli.ingest(path).status == 0
    open_ = cli.ask("Where do I live?")
    assert (open_.status, open_.out) == (2, "")
    assert "ana, bob" in open_.err
    for user, home, other in (("ana", "Utrecht", "Bergen"), ("bob", "Bergen", "Utrecht")):
        ran = cli.ask("Where do I live?", "--user", user, "--explain")
        assert ran.status == 0
        assert home in ran.out
        assert other not in ran.out
        assert "tea" not in ran.out
    stranger = cli.ask("Where do I live?", "--user", "eve")
    assert (stranger.status, stranger.out) == (2, "")
    assert "'eve'" in stranger.err


def test_an_empty_store_answers_with_nothing(cli: CommandLine) -> None:
    assert cli.ingest(cli.file("memories.jsonl", "")).status == 0
    ran = cli.ask("Where do I live?")
    assert ran.status == 0
    assert "flags: nothing_eligible" in ran.out
    assert "(empty)" in ran.out


def test_explain_finds_a_cell_by_its_record_its_id_or_the_begin_of_one(filled: CommandLine) -> None:
    by_record = filled.explain("m1")
    assert by_record.status == 0
    cell_id = by_record.out.split()[0]
    for name in (cell_id, cell_id[:8]):
        assert filled.explain(name) == by_record
    assert line_with(by_record.out, "CANDIDATE -> ACTIVE", "direct_user_evidence")
    assert line_with(by_record.out, "ACTIVE -> SUPERSEDED", "I live in Bergen.")
    assert "record m1" in by_record.out


def test_explain_of_an_unknown_cell_is_an_error(filled: CommandLine) -> None:
    for name in ("m99", "zzzz", "", "%", "'; DROP TABLE calm_cell; --"):
        ran = filled.explain(name)
        assert (ran.status, ran.out) == (2, "")
        assert "no cell or record" in ran.err
    assert filled.explain("m1").status == 0


def test_a_store_is_read_with_the_embedder_that_filled_it(filled: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calm.embed.HashingEmbedder.fingerprint", "another-model", raising=True)
    ran = filled.ask("Where do I live?")
    assert (ran.status, ran.out) == (2, "")
    assert "hashing-1-1024" in ran.err
    assert "another-model" in ran.err


def test_times_without_an_offset_are_read_in_the_zone_given(cli: CommandLine) -> None:
    naive = {**UTRECHT, "timestamp": "2025-06-02T10:00:00"}
    path = cli.jsonl("memories.jsonl", [naive])
    assert cli.ingest(path, "--naive-tz", "Europe/Oslo").status == 0
    assert "said 2025-06-02T08:00:00+00:00" in cli.explain("m1").out


# --- Admit


def test_admit_writes_one_answer_a_line_to_standard_output_or_a_file(cli: CommandLine) -> None:
    cases = [case(UTRECHT, BERGEN, case_id=f"c{n}") for n in range(5)]
    path = cli.jsonl("cases.jsonl", [*cases[:2], "", *cases[2:]])
    ran = cli.admit(path)
    assert ran.status == 0
    answers = [strict(line) for line in ran.out.splitlines()]
    assert [a["id"] for a in answers] == [f"c{n}" for n in range(5)]
    assert all(admitted(a) == ["m2"] for a in answers)
    filed = cli.admit(path, "--output", "answers.jsonl", "--batch-size", "2")
    assert (filed.status, filed.out) == (0, "")
    assert (cli.folder / "answers.jsonl").read_text(encoding="utf-8") == ran.out


def test_a_bad_case_is_status_one_and_the_others_are_answered(cli: CommandLine) -> None:
    path = cli.jsonl("cases.jsonl", [case(UTRECHT, case_id="a"), "{oops", case(UTRECHT, case_id="b", k=0)])
    ran = cli.admit(path, "--quiet")
    assert ran.status == 1
    good, bad, worse = (strict(line) for line in ran.out.splitlines())
    assert admitted(good) == ["m1"]
    assert (bad["error"]["type"], worse["error"]["type"]) == ("InvalidRecord", "InvalidOption")
    assert "2 of 3 cases" in ran.err


def test_a_file_without_cases_is_answered_with_nothing(cli: CommandLine) -> None:
    ran = cli.admit(cli.file("cases.jsonl", "\n\n"))
    assert (ran.status, ran.out) == (0, "")


def test_the_threshold_of_the_gate_is_passed_on(cli: CommandLine) -> None:
    path = cli.jsonl("cases.jsonl", [case(UTRECHT)])
    found: Json = strict(cli.admit(path, "--threshold", "1").out)
    assert found["blocked"][0]["reasons"] == ["low_score"]
    assert found["blocked"][0]["detail"]["threshold"] == 1.0


def test_an_output_onto_the_cases_themselves_loses_no_case(cli: CommandLine) -> None:
    path = cli.jsonl("cases.jsonl", [case(UTRECHT)])
    ran = cli.admit(path, "--output", str(path))
    assert ran.status != 0 or path.read_text(encoding="utf-8").strip()


# --- Interruption and pipes


def test_ctrl_c_keeps_what_was_committed_and_the_same_command_goes_on(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cli.jsonl("memories.jsonl", [memory(f"m{n}", f"I own {n} bicycles.") for n in range(10)])
    real = calm.loaders.load

    def interrupted(*args: object, **options: object) -> Iterator[Loaded]:
        for item in real(*args, **options):  # type: ignore[arg-type]
            if item.position == 6:
                signal.raise_signal(signal.SIGINT)
            yield item

    monkeypatch.setattr(calm.loaders, "load", interrupted)
    stopped = cli.ingest(path, "--ingest.batch_records", "2")
    assert (stopped.status, stopped.out) == (130, "")
    assert "stopped" in stopped.err
    with Store.open(cli.store, create=False) as store:
        assert store.counts()["records"] == 4
    monkeypatch.setattr(calm.loaders, "load", real)
    resumed = cli.ingest(path)
    assert resumed.status == 0
    assert "6 records added, 0 known already, 0 refused" in resumed.out
    assert "the store holds 10 records" in resumed.out


RUN = "import sys; from calm.cli import main; sys.exit(main())"


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_stops_an_ingest_without_a_traceback(cli: CommandLine) -> None:
    texts = (f"Is {n} an even number?" for n in range(5_000))
    path = cli.jsonl("memories.jsonl", (memory(f"m{n}", text) for n, text in enumerate(texts)))
    command = ["ingest", str(path), "--store", cli.store, *NO_WEIGHTS, "--ingest.batch_records", "20"]
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 60
        while records_in(cli.store) == 0:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert (out, "Traceback" in err) == ("", False)
    assert "stopped" in err
    assert 0 < records_in(cli.store) < 5_000
    assert records_in(cli.store) % 20 == 0


def records_in(url: str) -> int:
    if not Path(url.removeprefix("sqlite:///")).exists():
        return 0
    try:
        with Store.open(url, create=False) as store:
            return store.counts()["records"]
    except calm.errors.StoreError:
        return 0  # it is being made just now


@pytest.mark.slow
def test_as_a_program_it_survives_a_reader_that_goes_away(filled: CommandLine) -> None:
    path = filled.jsonl("cases.jsonl", [case(UTRECHT, BERGEN, TEA)] * 400)
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, "admit", str(path), *NO_WEIGHTS, "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    with process:
        assert process.stdout is not None and process.stderr is not None
        first = process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
    assert admitted(json.loads(first)) == ["m2", "m3"]
    assert (process.returncode, err) == (0, b"")


def test_missing_cases_are_named_even_where_the_output_exists(cli: CommandLine) -> None:
    output = cli.folder / "answers.jsonl"
    output.write_text("")
    ran = cli.admit(cli.folder / "absent.jsonl", "--output", str(output))
    assert ran.status == 2
    assert "absent.jsonl" in ran.err
