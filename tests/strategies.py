"""Random and hand-made `CandidateBatch`es, and the ways to rearrange one that must change nothing.

Legend: B queries, K candidates. What stands in the padding is garbage on purpose: NaN, codes out of every
table, times at either end of int64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import pytest
import torch
from hypothesis import strategies as st
from torch import Tensor

from calm.batch import CandidateBatch, Intent
from calm.cells import RELIABILITY, SemanticType, State
from calm.times import MAX_US, MIN_US

NOW = 1_790_000_000_000_000
"""An instant in µs UTC. Test times lie a few µs around it: float32 would not tell them apart."""

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=[
            pytest.mark.gpu,
            pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
        ],
    ),
]

DTYPES = [torch.float64, torch.float32, torch.bfloat16, torch.float16]

GARBAGE_INTEGERS = (-(2**63), -7, 99, 2**63 - 1)


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A batch and what goes with it: symmetric probabilities in [0, 1] (garbage outside the real pairs),
    tie order.
    """

    batch: CandidateBatch
    probability_BKK: Tensor
    order_BK: Tensor

    def to(self, device: str) -> Case:
        target = torch.device(device)
        return Case(self.batch.to(target), self.probability_BKK.to(target), self.order_BK.to(target))


def random_case(seed: int, b: int, k: int, dtype: torch.dtype = torch.float32) -> Case:
    """B x K of everything that can happen, ties included; each row has its own number of real candidates."""
    g = torch.Generator().manual_seed(seed)

    def pick(values: list[int], *shape: int) -> Tensor:
        return torch.tensor(values)[torch.randint(len(values), shape, generator=g)]

    def flags(share: float) -> Tensor:
        return torch.rand(b, k, generator=g) < share

    def units() -> Tensor:
        return torch.rand(b, k, generator=g, dtype=torch.float64).to(dtype)

    batch = CandidateBatch(
        mask_BK=torch.rand(b, k, generator=g) < 0.85,
        owner_BK=pick([-1, 0, 0, 0, 0, 0, 0, 1], b, k),
        query_owner_B=pick([-1, 0, 0, 1], b),
        scope_BK=pick([0, 0, 0, 0, 0, 0, 1, 2], b, k),
        query_scope_B=pick([-1, 0, 1], b),
        now_B=pick([NOW, NOW + 2], b),
        intent_B=pick([int(i) for i in Intent], b),
        time_BK=pick([NOW - 2, NOW - 1, NOW, NOW + 1, NOW + 3], b, k),
        dated_BK=flags(0.8),
        valid_from_BK=pick([MIN_US, MIN_US, NOW - 1, NOW + 2], b, k),
        valid_to_BK=pick([MAX_US, MAX_US, NOW, NOW + 2], b, k),
        known_BK=flags(0.9),
        state_BK=pick([int(s) for s in State], b, k),
        validity_BK=units(),
        confidence_BK=units(),
        reliability_BK=torch.tensor(list(RELIABILITY.values()), dtype=dtype)[
            torch.randint(len(RELIABILITY), (b, k), generator=g)
        ],
        asserts_BK=flags(0.9),
        type_BK=pick([int(t) for t in SemanticType], b, k),
        verified_BK=flags(0.9),
        contested_BK=flags(0.3),
        relevance_BK=units(),
        entity_fit_BK=units(),
        frame_fit_BK=units(),
        dependency_risk_BK=units() * flags(0.3),
        empty_BK=flags(0.1),
        cost_BK=torch.randint(0, 20, (b, k), generator=g),
    )
    upper = torch.rand(b, k, k, generator=g, dtype=torch.float64).triu(1)
    order_BK = torch.rand(b, k, generator=g).argsort(dim=1)
    case = Case(batch, (upper + upper.transpose(1, 2)).to(dtype), order_BK)
    return spoil_padding(case, g)


def spoil_padding(case: Case, g: torch.Generator) -> Case:
    """Garbage wherever no real candidate stands."""
    mask_BK = case.batch.mask_BK

    def spoil(value: Tensor) -> Tensor:
        if value.dtype == torch.bool:
            garbage = torch.rand(value.shape, generator=g) < 0.5
        elif value.dtype == torch.int64:
            garbage = torch.tensor(GARBAGE_INTEGERS)[torch.randint(4, value.shape, generator=g)]
        else:
            garbage = torch.full_like(value, torch.nan)
        return torch.where(mask_BK, value, garbage)

    spoiled = {
        f.name: spoil(getattr(case.batch, f.name))
        for f in fields(case.batch)
        if f.name.endswith("_BK") and f.name != "mask_BK"
    }
    real_BKK = mask_BK[:, :, None] & mask_BK[:, None, :]
    return Case(
        replace(case.batch, **spoiled),
        case.probability_BKK.masked_fill(~real_BKK, torch.nan),
        spoil(case.order_BK),
    )


