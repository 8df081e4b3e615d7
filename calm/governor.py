"""The library's front door: wrap any retriever's results, get the admitted memories and the context back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo

from calm.conflict import ConflictScorer
from calm.decision import Decision
from calm.detect import score_pairs
from calm.embed import Embedder, load_embedder
from calm.gate import Gate, ZeroShotGate
from calm.lifecycle import lifecycle
from calm.memories import MemoryDecision, by_memory, check_embeddings, check_ids
from calm.pairs import ScoreCache
from calm.pipeline import PipelineConfig, govern
from calm.propose import propose
from calm.query import Query, TimeAxis, read_query, resolve_event
from calm.records import Record, parse_record
from calm.relevance import relevance
from calm.scorers import load_scorer
from calm.sight import Pool
from calm.stage_one import StageOneConfig, stage_one
from calm.times import parse_instant, to_us


@dataclass(frozen=True, slots=True)
class Case:
    """One question over the memories that a backend retrieved for it.

    `k` keeps only the k most relevant cells (None: all that were handed over); `user_name` is the name of the person
    who speaks as "user".
    """

    query: Query
    records: tuple[Record, ...]
    k: int | None = None
    user_name: str | None = None
    query_embedding_dim: int | None = None

    def check(self) -> None:
        """Raise `DuplicateMemoryId` or an embedding error where the memories don't go together."""
        check_ids(self.records)
        check_embeddings(self.records, self.query_embedding_dim)


@dataclass(frozen=True)
class Governor:
    """Decides which memories enter the context. Stateless but for the score cache, so one can serve everybody.

    `scorer` is κ (default: rules with the detector that is installed with calm), `gate` CALM-ZS, `embedder` the
    measure of relevance where the backend gives no score (default: the packaged encoder, else hashed words).
    """

    scorer: ConflictScorer = field(default_factory=load_scorer)
    gate: Gate = field(default_factory=ZeroShotGate)
    embedder: Embedder = field(default_factory=load_embedder)
    config: PipelineConfig = field(default_factory=PipelineConfig)
    stage_one: StageOneConfig = field(default_factory=StageOneConfig)
    cache: ScoreCache = field(default_factory=ScoreCache)

    def admit(
        self,
        question: str,
        memories: Sequence[Record | Mapping[str, object]],
        *,
        query_time: datetime | str | None = None,
        as_of: datetime | str | None = None,
        time_axis: TimeAxis = "event",
        user: str | None = None,
        scope: str | None = None,
        budget_tokens: int | None = None,
        naive_tz: tzinfo = UTC,
    ) -> MemoryDecision:
        """Which of `memories` may enter the context of `question`, and the context itself.

        `memories` are `Record`s or objects of the batch contract; `query_time` defaults to now. Raises `EmptyQuery`,
        `InvalidRecord`, `InvalidTimestamp`, `DuplicateMemoryId` and the embedding errors, each naming the record.
        """
        records = tuple(m if isinstance(m, Record) else parse_record(m, naive_tz=naive_tz) for m in memories)
        asked = parse_instant(query_time, field="query_time", naive_tz=naive_tz)
        query = read_query(
            question,
            to_us(datetime.now(UTC)) if asked is None else asked,
            as_of_us=parse_instant(as_of, field="as_of", naive_tz=naive_tz),
            axis=time_axis,
            user=user,
            scope=scope,
            budget_tokens=budget_tokens,
        )
        return self.admit_all([Case(query, records)])[0]

    def admit_all(self, cases: Sequence[Case]) -> list[MemoryDecision]:
        """Decide many cases in one batch; each answer is what it would be alone."""
        pools = [self._pool(case) for case in cases]
        queries = [resolve_event(case.query, pool.cells) for case, pool in zip(cases, pools, strict=True)]
        decisions = govern(queries, pools, self.scorer, self.gate, self.config, self.cache)
        return [self._answer(c, p, d) for c, p, d in zip(cases, pools, decisions, strict=True)]

    def _pool(self, case: Case) -> Pool:
        """Stage I and II over the handed-over memories."""
        case.check()
        cells = stage_one(case.records, self.stage_one, case.user_name)
        pairs = propose(cells, self.scorer)
        conflicts = score_pairs(pairs, self.scorer, self.cache)
        ranked = relevance(case.query.text, cells, case.records, self.embedder)
        kept = sorted(ranked, key=lambda i: (-ranked[i], i))[: case.k]
        return Pool(tuple(cells), {i: ranked[i] for i in kept}, tuple(conflicts), len(pairs))

    def _answer(self, case: Case, pool: Pool, decision: Decision) -> MemoryDecision:
        lives = lifecycle(pool.cells, pool.conflicts, self.config.lifecycle, case.query.time_us)
        states = {i: life.state for i, life in lives.items()}
        return by_memory(decision, case.records, pool, states)
