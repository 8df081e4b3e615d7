"""κ by rules: a deterministic conflict scorer without weights, and the prefilter of a model.

P pairs. `score` gives float32 (P,). Ours: the paper's κ is a model or gold labels; DESIGN 6 lists lexical rules as
one more κ. The text is data: nothing that it says changes how it is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from calm.blocking import meet
from calm.conflict import TextPair
from calm.rules import modality
from calm.rules.align import LIGHT, labels_differ
from calm.rules.compare import NOTHING, compare
from calm.rules.findings import Finding
from calm.rules.frame import Frame, frame_of
from calm.rules.keys import keys_of
from calm.rules.tokens import MAX_CHARS, clauses, prepare

_BESIDE = frozenset({"list", "fiction", "small_talk"})
"""Texts that no fact contradicts: they are not even parsed."""
_COMMON_KINDS = frozenset({"number", "date"})
CACHED_TEXTS = 16_384
"""How many parsed texts are kept (each at most a few KiB)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """P(the newer contradicts the older) in [0, 1], the rule that decided, and whether a model should look
    as well.

    `deserves_model` is False where the rules prove that subject or scope differ or that both say the same, or where
    the two share nothing.
    """

    probability: float
    rule: str
    deserves_model: bool


@dataclass(frozen=True, slots=True)
class _Parsed:
    frames: tuple[tuple[Frame, frozenset[str]], ...]
    keys: frozenset[str]
    topics: frozenset[str]
    unreal: str


@dataclass(frozen=True, slots=True)
class RuleScorer:
    """The rules as a `ConflictScorer`. Pure: equal pairs give equal scores on every machine."""

    @property
    def fingerprint(self) -> str:
        """Names rules and version; change it whenever a rule changes."""
        return "rules-1"

    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        """P(contradiction) of P (older, newer) pairs, float32 (P,) in [0, 1]."""
        return np.array([self.judge(older, newer).probability for older, newer in pairs], dtype=np.float32)

    def judge(self, older: str, newer: str) -> Verdict:
        """The verdict on one pair. Never raises, whatever the texts; reads their first `MAX_CHARS`
        characters."""
        return _judge(_parse(older[:MAX_CHARS]), _parse(newer[:MAX_CHARS]))

    def keys(self, text: str) -> frozenset[str]:
        """Blocking keys: a pair with `judge(a, b).probability > 0` meets in one (`calm.blocking.meet`)."""
        return _parse(text[:MAX_CHARS]).keys


@lru_cache(maxsize=CACHED_TEXTS)
def _parse(text: str) -> _Parsed:
    prepared = prepare(text)
    unreal = modality.unreal(prepared)
    if unreal in _BESIDE:
        return _Parsed((), frozenset(), frozenset(), unreal)
    frames = tuple((frame, keys_of(frame)) for frame in _headed([frame_of(clause) for clause in clauses(prepared)]))
    topics = frozenset(topic for frame, _ in frames for topic in _topics(frame))
    keys = frozenset(key for _, found in frames for key in found)
    return _Parsed(frames, keys, topics, unreal)


def _headed(frames: list[Frame]) -> list[Frame]:
    """ "Note 7. The hedge is trimmed." names what its other clauses are about: the number identifies them."""
    if (
        len(frames) < 2
        or frames[0].verb
        or len(frames[0].values) != 1
        or frames[0].content != {frames[0].values[0].unit}
    ):
        return frames
    return [replace(frame, ids=(*frames[0].values, *frame.ids)) for frame in frames[1:]]


def _topics(frame: Frame) -> frozenset[str]:
    """What a clause touches: word beginnings, so that "renews" meets "renewal", and kinds of typed values."""
    stems = (frame.content | frame.tail | frame.scope) - LIGHT
    kinds = {v.kind for v in (*frame.values, *frame.ids, *frame.tail_values)} - _COMMON_KINDS
    return frozenset(stem[:5] for stem in stems) | frozenset(f"#{kind}" for kind in kinds)


def _judge(older: _Parsed, newer: _Parsed) -> Verdict:
    if older.frames == newer.frames:
        return Verdict(0.0, "veto:equal_after_units", False)
    unreal = older.unreal or newer.unreal
    if unreal in _BESIDE:
        return Verdict(0.0, f"veto:{unreal}", False)
    if not meet(older.keys, newer.keys):
        others = all(labels_differ(a, b) for a, _ in older.frames for b, _ in newer.frames)
        return Verdict(0.0, "none", bool(older.topics & newer.topics) and not others)
    if unreal:
        return Verdict(0.0, f"veto:{unreal}", True)
    findings = [compare(a, b) for a, ka in older.frames for b, kb in newer.frames if meet(ka, kb)]
    best = max(findings, key=_rank, default=NOTHING)
    proven = all(f.final for f in findings) and len(older.frames) == len(newer.frames) == 1
    return Verdict(best.probability, best.rule, not proven)


def _rank(finding: Finding) -> tuple[float, bool, str]:
    return (finding.probability, finding.rule != "none", finding.rule)
