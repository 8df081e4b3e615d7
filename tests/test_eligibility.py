"""Hard eligibility: one reason at a time by hand, and all of them against the loops of tests/reference.py."""

from __future__ import annotations

import pytest
import reference
import torch
from hypothesis import given
from strategies import DEVICES, DTYPES, NOW, Case, cases, plain_batch, random_case

from calm.batch import Intent, Reason
from calm.cells import State
from calm.eligibility import eligibility

INSTANT = [Intent.CURRENT, Intent.AS_OF, Intent.TIMELESS]
PAST = [Intent.HISTORICAL, Intent.CHANGE]
ARCHIVED, SUPERSEDED, STALE = int(State.ARCHIVED), int(State.SUPERSEDED), int(State.STALE)


def reasons(dominated: bool = False, **batch: object) -> Reason:
    """The reasons against a single, else flawless candidate."""
    found = eligibility(plain_batch(1, **batch), torch.tensor([[dominated]]))
    assert found.dtype == torch.int64
    return Reason(int(found[0, 0]))


def test_a_flawless_candidate_is_eligible() -> None:
    assert reasons() == Reason.NONE


@pytest.mark.parametrize("intent", list(Intent))
@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        ({"empty_BK": True}, Reason.EMPTY),
        ({"owner_BK": -1}, Reason.NO_OWNER),
        ({"owner_BK": 1}, Reason.WRONG_USER),
        ({"query_scope_B": 2, "scope_BK": 1}, Reason.OUT_OF_SCOPE),
        ({"query_scope_B": 0, "scope_BK": 1}, Reason.OUT_OF_SCOPE),
        ({"query_scope_B": 2, "scope_BK": 2}, Reason.NONE),
        ({"query_scope_B": 2, "scope_BK": 0}, Reason.NONE),
        ({"query_scope_B": -1, "scope_BK": 1}, Reason.NONE),
        ({"query_owner_B": -1, "owner_BK": 1}, Reason.NONE),
        ({"query_owner_B": -1, "owner_BK": -1}, Reason.NONE),
        ({"known_BK": False}, Reason.NOT_YET_KNOWN),
        ({"state_BK": ARCHIVED}, Reason.ARCHIVED),
        ({"verified_BK": False}, Reason.UNVERIFIED),
    ],
)
def test_what_holds_for_every_intent(intent: Intent, batch: dict[str, object], reason: Reason) -> None:
    assert reasons(intent_B=int(intent), **batch) == reason


STATES = [
    ({"state_BK": SUPERSEDED}, Reason.SUPERSEDED),
    ({"state_BK": STALE}, Reason.STALE),
    ({"dominated": True}, Reason.DOMINATED),
    ({"valid_from_BK": NOW + 1}, Reason.NOT_VALID_AT),
    ({"valid_to_BK": NOW}, Reason.NOT_VALID_AT),
]


@pytest.mark.parametrize(("batch", "reason"), STATES)
@pytest.mark.parametrize("intent", INSTANT)
def test_a_question_about_an_instant_blocks_what_does_not_hold_then(
    intent: Intent, batch: dict[str, object], reason: Reason
) -> None:
    assert reasons(intent_B=int(intent), **batch) == reason  # type: ignore[arg-type]


@pytest.mark.parametrize(("batch", "reason"), STATES)
@pytest.mark.parametrize("intent", PAST)
def test_a_question_about_the_past_gets_it_back(intent: Intent, batch: dict[str, object], reason: Reason) -> None:
    assert reasons(intent_B=int(intent), **batch) == Reason.NONE  # type: ignore[arg-type]


def test_the_validity_interval_is_half_open() -> None:
    assert reasons(valid_from_BK=NOW, valid_to_BK=NOW + 1) == Reason.NONE
    assert reasons(valid_from_BK=NOW - 1, valid_to_BK=NOW) == Reason.NOT_VALID_AT


def test_all_that_applies_is_reported() -> None:
    found = reasons(state_BK=STALE, verified_BK=False, dominated=True, valid_to_BK=NOW)
    # 64 + 256 + 512 + 1024: the bits stand in the order in which the contract lists the codes.
    assert int(found) == 1856
    assert found.codes() == ["not_valid_at", "dominated", "stale", "unverified"]


@pytest.mark.parametrize(
    ("barrier", "reason"),
    [
        ({"empty_BK": True, "owner_BK": 1}, Reason.EMPTY),
        ({"owner_BK": -1}, Reason.NO_OWNER),
        ({"owner_BK": 1}, Reason.WRONG_USER),
        ({"query_scope_B": 2, "scope_BK": 1}, Reason.OUT_OF_SCOPE),
        ({"known_BK": False}, Reason.NOT_YET_KNOWN),
    ],
)
def test_behind_a_barrier_nothing_is_told(barrier: dict[str, object], reason: Reason) -> None:
    # Another tenant's memory is stale, unverified and dominated: nobody's business but its owner's.
    found = reasons(**barrier, state_BK=STALE, verified_BK=False, dominated=True)  # type: ignore[arg-type]
    assert found == reason


def test_padding_has_no_reasons() -> None:
    assert reasons(mask_BK=False, empty_BK=True, known_BK=False, dominated=True) == Reason.NONE


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [(0, 3), (3, 0), (1, 1), (20, 15)], ids=str)
def test_agrees_with_the_reference(size: tuple[int, int], dtype: torch.dtype, device: str) -> None:
    case = random_case(7, *size, dtype).to(device)
    dominated_BK = (torch.arange(size[0] * size[1]) % 3 == 0).reshape(size).to(device)
    found = eligibility(case.batch, dominated_BK)
    assert found.tolist() == reference.eligibility(case.batch, dominated_BK.tolist())


@given(cases())
def test_agrees_with_the_reference_on_any_batch(case: Case) -> None:
    dominated_BK = case.batch.contested_BK
    wanted = reference.eligibility(case.batch, dominated_BK.tolist())
    assert eligibility(case.batch, dominated_BK).tolist() == wanted


def test_the_random_batches_meet_every_reason() -> None:
    batch = random_case(7, 60, 15).batch
    union = 0
    for row in eligibility(batch, batch.contested_BK).tolist():
        for bits in row:
            union |= bits
    wanted = set(Reason) - {Reason.NONE, Reason.LOW_SCORE, Reason.OVER_BUDGET, Reason.DUPLICATE_OF}
    assert {reason for reason in Reason if reason & union} == wanted
