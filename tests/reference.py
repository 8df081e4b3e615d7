"""The tensor core once more, as plain Python loops over lists in float64: slow, and simple enough to check
by eye.

Indices are [b][i][j]: query, candidate, other candidate. Whatever is not real is never looked at.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from calm.batch import CandidateBatch, Intent, Reason
from calm.cells import SemanticType, State
from calm.conflict import ConflictScorer
from calm.features import TYPE_FIT, FeatureConfig

PAST = {Intent.HISTORICAL, Intent.CHANGE}
MAX = 2**63 - 1


class Lists:
    """A batch's tensors as nested lists under the same names."""

    def __init__(self, batch: CandidateBatch) -> None:
        self.shape = batch.shape
        for f in fields(batch):
            setattr(self, f.name, getattr(batch, f.name).tolist())

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def comparable(batch: CandidateBatch) -> list[list[list[bool]]]:
    x = Lists(batch)
    b_, k_ = x.shape
    out = [[[False] * k_ for _ in range(k_)] for _ in range(b_)]
    for b in range(b_):
        for i in range(k_):
            for j in range(k_):
                if i == j or not x.mask_BK[b][i] or not x.mask_BK[b][j]:
                    continue
                if not (x.asserts_BK[b][i] and x.asserts_BK[b][j] and x.known_BK[b][i] and x.known_BK[b][j]):
                    continue
                same_owner = x.owner_BK[b][i] == x.owner_BK[b][j]
                same_scope = x.scope_BK[b][i] == x.scope_BK[b][j]
                out[b][i][j] = same_owner and same_scope
    return out


def candidates(batch: CandidateBatch) -> list[list[bool]]:
    x = Lists(batch)
    b_, k_ = x.shape
    return [[_candidate(x, b, i) for i in range(k_)] for b in range(b_)]


def _candidate(x: Lists, b: int, i: int) -> bool:
    if not (x.mask_BK[b][i] and x.asserts_BK[b][i] and x.known_BK[b][i]):
        return False
    return not x.dated_BK[b][i] or x.time_BK[b][i] <= x.now_B[b]


def strengths(batch: CandidateBatch, probability: list, comparable: list) -> list[list[list[float]]]:
    x = Lists(batch)
    b_, k_ = x.shape
    out = [[[0.0] * k_ for _ in range(k_)] for _ in range(b_)]
    for b in range(b_):
        for i in range(k_):
            for j in range(k_):
                if comparable[b][i][j]:
                    ratio = x.reliability_BK[b][j] / x.reliability_BK[b][i]
                    out[b][i][j] = probability[b][i][j] * min(1.0, ratio)
    return out


def dominated_and_dominators(
    kappa: list, time: list, dated: list, candidate: list, order: list
) -> tuple[list[list[bool]], list[list[int]]]:
    dropped, winners = [], []
    for b in range(len(kappa)):
        k_ = len(kappa[b])
        dropped.append([False] * k_)
        winners.append([-1] * k_)
        for i in range(k_):
            for j in range(k_):
                if not (candidate[b][i] and candidate[b][j] and dated[b][i] and dated[b][j] and kappa[b][i][j]):
                    continue
                if time[b][j] <= time[b][i]:
                    continue
                dropped[b][i] = True
                best = winners[b][i]
                if best == -1 or (-time[b][j], order[b][j]) < (-time[b][best], order[b][best]):
                    winners[b][i] = j
    return dropped, winners


def eligibility(batch: CandidateBatch, dominated: list[list[bool]]) -> list[list[int]]:
    x = Lists(batch)
    b_, k_ = x.shape
    return [[int(_reasons(x, b, i, dominated[b][i])) for i in range(k_)] for b in range(b_)]


def _reasons(x: Lists, b: int, i: int, dominated: bool) -> Reason:
    if not x.mask_BK[b][i]:
        return Reason.NONE
    barrier = _barrier(x, b, i)
    if barrier:
        return barrier
    instant = x.intent_B[b] not in PAST
    valid = x.valid_from_BK[b][i] <= x.now_B[b] < x.valid_to_BK[b][i]
    state = x.state_BK[b][i]
    checks = [
        (Reason.ARCHIVED, state == State.ARCHIVED),
        (Reason.UNVERIFIED, not x.verified_BK[b][i]),
        (Reason.NOT_VALID_AT, instant and not valid),
        (Reason.SUPERSEDED, instant and state == State.SUPERSEDED),
        (Reason.STALE, instant and state == State.STALE),
        (Reason.DOMINATED, instant and dominated),
    ]
    return Reason(sum(reason.value for reason, applies in checks if applies))


def _barrier(x: Lists, b: int, i: int) -> Reason:
    owner, asker = x.owner_BK[b][i], x.query_owner_B[b]
    if x.empty_BK[b][i]:
        return Reason.EMPTY
    if asker >= 0 and owner < 0:
        return Reason.NO_OWNER
    if asker >= 0 and owner != asker:
        return Reason.WRONG_USER
    if x.query_scope_B[b] >= 0 and x.scope_BK[b][i] not in (0, x.query_scope_B[b]):
        return Reason.OUT_OF_SCOPE
    return Reason.NONE if x.known_BK[b][i] else Reason.NOT_YET_KNOWN


