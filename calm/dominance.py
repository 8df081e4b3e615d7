"""Φ_T, temporal dominance (GC-Mem, Eq. 4): keep i unless some j has κ(i, j) = 1 and τ_j > τ_i.

Legend: B queries, K candidates. In `*_BKK` tensors [b, i, j] is about candidate j against candidate i;
times are int64 µs UTC. One shot: a dropped j still dominates, so chains A -> B -> C fall to C whatever the
order of looking.
"""

from __future__ import annotations

import torch
from torch import Tensor

from calm.batch import GLOBAL, CandidateBatch
from calm.conflict import STRONG
from calm.times import MIN_US


def comparable_BKK(batch: CandidateBatch) -> Tensor:
    """Pairs whose conflict may count: bool (B, K, K), symmetric, False on the diagonal.

    Both are real, known by now and assert something; both have the same owner (records without owner only
    meet their like) and the same scope. Ours (DESIGN 4 and 5.2): the paper compares all of R_k.
    """
    able_BK = batch.mask_BK & batch.asserts_BK & batch.known_BK
    both_BKK = able_BK[:, :, None] & able_BK[:, None, :]
    alike_BKK = _same(batch.owner_BK) & _same(batch.scope_BK)
    itself_KK = torch.eye(batch.shape[1], dtype=torch.bool, device=able_BK.device)
    return both_BKK & alike_BKK & ~itself_KK


def candidates_BK(batch: CandidateBatch) -> Tensor:
    """Who may dominate and be dominated at now_B: bool (B, K).

    Real, asserting, known, and in effect: what happens after now_B overrules nothing yet. An older i is in
    effect whenever its j is, so the rule costs no dominance but that of the future.
    """
    in_effect_BK = ~batch.dated_BK | (batch.time_BK <= batch.now_B[:, None])
    return batch.mask_BK & batch.asserts_BK & batch.known_BK & in_effect_BK


def strength_BKK(probability_BKK: Tensor, reliability_BK: Tensor) -> Tensor:
    """Conflict strength P(j contradicts i) x min(1, r_j / r_i): float32 (B, K, K) in [0, 1].

    `probability_BKK` in [0, 1], 0 where the pair is not comparable; reliability in (0, 1], never read where
    the probability is 0. The tensor twin of `calm.conflict.strength` (ours, DESIGN 4).
    """
    probability_BKK, reliability_BK = probability_BKK.float(), reliability_BK.float()
    ratio_BKK = reliability_BK[:, None, :] / reliability_BK[:, :, None]
    weighed_BKK = probability_BKK * ratio_BKK.clamp(max=1.0)
    return weighed_BKK.masked_fill(~(probability_BKK > 0), 0.0)


def kappa(strength_BKK: Tensor, threshold: float = STRONG) -> Tensor:
    """κ of Eq. 4: bool (B, K, K), the conflict strength reaches `threshold` in [0, 1]."""
    return strength_BKK >= threshold


def overridable_BKK(batch: CandidateBatch) -> Tensor:
    """[b, i, j]: j is of the scope that the question names and i is global, so that j may override i: bool (B, K, K).

    Ours (DESIGN 5.2): a project's own rule beats the general one inside the project, whichever is newer, and never
    leaks out of it. Both are real, known, assert something and have the same owner.
    """
    able_BK = batch.mask_BK & batch.asserts_BK & batch.known_BK
    own_BK = able_BK & (batch.scope_BK == batch.query_scope_B[:, None]) & (batch.scope_BK != GLOBAL)
    general_BK = able_BK & (batch.scope_BK == GLOBAL)
    return general_BK[:, :, None] & own_BK[:, None, :] & _same(batch.owner_BK)


def dominated(kappa_BKK: Tensor, time_BK: Tensor, dated_BK: Tensor, candidate_BK: Tensor) -> Tensor:
    """What Φ_T drops: bool (B, K), True where some strictly newer candidate contradicts this one (Eq. 4).

    `kappa_BKK` bool, False where a pair is not comparable; times int64 µs, read only where `dated_BK`.
    Equal or missing times decide nothing: both stay.
    """
    return _dominates_BKK(kappa_BKK, time_BK, dated_BK, candidate_BK).any(dim=2)


def dominators(kappa_BKK: Tensor, time_BK: Tensor, dated_BK: Tensor, candidate_BK: Tensor, order_BK: Tensor) -> Tensor:
    """Who dominates, for the explanation: int64 (B, K), the position of the latest dominator, or -1 for none.

    Of equally late dominators the one of lowest `order_BK` (int64, distinct in a row, such as the rank of
    the id) is named, so the same memory is named however the candidates are arranged. The lowest position
    would not do.
    """
    if kappa_BKK.shape[2] == 0:
        return torch.full_like(time_BK, -1)
    hit_BKK = _dominates_BKK(kappa_BKK, time_BK, dated_BK, candidate_BK)
    time_BKK = time_BK[:, None, :].expand_as(hit_BKK)
    latest_BK1 = time_BKK.masked_fill(~hit_BKK, MIN_US).amax(dim=2, keepdim=True)
    latest_BKK = hit_BKK & (time_BKK == latest_BK1)
    order_BKK = order_BK[:, None, :].expand_as(hit_BKK)
    winner_BK = order_BKK.masked_fill(~latest_BKK, torch.iinfo(torch.int64).max).argmin(dim=2)
    return winner_BK.masked_fill(~hit_BKK.any(dim=2), -1)


def _dominates_BKK(kappa_BKK: Tensor, time_BK: Tensor, dated_BK: Tensor, candidate_BK: Tensor) -> Tensor:
    """[b, i, j]: j dominates i."""
    able_BK = candidate_BK & dated_BK
    newer_BKK = time_BK[:, None, :] > time_BK[:, :, None]
    return kappa_BKK & newer_BKK & able_BK[:, :, None] & able_BK[:, None, :]


def _same(code_BK: Tensor) -> Tensor:
    return code_BK[:, :, None] == code_BK[:, None, :]
