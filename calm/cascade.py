"""κ from rules and a model together: what the rules prove needs no model, and what they miss the model may see.

Legend: P pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calm.conflict import ConflictScorer, TextPair
from calm.rules import RuleScorer, Verdict


@dataclass(frozen=True, slots=True)
class CascadeScorer:
    """The rules' verdict where it is proven, else the larger of the rules' score and the model's.

    Ours: the rules see few conflicts, those of plainly replaced values; a model sees most of the rest. What the rules
    prove to be no conflict never reaches the model. `results/detector.md` has the figures of both.
    """

    rules: RuleScorer
    model: ConflictScorer

    @property
    def fingerprint(self) -> str:
        """Names both."""
        return f"{self.rules.fingerprint}+{self.model.fingerprint}"

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        """P(contradiction) of P (older, newer) pairs, float32 (P,) in [0, 1]."""
        verdicts = [self.rules.judge(older, newer) for older, newer in pairs]
        out = np.array([verdict.probability for verdict in verdicts], dtype=np.float32)
        open_rows = [n for n, verdict in enumerate(verdicts) if not settled(verdict)]
        if open_rows:
            out[open_rows] = np.maximum(out[open_rows], self.model.score([pairs[n] for n in open_rows]))
        return out

    def hint_keys(self, text: str) -> frozenset[str]:
        """Blocking keys of the rules: two texts that meet in one may conflict, however little alike they are."""
        return self.rules.keys(text)

    def hinted(self, older: str, newer: str) -> bool:
        """Whether the rules see a conflict."""
        return self.rules.judge(older, newer).probability > 0


def settled(verdict: Verdict) -> bool:
    """Whether the rules prove that two texts don't conflict: other subject, no assertion, or the same said twice.

    That they share no word proves nothing: "I'm vegan" and "The steak was superb" share none.
    """
    return not verdict.deserves_model and verdict.rule.startswith("veto:")
