"""CALM-ZS and admission."""

from __future__ import annotations

import pytest
import reference
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import DEVICES, DTYPES

from calm.errors import InvalidOption
from calm.gate import Gate, ZeroShotGate, admitted

TOLERANCE = dict.fromkeys(DTYPES, 1e-6)


def test_the_score_is_the_mean_of_the_four() -> None:
    # (0.8 + 0.6 + 1.0 + 0.4) / 4 = 0.7
    assert ZeroShotGate().scores(torch.tensor([[[0.8, 0.6, 1.0, 0.4]]])).item() == pytest.approx(0.7)


def test_each_feature_weighs_a_quarter() -> None:
    assert ZeroShotGate().scores(torch.eye(4)[None]).tolist() == [[0.25, 0.25, 0.25, 0.25]]


def test_the_threshold_itself_is_admitted_and_nan_is_not() -> None:
    scores_BK = torch.tensor([[0.5, 0.4999, 0.9, torch.nan]])
    eligible_BK = torch.tensor([[True, True, False, True]])
    assert admitted(scores_BK, eligible_BK, 0.5).tolist() == [[True, False, False, False]]


def test_the_zero_shot_gate_is_a_gate() -> None:
    gate: Gate = ZeroShotGate()
    assert (gate.name, gate.threshold) == ("zs", 0.60)
    assert ZeroShotGate(threshold=0.2).threshold == 0.2


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_outside_its_range_is_refused(threshold: float) -> None:
    with pytest.raises(InvalidOption, match="threshold"):
        ZeroShotGate(threshold=threshold)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [(0, 3), (3, 0), (1, 1), (6, 9)], ids=str)
def test_agrees_with_the_reference(size: tuple[int, int], dtype: torch.dtype, device: str) -> None:
    g = torch.Generator().manual_seed(5)
    features_BKF = torch.rand(*size, 4, generator=g, dtype=torch.float64).to(dtype).to(device)
    eligible_BK = (torch.rand(*size, generator=g) < 0.7).to(device)
    found = ZeroShotGate().scores(features_BKF)
    assert found.dtype == torch.float32
    wanted = reference.zero_shot_scores(features_BKF.double().tolist())
    expected = torch.tensor(wanted, dtype=torch.float64).reshape(size)
    torch.testing.assert_close(found.double().cpu(), expected, atol=TOLERANCE[dtype], rtol=0)
    passed = admitted(found, eligible_BK, 0.5)
    assert passed.tolist() == reference.admitted(found.tolist(), eligible_BK.tolist(), 0.5)


UNIT = st.floats(0, 1, width=32)


@given(st.lists(UNIT, min_size=4, max_size=4), st.integers(0, 3), UNIT)
def test_raising_a_feature_never_lowers_the_score(four: list[float], which: int, value: float) -> None:
    better = [max(x, value) if f == which else x for f, x in enumerate(four)]
    low, high = ZeroShotGate().scores(torch.tensor([[four, better]]))[0].tolist()
    assert 0 <= low <= high <= 1
