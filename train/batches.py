"""Token ids of pairs, batched by length so that next to nothing is padded. Legend: B pairs, L tokens, C classes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from calm.train.examples import Example

MAX_TOKENS = 96
"""Longest pair in training, in tokens; 98 of 100 pairs are shorter. Ours: to read more is seldom worth its time."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of pairs: ids, mask and segments (B, L), labels (B,) as in `Label`, a teacher's logits (B, C) or None."""

    ids_BL: torch.Tensor
    mask_BL: torch.Tensor
    segments_BL: torch.Tensor
    labels_B: torch.Tensor
    teacher_BC: torch.Tensor | None = None

    def __len__(self) -> int:
        return len(self.labels_B)

    def to(self, device: torch.device | str) -> Batch:
        """The batch on another device."""
        teacher = None if self.teacher_BC is None else self.teacher_BC.to(device)
        return Batch(
            self.ids_BL.to(device), self.mask_BL.to(device), self.segments_BL.to(device), self.labels_B.to(device),
            teacher,
        )  # fmt: skip


def encode(tokenizer: Any, examples: Sequence[Example], max_tokens: int = MAX_TOKENS) -> list[tuple[list[int], int]]:
    """Each pair's token ids and the length of its first segment, "[CLS] older [SEP]"; the longer text is cut first."""
    older = tokenizer([e.older for e in examples], add_special_tokens=False)["input_ids"]
    newer = tokenizer([e.newer for e in examples], add_special_tokens=False)["input_ids"]
    begin, end = tokenizer.cls_token_id, tokenizer.sep_token_id
    rows = []
    for first, second in zip(older, newer, strict=True):
        one, two = fit(len(first), len(second), max_tokens - 3)
        rows.append(([begin, *first[:one], end, *second[:two], end], one + 2))
    return rows


def fit(one: int, two: int, room: int) -> tuple[int, int]:
    """The lengths to which two texts are cut to fit `room` together: the longer one loses first."""
    over = max(0, one + two - room)
    cut = min(over, max(0, one - two)) if one > two else 0
    one, over = one - cut, over - cut
    cut = min(over, max(0, two - one))
    two, over = two - cut, over - cut
    return one - over // 2, two - (over - over // 2)


def by_length(lengths: Sequence[int], size: int, rng: random.Random) -> list[list[int]]:
    """Indices in full batches of `size`, of nearly one length each, the batches in random order.

    What does not fill a batch is left out; lengths that are equal come in random order, so an epoch's batches differ.
    """
    order = sorted(range(len(lengths)), key=lambda n: (lengths[n], rng.random()))
    surplus = len(order) % size
    for _ in range(surplus):
        order.pop(rng.randrange(len(order)))
    batches = [order[start : start + size] for start in range(0, len(order), size)]
    rng.shuffle(batches)
    return batches


def collate(rows: Sequence[tuple[list[int], int]], labels: Sequence[int], pad: int) -> Batch:
    """One batch, padded to its longest pair."""
    length = max(len(ids) for ids, _ in rows)
    ids_BL = torch.full((len(rows), length), pad)
    mask_BL = torch.zeros((len(rows), length), dtype=torch.long)
    segments_BL = torch.zeros((len(rows), length), dtype=torch.long)
    for n, (ids, first) in enumerate(rows):
        ids_BL[n, : len(ids)] = torch.tensor(ids)
        mask_BL[n, : len(ids)] = 1
        segments_BL[n, first : len(ids)] = 1
    return Batch(ids_BL, mask_BL, segments_BL, torch.tensor(list(labels)))
