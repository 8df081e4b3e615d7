"""κ through states: two memories conflict when they commit to different states of one attribute.

Legend: P pairs, T texts, S states. Needs T x S scores where all pairs need T².
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calm.conflict import ConflictScorer, TextPair
from calm.errors import InvalidOption


class AnchoredScorer:
    """Scores pairs over the known states of one attribute: a question's options, or the values a store has seen.

    A memory commits to a state as far as it contradicts every other state and not this one, by a scorer of pairs; a
    memory that says nothing about the attribute contradicts none, so it commits to none and conflicts with nothing.
    Ours: a state is named in a few plain words, so a scorer sees what contradicts it where two indirect behaviours
    tell it nothing of each other. Raises `InvalidOption` for fewer than two distinct states.
    """

    def __init__(self, scorer: ConflictScorer, states: Sequence[str]) -> None:
        self._states = tuple(dict.fromkeys(states))
        if len(self._states) < 2:
            raise InvalidOption(
                f"{len(self._states)} distinct states leave nothing to tell apart", field="states", hint="name two"
            )
        self._scorer = scorer

    @property
    def fingerprint(self) -> str:
        """Names the scorer of pairs and the states."""
        return f"anchored-{'|'.join(self._states)}-{self._scorer.fingerprint}"

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        """P(contradiction) of P (older, newer) pairs, float32 (P,) in [0, 1]; the same in both orders."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        place = {text: n for n, text in enumerate(texts)}
        flat = [(text, state) for text in texts for state in self._states]
        against_TS = self._scorer.score(flat).reshape(len(texts), len(self._states))
        commitment_TS = commitment(against_TS)
        older = commitment_TS[[place[pair[0]] for pair in pairs]]
        newer = commitment_TS[[place[pair[1]] for pair in pairs]]
        return different_states(older, newer)


def commitment(against_TS: NDArray[np.float32]) -> NDArray[np.float32]:
    """P(text commits to a state), (T, S), rows summing to at most 1, from P(text contradicts the state).

    (1 - κ of the state) x κ of every other one, taken as independent.
    """
    states = against_TS.shape[1]
    own_TS = [
        (1 - against_TS[:, s]) * np.delete(against_TS, s, axis=1).prod(axis=1, dtype=np.float64) for s in range(states)
    ]
    return np.stack(own_TS, axis=1).astype(np.float32)


def different_states(older_PS: NDArray[np.float32], newer_PS: NDArray[np.float32]) -> NDArray[np.float32]:
    """P(two texts commit to different states), (P,): both commit, less both to the same."""
    both_P = older_PS.sum(axis=1, dtype=np.float64) * newer_PS.sum(axis=1, dtype=np.float64)
    same_P = (older_PS.astype(np.float64) * newer_PS).sum(axis=1)
    differ_P: NDArray[np.float32] = np.clip(both_P - same_P, 0, 1).astype(np.float32)
    return differ_P
