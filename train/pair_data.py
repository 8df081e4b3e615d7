"""The pairs of each epoch as batches of tokens: a Lightning data module. Legend: B pairs, C classes."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import lightning as L
from torch.utils.data import DataLoader

from calm.train.batches import Batch, Tokens, by_length, collate, encode, in_order
from calm.train.examples import Example, swapped
from calm.train.teacher import Taught

Draw = Callable[[int], list[Example]]
"""The pairs of the epoch of a number; equal numbers give equal pairs."""
Teach = Callable[[Sequence[Example]], Taught]
"""What a teacher says of pairs."""


class PairData(L.LightningDataModule):
    """New pairs in each epoch, every one a pure function of the seed and its number.

    So a training that goes on from the end of an epoch sees exactly what an uninterrupted one does. With several
    devices each takes every n-th batch. `both_orders` adds to each batch its pairs swapped.
    """

    def __init__(
        self,
        tokenizer: Any,
        draw: Draw,
        dev: Mapping[str, Sequence[Example]],
        batch_size: int,
        teach: Teach | None = None,
        *,
        both_orders: bool = False,
    ) -> None:
        super().__init__()
        self._tokenizer = tokenizer
        self._draw = draw
        self._dev = dev
        self._batch_size = batch_size
        self._teach = teach
        self._both_orders = both_orders

    def train_dataloader(self) -> DataLoader[Batch]:
        """The batches of the trainer's present epoch."""
        trainer = self.trainer
        epoch, rank, world = (trainer.current_epoch, trainer.global_rank, trainer.world_size) if trainer else (0, 0, 1)
        batches = self.batches(epoch)
        return _loader(share(batches, rank, world))

    def val_dataloader(self) -> list[DataLoader[Batch]]:
        """One loader per dev set."""
        return [_loader(_dev_batches(self._tokenizer, examples, self._batch_size)) for examples in self._dev.values()]

    def batches(self, epoch: int) -> list[Batch]:
        """All batches of an epoch, with the teacher's logits if there is a teacher.

        In both orders a batch has its pairs, then the same pairs swapped.
        """
        examples = self._draw(epoch)
        count = len(examples)
        if self._both_orders:
            examples = examples + [swapped(example) for example in examples]
        rows = encode(self._tokenizer, examples)
        groups = by_length([len(row.ids) for row in rows[:count]], self._batch_size, random.Random(epoch))
        if self._both_orders:
            groups = [group + [count + n for n in group] for group in groups]
        made = [_batch(rows, examples, group, self._tokenizer.pad_token_id) for group in groups]
        if self._teach is None:
            return made
        taught = self._teach(examples)
        return [
            replace(batch, teacher_BC=taught.logits_PC[group], vectors_BH=taught.vectors_PH[group])
            for batch, group in zip(made, groups, strict=True)
        ]


def share(batches: Sequence[Batch], rank: int, world: int) -> Sequence[Batch]:
    """What one of `world` devices trains on: each gets as many batches as any other, and none gets another's."""
    even = len(batches) - len(batches) % world
    return batches[rank:even:world]


def _dev_batches(tokenizer: Any, examples: Sequence[Example], size: int) -> list[Batch]:
    rows = encode(tokenizer, examples, 256)
    return [_batch(rows, examples, group, tokenizer.pad_token_id) for group in in_order(rows, size)]


def _batch(rows: Sequence[Tokens], examples: Sequence[Example], group: Sequence[int], pad: int) -> Batch:
    return collate([rows[n] for n in group], [examples[n].label for n in group], pad)


def _loader(batches: Sequence[Batch]) -> DataLoader[Batch]:
    return DataLoader(batches, batch_size=None)  # type: ignore[arg-type]
