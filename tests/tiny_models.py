"""A random BERT of two layers in a folder, the way that Transformers saves one, for the tests of what loads models."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer
from transformers.utils import logging

WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] i we live work eat drink tea coffee in at the a an is was moved to ghent utrecht"
    " oslo office desk not no longer my our favourite colour blue green ##s ##ed ##ing . , ? a b c d e"
).split()


def save_bert(
    folder: Path,
    labels: Sequence[str] = ("a", "b", "c"),
    *,
    seed: int = 0,
    order: Sequence[int] = (),
    certain: int | None = None,
) -> str:
    """Save one under `folder`, which becomes its name, and return the folder.

    `labels` are its classes in order. `order` rearranges the rows of the head that the same `seed` would give;
    `certain` is the class that it gives to everything.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(WORDS)) + "\n", encoding="utf-8")
    config = BertConfig(
        vocab_size=len(dict.fromkeys(WORDS)),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
        id2label=dict(enumerate(labels)),
        label2id={label: n for n, label in enumerate(labels)},
        # Far above Transformers' own: so small a model would give the same to every text.
        initializer_range=0.5,
    )
    logging.disable_progress_bar()
    with torch.random.fork_rng(devices=[]), contextlib.redirect_stderr(io.StringIO()):
        torch.manual_seed(seed)
        model = BertForSequenceClassification(config).eval()
        if order:
            head = model.classifier
            head.weight.data, head.bias.data = head.weight.data[list(order)], head.bias.data[list(order)]
        if certain is not None:
            model.classifier.weight.data.zero_()
            model.classifier.bias.data.fill_(-10.0)[certain] = 10.0
        model.save_pretrained(folder)
        BertTokenizer(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    return str(folder)
