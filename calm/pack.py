"""Admitted memories -> the order and choice that fit the token budget (CALM, Stage III).

Legend: B queries, K candidates. Times are int64 µs UTC; costs and budgets int64 tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

_MAX = torch.iinfo(torch.int64).max
_MIN = torch.iinfo(torch.int64).min


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """The packed context of B queries.

    chosen_BK bool   stands in the context; admitted but not chosen = over budget
    rank_BK int64    its line in the context from 0, -1 where not chosen
    used_B int64     tokens used, never above the budget
    """

    chosen_BK: Tensor
    rank_BK: Tensor
    used_B: Tensor


def pack(
    scores_BK: Tensor,
    admitted_BK: Tensor,
    cost_BK: Tensor,
    *,
    time_BK: Tensor,
    dated_BK: Tensor,
    order_BK: Tensor,
    budget_B: Tensor | None,
) -> Packed:
    """Best first, whole memories only; what doesn't fit is skipped, and a later, shorter one may still fit.

    Best is the higher score, then the newer (undated last), then the lower `order_BK` (int64, distinct in a
    row, such as the rank of the id: the candidates' arrangement decides nothing). Costs >= 0; `budget_B`
    int64 >= 0, None for no limit. Only admitted candidates are read.
    """
    ranked_BK = _ranking(scores_BK, admitted_BK, time_BK, dated_BK, order_BK)
    admitted_ranked_BK = admitted_BK.gather(1, ranked_BK)
    cost_ranked_BK = cost_BK.gather(1, ranked_BK)
    left_B = cost_BK.new_full((cost_BK.shape[0],), _MAX) if budget_B is None else budget_B
    start_B = left_B
    chosen_ranked_BK = torch.zeros_like(admitted_ranked_BK)
    # Each choice depends on what those before it left. The admitted rank first; the rest is not visited.
    for step in range(int(admitted_ranked_BK.any(dim=0).sum())):
        fits_B = admitted_ranked_BK[:, step] & (cost_ranked_BK[:, step] <= left_B)
        left_B = torch.where(fits_B, left_B - cost_ranked_BK[:, step], left_B)
        chosen_ranked_BK[:, step] = fits_B
    line_BK = (chosen_ranked_BK.cumsum(dim=1) - 1).masked_fill(~chosen_ranked_BK, -1)
    return Packed(
        chosen_BK=torch.zeros_like(admitted_BK).scatter(1, ranked_BK, chosen_ranked_BK),
        rank_BK=torch.full_like(line_BK, -1).scatter(1, ranked_BK, line_BK),
        used_B=start_B - left_B,
    )


def _ranking(scores_BK: Tensor, admitted_BK: Tensor, time_BK: Tensor, dated_BK: Tensor, order_BK: Tensor) -> Tensor:
    """Positions by (admitted first, score down, time down, order up): stable sorts, the least key first."""
    time_BK = time_BK.masked_fill(~dated_BK, _MIN)
    ranked_BK = order_BK.argsort(dim=1, stable=True)
    for key_BK in (time_BK, scores_BK.masked_fill(~admitted_BK, -torch.inf)):
        by_key_BK = key_BK.gather(1, ranked_BK).argsort(dim=1, descending=True, stable=True)
        ranked_BK = ranked_BK.gather(1, by_key_BK)
    return ranked_BK
