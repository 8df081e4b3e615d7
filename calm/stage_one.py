"""Stage I: Record -> Cells. Split into claims, bind the first person, type, date, name, and weigh the source."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import sentencex

from calm.anchors import Anchor, anchor
from calm.binding import Voice, bind, speaks_in_first_person, voice_of
from calm.cells import ASSERTING, Cell, Evidence, SemanticType, Source, cell_id, merge
from calm.entities import entities, stated_frames, subject
from calm.normalise import normalise
from calm.ranges import at_least
from calm.records import Record
from calm.semantics import semantic_type


@dataclass(frozen=True)
class StageOneConfig:
    """How records become cells. Ours: the papers leave the size of a cell open."""

    language: str = "en"
    """ISO 639-1 code that picks the sentence splitter's rules."""
    exposition_claims: int = 4
    """From this many claims on, an assistant's turn explains something and asserts nothing; >= 1."""

    def __post_init__(self) -> None:
        at_least("exposition_claims", self.exposition_claims, 1)


def claims_of(record: Record, config: StageOneConfig) -> list[str]:
    """The claim-sized pieces of a record's text, in order; [] for a text without any letter, digit or symbol.

    Dialogue turns and summaries are split by a sentence library, facts and notes stay whole.
    """
    text = record.text.strip()
    if not _says_something(text):
        return []
    if record.kind == "fact":
        return [text]
    return [piece for part in _PARTS.split(_HALF_A_CHARACTER.sub("\ufffd", text)) for piece in _sentences(part, config)]


_PARTS = re.compile(r"(?<=[。！？])|\n\s*\n|\n(?=\s*(?:[*+•-]\s|\d{1,3}[.)]\s|#{1,6}\s|\|))")
"""Where a text ends a part whatever its sentences: CJK full stops, blank lines, items of a list."""
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")


def _sentences(part: str, config: StageOneConfig) -> list[str]:
    if not part.strip():
        return []
    return [piece.strip() for piece in sentencex.segment(config.language, part) if _says_something(piece)]


def _says_something(text: str) -> bool:
    """Whether there is a letter, digit or symbol in `text`."""
    return any(unicodedata.category(char)[0] in "LNS" for char in text)


def cells_of(record: Record, config: StageOneConfig, user_name: str | None = None) -> list[Cell]:
    """The cells of one record, each with this record as its only evidence. Nothing in the text can change its
    owner, scope, source or validity by saying so."""
    voice = voice_of(record, user_name)
    claims = claims_of(record, config)
    at_length = voice.source is Source.ASSISTANT and len(claims) >= config.exposition_claims
    return [
        _cell(record, index, claim, _type(claim, voice, at_length), voice, user_name)
        for index, claim in enumerate(claims)
    ]


def stage_one(
    records: Iterable[Record], config: StageOneConfig | None = None, user_name: str | None = None
) -> list[Cell]:
    """All cells of `records`, identical claims merged; sorted by id, whatever the order of the records."""
    config = config or StageOneConfig()
    return merge(cell for record in records for cell in cells_of(record, config, user_name))


def _type(claim: str, voice: Voice, at_length: bool) -> SemanticType:
    kind = semantic_type(claim, voice.source)
    return SemanticType.EXPOSITION if at_length and kind in ASSERTING else kind


def _cell(record: Record, index: int, text: str, kind: SemanticType, voice: Voice, user_name: str | None) -> Cell:
    bound = bind(text, voice, user_name)
    claim = normalise(bound)
    return Cell(
        id=cell_id(record.user, record.scope, kind, claim),
        claim=claim,
        text=text,
        bound=bound,
        user=record.user,
        scope=record.scope,
        semantic_type=kind,
        entities=entities(bound),
        evidence=(_evidence(record, index, text, voice, kind),),
        subject=subject(bound, voice.name, speaks_in_first_person(text)),
        frames=stated_frames(text),
    )


def _evidence(record: Record, index: int, text: str, voice: Voice, kind: SemanticType) -> Evidence:
    said = anchor(text, record.time_us, kind)
    return Evidence(
        record_id=record.id,
        index=index,
        text=text,
        speaker=record.speaker,
        source=voice.source,
        time_us=_event_time(record, said),
        record_time_us=record.time_us,
        valid_from_us=record.valid_from_us if record.valid_from_us is not None else said.valid_from_us,
        valid_to_us=record.valid_to_us if record.valid_to_us is not None else said.valid_to_us,
        backend_state=record.state,
        depends_on=record.depends_on,
        support=record.support,
    )


def _event_time(record: Record, said: Anchor) -> int | None:
    """The backend's own validity start beats what the text says, which beats the record time."""
    return record.valid_from_us if record.valid_from_us is not None else said.time_us
