"""Which rule decides about two clauses, and which veto comes first.

Precision comes first: a wrong supersession destroys a memory, a missed one is left to a model. Ours (DESIGN 4:
unknown predicates are many-valued; where rules can tell that subject, attribute or scope differ, that vetoes).
"""

from __future__ import annotations

from calm.rules import align as al
from calm.rules.align import Alignment
from calm.rules.findings import HINT, Finding, Rule
from calm.rules.frame import Frame
from calm.rules.relations import attribute, holder, slot
from calm.rules.updates import addressee, cancellation, change, correction, manner, ordered, restated
from calm.rules.values import diet, personal, polarity, swapped, typed

HEDGED_CAP = 0.7
"""The most that a statement with "probably" can reach: below supersession."""
NOTHING = Finding(0.0, "none")


def compare(older: Frame, newer: Frame) -> Finding:
    """The strongest finding about two clauses, after the vetoes."""
    if al.labels_differ(older, newer):
        return Finding(0.0, "veto:subject", True)
    aligned = al.align(older, newer)
    found = _first(older, newer, aligned, (correction, cancellation))
    if found is None:
        if newer.limited or older.limited:
            return Finding(0.0, "veto:scope")
        if newer.remembers and not newer.change:
            return Finding(0.0, "veto:past")
        if older.remembers:
            return Finding(0.0, "veto:past")
        found = _stated(older, newer, aligned)
        if found.probability > HINT and (older.anaphoric or newer.anaphoric):
            return Finding(HINT, found.rule)
    if found.probability > HEDGED_CAP and (older.hedged or newer.hedged):
        return Finding(HEDGED_CAP, found.rule)
    return found


def _stated(older: Frame, newer: Frame, aligned: Alignment) -> Finding:
    found = _first(older, newer, aligned, (holder, attribute, slot, ordered, diet))
    if found is None:
        if al.subjects_differ(older, newer):
            return Finding(0.0, "veto:subject", al.surely_other(older, newer))
        if al.scopes_differ(older, newer):
            return Finding(0.0, "veto:scope")
        found = _best(older, newer, aligned, (swapped, polarity, typed, change, manner, restated, addressee, personal))
    if found is None:
        return NOTHING
    if found.probability > 0 and (newer.adds or older.adds) and not found.rule.startswith("veto"):
        return Finding(0.0, "veto:many_valued")
    return found


def _first(older: Frame, newer: Frame, aligned: Alignment, rules: tuple[Rule, ...]) -> Finding | None:
    return next((found for rule in rules if (found := rule(older, newer, aligned)) is not None), None)


def _best(older: Frame, newer: Frame, aligned: Alignment, rules: tuple[Rule, ...]) -> Finding | None:
    found = [f for rule in rules if (f := rule(older, newer, aligned)) is not None]
    return max(found, key=lambda f: (f.probability, f.final), default=None)
