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


def best_threshold(
    scores_P: NDArray[np.float64], conflict_P: NDArray[np.bool_], weights_P: NDArray[np.float64], beta: float = 0.5
) -> float:
    """The score from which alarms have the largest F_beta, midway to the next lower score; pairs count by `weights_P`.

    F_beta = (1 + β²) hits / (alarms + β² conflicts) (van Rijsbergen). Ours: β = 1/2, precision counts double, because
    a conflict that is none hides a true memory, and one that is missed leaves things as they were. Raises `ValueError`
    without a conflict.
    """
    if not conflict_P.any():
        raise ValueError("a threshold needs pairs that conflict")
    order_P = np.argsort(-scores_P, kind="stable")
    scores_P, hits_P = scores_P[order_P], np.cumsum((weights_P * conflict_P)[order_P])
    last_P = np.append(np.diff(scores_P) != 0, True)
    f_P = (1 + beta**2) * hits_P / (np.cumsum(weights_P[order_P]) + beta**2 * hits_P[-1])
    best = int(np.argmax(np.where(last_P, f_P, -1)))
    lower = scores_P[best + 1] if best + 1 < len(scores_P) else scores_P[best]
    return float((scores_P[best] + lower) / 2)


def even_weights(sizes: list[int]) -> NDArray[np.float64]:
    """Weights under which each of several sets, one after the other, counts as much as any other."""
    return np.concatenate([np.full(size, 1 / size) for size in sizes if size])
