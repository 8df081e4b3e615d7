"""Hard eligibility (DESIGN 5.2): which candidates may not enter whatever their score, and every reason why.

Legend: B queries, K candidates. `reasons_BK` holds `Reason` bits, 0 for an eligible candidate.
"""

from __future__ import annotations

import torch
from torch import Tensor

from calm.batch import ANY_SCOPE, GLOBAL, CandidateBatch, Intent, Reason
from calm.cells import State


def eligibility(batch: CandidateBatch, dominated_BK: Tensor) -> Tensor:
    """All reasons against each candidate, as bits of `Reason`: int64 (B, K); 0 is eligible, and padding.

    Four barriers come first: empty, tenant (fail closed: no owner, no entry), scope, not yet known. Each
    ends the inquiry: the state of another tenant's memory, of another scope's, or of one that nobody could
    know at the time is nobody's business, so nothing after a barrier is reported. Behind the barriers all
    that applies is reported: archived and unverified for every intent; outside the validity interval,
    superseded, stale and dominated (`dominated_BK`, from Φ_T) only where the question is about one instant.
    Questions about the past or about a change get the rest back.
    """
    reasons_BK = torch.zeros(batch.shape, dtype=torch.int64, device=batch.mask_BK.device)
    open_BK = batch.mask_BK
    for reason, applies_BK in _barriers(batch):
        reasons_BK = reasons_BK.masked_fill(open_BK & applies_BK, reason.value)
        open_BK = open_BK & ~applies_BK
    for reason, applies_BK in _states(batch, dominated_BK):
        reasons_BK = torch.where(open_BK & applies_BK, reasons_BK | reason.value, reasons_BK)
    return reasons_BK


def instant_B(intent_B: Tensor) -> Tensor:
    """Whether a question is about how things stand at one instant (now, then, or at any time): bool (B,)."""
    return (intent_B != Intent.HISTORICAL) & (intent_B != Intent.CHANGE)


def _barriers(batch: CandidateBatch) -> list[tuple[Reason, Tensor]]:
    asked_B1 = (batch.query_owner_B >= 0)[:, None]
    ownerless_BK = batch.owner_BK < 0
    wanted_B1 = batch.query_scope_B[:, None]
    foreign_BK = (batch.scope_BK != GLOBAL) & (batch.scope_BK != wanted_B1)
    return [
        (Reason.EMPTY, batch.empty_BK),
        (Reason.NO_OWNER, asked_B1 & ownerless_BK),
        (Reason.WRONG_USER, asked_B1 & (batch.owner_BK != batch.query_owner_B[:, None])),
        (Reason.OUT_OF_SCOPE, (wanted_B1 != ANY_SCOPE) & foreign_BK),
        (Reason.NOT_YET_KNOWN, ~batch.known_BK),
    ]


def _states(batch: CandidateBatch, dominated_BK: Tensor) -> list[tuple[Reason, Tensor]]:
    instant_B1 = instant_B(batch.intent_B)[:, None]
    now_B1 = batch.now_B[:, None]
    valid_BK = (batch.valid_from_BK <= now_B1) & (now_B1 < batch.valid_to_BK)
    return [
        (Reason.ARCHIVED, batch.state_BK == State.ARCHIVED),
        (Reason.NOT_VALID_AT, instant_B1 & ~valid_BK),
        (Reason.UNVERIFIED, ~batch.verified_BK),
        (Reason.SUPERSEDED, instant_B1 & (batch.state_BK == State.SUPERSEDED)),
        (Reason.STALE, instant_B1 & (batch.state_BK == State.STALE)),
        (Reason.DOMINATED, instant_B1 & dominated_BK),
    ]
