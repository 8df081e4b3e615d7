"""The pair engine: which pairs of candidates need κ, each text pair once, through the cache.

Legend: B queries, K candidates, N comparable pairs (b, i < j). [b, i, j] of a matrix is P(j contradicts i).
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from calm.conflict import ConflictScorer, TextPair
from calm.errors import InvalidOption, shown


@dataclass(frozen=True, slots=True, eq=False)
class PairResult:
    """The κ matrix of a batch and what it took.

    `probability_BKK` float32 in [0, 1], symmetric, 0 where nothing was compared; `scored` the text pairs
    handed to the scorer; `possible` the pairs that comparing everything with everything would take: the sum
    of n (n - 1) / 2.
    """

    probability_BKK: Tensor
    scored: int
    possible: int


class ScoreCache:
    """The scores of up to `capacity` text pairs in memory; the longest unused go first. Safe to share by
    threads.

    Keyed by the scorer's fingerprint and the pair's hash: no text is held, and no other scorer's score is
    read. 100,000 pairs take about 30 MB. Raises `InvalidOption` for a capacity below 1.
    """

    def __init__(self, capacity: int = 100_000) -> None:
        if capacity < 1:
            raise InvalidOption(f"{shown(capacity)} is not 1 or more", field="capacity")
        self._capacity = capacity
        self._scores: OrderedDict[tuple[str, str], float] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._scores)

    def get(self, fingerprint: str, pair: str) -> float | None:
        """The score of a pair (by its hash), or None."""
        with self._lock:
            value = self._scores.get((fingerprint, pair))
            if value is not None:
                self._scores.move_to_end((fingerprint, pair))
            return value

    def put(self, fingerprint: str, pair: str, score: float) -> None:
        """Keep a score, at the price of the one longest unused where the cache is full."""
        with self._lock:
            self._scores[fingerprint, pair] = score
            self._scores.move_to_end((fingerprint, pair))
            if len(self._scores) > self._capacity:
                self._scores.popitem(last=False)


def pair_hash(older: str, newer: str) -> str:
    """sha256, in hex, of an ordered text pair; the older's length goes first, so no two pairs collide."""
    first, second = older.encode("utf-8", "surrogatepass"), newer.encode("utf-8", "surrogatepass")
    return hashlib.sha256(len(first).to_bytes(8, "big") + first + second).hexdigest()


def pairwise(
    texts: Sequence[Sequence[str]],
    comparable_BKK: Tensor,
    time_BK: Tensor,
    dated_BK: Tensor,
    scorer: ConflictScorer,
    *,
    cache: ScoreCache | None,
) -> PairResult:
    """P(contradiction) of every comparable pair of candidates, on the device of `comparable_BKK`.

    `texts` holds the candidates' texts with the first person bound, B rows of at most K; `comparable_BKK`
    is symmetric and False outside them; times are int64 µs, read only where `dated_BK`. Where both are
    dated and one is newer only (older, newer) is scored; where time can't tell, both orders are, and the
    larger counts (ours: κ is symmetric in the paper, a scorer need not be). Both [b, i, j] and [b, j, i]
    get the value. Equal texts don't contradict and are not scored. Each text pair of the batch goes to the
    scorer once, all in one call, or in none.

    Raises `InvalidOption` where the scorer doesn't return one number in [0, 1] a pair.
    """
    index_3N = torch.nonzero(comparable_BKK.triu(diagonal=1)).T
    forward_N, backward_N = _orders(index_3N, time_BK, dated_BK)
    rows, firsts, seconds = index_3N.tolist()
    pairs_N = [(texts[b][i], texts[b][j]) for b, i, j in zip(rows, firsts, seconds, strict=True)]
    ahead = [pair if wanted else None for pair, wanted in zip(pairs_N, forward_N.tolist(), strict=True)]
    back = [pair[::-1] if wanted else None for pair, wanted in zip(pairs_N, backward_N.tolist(), strict=True)]
    known, scored = _scores(ahead + back, scorer, cache)
    value_N = [max(_value(known, one), _value(known, other)) for one, other in zip(ahead, back, strict=True)]
    return PairResult(
        probability_BKK=_symmetric(index_3N, value_N, comparable_BKK),
        scored=scored,
        possible=sum(len(row) * (len(row) - 1) // 2 for row in texts),
    )


def score_texts(
    pairs: Sequence[TextPair], scorer: ConflictScorer, cache: ScoreCache | None = None
) -> NDArray[np.float32]:
    """P(contradiction) of (older, newer) texts: float32 (P,). Each is scored once; equal texts give 0."""
    known, _ = _scores(pairs, scorer, cache)
    return np.array([_value(known, pair) for pair in pairs], dtype=np.float32)


def _orders(index_3N: Tensor, time_BK: Tensor, dated_BK: Tensor) -> tuple[Tensor, Tensor]:
    """Whether each pair is to be scored as (i, j), and as (j, i): bool (N,) each."""
    row_N, i_N, j_N = index_3N.unbind(0)
    dated_N = dated_BK[row_N, i_N] & dated_BK[row_N, j_N]
    forward_N = ~(dated_N & (time_BK[row_N, i_N] > time_BK[row_N, j_N]))
    backward_N = ~(dated_N & (time_BK[row_N, i_N] < time_BK[row_N, j_N]))
    return forward_N, backward_N


def _scores(
    pairs: Iterable[TextPair | None], scorer: ConflictScorer, cache: ScoreCache | None
) -> tuple[dict[TextPair, float], int]:
    """The score of every distinct pair of distinct texts, and how many the scorer had to be asked for."""
    wanted = dict.fromkeys(pair for pair in pairs if pair is not None and pair[0] != pair[1])
    if cache is None:
        return _ask(list(wanted), scorer), len(wanted)
    hashes = {pair: pair_hash(*pair) for pair in wanted}
    kept = {pair: cache.get(scorer.fingerprint, key) for pair, key in hashes.items()}
    fresh = _ask([pair for pair, score in kept.items() if score is None], scorer)
    for pair, score in fresh.items():
        cache.put(scorer.fingerprint, hashes[pair], score)
    return {pair: score for pair, score in kept.items() if score is not None} | fresh, len(fresh)


def _ask(pairs: list[TextPair], scorer: ConflictScorer) -> dict[TextPair, float]:
    if not pairs:
        return {}
    scores = scorer.score(pairs)
    _check_scores(scores, len(pairs), scorer)
    return dict(zip(pairs, scores.tolist(), strict=True))


def _check_scores(scores: NDArray[np.float32], count: int, scorer: ConflictScorer) -> None:
    # A NaN would compare as "no conflict" for good; better to say that the scorer is broken.
    if scores.shape != (count,) or not bool(np.all((scores >= 0) & (scores <= 1))):
        raise InvalidOption(
            f"conflict scorer {shown(scorer.fingerprint)} did not return {count} numbers in [0, 1]",
            field="scorer",
        )


def _value(known: dict[TextPair, float], pair: TextPair | None) -> float:
    return 0.0 if pair is None or pair[0] == pair[1] else known[pair]


def _symmetric(index_3N: Tensor, value_N: list[float], comparable_BKK: Tensor) -> Tensor:
    device = comparable_BKK.device
    probability_BKK = torch.zeros(comparable_BKK.shape, dtype=torch.float32, device=device)
    value = torch.tensor(value_N, dtype=torch.float32, device=device)
    row_N, i_N, j_N = index_3N.unbind(0)
    probability_BKK[row_N, i_N, j_N] = value
    probability_BKK[row_N, j_N, i_N] = value
    return probability_BKK
