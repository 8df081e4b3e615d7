"""A question to the ledger: retrieve R_k, gather what its states depend on, govern, answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from calm.batch import Intent
from calm.cells import Cell
from calm.conflict import ConflictScorer
from calm.decision import Decision
from calm.embed import Embedder
from calm.errors import InvalidOption, shown
from calm.gate import Gate, ZeroShotGate
from calm.pipeline import PipelineConfig, govern
from calm.query import Query, resolve_event
from calm.retrieve import RecencyBuffer, RetrieveConfig, VectorIndex, expand, union
from calm.sight import Pool, visible
from calm.states import neighbourhood
from calm.store import Store

AS_OF_BREADTH = 8
"""How many times k an as-of question looks at before it drops what was not visible then. Ours."""
MAX_HOPS = 8
"""Longest chain of supersession that `follow` climbs in one question."""


@dataclass(frozen=True, slots=True)
class Recaller:
    """Answers questions from a store. `embedder` must be the one that the store was filled with."""

    store: Store
    scorer: ConflictScorer
    embedder: Embedder
    gate: Gate = field(default_factory=ZeroShotGate)
    retrieve: RetrieveConfig = field(default_factory=RetrieveConfig)
    pipeline: PipelineConfig = field(default_factory=PipelineConfig)

    def recall(self, query: Query) -> Decision:
        """The governed answer to one question of one user (`query.user`; None is the tenant without a name)."""
        pool = self.candidates(query)
        return govern([resolve_event(query, pool.cells)], [pool], self.scorer, self.gate, self.pipeline)[0]

    def ask(self, query: Query) -> Decision:
        """`recall` for whom `resolve_user` finds. Raises `InvalidOption` where that is open."""
        return self.recall(replace(query, user=resolve_user(self.store, query.user)))

    def winners(self, decision: Decision) -> dict[str, Cell]:
        """The cells that the decision's blocked memories lost to, by id."""
        ids = {i for v in decision.blocked for i in v.life.superseded_by}
        ids |= {str(v.detail["dominated_by"]) for v in decision.blocked if "dominated_by" in v.detail}
        return {c.id: c for c in self.store.cells(ids)}

    def candidates(self, query: Query) -> Pool:
        """R_k and the cells behind it: MTM hits of three phrasings, the STM, and what superseded any of these."""
        ids, vectors_ND = self.store.vectors(query.user, self.embedder.fingerprint)
        self._same_embedder(query.user, ids)
        index = VectorIndex(ids, vectors_ND)
        phrasings = expand(query.text) if self.retrieve.expand else (query.text,)
        queries_QD = self.embedder.encode(phrasings)
        newest_first = self.store.recent_cells(query.user, self.retrieve.stm_size)
        recent = RecencyBuffer(self.retrieve.stm_size, reversed(newest_first))
        found = union(self._nearest(query, index, queries_QD), recent.ids(), index, queries_QD[0])
        if self.retrieve.follow:
            found = index.relevance(sorted(self._climb(found)), queries_QD[0])
        cells, conflicts = neighbourhood(self.store, found)
        return Pool(tuple(cells), found, tuple(conflicts))

    def _nearest(self, query: Query, index: VectorIndex, queries_QD: NDArray[np.float32]) -> dict[str, float]:
        """The k nearest cells of each phrasing. A question as of an instant looks among what was visible then:
        filtering the k nearest of today afterwards would leave it with too few, or none."""
        if query.intent is not Intent.AS_OF:
            return index.search(queries_QD, self.retrieve.k)
        wide = index.search(queries_QD, self.retrieve.k * AS_OF_BREADTH)
        then = [c.id for c in self.store.cells(wide) if any(visible(e, query) for e in c.evidence)]
        nearest = sorted(then, key=lambda i: (-wide[i], i))[: self.retrieve.k * len(queries_QD)]
        return {i: wide[i] for i in nearest}

    def _climb(self, found: Collection[str]) -> set[str]:
        """`found` and every cell in a strong conflict with it, up the chain of supersession."""
        reached, fresh = set(found), set(found)
        for _ in range(MAX_HOPS):
            conflicts = [c for c in self.store.conflicts_of(fresh) if c.probability >= self.pipeline.strong_conflict]
            fresh = {i for c in conflicts for i in (c.older, c.newer)} - reached
            if not fresh:
                break
            reached |= fresh
        return reached

    def _same_embedder(self, user: str | None, ids: Collection[str]) -> None:
        models = [] if ids else self.store.vector_models(user)
        if models:
            raise InvalidOption(
                f"this user's memories were embedded with {', '.join(models)}, not with {self.embedder.fingerprint}",
                field="embedder",
                hint="query with the embedder of the ingest, or ingest into a new store",
            )


def resolve_user(store: Store, user: str | None) -> str | None:
    """The user to ask for: the one given, or the store's only one. Fails closed where there are several.

    Raises `InvalidOption` naming some users where the choice is open, or where the user has no memories.
    """
    users = store.users()
    if user is not None:
        if user not in users:
            raise InvalidOption(f"no memories of user {shown(user)}", field="user", hint=_some(users))
        return user
    if len(users) > 1:
        raise InvalidOption("the store holds several users", field="user", hint=f"name one: {_some(users)}")
    return users[0] if users else None


def _some(users: Collection[str | None]) -> str:
    names = sorted(u for u in users if u is not None)
    if not names:
        return "its memories have no owner" if users else "the store is empty"
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
