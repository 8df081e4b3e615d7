"""What becomes of a trained detector: calibrated on the dev sets, and written. Legend: P pairs, C classes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from transformers import PreTrainedModel

from calm.crossencoder import THRESHOLD
from calm.models.detector import rescale_logits, save
from calm.train.calibrate import Calibration, best_threshold, calibrate, even_weights
from calm.train.examples import Example, Label
from calm.train.teacher import answers

CALIBRATION = "calibration.json"
"""File beside the weights with what their logits were divided by and moved by, and the threshold."""
THRESHOLD_SETS = ("memory_pairs", "nli")
"""Dev sets that the threshold is chosen on, of those that there are; all where there is none of these. Ours: what two
indirect behaviours say of each other no small encoder tells above chance, and on such pairs the best threshold is 0."""


def finish(model: PreTrainedModel, tokenizer: Any, dev: Mapping[str, Sequence[Example]], folder: Path) -> Calibration:
    """Calibrate a detector on the dev sets, each of which counts alike, and write it as a Transformers folder, in fp16.

    The calibration is in the weights of the head: whoever loads the folder gets calibrated probabilities. The threshold
    is in the config, where calm's scorer finds it.
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
    threshold = _threshold(found.apply(logits_PC.double().numpy()), dev)
    model.config.update({THRESHOLD: threshold})
    save(model, tokenizer, folder, torch.float16)
    said = asdict(found) | {"threshold": threshold}
    (folder / CALIBRATION).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
    return found


def _threshold(logits_PC: NDArray[np.float64], dev: Mapping[str, Sequence[Example]]) -> float:
    """The best threshold on those dev sets that it is chosen on; the rows of logits are all dev sets, one by one."""
    chosen = [name for name in dev if name in THRESHOLD_SETS] or list(dev)
    examples = [(name, example) for name, some in dev.items() for example in some]
    rows = [n for n, (name, _) in enumerate(examples) if name in chosen]
    return best_threshold(
        softmax(logits_PC[rows], axis=1)[:, Label.CONTRADICTION],
        np.array([examples[n][1].conflict for n in rows]),
        even_weights([len(dev[name]) for name in dev if name in chosen]),
    )
