"""κ through states: by hand, and what may not matter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from calm.anchored import AnchoredScorer, commitment, different_states
from calm.conflict import GoldScorer, TextPair
from calm.errors import InvalidOption

STATES = ("vegan", "omnivore")
BOOK = GoldScorer(
    {
        ("tofu again", "vegan"): 0.1,
        ("tofu again", "omnivore"): 0.8,
        ("ribs for me", "vegan"): 0.9,
        ("ribs for me", "omnivore"): 0.2,
    }
)


class Counting:
    """A scorer that counts what it is asked."""

    fingerprint = "counting"

    def __init__(self) -> None:
        self.asked: list[TextPair] = []

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        self.asked += pairs
        return BOOK.score(pairs)


def test_two_states_by_hand() -> None:
    # "tofu again" commits to vegan with (1 - 0.1) x 0.8 = 0.72 and to omnivore with (1 - 0.8) x 0.1 = 0.02;
    # "ribs for me" with (1 - 0.9) x 0.2 = 0.02 and (1 - 0.2) x 0.9 = 0.72.
    # They differ with 0.72 x 0.72 + 0.02 x 0.02 = 0.5188.
    (score,) = AnchoredScorer(BOOK, STATES).score([("tofu again", "ribs for me")])
    assert score == pytest.approx(0.5188)


def test_what_says_nothing_of_the_attribute_conflicts_with_nothing() -> None:
    scores = AnchoredScorer(BOOK, STATES).score(
        [("the bus was late", "ribs for me"), ("tofu again", "the bus was late")]
    )
    assert scores.tolist() == [0.0, 0.0]


def test_each_text_meets_each_state_once() -> None:
    counting = Counting()
    texts = ["tofu again", "ribs for me", "the bus was late"]
    AnchoredScorer(counting, STATES).score([pair for pair in product(texts, texts) if pair[0] != pair[1]])
    assert sorted(counting.asked) == sorted(product(texts, STATES))


def test_no_pairs_give_no_scores() -> None:
    assert AnchoredScorer(BOOK, STATES).score([]).shape == (0,)


@pytest.mark.parametrize("states", [(), ("vegan",), ("vegan", "vegan")])
def test_two_distinct_states_are_needed(states: tuple[str, ...]) -> None:
    with pytest.raises(InvalidOption, match="distinct states"):
        AnchoredScorer(BOOK, states)


def test_the_fingerprint_names_states_and_scorer() -> None:
    assert AnchoredScorer(BOOK, STATES).fingerprint != AnchoredScorer(BOOK, ("vegan", "pescatarian")).fingerprint
    assert AnchoredScorer(BOOK, STATES).fingerprint != AnchoredScorer(Counting(), STATES).fingerprint


matrices = arrays(np.float32, (4, 3), elements=st.floats(0, 1, width=32))


@given(matrices)
def test_commitments_are_a_share_of_one(against: NDArray[np.float32]) -> None:
    found = commitment(against)
    assert (found >= 0).all()
    assert (found.sum(axis=1) <= 1 + 1e-6).all()


@given(matrices, st.permutations(range(3)))
def test_the_order_of_states_and_texts_does_not_matter(against: NDArray[np.float32], order: list[int]) -> None:
    found, again = commitment(against), commitment(against[:, order])
    np.testing.assert_allclose(again, found[:, order], atol=1e-6)
    forward, backward = different_states(found, found[::-1]), different_states(found[::-1], found)
    np.testing.assert_allclose(forward, backward, atol=1e-6)
    np.testing.assert_allclose(different_states(again, again[::-1]), forward, atol=1e-6)
    assert ((forward >= 0) & (forward <= 1)).all()
