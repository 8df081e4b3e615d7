"""The four features of Stage III: relevance, stored validity, compatibility, 1 - risk. All in [0, 1].

Legend: B queries, K candidates, F = 4 features; in `*_BKK` [b, i, j] is about candidate j against candidate
i. Whatever the inputs' float type, everything is computed in float32. The paper names the features and the
four kinds of risk; every number and formula below is ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from calm.batch import CandidateBatch, Intent
from calm.cells import SemanticType, State
from calm.dominance import candidates_BK
from calm.eligibility import instant_B
from calm.ranges import all_in_unit

FEATURES = ("relevance", "validity", "compatibility", "safety")
"""The order of F; safety = 1 - risk."""

TYPE_FIT: tuple[tuple[float, ...], ...] = (
    # STATEMENT, PREFERENCE, EVENT, PLAN, HYPOTHETICAL, QUESTION, SMALL_TALK, QUOTE, FICTION, DIRECTIVE,
    # TEMPORARY, HEDGED, INJECTION, EXPOSITION
    (1.0, 1.0, 1.0, 0.8, 0.1, 0.5, 0.1, 0.3, 0.05, 1.0, 1.0, 0.3, 0.0, 0.9),  # CURRENT
    (1.0, 1.0, 1.0, 0.9, 0.1, 0.5, 0.1, 0.3, 0.05, 1.0, 1.0, 0.5, 0.0, 0.9),  # HISTORICAL
    (1.0, 1.0, 1.0, 0.8, 0.1, 0.5, 0.1, 0.3, 0.05, 1.0, 1.0, 0.3, 0.0, 0.9),  # AS_OF
    (1.0, 1.0, 1.0, 0.9, 0.1, 0.5, 0.1, 0.3, 0.05, 1.0, 1.0, 0.5, 0.0, 0.9),  # CHANGE
    (1.0, 1.0, 1.0, 0.8, 0.1, 0.5, 0.1, 0.3, 0.05, 1.0, 1.0, 0.3, 0.0, 0.9),  # TIMELESS
)
"""How well a kind of speech act answers a kind of question, in [0, 1]; row `Intent`, column `SemanticType`.

Ours. Asserting types answer anything; an assistant's explanations come after them. A plan says little about now, more
about what was meant once. A question can presuppose a state; small talk, fiction and hypotheses hardly do; text that
gives orders to the reader never fits. TEMPORARY fits because its window is checked in `eligibility`.
"""


@dataclass(frozen=True)
class CompatibilityConfig:
    """Time fit, for questions about one instant (current, as of, timeless); ours. 1 for all others.

    Raises `InvalidOption` for a value outside its range.
    """

    undated: float = 0.9
    """In [0, 1]: a memory without a time may or may not hold at the instant."""
    undated_contested: float = 0.5
    """In [0, 1]: the same, and another memory contradicts it."""

    def __post_init__(self) -> None:
        all_in_unit(self)


@dataclass(frozen=True)
class RiskConfig:
    """The numbers behind the risk parts; ours. Raises `InvalidOption` for a value outside its range."""

    unresolved: float = 0.2
    """In [0, 1]: share of P(contradiction) that counts where time can't tell which one is newer."""
    undated: float = 0.2
    """In [0, 1]: temporal risk of an undated memory in a current or as-of question."""
    contested: float = 0.1
    """In [0, 1]: temporal risk of a dated memory there, in a strong conflict that time can't decide."""
    injection: float = 0.9
    """In [0, 1]: content risk of a text that gives orders to its reader."""
    state_at_instant: tuple[float, float, float, float, float, float] = (0.1, 0.0, 0.0, 1.0, 0.8, 1.0)
    """In [0, 1], by `State`: lifecycle risk in a question about one instant."""
    state_in_past: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.3, 0.5)
    """In [0, 1], by `State`: lifecycle risk in a historical or change question."""

    def __post_init__(self) -> None:
        all_in_unit(self)


