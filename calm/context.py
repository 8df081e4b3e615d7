"""Chosen memories -> the text that the answer model reads, one line each, with provenance.

A memory's own line breaks are folded, so no text can forge the line of another memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from calm.cells import Cell, Evidence
from calm.times import day

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CJK = re.compile(r"[㐀-鿿぀-ヿ가-힯]")
_PIECES = re.compile(r"[㐀-鿿぀-ヿ가-힯]|[a-zA-Z]+|[^\W\d_a-zA-Z]+|\d+|[^\w\s]|_")


def count_tokens(text: str) -> int:
    """Tokens of `text`, estimated without a tokenizer: one per six ASCII letters of a word, per two digits or other
    letters, per CJK character and per punctuation mark. Ours: it errs high (about 1.2 x a BPE count for English), so
    that budgets hold.
    """
    return sum(math.ceil(len(piece) / _width(piece)) for piece in _PIECES.findall(text))


def _width(piece: str) -> int:
    """Characters a token: words of English are long ones, digits and other scripts are cut short."""
    if _CJK.match(piece):
        return 1
    return 6 if piece.isascii() and piece.isalpha() else 2


def one_line(text: str) -> str:
    """`text` in one line, without control characters, which could steer a terminal or break a prompt's lines."""
    return " ".join(_CONTROL.sub(" ", text).split())


def line(evidence: Evidence, text: str) -> str:
    """The packed line of one memory: "- [2026-02-10, user] text"."""
    return f"- [{day(evidence.time_us)}, {one_line(evidence.speaker)}] {one_line(text)}"


def render(chosen: Sequence[Cell]) -> str:
    """The context: the chosen cells' lines in the given order, told by their latest evidence; "" for none."""
    return "\n".join(line(cell.evidence[-1], cell.text) for cell in chosen)


def cost(cell: Cell) -> int:
    """Tokens that a cell's line takes, its line break included."""
    return count_tokens(line(cell.evidence[-1], cell.text)) + 1
