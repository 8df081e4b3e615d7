"""Counts of a scorer against labels, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from calm.bench.detector import Confusion, LabelledPair, confusion, read_pairs

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


def test_a_score_at_the_threshold_is_an_alarm() -> None:
    # Alarms: the first two. The first is a hit, the second is false; the third is missed, the fourth rightly silent.
    counts = confusion(read_pairs(LINES), np.array([0.75, 0.9, 0.74, 0.0], dtype=np.float32), threshold=0.75)
    assert counts == Confusion(hits=1, false_alarms=1, misses=1, rejections=1)
    assert (counts.precision, counts.recall) == (0.5, 0.5)


def test_no_alarm_is_no_false_alarm() -> None:
    counts = confusion(read_pairs(LINES[1:2]), np.zeros(1, dtype=np.float32))
    assert (counts.precision, counts.recall) == (1.0, 1.0)