@dataclass(frozen=True)
class FeatureConfig:
    """All that the features can be tuned by, besides `TYPE_FIT`."""

    compatibility: CompatibilityConfig = field(default_factory=CompatibilityConfig)
    risk: RiskConfig = field(default_factory=RiskConfig)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """What a gate reads, and the parts of risk for explanation and ablation.

    All float32 in [0, 1] and 0 in the padding. `features_BKF` (B, K, 4) stands in the order of `FEATURES`;
    `risk_BK` is the noisy-or of the five parts before it.
    """

    features_BKF: Tensor
    conflict_BK: Tensor
    dependency_BK: Tensor
    temporal_BK: Tensor
    lifecycle_BK: Tensor
    content_BK: Tensor
    risk_BK: Tensor


def features(
    batch: CandidateBatch,
    probability_BKK: Tensor,
    comparable_BKK: Tensor,
    config: FeatureConfig,
) -> Features:
    """The four features of every candidate, and what its risk is made of.

    `probability_BKK` is P(j contradicts i) in [0, 1] and is read only where `comparable_BKK`.
    """
    pad_BK = ~batch.mask_BK
    parts = [
        conflict_risk(batch, probability_BKK, comparable_BKK, config.risk),
        batch.dependency_risk_BK.float().clamp(0.0, 1.0),
        temporal_risk(batch, config.risk),
        lifecycle_risk(batch, config.risk),
        content_risk(batch, config.risk),
    ]
    conflict_BK, dependency_BK, temporal_BK, lifecycle_BK, content_BK = (p.masked_fill(pad_BK, 0.0) for p in parts)
    safety_BK = _safety((conflict_BK, dependency_BK, temporal_BK, lifecycle_BK, content_BK))
    columns = (relevance(batch), validity(batch), compatibility(batch, config.compatibility), safety_BK)
    return Features(
        features_BKF=torch.stack([c.masked_fill(pad_BK, 0.0) for c in columns], dim=-1),
        conflict_BK=conflict_BK,
        dependency_BK=dependency_BK,
        temporal_BK=temporal_BK,
        lifecycle_BK=lifecycle_BK,
        content_BK=content_BK,
        risk_BK=1.0 - safety_BK,
    )


def relevance(batch: CandidateBatch) -> Tensor:
    """The retriever's relevance, clamped to [0, 1]: float32 (B, K)."""
    return batch.relevance_BK.float().clamp(0.0, 1.0)


def validity(batch: CandidateBatch) -> Tensor:
    """Stage II's stored validity, in [0, 1]: float32 (B, K).

    For a historical or change question a superseded memory counts by its confidence, which is what its validity was
    while it held. Ours: the cap of 0.15 would keep out the very memories that such a question asks for.
    """
    held_BK = ~instant_B(batch.intent_B)[:, None] & (batch.state_BK == State.SUPERSEDED)
    return torch.where(held_BK, batch.confidence_BK.float(), batch.validity_BK.float()).clamp(0.0, 1.0)


def compatibility(batch: CandidateBatch, config: CompatibilityConfig) -> Tensor:
    """Type x entity x frame x time fit: float32 (B, K) in [0, 1]. A product, so that one misfit is enough."""
    entity_BK = batch.entity_fit_BK.float().clamp(0.0, 1.0)
    frame_BK = batch.frame_fit_BK.float().clamp(0.0, 1.0)
    return type_fit(batch) * entity_BK * frame_BK * time_fit(batch, config)


def type_fit(batch: CandidateBatch) -> Tensor:
    """`TYPE_FIT` of question and memory: float32 (B, K)."""
    table_IT = torch.tensor(TYPE_FIT, dtype=torch.float32, device=batch.mask_BK.device)
    return table_IT[batch.intent_B[:, None], _code(batch.type_BK, batch)]


def time_fit(batch: CandidateBatch, config: CompatibilityConfig) -> Tensor:
    """Whether the memory's time can be told to fit an instant: float32 (B, K) in [0, 1]."""
    undated_BK = instant_B(batch.intent_B)[:, None] & ~batch.dated_BK
    fit_BK = torch.ones(batch.shape, dtype=torch.float32, device=batch.mask_BK.device)
    fit_BK = fit_BK.masked_fill(undated_BK, config.undated)
    return fit_BK.masked_fill(undated_BK & batch.contested_BK, config.undated_contested)


