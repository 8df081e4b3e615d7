"""Φ_T: Eq. 4 by hand, and against the loops of tests/reference.py."""

from __future__ import annotations

import pytest
import reference
import torch
from hypothesis import given
from strategies import DEVICES, DTYPES, NOW, Case, cases, plain_batch, random_case, symmetric

from calm.conflict import STRONG, strength
from calm.dominance import (
    candidates_BK,
    comparable_BKK,
    dominated,
    dominators,
    kappa,
    overridable_BKK,
    strength_BKK,
)

SIZES = [(0, 3), (3, 0), (0, 0), (1, 1), (5, 6), (8, 12)]
STRENGTH_TOLERANCE = dict.fromkeys(DTYPES, 1e-6)
"""Inputs of every type are widened to float32 first, so none of them costs precision beyond their own
rounding.
"""


def drop(time: list[int], pairs: list[tuple[int, int]], **batch: object) -> tuple[list[bool], list[int]]:
    """Φ_T on one row: which are dropped, and by whom, with every listed pair in full conflict."""
    row = plain_batch(len(time), time_BK=time, **batch)
    kappa_BKK = kappa(symmetric(len(time), dict.fromkeys(pairs, 1.0))) & comparable_BKK(row)
    order_BK = torch.arange(len(time))[None]
    arguments = (kappa_BKK, row.time_BK, row.dated_BK, candidates_BK(row))
    return dominated(*arguments)[0].tolist(), dominators(*arguments, order_BK)[0].tolist()


def test_chain_falls_to_its_end_although_the_middle_is_dropped_too() -> None:
    # A -> B -> C, only neighbours contradict. A: κ(A, B) = 1 and τ_B > τ_A, so B drops it; C drops B, which
    # doesn't save A (one shot); C has nobody newer.
    assert drop([NOW - 3, NOW - 2, NOW - 1], [(0, 1), (1, 2)]) == ([True, True, False], [1, 2, -1])


def test_no_contradiction_no_dominance() -> None:
    # Only 0 and 2 contradict; 1 is older than 2 and stays.
    assert drop([NOW - 3, NOW - 2, NOW - 1], [(0, 2)]) == ([True, False, False], [2, -1, -1])


def test_equal_times_keep_both() -> None:
    assert drop([NOW, NOW], [(0, 1)]) == ([False, False], [-1, -1])


def test_one_microsecond_is_newer() -> None:
    assert drop([NOW - 1, NOW], [(0, 1)]) == ([True, False], [1, -1])


@pytest.mark.parametrize("dated", [[False, True], [True, False], [False, False]])
def test_a_missing_time_decides_nothing(dated: list[bool]) -> None:
    assert drop([NOW - 2, NOW - 1], [(0, 1)], dated_BK=dated) == ([False, False], [-1, -1])


def test_the_latest_dominator_is_named() -> None:
    # Neither the first nor the last position, nor the lowest order: the latest.
    assert drop([NOW - 4, NOW - 2, NOW - 1, NOW - 3], [(0, 1), (0, 2), (0, 3)])[1] == [2, -1, -1, -1]


def test_of_equally_late_dominators_the_lowest_order_is_named_not_the_lowest_position() -> None:
    kappa_BKK = symmetric(3, {(0, 1): 1.0, (0, 2): 1.0}) >= 1
    time_BK = torch.tensor([[NOW - 1, NOW, NOW]])
    everyone = torch.ones(1, 3, dtype=torch.bool)
    found = dominators(kappa_BKK, time_BK, everyone, everyone, torch.tensor([[0, 9, 4]]))
    assert found.tolist() == [[2, -1, -1]]


def test_what_takes_effect_after_now_dominates_nothing_yet() -> None:
    # Event time now + 1: announced, not in effect. At exactly now it is.
    assert drop([NOW - 1, NOW + 1], [(0, 1)])[0] == [False, False]
    assert drop([NOW - 1, NOW], [(0, 1)])[0] == [True, False]


@pytest.mark.parametrize(
    "difference",
    [
        {"owner_BK": [0, 1]},
        {"owner_BK": [0, -1]},
        {"scope_BK": [0, 1]},
        {"asserts_BK": [True, False]},
        {"asserts_BK": [False, True]},
        {"known_BK": [True, False]},
        {"mask_BK": [True, False]},
    ],
)
def test_strangers_are_not_compared(difference: dict[str, list[object]]) -> None:
    assert drop([NOW - 2, NOW - 1], [(0, 1)], **difference) == ([False, False], [-1, -1])


