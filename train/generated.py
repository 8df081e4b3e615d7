"""Pairs of an older and a newer text from a seeded grammar: value updates, and near misses of every kind.

Equal seeds give equal pairs on every machine. The kinds bear the names of the hand-written pairs. Ours.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from calm.train.grammar import ATTRIBUTES, NAMES, PEOPLE, Attribute

REGISTERS = ("first", "third", "note")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts, older first, whether the newer contradicts the older, and the kind of pair."""

    older: str
    newer: str
    conflict: bool
    kind: str


@dataclass(frozen=True, slots=True)
class _Scene:
    """What one pair is about: an attribute of somebody, with two values that differ."""

    attribute: Attribute
    register: str
    name: str
    other: str
    old: str
    new: str
    rng: random.Random

    def say(self, template: str, value: str, name: str | None = None) -> str:
        who = name or self.name
        return template.format(v=value, n=who, p=f"{who}'s")

    def state(self, value: str, name: str | None = None) -> str:
        """A statement of the value in the scene's register."""
        return self.say(self.rng.choice(getattr(self.attribute, self.register)), value, name)

    def change(self, value: str) -> str:
        """The value told as a change; a note states it again."""
        if self.register == "note":
            return self.state(value)
        return self.say(self.rng.choice(getattr(self.attribute, f"{self.register}_change")), value)

    def third(self, value: str, name: str) -> str:
        return self.say(self.rng.choice(self.attribute.third), value, name)


_Builder = Callable[[_Scene], tuple[str, str]]


def generate(count: int, seed: int = 0) -> Iterator[Pair]:
    """`count` distinct pairs; about half of them conflict. Raises `ValueError` where the grammar holds no more."""
    rng = random.Random(seed)
    seen: set[tuple[str, str]] = set()
    tries = 0
    while len(seen) < count:
        tries += 1
        if tries > 50 * count + 10_000:
            raise ValueError(f"the grammar gives {len(seen)} distinct pairs, not {count}")
        pair = _pair(rng)
        if pair.older != pair.newer and (pair.older, pair.newer) not in seen:
            seen.add((pair.older, pair.newer))
            yield pair


def _pair(rng: random.Random) -> Pair:
    kind = rng.choice(_CONFLICTS) if rng.random() < 0.5 else rng.choice(_NEAR_MISSES)
    older, newer = _BUILDERS[kind](_scene(rng))
    return Pair(older, newer, kind in _CONFLICTS, kind)


def _scene(rng: random.Random) -> _Scene:
    attribute = rng.choice(ATTRIBUTES)
    old = attribute.values(rng)
    new = attribute.values(rng)
    while new == old:
        new = attribute.values(rng)
    name, other = rng.sample(NAMES, 2)
    return _Scene(attribute, rng.choice(REGISTERS), name, other, old, new, rng)


def _lower(text: str) -> str:
    """The text as a clause: "I" and names keep their capital."""
    first = text.split(" ", 1)[0].removesuffix("'s").rstrip(":,")
    keep = first in NAMES or first.startswith("I'") or first == "I"
    return text if keep else text[0].lower() + text[1:]


def _clause(text: str) -> str:
    return _lower(text.rstrip("."))


def _update(s: _Scene) -> tuple[str, str]:
    return s.state(s.old), s.change(s.new)


def _led(*leads: str) -> _Builder:
    """The old value stated, and the new one behind one of `leads`."""
    return lambda s: _behind(s, leads, s.old, s.new)


def _led_again(*leads: str) -> _Builder:
    """One value stated, and again behind one of `leads`."""
    return lambda s: _behind(s, leads, s.old, s.old)


def _led_back(*leads: str) -> _Builder:
    """The new value stated, and the old one behind one of `leads`."""
    return lambda s: _behind(s, leads, s.new, s.old)


def _behind(s: _Scene, leads: tuple[str, ...], stated: str, led: str) -> tuple[str, str]:
    lead = s.rng.choice(leads).format(other=s.other)
    return s.state(stated), lead + _lower(s.state(led))


def _restated(s: _Scene) -> tuple[str, str]:
    return s.state(s.old), s.state(s.new)


def _negation(s: _Scene) -> tuple[str, str]:
    older, newer = _behind(s, _DENIALS, s.old, s.old)
    return older, newer.rstrip(".") + "."