def cases(max_b: int = 4, max_k: int = 7) -> st.SearchStrategy[Case]:
    """Random cases of every size, the empty ones included."""
    return st.builds(random_case, st.integers(0, 2**32 - 1), st.integers(0, max_b), st.integers(0, max_k))


def permuted(case: Case, order: Tensor) -> Case:
    """The same candidates in another arrangement, alike in every row; `order` int64 (K,)."""

    def move(name: str, value: Tensor) -> Tensor:
        return value[:, order] if name.endswith("_BK") else value

    return Case(_each(case.batch, move), case.probability_BKK[:, order][:, :, order], case.order_BK[:, order])


def padded(case: Case, extra: int, seed: int) -> Case:
    """The same with `extra` more columns of garbage."""
    b, k = case.batch.shape
    g = torch.Generator().manual_seed(seed)

    def widen(name: str, value: Tensor) -> Tensor:
        return torch.cat([value, value.new_zeros(b, extra)], dim=1) if name.endswith("_BK") else value

    probability = case.probability_BKK.new_zeros(b, k + extra, k + extra)
    probability[:, :k, :k] = case.probability_BKK
    wide = Case(_each(case.batch, widen), probability, widen("order_BK", case.order_BK))
    return spoil_padding(wide, g)


def rows_of(case: Case, rows: slice) -> Case:
    """Some queries of the batch, as a batch."""
    return Case(_each(case.batch, lambda _, value: value[rows]), case.probability_BKK[rows], case.order_BK[rows])


def _each(batch: CandidateBatch, change: Callable[[str, Tensor], Tensor]) -> CandidateBatch:
    return CandidateBatch(**{f.name: change(f.name, getattr(batch, f.name)) for f in fields(batch)})


def plain_batch(k: int, **overrides: object) -> CandidateBatch:
    """One current question of user 0 with `k` flawless candidates of user 0, for hand-worked examples.

    An override is a scalar, a list of K (per candidate) or, for `*_B` fields, one number.
    """
    base: dict[str, object] = {
        "mask_BK": True,
        "owner_BK": 0,
        "query_owner_B": 0,
        "scope_BK": 0,
        "query_scope_B": -1,
        "now_B": NOW,
        "intent_B": int(Intent.CURRENT),
        "time_BK": [NOW - k + i for i in range(k)] if k else NOW,
        "dated_BK": True,
        "valid_from_BK": MIN_US,
        "valid_to_BK": MAX_US,
        "known_BK": True,
        "state_BK": int(State.ACTIVE),
        "validity_BK": 1.0,
        "confidence_BK": 1.0,
        "reliability_BK": 1.0,
        "asserts_BK": True,
        "type_BK": int(SemanticType.STATEMENT),
        "verified_BK": True,
        "contested_BK": False,
        "relevance_BK": 1.0,
        "entity_fit_BK": 1.0,
        "frame_fit_BK": 1.0,
        "dependency_risk_BK": 0.0,
        "empty_BK": False,
        "cost_BK": 1,
    }
    unknown = set(overrides) - set(base)
    assert not unknown, unknown
    return CandidateBatch(**{name: _tensor(name, overrides.get(name, value), k) for name, value in base.items()})


def _tensor(name: str, value: object, k: int) -> Tensor:
    if name.endswith("_B"):
        return torch.tensor([value])
    values = value if isinstance(value, list) else [value] * k
    # Typed by the sample where there is no candidate to tell the type by.
    return torch.tensor([values], dtype=torch.tensor([value]).dtype if k == 0 else None).reshape(1, k)


def symmetric(k: int, entries: dict[tuple[int, int], float]) -> Tensor:
    """One (1, K, K) matrix with the given entries on both sides of the diagonal."""
    matrix = torch.zeros(1, k, k)
    for (i, j), value in entries.items():
        matrix[0, i, j] = matrix[0, j, i] = value
    return matrix
