"""Chosen memories -> the text that the answer model reads, one line each, with provenance.

A memory's own line breaks are folded, so no text can forge the line of another memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from calm.cells import Cell, Evidence
from calm.times import day


def count_tokens(text: str) -> int:
    """Tokens of `text`, estimated without a tokenizer: one per CJK character, else one per four characters a word,
    and one per punctuation mark. Ours: it errs high for English (about 1.2 x a BPE count), so budgets hold.
    """
    pieces = re.findall(r"[㐀-鿿぀-ヿ가-힯]|[^\W_]+|[^\w\s]|_", text)
    return sum(math.ceil(len(piece) / 6) if len(piece) > 1 else 1 for piece in pieces)


def line(evidence: Evidence, text: str) -> str:
    """The packed line of one memory: "- [2026-02-10, user] text"."""
    folded = " ".join(text.split())
    speaker = " ".join(evidence.speaker.split())
    return f"- [{day(evidence.time_us)}, {speaker}] {folded}"


def render(chosen: Sequence[Cell]) -> str:
    """The context: the chosen cells' lines in the given order, told by their latest evidence; "" for none."""
    return "\n".join(line(cell.evidence[-1], cell.text) for cell in chosen)


def cost(cell: Cell) -> int:
    """Tokens that a cell's line takes, its line break included."""
    return count_tokens(line(cell.evidence[-1], cell.text)) + 1
