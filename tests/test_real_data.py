"""Real data, where the shared folder lies beside the checkout: the field's cases, LoCoMo, and LongMemEval-S.

`CALM_SHARED` names the folder where it lies elsewhere. None of its texts stands here.
"""

from __future__ import annotations

import json
import lzma
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from calm.bench.cases import failures, run_cases
from calm.cli import main
from calm.embed import HashingEmbedder, packaged_encoder
from calm.governor import Governor
from calm.loaders import load
from calm.pipeline import PipelineConfig
from calm.rules import RuleScorer
from calm.store import Store

pytestmark = pytest.mark.data

SHARED = Path(os.environ.get("CALM_SHARED") or Path(__file__).resolve().parent.parent.parent / "shared")
Json = dict[str, Any]


def needed(name: str) -> Path:
    """A file of the shared folder; skips the test where it is not."""
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"no {name} in {SHARED}: put the data folder there, or name it in CALM_SHARED")
    return path


# --- The cases from the field


@pytest.fixture(scope="module")
def cases() -> list[Json]:
    return [json.loads(line) for line in needed("cases/cases.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    "embedder",
    [
        "hashing",
        pytest.param(
            "offline",
            marks=[
                pytest.mark.slow,
                pytest.mark.skipif(packaged_encoder() is None, reason="the [offline] extra is not installed"),
            ],
        ),
    ],
)
def test_calm_admit_answers_every_case_and_every_rule_case_holds(
    cases: list[Json], tmp_path: Path, embedder: str
) -> None:
    out = tmp_path / "answers.jsonl"
    options = ["--output", str(out), "--embedder", embedder, "--quiet"]
    status = main(["admit", str(needed("cases/cases.jsonl")), *options])
    answers = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(cases) == 62
    assert [a["id"] for a in answers] == [c["id"] for c in cases]
    assert [a["id"] for a in answers if a["error"]] == [c["id"] for c in cases if "expect_error" in c]
    assert status == int(any(a["error"] for a in answers))
    rule = [(c, a) for c, a in zip(cases, answers, strict=True) if c["options"]["tier"] == "rule"]
    assert len(rule) == 25
    assert {c["id"]: wrong for c, a in rule if (wrong := failures(c, a))} == {}


def test_no_rule_case_depends_on_the_order_of_its_memories(cases: list[Json]) -> None:
    lines = [json.dumps(case) for case in cases if case["options"]["tier"] == "rule"]
    governor = Governor(scorer=RuleScorer(), embedder=HashingEmbedder(), config=PipelineConfig(device="cpu"))
    assert {result.id: result.wrong for result in run_cases(lines, governor) if not result.holds} == {}


# --- LoCoMo


@dataclass(frozen=True)
class Ingested:
    """What an ingest of LoCoMo in a process of its own left and said."""

    path: Path
    url: str
    status: int
    said: str
    peak_bytes: int


# The peak of this process alone: after an exec, rusage still holds the peak of the process that started it.
INGEST = """
import sys
from pathlib import Path
from calm.cli import main
status = main(sys.argv[1:])
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print("status", status, "peak", peak.split()[1])
"""


def ingest_apart(path: Path, url: str) -> Ingested:
    if not Path("/proc/self/status").is_file():
        pytest.skip("no /proc to read the peak memory of a process from")
    command = ["ingest", str(path), "--format", "locomo", "--store", url, "--embedder", "hashing"]
    done = subprocess.run(
        [sys.executable, "-c", INGEST, *command],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "500"},
        timeout=1_200,
    )
    last = re.search(r"status (\d+) peak (\d+)", done.stdout)
    assert last
    return Ingested(path, url, int(last[1]), done.stdout, int(last[2]) * 1_024)


@pytest.fixture(scope="module")
def locomo(tmp_path_factory: pytest.TempPathFactory) -> Ingested:
    path = needed("data/locomo/locomo10.json")
    return ingest_apart(path, f"sqlite:///{tmp_path_factory.mktemp('locomo')}/memory.db")


@pytest.fixture
def store(locomo: Ingested) -> Iterator[Store]:
    with Store.open(locomo.url, create=False) as opened:
        yield opened


