"""The whole of Stage III in the order of the paper: see, κ, Φ_T, eligibility, features, gate, pack, context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from calm.batch import CandidateBatch, resolve_device
from calm.collate import Seen, collate
from calm.conflict import STRONG, ConflictScorer
from calm.decision import Decision, Gated, decide
from calm.dominance import (
    candidates_BK,
    comparable_BKK,
    dominated,
    dominators,
    kappa,
    overridable_BKK,
    strength_BKK,
)
from calm.eligibility import eligibility
from calm.features import FeatureConfig, features
from calm.fit import FitConfig
from calm.gate import Gate, ZeroShotGate, admitted
from calm.lifecycle import LifecycleConfig
from calm.pack import pack
from calm.pairs import ScoreCache, pairwise
from calm.propose import proposed_BKK
from calm.query import Query
from calm.ranges import in_unit
from calm.sight import Pool, seen
from calm.times import MAX_US


@dataclass(frozen=True)
class PipelineConfig:
    """The parts of Stage II and III that have numbers."""

    lifecycle: LifecycleConfig = field(default_factory=LifecycleConfig)
    features: FeatureConfig = field(default_factory=FeatureConfig)
    fit: FitConfig = field(default_factory=FitConfig)
    strong_conflict: float = STRONG
    """Conflict strength in [0, 1] from which κ = 1 in Φ_T."""
    device: str = "auto"
    """Where the tensors live: "auto", "cpu", "cuda", "cuda:N"."""

    def __post_init__(self) -> None:
        in_unit("strong_conflict", self.strong_conflict)


def govern(
    queries: Sequence[Query],
    pools: Sequence[Pool],
    scorer: ConflictScorer,
    gate: Gate | None = None,
    config: PipelineConfig | None = None,
    cache: ScoreCache | None = None,
) -> list[Decision]:
    """Decide for B questions at once which of their candidates enter the context; one `Decision` each, in order."""
    config, gate = config or PipelineConfig(), gate or ZeroShotGate()
    rows = [seen(pool, query, config.lifecycle) for pool, query in zip(pools, queries, strict=True)]
    batch = collate(queries, rows, config.fit).to(resolve_device(config.device))
    kappa_of = _conflicts(batch, rows, scorer, config, cache)
    reasons_BK = eligibility(batch, kappa_of.dominated_BK)
    feats = features(batch, kappa_of.probability_BKK, kappa_of.comparable_BKK, config.features)
    scores_BK = gate.scores(feats.features_BKF)
    passed_BK = admitted(scores_BK, batch.mask_BK & (reasons_BK == 0), gate.threshold)
    packed = pack(
        scores_BK,
        passed_BK,
        batch.cost_BK,
        time_BK=batch.time_BK,
        dated_BK=batch.dated_BK,
        order_BK=_order(batch),
        budget_B=_budgets(queries, scores_BK.device),
    )
    gated = Gated(reasons_BK, feats.features_BKF, scores_BK, passed_BK, packed, kappa_of.dominators_BK, gate.threshold)
    return decide(queries, rows, gated)


@dataclass(frozen=True, slots=True, eq=False)
class _Conflicts:
    """κ of a batch and what Φ_T makes of it. `dominators_BK` int64: index of the latest dominator, -1 for none."""

    probability_BKK: Tensor
    comparable_BKK: Tensor
    dominated_BK: Tensor
    dominators_BK: Tensor


def _conflicts(
    batch: CandidateBatch,
    rows: Sequence[Sequence[Seen]],
    scorer: ConflictScorer,
    config: PipelineConfig,
    cache: ScoreCache | None,
) -> _Conflicts:
    """κ over R_k (cached where Stage II scored the pair), then Φ_T on what can be compared and has happened by now."""
    comparable = comparable_BKK(batch)
    proposed = proposed_BKK([[s.cell for s in row] for row in rows], scorer, batch.shape[1]).to(comparable.device)
    texts = [[s.cell.bound for s in row] for row in rows]
    override = overridable_BKK(batch)
    wanted = (comparable | override | override.transpose(1, 2)) & proposed
    pairs = pairwise(texts, wanted, batch.time_BK, batch.dated_BK, scorer, cache=cache)
    strength = strength_BKK(pairs.probability_BKK, batch.reliability_BK)
    strong_BKK = kappa(strength, config.strong_conflict)
    kappa_BKK = strong_BKK & comparable
    live_BK = candidates_BK(batch)
    overruled_BK = (strong_BKK & override & live_BK[:, None, :]).any(dim=2)
    return _Conflicts(
        probability_BKK=pairs.probability_BKK,
        comparable_BKK=comparable,
        dominated_BK=dominated(kappa_BKK, batch.time_BK, batch.dated_BK, live_BK) | overruled_BK,
        dominators_BK=dominators(kappa_BKK, batch.time_BK, batch.dated_BK, live_BK, _order(batch)),
    )


def _order(batch: CandidateBatch) -> Tensor:
    """Rows are sorted by cell id, so the column breaks ties the same way in any arrangement of the memories."""
    return torch.arange(batch.shape[1], device=batch.mask_BK.device).expand(batch.shape)


def _budgets(queries: Sequence[Query], device: torch.device) -> Tensor:
    return torch.tensor([MAX_US if q.budget_tokens is None else q.budget_tokens for q in queries], device=device)
