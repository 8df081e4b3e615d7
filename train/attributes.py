"""Attributes with exclusive states, and the pairs of texts that their states give.

A text commits to one state of its attribute: a behaviour implies it, a direct statement or a label names it. Two texts
of different states conflict; two of one state, or of two attributes, do not.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from calm.train.examples import Example, Label
from calm.train.reading import OWN, json_lines, kept_back

HELD_OUT_EVERY = 4
"""One behaviour in four, by position, is kept from training: a text never seen, of an attribute that was."""


@dataclass(frozen=True, slots=True)
class State:
    """A state's label, what implies it and what says it outright."""

    label: str
    behaviours: tuple[str, ...]
    direct: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Two texts that look like a conflict and are none; `twin`, where there is one, is `b` edited into a conflict."""

    a: str
    b: str
    twin: str | None


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a user, a team or a service; `own` where it was written for calm."""

    name: str
    states: tuple[State, ...]
    near_misses: tuple[NearMiss, ...]
    own: bool = False


def all_attributes(data: Path) -> list[Attribute]:
    """The attributes for training below `data`, and calm's own."""
    return read_attributes(data / "temporal-mutation" / "train") + own_attributes()


def own_attributes() -> list[Attribute]:
    """Attributes written for calm: indirect throughout, and without words that give the state away."""
    return [replace(attribute, own=True) for attribute in read_attributes(OWN / "attributes")]


def read_attributes(folder: Path) -> list[Attribute]:
    """Every attribute of a folder's `.json` files (one each) and `.jsonl` files (one a line), by name; other data is
    passed over."""
    rows: list[Any] = [json.loads(file.read_text("utf-8")) for file in sorted(folder.glob("*.json"))]
    for file in sorted(folder.glob("*.jsonl")):
        rows.extend(json_lines(file))
    found = [row for row in rows if isinstance(row, Mapping) and "attribute" in row and "states" in row]
    return sorted(map(_attribute, found), key=lambda attribute: attribute.name)


def _attribute(row: Mapping[str, Any]) -> Attribute:
    return Attribute(
        name=row["attribute"],
        states=tuple(
            State(
                label=state["label"],
                behaviours=tuple(b if isinstance(b, str) else b["text"] for b in state["behaviours"]),
                direct=tuple(state.get("direct", ())),
            )
            for state in row["states"]
        ),
        near_misses=tuple(NearMiss(m["a"], m["b"], m.get("conflict_b")) for m in row.get("near_misses", ())),
    )


def is_unseen(name: str) -> bool:
    """Whether an attribute is kept from training as a whole, to tune on: one in ten, by the hash of its name."""
    return kept_back(name, 10)


def learnt(attributes: Iterable[Attribute]) -> list[Attribute]:
    """Those that are not kept from training as a whole."""
    return [attribute for attribute in attributes if not is_unseen(attribute.name)]


def seen_part(attribute: Attribute) -> Attribute:
    """The attribute without the behaviours that are held out."""
    return _with_behaviours(attribute, held_out=False)


def held_out_part(attribute: Attribute) -> Attribute:
    """The attribute with the behaviours that are held out alone."""
    return _with_behaviours(attribute, held_out=True)


def _with_behaviours(attribute: Attribute, *, held_out: bool) -> Attribute:
    states = []
    for state in attribute.states:
        kept = (b for n, b in enumerate(state.behaviours) if (n % HELD_OUT_EVERY == HELD_OUT_EVERY - 1) == held_out)
        states.append(replace(state, behaviours=tuple(kept)))
    return replace(attribute, states=tuple(states))


def near_miss_pairs(attributes: Iterable[Attribute]) -> list[Example]:
    """Every near miss, and the twin that is a conflict."""
    pairs = []
    for attribute in attributes:
        for miss in attribute.near_misses:
            pairs.append(Example(miss.a, miss.b, Label.COMPATIBLE, "near_misses", attribute.name))
            if miss.twin is not None:
                pairs.append(Example(miss.a, miss.twin, Label.CONTRADICTION, "near_misses", attribute.name))
    return pairs


def behaviour_pairs(attribute: Attribute, rng: random.Random, per_class: int) -> list[Example]:
    """Up to `per_class` pairs of behaviours of one state and as many of two states; no pair twice."""
    same, different = [], []
    for n, state in enumerate(attribute.states):
        for i, one in enumerate(state.behaviours):
            same += [(one, other) for other in state.behaviours[i + 1 :]]
            different += [(one, other) for later in attribute.states[n + 1 :] for other in later.behaviours]
    count = min(per_class, len(same), len(different))
    return [
        Example(*pair, label, "behaviours", attribute.name)
        for label, pairs in ((Label.COMPATIBLE, same), (Label.CONTRADICTION, different))
        for pair in (rng.sample(pairs, count) if count else ())
    ]


def held_out_pairs(attributes: Iterable[Attribute], rng: random.Random, per_class: int) -> list[Example]:
    """Pairs of the behaviours that are held out of learnt attributes."""
    return [pair for a in learnt(attributes) for pair in behaviour_pairs(held_out_part(a), rng, per_class)]


def draw(attributes: Sequence[Attribute], rng: random.Random) -> Example:
    """One training pair: half of the draws conflict, and one in six joins two attributes."""
    attribute = rng.choice(attributes)
    roll = rng.random()
    if roll < 1 / 6:
        other = rng.choice(attributes)
        if other.name != attribute.name:
            one, two = rng.choice(attribute.states), rng.choice(other.states)
            return Example(rng.choice(one.behaviours), _text(two, rng), Label.NEUTRAL, "attributes", "other_attribute")
    if roll < 1 / 2:
        state = rng.choice(attribute.states)
        one, two = rng.choice(state.behaviours), _text(state, rng)
        label = Label.COMPATIBLE if two in state.behaviours else Label.ENTAILMENT
        if one != two:
            return Example(one, two, label, "attributes", attribute.name)
    first, second = rng.sample(attribute.states, 2)
    return Example(rng.choice(first.behaviours), _text(second, rng), Label.CONTRADICTION, "attributes", attribute.name)


def _text(state: State, rng: random.Random) -> str:
    """A behaviour, the bare label of the state or a statement of it.

    Ours: a model that learns pairs of behaviours alone stays at chance, even on those it has learnt; what names the
    state shows it what the other text implies.
    """
    roll = rng.random()
    if roll < 0.4:
        return rng.choice(state.behaviours)
    if roll < 0.75 or not state.direct:
        return state.label
    return rng.choice(state.direct)