def numbers(said: str) -> dict[str, int]:
    """The counts that an ingest reports."""
    found = re.search(
        r"(?P<added>\d+) records added, (?P<known>\d+) known already, (?P<refused>\d+) refused; (?P<pairs>\d+) pairs",
        said,
    )
    assert found
    return {name: int(count) for name, count in found.groupdict().items()}


@pytest.mark.slow
def test_every_turn_of_locomo_is_in_the_store_under_its_conversation(locomo: Ingested, store: Store) -> None:
    loaded = [found.record for found in load(locomo.path, "locomo") if found.record]
    assert locomo.status == 0
    assert numbers(locomo.said)["added"] == store.counts()["records"] == len(loaded) == 5_882
    turns = Counter(record.user for record in loaded)
    assert set(store.users()) == set(turns)
    assert len(turns) == 10
    ids = [record.id for record in loaded]
    assert {user: len(store.known_records(user, ids)) for user in turns} == dict(turns)


@pytest.mark.slow
def test_an_ingest_of_locomo_judges_few_pairs_and_stays_small(locomo: Ingested, store: Store) -> None:
    cells = [len(store.cell_ids(user)) for user in store.users()]
    assert min(cells) > 500
    assert 0 < numbers(locomo.said)["pairs"] < 0.05 * sum(n * (n - 1) // 2 for n in cells)
    assert locomo.peak_bytes < 2 * 2**30


@pytest.mark.slow
def test_a_second_ingest_of_locomo_adds_nothing(locomo: Ingested, store: Store, tmp_path: Path) -> None:
    before = store.counts()
    again = ingest_apart(locomo.path, locomo.url)
    # Other bytes with the same content are another source, so each turn is looked at again.
    (tmp_path / "copy.json").write_bytes(locomo.path.read_bytes() + b"\n")
    copied = ingest_apart(tmp_path / "copy.json", locomo.url)
    assert (again.status, copied.status) == (0, 0)
    assert numbers(again.said)["added"] == numbers(copied.said)["added"] == 0
    assert numbers(copied.said)["known"] == 5_882
    assert store.counts() == before


@pytest.mark.slow
def test_a_question_about_one_conversation_is_answered_from_it_alone(
    locomo: Ingested, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    item = json.loads(locomo.path.read_text(encoding="utf-8"))[3]
    people = {item["conversation"]["speaker_a"], item["conversation"]["speaker_b"]}
    question = next(qa["question"] for qa in item["qa"] if qa["category"] == 4)
    options = ["--store", locomo.url, "--embedder", "hashing", "--quiet"]
    assert main(["query", question, "--user", item["sample_id"], *options]) == 0
    speakers = {line.partition(", ")[2].partition("]")[0] for line in context(capsys.readouterr().out)}
    assert speakers and speakers <= people
    assert main(["query", question, *options]) == 2
    assert "several users" in capsys.readouterr().err


def context(out: str) -> list[str]:
    """The lines of the packed context on the screen."""
    return [line.strip("│ ") for line in out.splitlines() if line.startswith("│ - [")]


# --- LongMemEval-S


@pytest.mark.slow
def test_two_histories_of_longmemeval_answer_their_own_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "500")
    path, url = tmp_path / "two.jsonl", f"sqlite:///{tmp_path}/memory.db"
    with lzma.open(needed("data/longmemeval/longmemeval_s_00.jsonl.xz"), "rt", encoding="utf-8") as lines:
        first = list(islice(lines, 2))
    path.write_text("".join(first), encoding="utf-8")
    items = [json.loads(line) for line in first]
    options = ["--store", url, "--embedder", "hashing"]
    assert main(["ingest", str(path), "--format", "longmemeval", *options]) == 0
    turns = sum(len(session) for item in items for session in item["haystack_sessions"])
    said = numbers(capsys.readouterr().out)
    assert (said["added"], said["refused"]) == (turns, 0)
    with Store.open(url, create=False) as store:
        assert set(store.users()) == {item["question_id"] for item in items}
    for item in items:
        asked = datetime.strptime(item["question_date"], "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC).isoformat()
        whose = ["--user", item["question_id"], "--query-time", asked, "--quiet"]
        assert main(["query", item["question"], *whose, *options]) == 0
        assert context(capsys.readouterr().out)
