"""Token ids of pairs, batched by length so that next to nothing is padded.

Legend: B pairs, L tokens, C classes, H a teacher's size.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch

from calm.train.examples import Example

MAX_TOKENS = 96
"""Longest pair in training, in tokens; 98 of 100 pairs are shorter. Ours: to read more is seldom worth its time."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Pairs as ids, mask and segments (B, L), and labels (B,) as in `Label`.

    Of a teacher, where there is one: its logits (B, C) and vectors (B, H).
    """

    ids_BL: torch.Tensor
    mask_BL: torch.Tensor
    segments_BL: torch.Tensor
    labels_B: torch.Tensor
    teacher_BC: torch.Tensor | None = None
    vectors_BH: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self.labels_B)

    def inputs(self, *, segments: bool) -> dict[str, torch.Tensor]:
        """What a model takes; `segments` for one that tells older from newer by them."""
        inputs = {"input_ids": self.ids_BL, "attention_mask": self.mask_BL}
        return inputs | {"token_type_ids": self.segments_BL} if segments else inputs

    def to(self, device: torch.device | str) -> Batch:
        """The batch on another device."""
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        return replace(self, **{name: part.to(device) for name, part in parts.items() if part is not None})


@dataclass(frozen=True, slots=True)
class Tokens:
    """One pair as its model reads it: token ids, and the segment of each."""

    ids: list[int]
    segments: list[int]


def encode(tokenizer: Any, examples: Sequence[Example], max_tokens: int = MAX_TOKENS) -> list[Tokens]:
    """Each pair in the tokenizer's own form for pairs; where it is too long the longer text is cut first."""
    encoded = tokenizer(
        [e.older for e in examples],
        [e.newer for e in examples],
        truncation=True,
        max_length=max_tokens,
        return_token_type_ids=True,
        return_attention_mask=False,
    )
    return [Tokens(*row) for row in zip(encoded["input_ids"], encoded["token_type_ids"], strict=True)]


def in_order(rows: Sequence[Tokens], size: int) -> list[list[int]]:
    """All indices in batches of at most `size`, shortest pairs first."""
    return _cut(sorted(range(len(rows)), key=lambda n: len(rows[n].ids)), size)


def by_length(lengths: Sequence[int], size: int, rng: random.Random) -> list[list[int]]:
    """Indices in full batches of `size`, of nearly one length each, the batches in random order.

    What does not fill a batch is left out; lengths that are equal come in random order, so an epoch's batches differ.
    """
    order = sorted(range(len(lengths)), key=lambda n: (lengths[n], rng.random()))
    surplus = len(order) % size
    for _ in range(surplus):
        order.pop(rng.randrange(len(order)))
    batches = _cut(order, size)
    rng.shuffle(batches)
    return batches


def _cut(order: list[int], size: int) -> list[list[int]]:
    return [order[start : start + size] for start in range(0, len(order), size)]


def collate(rows: Sequence[Tokens], labels: Sequence[int], pad: int) -> Batch:
    """One batch, padded to its longest pair."""
    length = max(len(row.ids) for row in rows)
    ids_BL = torch.full((len(rows), length), pad)
    mask_BL = torch.zeros((len(rows), length), dtype=torch.long)
    segments_BL = torch.zeros((len(rows), length), dtype=torch.long)
    for n, row in enumerate(rows):
        ids_BL[n, : len(row.ids)] = torch.tensor(row.ids)
        mask_BL[n, : len(row.ids)] = 1
        segments_BL[n, : len(row.ids)] = torch.tensor(row.segments)
    return Batch(ids_BL, mask_BL, segments_BL, torch.tensor(list(labels)))
