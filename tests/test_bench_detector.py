"""A scorer against labels: a report by hand, and the script that makes one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from command_line import evaluate
from numpy.typing import NDArray

from calm.bench.detector import LabelledPair, by_kind, read_pairs, report, symmetry_gap
from calm.conflict import TextPair

LINES = [
    '{"older": "I live in Oslo.", "newer": "I moved to Rome.", "conflict": true, "kind": "move"}',
    '{"older": "I like tea.", "newer": "I like jam.", "conflict": false, "kind": "additive"}',
    '{"older": "The shop is open.", "newer": "The shop is closed.", "conflict": true}',
    '{"older": "I run.", "newer": "I swim.", "conflict": false}',
]


def test_pairs_are_read_in_order() -> None:
    pairs = read_pairs(LINES)
    assert pairs[0] == LabelledPair("I live in Oslo.", "I moved to Rome.", True, "move")
    assert [pair.kind for pair in pairs] == ["move", "additive", "", ""]
    assert pairs[1].texts == ("I like tea.", "I like jam.")


@pytest.mark.parametrize("line", ["", "[1]", "null", '{"older": "x", "newer": "y"}'])
def test_a_line_that_is_no_pair_is_named(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        read_pairs([LINES[0], line])


def test_a_report_by_hand() -> None:
    # Alarms: the first two. The first is a hit, the second is false; the third is missed, the fourth rightly silent.
    found = report(read_pairs(LINES), np.array([0.75, 0.9, 0.74, 0.0], dtype=np.float32), threshold=0.75)
    assert (found.pairs, found.conflicts) == (4, 2)
    assert (found.precision.value, found.recall.value, found.f1.value, found.alarm_rate.value) == (0.5, 0.5, 0.5, 0.5)
    assert found.average_precision.value == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert found.gap is None


def test_alarms_are_counted_by_kind() -> None:
    counts = by_kind(read_pairs(LINES), np.array([0.75, 0.9, 0.74, 0.0], dtype=np.float32), threshold=0.75)
    assert counts == {"": (0, 2), "additive": (1, 1), "move": (1, 1)}


class OneSided:
    """0.9 where the older text comes first in the alphabet, else 0.4."""

    fingerprint = "one-sided"

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        return np.array([0.9 if older < newer else 0.4 for older, newer in pairs], dtype=np.float32)


@pytest.mark.parametrize("most", [1, 3, 4, 100])
def test_the_gap_is_read_on_as_many_pairs_as_asked(most: int) -> None:
    pairs = read_pairs(LINES)
    scorer = OneSided()
    assert symmetry_gap(pairs, scorer.score([p.texts for p in pairs]), scorer, most) == pytest.approx(0.5)


def test_kinds_drawn_whole_give_wider_intervals() -> None:
    pairs = [LabelledPair("a", "b", True, f"k{n // 10}") for n in range(40)]
    scores = np.repeat([1.0, 1.0, 1.0, 0.0], 10).astype(np.float32)
    alone, whole = report(pairs, scores).recall, report(pairs, scores, clustered=True).recall
    assert whole.high - whole.low > 2 * (alone.high - alone.low)


# --- The script


def test_the_script_measures_and_records(root: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "pairs.jsonl", tmp_path / "results" / "detector.md"
    source.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    done = evaluate(root, "detector", str(source), "--scorer", "rules", "--output", str(output))
    assert done.returncode == 0, done.stderr
    assert "recall 1.000" in done.stdout
    head, _, row = output.read_text(encoding="utf-8").strip().splitlines()[-3:]
    cells = dict(zip(head.split(" | "), row.split(" | "), strict=True))
    assert cells["pairs"] == "4"
    assert cells["precision"].startswith("1.000 [")


def test_the_script_names_a_set_that_is_not_there(root: Path, tmp_path: Path) -> None:
    source = tmp_path / "pairs.jsonl"
    source.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    done = evaluate(root, "detector", str(source), "--scorer", "rules", "--sets", "[other]")
    assert done.returncode != 0
    assert "no test set other: choose from" in done.stderr
