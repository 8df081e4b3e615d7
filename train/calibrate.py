"""Probabilities that mean what they say: temperature and offset from dev logits. Legend: P pairs, C classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from calm.train.examples import Label


@dataclass(frozen=True, slots=True)
class Calibration:
    """Logits are divided by `temperature` > 0, then `offset` is added to that of the contradiction."""

    temperature: float
    offset: float

    def apply(self, logits_PC: NDArray[np.float64]) -> NDArray[np.float64]:
        """Calibrated logits (P, C)."""
        calibrated_PC = logits_PC / self.temperature
        calibrated_PC[:, Label.CONTRADICTION] += self.offset
        return calibrated_PC


def calibrate(
    logits_PC: NDArray[np.float64], conflict_P: NDArray[np.bool_], weights_P: NDArray[np.float64] | None = None
) -> Calibration:
    """The temperature and offset under which the labels are likeliest; pairs count by `weights_P`, else alike.

    Temperature after Guo et al. (2017, section 4.2); the offset is ours: a detector learns from data half of which
    conflicts, and is asked about pairs most of which don't. Raises `ValueError` unless both classes are there.
    """
    if conflict_P.all() or not conflict_P.any():
        raise ValueError("calibration needs pairs that conflict and pairs that don't")
    weights_P = np.ones(len(conflict_P)) if weights_P is None else weights_P

    def loss(parameters: NDArray[np.float64]) -> float:
        made = Calibration(float(np.exp(parameters[0])), float(parameters[1]))
        log_P = log_softmax(made.apply(logits_PC), axis=1)[:, Label.CONTRADICTION]
        other_P = np.log1p(-np.exp(np.minimum(log_P, -1e-12)))
        return float(-np.average(np.where(conflict_P, log_P, other_P), weights=weights_P))

    found = minimize(loss, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-4, "fatol": 1e-7, "maxiter": 2000})
    return Calibration(float(np.exp(found.x[0])), float(found.x[1]))


def even_weights(sizes: list[int]) -> NDArray[np.float64]:
    """Weights under which each of several sets, one after the other, counts as much as any other."""
    return np.concatenate([np.full(size, 1 / size) for size in sizes if size])