def _chain(s: _Scene) -> tuple[str, str]:
    return s.change(s.old), s.change(s.new)


def _other_entity(s: _Scene) -> tuple[str, str]:
    return s.state(s.old), s.third(s.new, s.rng.choice((s.other, s.rng.choice(PEOPLE).capitalize())))


def _additive(s: _Scene) -> tuple[str, str]:
    subject = "I" if s.register == "first" else s.name
    text = s.say(s.rng.choice(s.attribute.additive), s.new, s.name)
    return s.state(s.old), text if subject == s.name else text.replace(s.name, s.other)


def _hypothesis(s: _Scene) -> tuple[str, str]:
    lead = s.rng.choice(("Suppose for a moment that ", "What if it were so that ", "Imagine that "))
    text = lead + _clause(s.state(s.new))
    return s.state(s.old), text + ("?" if lead.startswith("What") else ".")


def _paraphrase(s: _Scene) -> tuple[str, str]:
    return s.state(s.old), s.state(s.old)


def _detail(s: _Scene) -> tuple[str, str]:
    text = s.state(s.old)
    return text, f"{text.rstrip('.')}, {s.rng.choice(s.attribute.detail)}" + ("." if text.endswith(".") else "")


def _repeated(s: _Scene) -> tuple[str, str]:
    deed = s.rng.choice(_DEEDS)
    first, second = s.rng.sample(range(1, 29), 2)
    month = s.rng.choice(("March", "May", "July", "October"))
    who = "I" if s.register == "first" else s.name
    return f"{who} {deed} on {first} {month}.", f"{who} {deed} on {second} {month}."


def _unit(s: _Scene) -> tuple[str, str]:
    what, (one, other) = s.rng.choice(_LENGTHS), s.rng.choice(_EQUAL)
    return f"{s.name}'s {what} is {one} long.", f"{s.name}'s {what} is {other} long."


def _accumulating(s: _Scene) -> tuple[str, str]:
    thing, count = s.rng.choice(_COUNTED), s.rng.randrange(2, 40)
    more = count + s.rng.randrange(1, 10)
    return f"{s.name} has {count} {thing}.", f"{s.name} has {more} {thing} now."


_DENIALS = ("It is no longer true that ", "It isn't the case any more that ", "It stopped being so that ")
_DEEDS = ("went to the dentist", "ran ten kilometres", "visited the museum", "paid the gas bill", "had a piano lesson")
_LENGTHS = ("usual run", "garden path", "commute", "hedge", "rowing course")
_EQUAL = (
    ("5 km", "5,000 m"),
    ("2 km", "2000 metres"),
    ("10 km", "6.2 miles"),
    ("3 m", "300 cm"),
    ("1.5 km", "1,500 m"),
)
_COUNTED = ("cats", "houseplants", "bicycles", "followers", "open invoices", "records", "stamps", "tickets")

_BUILDERS: dict[str, _Builder] = {
    "direct_value_change": _update,
    "restated_value": _restated,
    "correction": _led("Sorry, I mixed that up: ", "Correction: ", "No, I meant: ", "That was a typo, "),
    "negation": _negation,
    "chained_change": _chain,
    "quantity_change": _accumulating,
    "other_entity": _other_entity,
    "additive": _additive,
    "other_scope": _led("In the training example, ", "In the old demo account, ", "For the test profile, "),
    "plan": _led("Perhaps one day: ", "The idea for next year, nothing decided: ", "We only talk about it: "),
    "hypothesis": _hypothesis,
    "third_party_or_quote": _led(
        "{other} claims that ", "According to a rumour that {other} heard, ", "The novel says that "
    ),
    "temporary_exception": _led("Only this week: ", "Just for today: ", "As an exception, until Friday: "),
    "past_mention": _led_back("Years ago it was so that ", "I remember the time when ", "Back then, before all this: "),
    "paraphrase": _paraphrase,
    "negated_paraphrase": _led_again("It isn't wrong that ", "It has not changed that ", "There is no doubt that "),
    "more_specific": _detail,
    "still_holds": _led_again("As before, ", "Nothing new: ", "Still the same: "),
    "repeated_event": _repeated,
    "unit_or_format": _unit,
}
_CONFLICTS = ("direct_value_change", "restated_value", "correction", "negation", "chained_change", "quantity_change")
_NEAR_MISSES = tuple(kind for kind in _BUILDERS if kind not in _CONFLICTS)
