"""Generated pairs: seeded, distinct, balanced, of every kind, and with both values where the kind promises them."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from calm.train.generated import generate
from calm.train.grammar import ATTRIBUTES

PAIRS = list(generate(4_000, seed=1))


def test_equal_seeds_give_equal_pairs_and_others_give_others() -> None:
    assert list(generate(50, seed=7)) == list(generate(50, seed=7)) != list(generate(50, seed=8))


def test_a_longer_run_begins_with_the_shorter() -> None:
    assert list(islice(generate(500, seed=3), 100)) == list(generate(100, seed=3))


def test_no_pair_comes_twice_and_none_says_one_thing_twice() -> None:
    assert len({(p.older, p.newer) for p in PAIRS}) == len(PAIRS)
    assert all(p.older != p.newer for p in PAIRS)


def test_twenty_thousand_are_there() -> None:
    assert sum(1 for _ in generate(20_000)) == 20_000


def test_about_half_conflict_and_every_kind_has_one_label() -> None:
    assert 0.4 < sum(p.conflict for p in PAIRS) / len(PAIRS) < 0.6
    labels: dict[str, set[bool]] = {}
    for pair in PAIRS:
        labels.setdefault(pair.kind, set()).add(pair.conflict)
    assert all(len(found) == 1 for found in labels.values())
    assert min(Counter(p.kind for p in PAIRS).values()) > 20


def test_no_template_is_left_open() -> None:
    assert not [p for p in PAIRS if any(c in p.older + p.newer for c in "{}")]


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda a: a.name)
def test_an_attribute_has_two_values_and_templates_that_name_them(attribute) -> None:  # type: ignore[no-untyped-def]
    import random

    assert len({attribute.values(random.Random(seed)) for seed in range(40)}) > 1
    stated = (*attribute.first, *attribute.third, *attribute.note, *attribute.first_change, *attribute.third_change)
    assert all("{v}" in template for template in (*stated, *attribute.additive))
    assert all("{n}" in t or "{p}" in t for t in (*attribute.third, *attribute.note, *attribute.third_change))
    assert not [t for t in (*attribute.first, *attribute.first_change) if "{n}" in t or "{p}" in t]


def test_only_equal_values_are_paraphrased() -> None:
    kinds = {"negated_paraphrase", "more_specific", "still_holds"}
    for pair in (p for p in PAIRS if p.kind in kinds and not p.conflict):
        shared = set(pair.older.lower().rstrip(".").split()) & set(pair.newer.lower().rstrip(".").split())
        assert shared, pair
