"""What a teacher says of pairs, computed once and kept on disk. Legend: P pairs, C classes, H the teacher's size."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, PreTrainedModel

from calm.models.detector import LABELS, logits_and_vectors, output_layer, takes_segments
from calm.pairs import pair_hash
from calm.train.batches import collate, encode, in_order
from calm.train.examples import Example
from calm.weights import digest


@dataclass(frozen=True, slots=True)
class Taught:
    """A teacher's logits (P, C) in the order of `LABELS`, and its vectors (P, H) of the pairs before the last layer."""

    logits_PC: torch.Tensor
    vectors_PH: torch.Tensor


class Teacher:
    """A three-class model by folder or hub id, whose answers are kept in `cache`.

    Kept by the content of model and pairs: another teacher or other pairs never meet old answers. Raises `ValueError`
    for a model without the three classes.
    """

    def __init__(self, name: str, cache: Path, device: str = "cpu", batch_size: int = 64) -> None:
        self._model = AutoModelForSequenceClassification.from_pretrained(name, dtype=torch.float32).eval().to(device)
        self._tokenizer = AutoTokenizer.from_pretrained(name)
        self._columns = columns(self._model.config.id2label, name)
        self._digest = digest(self._model, repr(self._columns))
        self._cache = cache
        self._batch_size = batch_size

    @property
    def size(self) -> int:
        """H, the size of its vectors."""
        return output_layer(self._model).in_features

    def __call__(self, examples: Sequence[Example]) -> Taught:
        """The answers to pairs, from the cache or else from the model."""
        file = self._cache / f"{self._digest}-{pairs_digest(examples)}.npz"
        if not file.exists():
            logits_PC, vectors_PH = answers(self._model, self._tokenizer, examples, self._batch_size)
            logits_PC = logits_PC[:, self._columns]
            file.parent.mkdir(parents=True, exist_ok=True)
            unfinished = file.with_suffix(".part")
            with unfinished.open("wb") as stream:
                np.savez(stream, logits=logits_PC.numpy(), vectors=vectors_PH.half().numpy())
            unfinished.replace(file)
        with np.load(file) as kept:
            return Taught(torch.from_numpy(kept["logits"]), torch.from_numpy(kept["vectors"]).float())


@torch.inference_mode()
def answers(
    model: PreTrainedModel, tokenizer: Any, examples: Sequence[Example], batch_size: int = 64
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits (P, C), and the vectors (P, H) they are made from, of a model as it stands, on its own device."""
    rows = encode(tokenizer, examples)
    head = output_layer(model)
    segments = takes_segments(model)
    logits_PC = torch.empty(len(rows), head.out_features)
    vectors_PH = torch.empty(len(rows), head.in_features)
    for group in in_order(rows, batch_size):
        batch = collate([rows[n] for n in group], [0] * len(group), tokenizer.pad_token_id).to(model.device)
        logits_BC, vectors_BH = logits_and_vectors(model, batch.inputs(segments=segments))
        logits_PC[group] = logits_BC.float().cpu()
        vectors_PH[group] = vectors_BH.float().cpu()
    return logits_PC, vectors_PH


def columns(id2label: Mapping[int, str], name: str) -> list[int]:
    """Where the teacher has each of `LABELS`, in their order."""
    places = {label.strip().casefold(): int(place) for place, label in id2label.items()}
    missing = [label for label in LABELS if label not in places]
    if missing:
        raise ValueError(f"{name!r} has no class {', '.join(missing)}: name its classes in id2label of its config.json")
    return [places[label] for label in LABELS]


def pairs_digest(examples: Sequence[Example]) -> str:
    """Names a list of pairs by their texts and order."""
    return hashlib.sha256("".join(pair_hash(e.older, e.newer) for e in examples).encode()).hexdigest()[:16]
