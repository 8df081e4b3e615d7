"""Packing: order and budget by hand, and against the loops of tests/reference.py."""

from __future__ import annotations

import pytest
import reference
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import DEVICES, DTYPES, NOW, Case, cases, random_case
from torch import Tensor

from calm.pack import Packed, pack


def pack_row(
    scores: list[float],
    cost: list[int],
    budget: int | None,
    *,
    time: list[int] | None = None,
    dated: list[bool] | None = None,
    admitted: list[bool] | None = None,
    order: list[int] | None = None,
) -> tuple[list[int], int]:
    """The line of each of one row's candidates (-1 outside), and the tokens used."""
    k = len(scores)
    found = pack(
        torch.tensor([scores]),
        torch.tensor([admitted or [True] * k]),
        torch.tensor([cost]),
        time_BK=torch.tensor([time or [NOW] * k]),
        dated_BK=torch.tensor([dated or [True] * k]),
        order_BK=torch.tensor([order or list(range(k))]),
        budget_B=None if budget is None else torch.tensor([budget]),
    )
    assert found.chosen_BK.tolist() == (found.rank_BK >= 0).tolist()
    return found.rank_BK[0].tolist(), int(found.used_B[0])


def test_what_does_not_fit_is_skipped_and_a_later_one_may_fit() -> None:
    # Budget 10. 0.9 costs 6: 4 left. 0.8 costs 5 > 4: skipped. 0.7 costs 4: 0 left. Lines 0, -, 1; 10 used.
    assert pack_row([0.9, 0.8, 0.7], [6, 5, 4], 10) == ([0, -1, 1], 10)


def test_best_first() -> None:
    assert pack_row([0.2, 0.9, 0.5], [1, 1, 1], None) == ([2, 0, 1], 3)


def test_of_equal_scores_the_newer_then_the_lower_order() -> None:
    assert pack_row([0.5] * 3, [1] * 3, None, time=[NOW, NOW + 2, NOW + 1]) == ([2, 0, 1], 3)
    assert pack_row([0.5] * 3, [1] * 3, None, order=[8, 5, 6]) == ([2, 0, 1], 3)


def test_undated_comes_after_every_date() -> None:
    times = [NOW, -(10**15), 0]
    assert pack_row([0.5] * 3, [1] * 3, None, time=times, dated=[False, True, True]) == ([2, 1, 0], 3)


def test_only_the_admitted_are_packed() -> None:
    assert pack_row([0.9, 0.8], [1, 1], None, admitted=[False, True]) == ([-1, 0], 1)
    assert pack_row([torch.nan, 0.8], [-5, 1], 1, admitted=[False, True]) == ([-1, 0], 1)


def test_a_budget_of_nothing_takes_what_costs_nothing() -> None:
    assert pack_row([0.9, 0.8], [1, 0], 0) == ([-1, 0], 0)


def test_an_exact_fit_fits() -> None:
    assert pack_row([0.9], [7], 7) == ([0], 7)
    assert pack_row([0.9], [8], 7) == ([-1], 0)


def test_huge_costs_do_not_wrap_around() -> None:
    huge = 2**62
    ranks, used = pack_row([0.9, 0.8, 0.7], [huge, huge, 1], huge)
    assert (ranks, used) == ([0, -1, -1], huge)


def run(case: Case, budget_B: Tensor | None) -> tuple[Packed, tuple[list, list, list]]:
    """`pack` and the reference on one batch; scores are coarse, so that ties are common."""
    batch = case.batch
    scores_BK = (batch.relevance_BK * 4).round() / 4
    admitted_BK = batch.mask_BK & batch.known_BK
    found = pack(
        scores_BK,
        admitted_BK,
        batch.cost_BK,
        time_BK=batch.time_BK,
        dated_BK=batch.dated_BK,
        order_BK=case.order_BK,
        budget_B=budget_B,
    )
    tensors = (scores_BK.double(), admitted_BK, batch.cost_BK, batch.time_BK, batch.dated_BK, case.order_BK)
    budget = None if budget_B is None else budget_B.tolist()
    return found, reference.pack(*(tensor.tolist() for tensor in tensors), budget)


def assert_agrees(case: Case, budget_B: Tensor | None) -> None:
    found, (chosen, rank, used) = run(case, budget_B)
    assert found.chosen_BK.tolist() == chosen
    assert found.rank_BK.tolist() == rank
    assert found.used_B.tolist() == used


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [(0, 3), (3, 0), (0, 0), (1, 1), (9, 14)], ids=str)
@pytest.mark.parametrize("budget", [None, 0, 25])
def test_agrees_with_the_reference(size: tuple[int, int], dtype: torch.dtype, device: str, budget: int | None) -> None:
    case = random_case(2, *size, dtype).to(device)
    assert_agrees(case, None if budget is None else torch.full((size[0],), budget, device=device))


@given(cases(), st.integers(0, 60))
def test_agrees_with_the_reference_on_any_batch(case: Case, budget: int) -> None:
    b = case.batch.shape[0]
    assert_agrees(case, None)
    assert_agrees(case, torch.full((b,), budget) + torch.arange(b))


@given(cases(), st.integers(0, 60))
def test_the_budget_holds_and_nothing_left_out_would_still_fit(case: Case, budget: int) -> None:
    b = case.batch.shape[0]
    found, _ = run(case, torch.full((b,), budget))
    assert (found.used_B <= budget).all()
    spent_B = case.batch.cost_BK.masked_fill(~found.chosen_BK, 0).sum(dim=1)
    assert spent_B.tolist() == found.used_B.tolist()
    left_out_BK = case.batch.mask_BK & case.batch.known_BK & ~found.chosen_BK
    assert (case.batch.cost_BK > (budget - found.used_B)[:, None])[left_out_BK].all()