def conflict_risk(batch: CandidateBatch, probability_BKK: Tensor, comparable_BKK: Tensor, config: RiskConfig) -> Tensor:
    """How likely a better memory contradicts this one: float32 (B, K) in [0, 1].

    risk_i = max over comparable j in effect (undated, or time_j <= now) of p[i, j] x preference(j over i),
    and 0 for historical and change questions, which want both sides. preference = max(by time, by trust),
    with reliability r:

    by time   min(1, r_j / r_i) where j is later, or dated when i is not (p x preference is the strength);
              `unresolved` where both have the same time or neither has one;
              0 where i is later, or dated when j is not
    by trust  1 where j is the more reliable, else 0

    So a newest memory of the best source runs no conflict risk, and an exact tie a small one on both sides.
    """
    counts_BKK = comparable_BKK & candidates_BK(batch)[:, None, :] & instant_B(batch.intent_B)[:, None, None]
    risk_BKK = probability_BKK.float().clamp(0.0, 1.0) * _preference_BKK(batch, config)
    risk_BKK = risk_BKK.masked_fill(~counts_BKK, 0.0)
    return risk_BKK.amax(dim=2) if batch.shape[1] else risk_BKK.sum(dim=2)


def temporal_risk(batch: CandidateBatch, config: RiskConfig) -> Tensor:
    """Risk that the memory holds at another time, in current and as-of questions: float32 (B, K)."""
    timed_B1 = ((batch.intent_B == Intent.CURRENT) | (batch.intent_B == Intent.AS_OF))[:, None]
    risk_BK = torch.zeros(batch.shape, dtype=torch.float32, device=batch.mask_BK.device)
    risk_BK = risk_BK.masked_fill(timed_B1 & batch.contested_BK, config.contested)
    return risk_BK.masked_fill(timed_B1 & ~batch.dated_BK, config.undated)


def lifecycle_risk(batch: CandidateBatch, config: RiskConfig) -> Tensor:
    """Risk of the memory's state for this kind of question: float32 (B, K)."""
    rows = (config.state_in_past, config.state_at_instant)
    table_2S = torch.tensor(rows, dtype=torch.float32, device=batch.mask_BK.device)
    return table_2S[instant_B(batch.intent_B).long()[:, None], _code(batch.state_BK, batch)]


def content_risk(batch: CandidateBatch, config: RiskConfig) -> Tensor:
    """Risk of what kind of text it is: float32 (B, K)."""
    risk_BK = torch.zeros(batch.shape, dtype=torch.float32, device=batch.mask_BK.device)
    return risk_BK.masked_fill(batch.type_BK == SemanticType.INJECTION, config.injection)


def _preference_BKK(batch: CandidateBatch, config: RiskConfig) -> Tensor:
    reliability_BK = batch.reliability_BK.float().masked_fill(~batch.mask_BK, 1.0)
    own_BKK, other_BKK = reliability_BK[:, :, None], reliability_BK[:, None, :]
    # Undated sorts before every date, which makes "dated when i is not" one case of "later".
    time_BK = batch.time_BK.masked_fill(~batch.dated_BK, torch.iinfo(torch.int64).min)
    later_BKK = time_BK[:, None, :] > time_BK[:, :, None]
    tied_BKK = time_BK[:, None, :] == time_BK[:, :, None]
    by_time_BKK = (other_BKK / own_BKK).clamp(max=1.0).masked_fill(~later_BKK, 0.0)
    by_time_BKK = by_time_BKK.masked_fill(tied_BKK, config.unresolved)
    return by_time_BKK.masked_fill(other_BKK > own_BKK, 1.0)


def _safety(risks: tuple[Tensor, ...]) -> Tensor:
    """1 - noisy-or: the chance that no risk comes true, were they independent (ours)."""
    safety = 1.0 - risks[0]
    for risk in risks[1:]:
        safety = safety * (1.0 - risk)
    return safety


def _code(code_BK: Tensor, batch: CandidateBatch) -> Tensor:
    """A code as an index into a table; what stands in the padding may be no code at all."""
    return code_BK.masked_fill(~batch.mask_BK, 0)
