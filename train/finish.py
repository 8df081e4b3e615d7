"""What becomes of a trained detector: calibrated on the dev sets, and written. Legend: P pairs, C classes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from calm.models.detector import rescale_logits, save
from calm.train.calibrate import Calibration, calibrate, even_weights
from calm.train.examples import Example, Label
from calm.train.teacher import answers

CALIBRATION = "calibration.json"
"""File beside the weights with what their logits were divided by and moved by."""


def finish(model: PreTrainedModel, tokenizer: Any, dev: Mapping[str, Sequence[Example]], folder: Path) -> Calibration:
    """Calibrate a detector on the dev sets, each of which counts alike, and write it as a Transformers folder, in fp16.

    The calibration is in the weights of the head: whoever loads the folder gets calibrated probabilities.
    """
    examples = [example for some in dev.values() for example in some]
    logits_PC, _ = answers(model.eval(), tokenizer, examples)
    found = calibrate(
        logits_PC.double().numpy(),
        np.array([example.conflict for example in examples]),
        even_weights([len(some) for some in dev.values()]),
    )
    offset_C = torch.zeros(logits_PC.shape[1], device=model.device)
    offset_C[Label.CONTRADICTION] = found.offset
    rescale_logits(model, found.temperature, offset_C)
    save(model, tokenizer, folder, torch.float16)
    (folder / CALIBRATION).write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
    return found
