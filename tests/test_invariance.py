"""What must change nothing in the tensor core: arrangement, padding, company, chunking. To the bit.

The whole chain is run, pairs to packing, each part on the outcome of the part before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from strategies import DEVICES, Case, cases, padded, permuted, random_case, rows_of
from torch import Tensor

from calm.conflict import TextPair
from calm.dominance import candidates_BK, comparable_BKK, dominated, dominators, kappa, strength_BKK
from calm.eligibility import eligibility
from calm.features import FeatureConfig, features
from calm.gate import ZeroShotGate, admitted
from calm.pack import pack
from calm.pairs import pairwise


class LengthScorer:
    """An asymmetric score that is easy to compute and often strong."""

    fingerprint = "length"

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        return np.array([((3 * len(a) + 7 * len(b)) % 11) / 10 for a, b in pairs], dtype=np.float32)


def core(case: Case, budget: int = 30) -> dict[str, Tensor]:
    """Every outcome of Stage III on a batch, by name; names end in the shape."""
    batch = case.batch
    texts = [["x" * (number % 8) for number in row] for row in case.order_BK.tolist()]
    comparable = comparable_BKK(batch)
    pairs = pairwise(texts, comparable, batch.time_BK, batch.dated_BK, LengthScorer(), cache=None)
    strength = strength_BKK(pairs.probability_BKK, batch.reliability_BK)
    phi = (kappa(strength) & comparable, batch.time_BK, batch.dated_BK, candidates_BK(batch))
    dominated_BK = dominated(*phi)
    winner_BK = dominators(*phi, case.order_BK)
    reasons_BK = eligibility(batch, dominated_BK)
    found = features(batch, pairs.probability_BKK, comparable, FeatureConfig())
    scores_BK = ZeroShotGate().scores(found.features_BKF)
    admitted_BK = admitted(scores_BK, batch.mask_BK & (reasons_BK == 0), 0.3)
    packed = pack(
        scores_BK,
        admitted_BK,
        batch.cost_BK,
        time_BK=batch.time_BK,
        dated_BK=batch.dated_BK,
        order_BK=case.order_BK,
        budget_B=torch.full_like(batch.now_B, budget),
    )
    # Whom a position means depends on the arrangement; the candidate's own number in `order_BK` doesn't.
    name_BK = torch.cat([case.order_BK, torch.full_like(case.order_BK[:, :1], -1)], dim=1)
    named_BK = name_BK.gather(1, winner_BK.clamp(min=0)) if winner_BK.numel() else winner_BK
    return {
        "comparable_BKK": comparable,
        "probability_BKK": pairs.probability_BKK,
        "strength_BKK": strength,
        "dominated_BK": dominated_BK,
        "dominator_BK": named_BK.masked_fill(winner_BK < 0, -1),
        "reasons_BK": reasons_BK,
        "features_BK": found.features_BKF,
        "risk_BK": found.risk_BK,
        "scores_BK": scores_BK,
        "admitted_BK": admitted_BK,
        "chosen_BK": packed.chosen_BK,
        "rank_BK": packed.rank_BK,
        "used_B": packed.used_B,
    }


def assert_same(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> None:
    for name, value in wanted.items():
        assert torch.equal(found[name], value), name


@given(cases(), st.randoms(use_true_random=False))
def test_the_arrangement_of_the_candidates_decides_nothing(case: Case, random: object) -> None:
    numbers = list(range(case.batch.shape[1]))
    random.shuffle(numbers)  # type: ignore[attr-defined]
    order = torch.tensor(numbers, dtype=torch.int64)
    wanted = {}
    for name, value in core(case).items():
        if name.endswith("_BKK"):
            wanted[name] = value[:, order][:, :, order]
        else:
            wanted[name] = value[:, order] if name.endswith("_BK") else value
    assert_same(core(permuted(case, order)), wanted)


@given(cases(), st.integers(1, 4), st.integers(0, 2**31))
def test_padding_changes_nothing_whatever_stands_in_it(case: Case, extra: int, seed: int) -> None:
    k = case.batch.shape[1]
    wide = core(padded(case, extra, seed))
    narrow = {}
    for name, value in wide.items():
        if name.endswith("_BKK"):
            narrow[name] = value[:, :k, :k]
        else:
            narrow[name] = value[:, :k] if name.endswith("_BK") else value
    assert_same(narrow, core(case))
    for name in ("comparable_BKK", "probability_BKK", "strength_BKK"):
        assert not wide[name][:, k:].any()
        assert not wide[name][:, :, k:].any()
    for name in ("dominated_BK", "reasons_BK", "features_BK", "risk_BK", "admitted_BK", "chosen_BK"):
        assert not wide[name][:, k:].any()
    assert (wide["rank_BK"][:, k:] == -1).all()
    assert (wide["dominator_BK"][:, k:] == -1).all()


@given(cases(max_b=5), st.integers(1, 4))
def test_a_query_fares_the_same_alone_in_chunks_and_in_company(case: Case, size: int) -> None:
    b = case.batch.shape[0]
    together = core(case)
    for start in range(0, b, size):
        rows = slice(start, min(b, start + size))
        assert_same(core(rows_of(case, rows)), {name: value[rows] for name, value in together.items()})


def test_a_query_fares_the_same_alone_in_a_large_batch() -> None:
    # Large enough that vectorised and tail code paths of the CPU kernels both run.
    case = random_case(1, 67, 33)
    together = core(case)
    for row in (0, 31, 66):
        rows = slice(row, row + 1)
        assert_same(core(rows_of(case, rows)), {name: value[rows] for name, value in together.items()})


def test_the_random_batches_reach_every_outcome() -> None:
    found = core(random_case(1, 67, 33))
    for name in ("dominated_BK", "admitted_BK", "chosen_BK"):
        assert found[name].any(), name
    assert (found["admitted_BK"] & ~found["chosen_BK"]).any()
    assert (found["dominator_BK"] >= 0).any()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("size", [(0, 3), (3, 0), (0, 0), (1, 1), (1, 5)], ids=str)
def test_every_size_has_its_shape(size: tuple[int, int], device: str) -> None:
    b, k = size
    for name, value in core(random_case(0, b, k).to(device)).items():
        shape = (b, k, k) if name.endswith("_BKK") else (b, k) if name.endswith("_BK") else (b,)
        assert value.shape[: len(shape)] == shape
        assert value.device.type == device


@pytest.mark.parametrize("device", [DEVICES[1]])
def test_the_accelerator_decides_as_the_cpu(device: str) -> None:
    case = random_case(1, 67, 33)
    here, there = core(case), core(case.to(device))
    for name, value in here.items():
        if value.is_floating_point():
            torch.testing.assert_close(there[name].cpu(), value, atol=1e-6, rtol=0)
        else:
            assert torch.equal(there[name].cpu(), value), name
