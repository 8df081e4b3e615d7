"""The detector's shapes: a cross-encoder over "[CLS] older [SEP] newer [SEP]" with three classes.

Legend: C classes, H hidden size.
"""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedModel, PreTrainedTokenizerBase

LABELS = ("contradiction", "entailment", "neutral")
"""The classes of the head, in order. Named, so that whoever loads the folder finds the contradiction."""


def cross_encoder(
    base: str, layers: Sequence[int] | None = None, dropout: float = 0.1, seed: int = 0
) -> PreTrainedModel:
    """A three-class cross-encoder that begins as the encoder `base` (folder or hub id), with a new head unless `base`
    has one of three classes already.

    `layers` keeps those of the encoder's layers, by index and in that order (three of six make the student L3); None
    keeps all. `dropout` in [0, 1) is that of hidden states, attention and head. Raises `ValueError` for a layer that
    the encoder does not have.
    """
    torch.manual_seed(seed)
    config = AutoConfig.from_pretrained(base)
    config.update(head_settings(dropout))
    model = AutoModelForSequenceClassification.from_pretrained(
        base, config=config, dtype=torch.float32, ignore_mismatched_sizes=True
    )
    if layers is not None:
        keep_layers(model, layers)
    return model.train()  # type: ignore[no-any-return]


def head_settings(dropout: float) -> dict[str, Any]:
    """What a detector's config says beyond its encoder's: the classes by name, and one dropout throughout."""
    dropouts = ("hidden_dropout_prob", "attention_probs_dropout_prob", "classifier_dropout")
    return {
        "id2label": dict(enumerate(LABELS)),
        "label2id": {label: n for n, label in enumerate(LABELS)},
        **dict.fromkeys(dropouts, dropout),
    }


def keep_layers(model: PreTrainedModel, layers: Sequence[int]) -> None:
    """Drop all layers of the model's encoder but `layers`, in place."""
    encoder = model.base_model.encoder
    count = len(encoder.layer)
    if not layers or any(not 0 <= n < count for n in layers):
        raise ValueError(f"layers {list(layers)}: the encoder has layers 0 to {count - 1}")
    encoder.layer = nn.ModuleList(encoder.layer[n] for n in layers)
    model.config.num_hidden_layers = len(layers)


def freeze(model: PreTrainedModel, lower_layers: int = 0) -> None:
    """Keep the embeddings, and the first `lower_layers` layers, as they are while the rest learns.

    So does whatever else feeds the lowest layer, such as MPNet's relative positions: a gradient for it would have to
    pass through all the frozen layers.
    """
    encoder = model.base_model.encoder
    model.base_model.embeddings.requires_grad_(False)
    if lower_layers:
        encoder.requires_grad_(False)
        for layer in encoder.layer[lower_layers:]:
            layer.requires_grad_(True)


@torch.no_grad()
def rescale_logits(model: nn.Module, temperature: float, offset_C: torch.Tensor | None = None) -> None:
    """Divide the logits by `temperature` > 0 and add `offset_C`, for good, inside the head's own weights.

    So a calibrated model is an ordinary one: whoever loads the folder gets calibrated probabilities.
    """
    head = output_layer(model)
    head.weight /= temperature
    head.bias /= temperature
    if offset_C is not None:
        head.bias += offset_C


def output_layer(model: nn.Module) -> nn.Linear:
    """The linear layer that gives the logits, whichever name its architecture has for it."""
    head = model.get_submodule("classifier")
    if isinstance(head, nn.Linear):
        return head
    linears = [module for module in head.modules() if isinstance(module, nn.Linear)]
    if not linears:
        raise ValueError(f"{type(model).__name__} has no linear classifier")
    return linears[-1]


def takes_segments(model: nn.Module) -> bool:
    """Whether the model tells the texts of a pair apart by segment ids; MPNet and RoBERTa don't."""
    return "token_type_ids" in signature(model.forward).parameters


def logits_and_vectors(model: nn.Module, inputs: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits (B, C), and the vectors (B, H) of the pairs that the last linear layer makes them from."""
    seen: list[torch.Tensor] = []
    hook = output_layer(model).register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    try:
        logits: torch.Tensor = model(**inputs).logits
    finally:
        hook.remove()
    return logits, seen[0]


def save(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path, dtype: torch.dtype) -> None:
    """Write a Transformers folder in safetensors at `dtype`; the model in memory keeps its own.

    The config says float32 all the same: whoever loads the folder computes in float32 unless it asks otherwise.
    """
    state = {name: value.detach().to("cpu", dtype) for name, value in model.state_dict().items()}
    model.save_pretrained(folder, state_dict=state)
    tokenizer.save_pretrained(folder)
