"""κ from a Transformers sequence-classification model: an NLI cross-encoder or a trained conflict detector.

Legend: P pairs, C classes. The contradiction class is found by name in `id2label`, in any order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError

from calm.conflict import STRONG, TextPair, move
from calm.errors import InvalidOption
from calm.weights import digest

THRESHOLD = "conflict_threshold"
"""In a model's config: the probability in (0, 1) from which it is to be believed; `STRONG` where it says nothing."""
_CONTRADICTION = ("contradiction", "contradict", "contradictory", "contradicts", "conflict", "conflicting")


class CrossEncoderScorer:
    """P(contradiction) by a cross-encoder given as a folder or a hub id.

    Pairs are sorted by length and padded per batch; a pair's score does not depend on its company beyond float noise.
    It runs on `device`; None is CUDA where there is one, else the CPU.
    Raises `InvalidOption` for a model that can't be loaded or that has no contradiction class.
    """

    def __init__(
        self, model: str, device: torch.device | None = None, batch_size: int = 32, max_tokens: int = 256
    ) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(model)
            self._model = AutoModelForSequenceClassification.from_pretrained(model).eval()
        except (OSError, ValueError, SafetensorError) as error:
            raise InvalidOption(
                f"no cross-encoder at {model!r}: {str(error).splitlines()[0]}",
                field="scorer",
                hint='name a folder or hub id of a sequence-classification model, or use "rules"',
            ) from error
        self._device = device or torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._model.to(self._device)
        self._batch_size = batch_size
        self._max_tokens = max_tokens
        self._column = contradiction_column(self._model.config.id2label, model)
        self._threshold = float(getattr(self._model.config, THRESHOLD, STRONG))
        labels = repr(sorted(self._model.config.id2label.items()))
        if self._threshold != STRONG:
            labels += f" from {self._threshold}"
        self._fingerprint = f"{Path(model).name}-{max_tokens}-{digest(self._model, labels)}"

    @property
    def fingerprint(self) -> str:
        """Names weights, label order and threshold."""
        return self._fingerprint

    @property
    def threshold(self) -> float:
        """The model's own probability from which it is to be believed, in (0, 1)."""
        return self._threshold

    @torch.inference_mode()
    def score(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        """Float32 (P,) in [0, 1]: softmax over the classes, or a sigmoid where the model has one output, with the odds
        moved so that the model's own threshold is `STRONG`."""
        out = np.zeros(len(pairs), dtype=np.float32)
        by_length = sorted(range(len(pairs)), key=lambda p: len(pairs[p][0]) + len(pairs[p][1]))
        for start in range(0, len(by_length), self._batch_size):
            rows = by_length[start : start + self._batch_size]
            inputs = self._tokenizer(
                [_encodable(pairs[p][0]) for p in rows],
                [_encodable(pairs[p][1]) for p in rows],
                padding=True,
                truncation=True,
                max_length=self._max_tokens,
                return_tensors="pt",
            ).to(self._device)
            logits_PC = self._model(**inputs).logits.float()
            single = logits_PC.shape[1] == 1
            probability_PC = logits_PC.sigmoid() if single else logits_PC.softmax(dim=-1)
            out[rows] = probability_PC[:, self._column].cpu().numpy()
        return move(out, self._threshold, STRONG)


def contradiction_column(id2label: Mapping[int, str], model: str) -> int:
    """The column of the contradiction class. A model with one output is read as P(contradiction) itself.

    Raises `InvalidOption` where no label says contradiction: guessing the order would invert κ.
    """
    if len(id2label) == 1:
        return 0
    for column, label in id2label.items():
        if label.strip().casefold() in _CONTRADICTION:
            return int(column)
    raise InvalidOption(
        f"none of the labels of {model!r} is a contradiction: {sorted(id2label.values())}",
        field="scorer",
        hint='name the class "contradiction" in id2label of the model\'s config.json',
    )


def _encodable(text: str) -> str:
    return text[:20_000].encode("utf-8", "replace").decode("utf-8")