def features(
    batch: CandidateBatch, probability: list, comparable: list, config: FeatureConfig
) -> dict[str, list[list[Any]]]:
    """The same names as `calm.features.Features`, each a B x K list; `features_BKF` holds lists of four."""
    x = Lists(batch)
    b_, k_ = x.shape
    names = (
        "features_BKF",
        "conflict_BK",
        "dependency_BK",
        "temporal_BK",
        "lifecycle_BK",
        "content_BK",
        "risk_BK",
    )
    out: dict[str, list[list[Any]]] = {name: [[0.0] * k_ for _ in range(b_)] for name in names}
    for b in range(b_):
        for i in range(k_):
            if not x.mask_BK[b][i]:
                out["features_BKF"][b][i] = [0.0] * 4
                continue
            parts = [
                _conflict_risk(x, b, i, probability, comparable, config),
                _clamp(x.dependency_risk_BK[b][i]),
                _temporal_risk(x, b, i, config),
                _lifecycle_risk(x, b, i, config),
                config.risk.injection if x.type_BK[b][i] == SemanticType.INJECTION else 0.0,
            ]
            safety = 1.0
            for part in parts:
                safety *= 1.0 - part
            row = [
                _clamp(x.relevance_BK[b][i]),
                _clamp(_validity(x, b, i)),
                _compatibility(x, b, i, config),
                safety,
            ]
            for name, value in zip(names, [row, *parts, 1.0 - safety], strict=True):
                out[name][b][i] = value
    return out


def _validity(x: Lists, b: int, i: int) -> float:
    past = x.intent_B[b] in PAST and x.state_BK[b][i] == State.SUPERSEDED
    return x.confidence_BK[b][i] if past else x.validity_BK[b][i]


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value))


def _compatibility(x: Lists, b: int, i: int, config: FeatureConfig) -> float:
    time_fit = 1.0
    if x.intent_B[b] not in PAST and not x.dated_BK[b][i]:
        c = config.compatibility
        time_fit = c.undated_contested if x.contested_BK[b][i] else c.undated
    type_fit = TYPE_FIT[x.intent_B[b]][x.type_BK[b][i]]
    return type_fit * _clamp(x.entity_fit_BK[b][i]) * _clamp(x.frame_fit_BK[b][i]) * time_fit


def _conflict_risk(x: Lists, b: int, i: int, probability: list, comparable: list, config: FeatureConfig) -> float:
    if x.intent_B[b] in PAST:
        return 0.0
    risk = 0.0
    for j in range(x.shape[1]):
        if comparable[b][i][j] and _candidate(x, b, j):
            risk = max(risk, _clamp(probability[b][i][j]) * _preference(x, b, i, j, config))
    return risk


def _preference(x: Lists, b: int, i: int, j: int, config: FeatureConfig) -> float:
    r_i, r_j = x.reliability_BK[b][i], x.reliability_BK[b][j]
    by_trust = 1.0 if r_j > r_i else 0.0
    dated_i, dated_j = x.dated_BK[b][i], x.dated_BK[b][j]
    if dated_i and dated_j:
        later = x.time_BK[b][j] > x.time_BK[b][i]
        tied = x.time_BK[b][j] == x.time_BK[b][i]
    else:
        later = dated_j and not dated_i
        tied = not dated_i and not dated_j
    by_time = min(1.0, r_j / r_i) if later else config.risk.unresolved if tied else 0.0
    return max(by_time, by_trust)


def _temporal_risk(x: Lists, b: int, i: int, config: FeatureConfig) -> float:
    if x.intent_B[b] not in (Intent.CURRENT, Intent.AS_OF):
        return 0.0
    if not x.dated_BK[b][i]:
        return config.risk.undated
    return config.risk.contested if x.contested_BK[b][i] else 0.0


def _lifecycle_risk(x: Lists, b: int, i: int, config: FeatureConfig) -> float:
    table = config.risk.state_in_past if x.intent_B[b] in PAST else config.risk.state_at_instant
    return table[x.state_BK[b][i]]


def zero_shot_scores(features_BKF: list) -> list[list[float]]:
    return [[sum(four) / 4 for four in row] for row in features_BKF]


def admitted(scores: list, eligible: list, threshold: float) -> list[list[bool]]:
    return [[e and s >= threshold for s, e in zip(*pair, strict=True)] for pair in zip(scores, eligible, strict=True)]


def pack(
    scores: list, admitted: list, cost: list, time: list, dated: list, order: list, budget: list[int] | None
) -> tuple[list[list[bool]], list[list[int]], list[int]]:
    chosen, rank, used = [], [], []
    for b in range(len(scores)):
        k_ = len(scores[b])
        chosen.append([False] * k_)
        rank.append([-1] * k_)
        spent, line = 0, 0
        limit = MAX if budget is None else budget[b]

        def key(i: int, b: int = b) -> tuple[float, float, int]:
            when = -time[b][i] if dated[b][i] else float("inf")
            return (-scores[b][i], when, order[b][i])

        for i in sorted((i for i in range(k_) if admitted[b][i]), key=key):
            if spent + cost[b][i] <= limit:
                chosen[b][i] = True
                rank[b][i] = line
                spent, line = spent + cost[b][i], line + 1
        used.append(spent)
    return chosen, rank, used


def pairwise(
    texts: list[list[str]], comparable: list, time: list, dated: list, scorer: ConflictScorer
) -> tuple[list[list[list[float]]], set[tuple[str, str]]]:
    """The probabilities, scoring one pair at a time, and the distinct text pairs that it took."""
    width = len(comparable[0]) if comparable else 0
    out = [[[0.0] * width for _ in range(width)] for _ in comparable]
    asked = set()
    for b, row in enumerate(texts):
        for i in range(len(row)):
            for j in range(len(row)):
                if not comparable[b][i][j] or row[i] == row[j]:
                    continue
                both = dated[b][i] and dated[b][j]
                if both and time[b][i] > time[b][j]:
                    continue
                asked.add((row[i], row[j]))
                value = float(scorer.score([(row[i], row[j])])[0])
                out[b][i][j] = out[b][j][i] = max(out[b][i][j], value)
    return out, asked
