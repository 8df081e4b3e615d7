"""A digest of a model's weights: two models of one name are told apart, and so are their cached scores and vectors."""

from __future__ import annotations

import hashlib

import torch


def digest(model: torch.nn.Module, *more: str) -> str:
    """12 hex digits of all parameters and buffers, and of `more`. Reads each tensor once (about 0.2 s for 90 MB)."""
    whole = hashlib.sha256("\n".join(more).encode())
    for name, tensor in sorted(model.state_dict().items()):
        whole.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        whole.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    return whole.hexdigest()[:12]
