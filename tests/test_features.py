"""The four features: every table entry and branch by hand, and all against tests/reference.py."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
import reference
import torch
from hypothesis import given
from hypothesis import strategies as st
from strategies import DEVICES, DTYPES, NOW, Case, cases, plain_batch, random_case, symmetric

from calm.batch import Intent
from calm.cells import ASSERTING, SemanticType, State
from calm.dominance import comparable_BKK
from calm.errors import InvalidOption
from calm.features import (
    TYPE_FIT,
    CompatibilityConfig,
    FeatureConfig,
    Features,
    RiskConfig,
    compatibility,
    conflict_risk,
    content_risk,
    features,
    lifecycle_risk,
    temporal_risk,
    type_fit,
    validity,
)
from calm.gate import ZeroShotGate

CONFIG = FeatureConfig()
PAST = {Intent.HISTORICAL, Intent.CHANGE}
TOLERANCE = dict.fromkeys(DTYPES, 1e-6)
"""Inputs of every type are widened to float32 first, so none of them costs precision beyond their own
rounding.
"""


def run(case: Case, config: FeatureConfig = CONFIG) -> Features:
    return features(case.batch, case.probability_BKK, comparable_BKK(case.batch), config)


def risk_of_conflict(p: float, **batch: object) -> list[float]:
    """Conflict risk of two candidates that contradict each other with probability p."""
    row = plain_batch(2, **batch)
    found = conflict_risk(row, symmetric(2, {(0, 1): p}), comparable_BKK(row), CONFIG.risk)
    return pytest.approx(found[0].tolist())  # type: ignore[no-any-return]


def test_three_candidates_by_hand() -> None:
    # 0: user, at now - 3; 1: web page (r = 0.4), at now - 2; 2: user, undated, relevance 0.5.
    # p(0, 1) = 0.5, p(0, 2) = 0.6, p(1, 2) = 0.
    batch = plain_batch(
        3,
        reliability_BK=[1.0, 0.4, 1.0],
        dated_BK=[True, True, False],
        relevance_BK=[1.0, 0.8, 0.5],
        validity_BK=[0.9, 0.7, 0.7],
        dependency_risk_BK=[0.5, 0.0, 0.0],
    )
    probability = symmetric(3, {(0, 1): 0.5, (0, 2): 0.6})
    found = features(batch, probability, comparable_BKK(batch), CONFIG)
    # Conflict risk of 0: by 1, later but less reliable: 0.5 x 0.4 / 1.0 = 0.2; by 2, undated: 0. Maximum 0.2.
    #   of 1: by 0, older but more reliable: 0.5 x 1 = 0.5.
    #   of 2: by 0, which is dated: 0.6 x 1 = 0.6.
    # Temporal: 0.2 for the undated 2. Dependency: 0.5 for 0. States are all ACTIVE: 0.
    # 1 - risk: 0: (1 - 0.2)(1 - 0.5) = 0.4; 1: 1 - 0.5 = 0.5; 2: (1 - 0.6)(1 - 0.2) = 0.32.
    # Compatibility: 1, 1, and 0.9 for the undated 2.
    torch.testing.assert_close(found.conflict_BK, torch.tensor([[0.2, 0.5, 0.6]]))
    torch.testing.assert_close(found.risk_BK, torch.tensor([[0.6, 0.5, 0.68]]))
    wanted = torch.tensor([[[1.0, 0.9, 1.0, 0.4], [0.8, 0.7, 1.0, 0.5], [0.5, 0.7, 0.9, 0.32]]])
    torch.testing.assert_close(found.features_BKF, wanted)


@pytest.mark.parametrize(
    ("batch", "wanted"),
    [
        ({}, [0.5, 0.0]),  # the later, as reliable: all of p against the older, nothing against itself
        ({"time_BK": NOW}, [0.1, 0.1]),  # a tie: 0.5 x 0.2 on both sides
        ({"dated_BK": False}, [0.1, 0.1]),  # no time on either side is a tie as well
        ({"dated_BK": [False, True]}, [0.5, 0.0]),
        ({"dated_BK": [False, True], "time_BK": [NOW, -5]}, [0.5, 0.0]),  # dated 1969, still the only date
        ({"dated_BK": [True, False]}, [0.0, 0.5]),
        ({"reliability_BK": [1.0, 0.5]}, [0.25, 0.5]),  # 0.5 x 0.5 / 1; 0.5 x 1
        ({"reliability_BK": [0.5, 1.0]}, [0.5, 0.0]),
        ({"reliability_BK": [1.0, 0.5], "time_BK": NOW}, [0.1, 0.5]),  # a tie, but trust decides for 1
        ({"time_BK": [NOW - 1, NOW + 1]}, [0.0, 0.0]),  # 1 is not in effect yet
        ({"owner_BK": [0, 1]}, [0.0, 0.0]),
        ({"intent_B": int(Intent.HISTORICAL)}, [0.0, 0.0]),
        ({"intent_B": int(Intent.CHANGE)}, [0.0, 0.0]),
        ({"intent_B": int(Intent.AS_OF)}, [0.5, 0.0]),
        ({"intent_B": int(Intent.TIMELESS)}, [0.5, 0.0]),
    ],
)
def test_conflict_risk_by_hand(batch: dict[str, object], wanted: list[float]) -> None:
    assert wanted == risk_of_conflict(0.5, **batch)


@pytest.mark.parametrize("intent", list(Intent))
def test_type_fit(intent: Intent) -> None:
    every = [int(t) for t in SemanticType]
    found = type_fit(plain_batch(len(every), type_BK=every, intent_B=int(intent)))[0].tolist()
    fit = dict(zip(SemanticType, found, strict=True))
    assert all(fit[t] == 1.0 for t in ASSERTING)
    assert fit[SemanticType.TEMPORARY] == 1.0
    assert fit[SemanticType.INJECTION] == 0.0
    assert fit[SemanticType.FICTION] <= fit[SemanticType.HYPOTHETICAL] <= fit[SemanticType.QUOTE] < 0.5
    assert fit[SemanticType.SMALL_TALK] < fit[SemanticType.QUESTION] < fit[SemanticType.PLAN] < 1.0


def test_plans_and_guesses_say_more_about_the_past_than_about_now() -> None:
    now, past = TYPE_FIT[Intent.CURRENT], TYPE_FIT[Intent.HISTORICAL]
    for kind in (SemanticType.PLAN, SemanticType.HEDGED):
        assert now[kind] < past[kind]


def test_a_question_about_the_past_reads_what_a_superseded_memory_was_worth() -> None:
    states = [int(State.SUPERSEDED), int(State.ACTIVE)]
    batch = {"state_BK": states, "validity_BK": 0.15, "confidence_BK": 0.75}
    assert validity(plain_batch(2, intent_B=int(Intent.CURRENT), **batch)).tolist() == [pytest.approx([0.15, 0.15])]
    assert validity(plain_batch(2, intent_B=int(Intent.HISTORICAL), **batch)).tolist() == [pytest.approx([0.75, 0.15])]


def test_the_table_covers_every_intent_and_type() -> None:
    assert len(TYPE_FIT) == len(Intent)
    assert {len(row) for row in TYPE_FIT} == {len(SemanticType)}


@pytest.mark.parametrize("intent", list(Intent))
def test_time_fit_and_temporal_risk(intent: Intent) -> None:
    # Candidates: dated; dated and contested; undated; undated and contested.
    batch = plain_batch(
        4,
        dated_BK=[True, True, False, False],
        contested_BK=[False, True, False, True],
        intent_B=int(intent),
    )
    fit = compatibility(batch, CONFIG.compatibility)[0].tolist()
    risk = temporal_risk(batch, CONFIG.risk)[0].tolist()
    assert fit == pytest.approx([1, 1, 1, 1] if intent in PAST else [1, 1, 0.9, 0.5])
    timed = intent in {Intent.CURRENT, Intent.AS_OF}
    assert risk == pytest.approx([0, 0.1, 0.2, 0.2] if timed else [0, 0, 0, 0])


@pytest.mark.parametrize("intent", list(Intent))
def test_lifecycle_risk(intent: Intent) -> None:
    # CANDIDATE, ACTIVE, STABLE, SUPERSEDED, STALE, ARCHIVED
    every = [int(s) for s in State]
    found = lifecycle_risk(plain_batch(len(every), state_BK=every, intent_B=int(intent)), CONFIG.risk)
    wanted = [0, 0, 0, 0, 0.3, 0.5] if intent in PAST else [0.1, 0, 0, 1, 0.8, 1]
    assert found[0].tolist() == pytest.approx(wanted)


def test_content_risk() -> None:
    every = [int(t) for t in SemanticType]
    found = content_risk(plain_batch(len(every), type_BK=every), CONFIG.risk)[0].tolist()
    assert found == pytest.approx([0.9 if t is SemanticType.INJECTION else 0 for t in SemanticType])


def test_compatibility_is_a_product() -> None:
    # QUESTION 0.5 x entity 0.8 x frame 0.5 x undated 0.9 = 0.18
    batch = plain_batch(1, type_BK=int(SemanticType.QUESTION), entity_fit_BK=0.8, frame_fit_BK=0.5, dated_BK=False)
    assert compatibility(batch, CONFIG.compatibility).item() == pytest.approx(0.18)


def test_out_of_range_inputs_are_clamped() -> None:
    batch = plain_batch(2, relevance_BK=[1.2, -0.3], validity_BK=[2.0, -1.0], dependency_risk_BK=[1.5, -0.5])
    found = features(batch, torch.zeros(1, 2, 2), comparable_BKK(batch), CONFIG)
    assert found.features_BKF.tolist() == [[[1, 1, 1, 0], [0, 0, 1, 1]]]


def test_every_number_of_the_configuration_is_read() -> None:
    case = random_case(3, 30, 12)
    before = run(case).features_BKF
    for config in (
        FeatureConfig(compatibility=CompatibilityConfig(undated=0.3)),
        FeatureConfig(compatibility=CompatibilityConfig(undated_contested=0.3)),
        FeatureConfig(risk=RiskConfig(unresolved=0.9)),
        FeatureConfig(risk=RiskConfig(undated=0.9)),
        FeatureConfig(risk=RiskConfig(contested=0.9)),
        FeatureConfig(risk=RiskConfig(injection=0.1)),
        FeatureConfig(risk=RiskConfig(state_at_instant=(0.5, 0.5, 0.5, 0.5, 0.5, 0.5))),
        FeatureConfig(risk=RiskConfig(state_in_past=(0.5, 0.5, 0.5, 0.5, 0.5, 0.5))),
    ):
        assert not torch.equal(run(case, config).features_BKF, before)
        assert_agrees(case, torch.float32, config)


def test_a_number_outside_its_range_is_refused() -> None:
    with pytest.raises(InvalidOption, match="undated"):
        CompatibilityConfig(undated=1.5)
    with pytest.raises(InvalidOption, match="state_in_past"):
        RiskConfig(state_in_past=(0.0, 0.0, 0.0, 0.0, 0.3, -0.5))
    with pytest.raises(InvalidOption, match="unresolved"):
        RiskConfig(unresolved=float("nan"))


def assert_agrees(case: Case, dtype: torch.dtype, config: FeatureConfig = CONFIG) -> None:
    found = run(case, config)
    comparable = comparable_BKK(case.batch).tolist()
    wanted = reference.features(case.batch, case.probability_BKK.double().tolist(), comparable, config)
    for f in fields(found):
        value = getattr(found, f.name)
        assert value.dtype == torch.float32
        expected = torch.tensor(wanted[f.name], dtype=torch.float64).reshape(value.shape)
        torch.testing.assert_close(value.double().cpu(), expected, atol=TOLERANCE[dtype], rtol=0)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [(0, 3), (3, 0), (0, 0), (1, 1), (20, 12)], ids=str)
def test_agrees_with_the_reference(size: tuple[int, int], dtype: torch.dtype, device: str) -> None:
    assert_agrees(random_case(11, *size, dtype).to(device), dtype)


@given(cases())
def test_agrees_with_the_reference_on_any_batch(case: Case) -> None:
    assert_agrees(case, torch.float32)


@given(cases())
def test_everything_lies_in_the_unit_interval_and_padding_is_zero(case: Case) -> None:
    found = run(case)
    for f in fields(found):
        value = getattr(found, f.name)
        assert ((value >= 0) & (value <= 1)).all()
        if f.name != "features_BKF":
            assert not value[~case.batch.mask_BK].any()
    assert not found.features_BKF[~case.batch.mask_BK].any()


@given(cases(), st.floats(0, 1))
def test_raising_a_risk_never_raises_a_score(case: Case, amount: float) -> None:
    before = ZeroShotGate().scores(run(case).features_BKF)
    batch, p = case.batch, case.probability_BKK
    riskier = [
        Case(batch, p + (1 - p) * amount, case.order_BK),
        Case(_raise_dependency(batch, amount), p, case.order_BK),
        Case(replace(batch, contested_BK=torch.ones_like(batch.contested_BK)), p, case.order_BK),
    ]
    for worse in riskier:
        assert (ZeroShotGate().scores(run(worse).features_BKF) <= before).all()


def _raise_dependency(batch: object, amount: float) -> object:
    risk = batch.dependency_risk_BK  # type: ignore[attr-defined]
    return replace(batch, dependency_risk_BK=torch.maximum(risk, torch.full_like(risk, amount)))  # type: ignore[type-var]