def test_records_without_owner_compare_among_themselves() -> None:
    assert comparable_BKK(plain_batch(2, owner_BK=-1)).tolist() == [[[False, True], [True, False]]]


def test_strength_weighs_the_newer_source_against_the_older() -> None:
    # r = [user 1.0, page 0.4]. The page against the user: 0.9 x min(1, 0.4 / 1.0) = 0.36, recorded only.
    # The user against the page: 0.9 x min(1, 1.0 / 0.4) = 0.9, strong.
    found = strength_BKK(symmetric(2, {(0, 1): 0.9}), torch.tensor([[1.0, 0.4]]))
    torch.testing.assert_close(found, torch.tensor([[[0.0, 0.36], [0.9, 0.0]]]))
    assert kappa(found).tolist() == [[[False, False], [True, False]]]
    assert found[0, 0, 1].item() == pytest.approx(strength(0.9, 0.4, 1.0), abs=1e-6)


def test_the_threshold_itself_is_strong() -> None:
    found = kappa(torch.tensor([STRONG, STRONG - 1e-6, STRONG + 1e-6, torch.nan]))
    assert found.tolist() == [True, False, True, False]
    assert kappa(torch.tensor([0.5]), threshold=0.5).tolist() == [True]


def assert_agrees(case: Case, dtype: torch.dtype) -> None:
    batch = case.batch
    comparable = comparable_BKK(batch)
    assert comparable.tolist() == reference.comparable(batch)
    assert candidates_BK(batch).tolist() == reference.candidates(batch)
    probability_BKK = case.probability_BKK.masked_fill(~comparable, 0.0)
    found = strength_BKK(probability_BKK, batch.reliability_BK)
    wanted = reference.strengths(batch, case.probability_BKK.double().tolist(), comparable.tolist())
    wanted_BKK = torch.tensor(wanted, dtype=torch.float64).reshape(found.shape)
    torch.testing.assert_close(found.double().cpu(), wanted_BKK, atol=STRENGTH_TOLERANCE[dtype], rtol=0)
    # A low threshold, so that dominance is common; both sides get the same κ, since only Φ_T is in question.
    kappa_BKK = kappa(found, 0.3)
    arguments = (kappa_BKK, batch.time_BK, batch.dated_BK, candidates_BK(batch))
    dropped, winners = reference.dominated_and_dominators(*(tensor.tolist() for tensor in (*arguments, case.order_BK)))
    assert dominated(*arguments).tolist() == dropped
    assert dominators(*arguments, case.order_BK).tolist() == winners


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_agrees_with_the_reference(size: tuple[int, int], dtype: torch.dtype, device: str) -> None:
    for seed in range(5):
        assert_agrees(random_case(seed, *size, dtype).to(device), dtype)


@given(cases())
def test_agrees_with_the_reference_on_any_batch(case: Case) -> None:
    assert_agrees(case, torch.float32)


def test_the_random_batches_do_have_dominance_and_ties() -> None:
    batch = random_case(0, 8, 12).batch
    everything_BKK = comparable_BKK(batch)
    dropped_BK = dominated(everything_BKK, batch.time_BK, batch.dated_BK, candidates_BK(batch))
    assert dropped_BK.any()
    assert (candidates_BK(batch) & ~dropped_BK).any()
    assert (everything_BKK & (batch.time_BK[:, :, None] == batch.time_BK[:, None, :])).any()


def test_the_scope_that_the_question_names_overrides_the_global_one_and_never_leaks() -> None:
    # scopes: 0 global, 1 the question's, 2 another's. Only a global memory can be overridden, and only by scope 1.
    batch = plain_batch(3, scope_BK=[0, 1, 2], query_scope_B=1)
    wanted = [[False, True, False], [False, False, False], [False, False, False]]
    assert overridable_BKK(batch)[0].tolist() == wanted
    for asked in (-1, 0, 2):
        found = overridable_BKK(plain_batch(2, scope_BK=[0, 1], query_scope_B=asked))
        assert not found.any()
    assert not overridable_BKK(plain_batch(2, scope_BK=[0, 1], query_scope_B=1, owner_BK=[0, 1])).any()
