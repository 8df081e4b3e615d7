"""Query-memory agreement that needs words, not tensors: named entities, subject and life area, each in [0, 1]."""

from __future__ import annotations

import re
from dataclasses import dataclass

from calm.cells import Cell, Source
from calm.query import Query
from calm.ranges import all_in_unit


@dataclass(frozen=True)
class FitConfig:
    """Ours (the paper names query-memory compatibility and leaves its parts open); each in [0, 1]."""

    other_subject: float = 0.0
    """The question names someone, and the memory is about someone else."""
    unnamed: float = 0.8
    """The question names someone whom the memory doesn't mention."""
    not_the_users: float = 0.1
    """The question is about what the user did, and the memory is someone else's words about nobody in particular."""
    other_frame: float = 0.1
    """The memory limits itself to a life area (work, family, …) that the question is not in."""

    def __post_init__(self) -> None:
        all_in_unit(self)


def entity_fit(query: Query, cell: Cell, config: FitConfig) -> float:
    """Agreement of the question's names with the memory's names and subject."""
    if query.asks_own_act and not query.entities and _is_advice(cell):
        return config.not_the_users
    if not query.entities:
        return 1.0
    wanted = _name_words(query.entities)
    if wanted & _name_words(cell.entities) or wanted & set(re.findall(r"[\w-]+", cell.claim)):
        return 1.0
    return config.other_subject if cell.subject is not None and _speaks_for_itself(cell) else config.unnamed


def _is_advice(cell: Cell) -> bool:
    """Said by the assistant or a document, and neither about the user nor about a named subject."""
    foreign = all(e.source in (Source.ASSISTANT, Source.DOCUMENT) for e in cell.evidence)
    return foreign and "the user" not in cell.bound.casefold()


def _speaks_for_itself(cell: Cell) -> bool:
    """The subject is the speaker's own name, so the memory is certainly about that person."""
    return any(cell.subject == e.speaker.casefold() for e in cell.evidence)


def _name_words(names: frozenset[str]) -> set[str]:
    return {word for name in names for word in name.split() if len(word) > 1}


def frame_fit(query: Query, cell: Cell, config: FitConfig) -> float:
    """Agreement of the life areas; unlimited memories and unplaced questions fit everything."""
    if not cell.frames or not query.frames or cell.frames & query.frames:
        return 1.0
    return config.other_frame
