"""Which sources a detector learns from, how much of each, and the pairs of one epoch."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from calm.train import attributes as attribute_pairs
from calm.train import reading
from calm.train.attributes import Attribute
from calm.train.examples import Example, either_order, label_of
from calm.train.generated import generate
from calm.train.leakage import forbidden_keys, key, without


@dataclass(frozen=True)
class Shares:
    """How often each source is drawn, in any unit, >= 0; 0 leaves it out. Ours: chosen on the dev sets.

    Only sets whose licence lets a model trained on them be shipped are here: no non-commercial one.
    """

    snli: float = 16.0
    mnli: float = 14.0
    cad_nli: float = 12.0
    conjnli: float = 2.0
    breaking_nli: float = 2.0
    cb: float = 0.3
    memory_pairs: float = 25.0
    near_misses: float = 5.0
    attributes: float = 14.0
    own_attributes: float = 6.0
    statebench: float = 1.0
    generated: float = 3.0


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything to learn from: lists of pairs by source, and the attributes that pairs are drawn from."""

    pairs: Mapping[str, Sequence[Example]]
    attributes: Sequence[Attribute]
    own_attributes: Sequence[Attribute]


def load_sources(data: Path, *, attribute_share: float = 1.0, generated: int = 20_000) -> Sources:
    """The training sources below `data` and calm's own, without any text of a test set.

    `attribute_share` in (0, 1] keeps that part of the attributes, for a curve against the amount of data.
    """
    forbidden = forbidden_keys(data)
    every = attribute_pairs.all_attributes(data)
    learnt = [attribute_pairs.seen_part(a) for a in attribute_pairs.learnt(every)]
    learnt = random.Random(0).sample(learnt, max(1, round(attribute_share * len(learnt))))
    nli = {name: reading.nli(data / "nli" / f"{file}.jsonl.gz") for name, file in _NLI_FILES.items()}
    for name in ("snli", "mnli"):
        nli[name] = [pair for pair in nli[name] if not reading.is_dev(pair)]
    nli["breaking_nli"] = balanced(nli["breaking_nli"], random.Random(0))
    pairs = {
        **nli,
        "memory_pairs": reading.memory_pairs((data / "memory-pairs" / "train").glob("*.jsonl"), "memory_pairs")
        + reading.memory_pairs((reading.OWN / "pairs").glob("*.jsonl"), "memory_pairs"),
        "near_misses": attribute_pairs.near_miss_pairs(learnt),
        "statebench": reading.statebench(data / "statebench" / "statebench_v1.0_train.jsonl.gz"),
        "generated": [
            Example(p.older, p.newer, label_of(p.conflict), "generated", p.kind) for p in generate(generated)
        ],
    }
    clean = {name: without(examples, forbidden) for name, examples in pairs.items()}
    tidy = [_without_test_texts(a, forbidden) for a in learnt]
    return Sources(clean, [a for a in tidy if not a.own], [a for a in tidy if a.own])


def epoch(sources: Sources, shares: Shares, size: int, seed: int) -> list[Example]:
    """`size` pairs drawn by share, in either order; a source is gone through whole before any of it comes twice.

    A pure function of its arguments: a resumed training sees what an uninterrupted one does. Pass another seed for
    every epoch.
    """
    rng = random.Random(seed)
    weights = {name: share for name, share in asdict(shares).items() if share > 0}
    counts = Counter(rng.choices(list(weights), list(weights.values()), k=size))
    drawn: list[Example] = []
    for name in weights:
        count = counts[name]
        if name in ("attributes", "own_attributes"):
            drawn += [attribute_pairs.draw(getattr(sources, name), rng) for _ in range(count)]
        else:
            drawn += _cycle(sources.pairs[name], count, rng)
    rng.shuffle(drawn)
    return [either_order(example, rng) for example in drawn]


def balanced(examples: Sequence[Example], rng: random.Random) -> list[Example]:
    """As many contradictions as other pairs: what is over is dropped."""
    conflicts = [e for e in examples if e.conflict]
    others = [e for e in examples if not e.conflict]
    count = min(len(conflicts), len(others))
    return rng.sample(conflicts, count) + rng.sample(others, count)


def _cycle(examples: Sequence[Example], count: int, rng: random.Random) -> list[Example]:
    whole, rest = divmod(count, max(len(examples), 1))
    return list(examples) * whole + rng.sample(list(examples), rest)


def _without_test_texts(attribute: Attribute, forbidden: Set[str]) -> Attribute:
    states = tuple(
        replace(
            state,
            behaviours=tuple(text for text in state.behaviours if key(text) not in forbidden),
            direct=tuple(text for text in state.direct if key(text) not in forbidden),
        )
        for state in attribute.states
    )
    return replace(attribute, states=states)


_NLI_FILES = {
    "snli": "snli_dev",
    "mnli": "mnli_dev",
    "cad_nli": "cad_nli_train",
    "conjnli": "conjnli_adversarial_train",
    "breaking_nli": "breaking_nli",
    "cb": "cb_train",
}
