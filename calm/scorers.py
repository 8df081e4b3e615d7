"""Which conflict scorer a name stands for."""

from __future__ import annotations

import torch

from calm.cascade import CascadeScorer
from calm.conflict import ConflictScorer
from calm.errors import InvalidOption
from calm.rules import RuleScorer
from calm.shipped import shipped_detector


def load_scorer(name: str = "auto", device: torch.device | None = None) -> ConflictScorer:
    """ "auto": rules with the detector that is installed with calm, or rules alone where there is none; "rules": rules
    alone; "detector": the installed detector alone; else a detector by folder or hub id. A detector runs on `device`;
    None is CUDA where there is one, else the CPU.

    A late-join folder loads once `calm.models.late_join` is imported: the library stands without models. Raises
    `InvalidOption` for a detector that can't be loaded.
    """
    folder = shipped_detector()
    if name == "rules" or (name == "auto" and folder is None):
        return RuleScorer()
    from calm.crossencoder import CrossEncoderScorer

    if name == "auto":
        return CascadeScorer(RuleScorer(), CrossEncoderScorer(str(folder), device))
    if name == "detector":
        if folder is None:
            raise InvalidOption(
                "no detector is installed with calm", field="scorer", hint='use "rules", or name a folder or hub id'
            )
        return CrossEncoderScorer(str(folder), device)
    return CrossEncoderScorer(name, device)
