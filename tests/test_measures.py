"""Measures of a conflict scorer: by hand, and against scikit-learn."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score

from calm.bench.measures import (
    Bin,
    alarm_rate,
    average_precision,
    bootstrap,
    calibration_error,
    f1,
    precision,
    recall,
    reliability,
    symmetry_gap,
)

SCORES = np.array([0.9, 0.8, 0.75, 0.4, 0.1], dtype=np.float32)
LABELS = np.array([True, False, True, True, False])

scored = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.booleans()), min_size=1, max_size=40)


def arrays(rows: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([s for s, _ in rows], dtype=np.float32), np.array([label for _, label in rows], dtype=bool)


def test_by_hand_at_a_threshold_that_a_score_meets() -> None:
    # Alarms: the first three, two of them right; three conflicts; two pairs without, one of them an alarm.
    assert precision(SCORES, LABELS, 0.75) == pytest.approx(2 / 3)
    assert recall(SCORES, LABELS, 0.75) == pytest.approx(2 / 3)
    assert f1(SCORES, LABELS, 0.75) == pytest.approx(4 / 6)
    assert alarm_rate(SCORES, LABELS, 0.75) == pytest.approx(1 / 2)


def test_average_precision_by_hand() -> None:
    # Conflicts at ranks 1, 3 and 4: (1/1 + 2/3 + 3/4) / 3.
    assert average_precision(SCORES, LABELS) == pytest.approx((1 + 2 / 3 + 3 / 4) / 3)


@given(scored)
def test_as_scikit_learn_has_them(rows: list[tuple[float, bool]]) -> None:
    scores, labels = arrays(rows)
    alarms = scores >= 0.5
    assert f1(scores, labels, 0.5) == pytest.approx(f1_score(labels, alarms, zero_division=0))
    if alarms.any():
        assert precision(scores, labels, 0.5) == pytest.approx(precision_score(labels, alarms))
    assume(labels.any())
    assert recall(scores, labels, 0.5) == pytest.approx(recall_score(labels, alarms))
    assert average_precision(scores, labels) == pytest.approx(average_precision_score(labels, scores))


def test_without_conflicts_or_alarms() -> None:
    scores, none = np.zeros(3, dtype=np.float32), np.zeros(3, dtype=bool)
    assert precision(scores, none, 0.5) == 1
    assert recall(scores, none, 0.5) == 1
    assert f1(scores, none, 0.5) == 0
    assert math.isnan(average_precision(scores, none))
    assert alarm_rate(scores, ~none, 0.5) == 0


def test_reliability_by_hand() -> None:
    # Two bins: 0.1 and 0.4 (one conflict of two), 0.75, 0.8 and 0.9 (two of three).
    low, high = reliability(SCORES, LABELS, bins=2)
    assert low == Bin(pytest.approx(0.25), 0.5, 2)
    assert high == Bin(pytest.approx(2.45 / 3), pytest.approx(2 / 3), 3)
    error = (2 * 0.25 + 3 * (2.45 / 3 - 2 / 3)) / 5
    assert calibration_error(SCORES, LABELS, bins=2) == pytest.approx(error)


def test_a_score_of_one_is_in_the_last_bin() -> None:
    (only,) = reliability(np.ones(2, dtype=np.float32), np.array([True, True]))
    assert only == Bin(1.0, 1.0, 2)


def test_an_empty_set_has_no_error() -> None:
    empty = np.zeros(0, dtype=np.float32)
    assert calibration_error(empty, empty.astype(bool)) == 0
    assert symmetry_gap(empty, empty) == 0


def test_the_symmetry_gap_is_a_mean() -> None:
    assert symmetry_gap(np.array([0.1, 0.9], np.float32), np.array([0.2, 0.5], np.float32)) == pytest.approx(0.25)


# --- Intervals


def test_an_interval_holds_the_value_and_repeats() -> None:
    measure = partial(recall, threshold=0.5)
    rng = np.random.default_rng(1)
    scores, labels = rng.random(200).astype(np.float32), rng.random(200) < 0.5
    found = bootstrap(measure, scores, labels)
    assert found == bootstrap(measure, scores, labels)
    assert found.low < found.value < found.high
    # A binomial share of n conflicts spreads by 1.96 sqrt(p (1 - p) / n) to either side.
    spread = 1.96 * math.sqrt(found.value * (1 - found.value) / labels.sum())
    assert found.high - found.low == pytest.approx(2 * spread, rel=0.15)


def test_groups_are_drawn_whole() -> None:
    # Ten pairs in each of four groups, all alike within a group: no more is known than from four pairs.
    labels = np.ones(40, dtype=bool)
    groups = np.repeat(np.arange(4), 10)
    scores = np.repeat([1.0, 1.0, 1.0, 0.0], 10).astype(np.float32)
    measure = partial(recall, threshold=0.5)
    alone, grouped = bootstrap(measure, scores, labels), bootstrap(measure, scores, labels, groups)
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)


def test_what_is_undefined_has_no_interval() -> None:
    found = bootstrap(average_precision, np.zeros(3, dtype=np.float32), np.zeros(3, dtype=bool))
    assert math.isnan(found.value)
    assert math.isnan(found.low)
    assert str(bootstrap(partial(recall, threshold=0.5), SCORES, LABELS)).startswith("0.667 [")
