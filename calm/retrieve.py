"""Retrieval of R_k from a store: MTM on FAISS, STM as a FIFO of the most recent, query expansion, union, dedup.

GC-Mem 4.1: every method reads the same frozen R_k. Legend: Q query phrasings, N cells, D dimensions, k neighbours.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from calm.errors import EmbeddingDimensionError
from calm.ranges import at_least


@dataclass(frozen=True)
class RetrieveConfig:
    """What makes R_k. Defaults from GC-Mem 4.1 and Figure 2 unless marked ours."""

    k: int = 10
    """Nearest cells that the MTM returns per phrasing, >= 1."""
    stm_size: int = 10
    """Cells in the short-term buffer, >= 0 (0: no STM)."""
    expand: bool = True
    """Ask with an old-biased and a new-biased phrasing as well."""
    follow: bool = True
    """Bring in what superseded a retrieved cell. Ours: shadowing hides the newest statement from the retriever, and the
    ledger knows it."""

    def __post_init__(self) -> None:
        at_least("k", self.k, 1)
        at_least("stm_size", self.stm_size, 0)


def expand(question: str) -> tuple[str, str, str]:
    """The question, an old-biased and a new-biased phrasing (multi-query expansion by rules)."""
    return (question, f"Before, in the past, it used to be: {question}", f"Now, since the change: {question}")


_ROUNDING = 1e-6
"""FAISS leaves out the bound itself, and float32 products of equal vectors differ by about as much."""


class VectorIndex:
    """The MTM: exact inner-product search over unit vectors with FAISS."""

    def __init__(self, ids: Sequence[str], vectors_ND: NDArray[np.float32]) -> None:
        import faiss

        self._ids = list(ids)
        self._dim = int(vectors_ND.shape[1]) if len(ids) else 0
        self._index = faiss.IndexFlatIP(max(self._dim, 1))
        if len(ids):
            self._index.add(np.ascontiguousarray(vectors_ND, dtype=np.float32))

    def __len__(self) -> int:
        return len(self._ids)

    def search(self, queries_QD: NDArray[np.float32], k: int) -> dict[str, float]:
        """Union over the Q phrasings of the k nearest cells: id -> best cosine, clipped to [0, 1].

        Raises `EmbeddingDimensionError` where the query's vectors have another size than the index's.
        """
        if not self._ids:
            return {}
        if queries_QD.shape[1] != self._dim:
            raise EmbeddingDimensionError(
                f"the query has {queries_QD.shape[1]} dimensions, the stored vectors have {self._dim}",
                field="embedding",
                hint="query with the embedder that the store was filled with",
            )
        cosines, places = self._index.search(np.ascontiguousarray(queries_QD), min(k, len(self._ids)))
        found: dict[str, float] = {}
        for cosine, place in zip(cosines.ravel().tolist(), places.ravel().tolist(), strict=True):
            key = self._ids[place]
            found[key] = max(found.get(key, 0.0), min(1.0, max(0.0, cosine)))
        return found

    def within(self, queries_QD: NDArray[np.float32], cosine: float) -> list[set[str]]:
        """Per query the ids of all cells at `cosine` in [0, 1] or nearer (a range search, so symmetric)."""
        if not self._ids or not len(queries_QD):
            return [set() for _ in queries_QD]
        limits, _, places = self._index.range_search(np.ascontiguousarray(queries_QD), cosine - _ROUNDING)
        bounds = limits.tolist()
        return [{self._ids[p] for p in places[a:b].tolist()} for a, b in pairwise(bounds)]

    def relevance(self, ids: Iterable[str], query_D: NDArray[np.float32]) -> dict[str, float]:
        """Cosine in [0, 1] of given cells to one vector; cells without a vector get 0."""
        place = {key: n for n, key in enumerate(self._ids)}
        return {
            key: min(1.0, max(0.0, float(self._index.reconstruct(place[key]) @ query_D))) if key in place else 0.0
            for key in ids
        }


class RecencyBuffer:
    """The STM: a FIFO of the ids of the last `size` cells."""

    def __init__(self, size: int, recent: Iterable[str] = ()) -> None:
        self._ids: deque[str] = deque(recent, maxlen=size)

    def push(self, cell: str) -> None:
        """Remembers `cell` as the most recent; the oldest drops out."""
        self._ids.append(cell)

    def ids(self) -> list[str]:
        """Oldest first."""
        return list(self._ids)


def union(
    mtm: Mapping[str, float], stm: Sequence[str], index: VectorIndex, query_D: NDArray[np.float32]
) -> dict[str, float]:
    """R_k: MTM hits and STM members, each once; id -> relevance to the question itself, in [0, 1]."""
    return index.relevance(sorted(set(mtm) | set(stm)), query_D)
