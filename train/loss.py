"""What a detector minimises. Legend: B pairs, C classes."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from calm.train.examples import Label

_SMALLEST = 1e-6


def label_loss(logits_BC: torch.Tensor, labels_B: torch.Tensor) -> torch.Tensor:
    """Mean negative log-likelihood; a COMPATIBLE pair may be of any class but contradiction.

    Cross-entropy for the three classes, and −log(1 − P(contradiction)) for COMPATIBLE, the likelihood summed over the
    classes it allows. Ours: most data says only whether two memories conflict.
    """
    log_BC = F.log_softmax(logits_BC.float(), dim=-1)
    contradiction_B = log_BC[:, Label.CONTRADICTION]
    other_B = torch.log1p(-contradiction_B.exp().clamp(max=1 - _SMALLEST))
    known_B = labels_B.clamp(max=Label.NEUTRAL)
    exact_B = log_BC.gather(1, known_B[:, None]).squeeze(1)
    return -torch.where(labels_B == Label.COMPATIBLE, other_B, exact_B).mean()


def soft_loss(logits_BC: torch.Tensor, teacher_BC: torch.Tensor, temperature: float) -> torch.Tensor:
    """Mean KL(teacher ‖ student) of probabilities softened by `temperature`, times its square.

    The square keeps the gradients' size as the temperature changes (Hinton et al., 2015, section 2).
    """
    student_BC = F.log_softmax(logits_BC.float() / temperature, dim=-1)
    target_BC = F.log_softmax(teacher_BC.float() / temperature, dim=-1)
    return F.kl_div(student_BC, target_BC, reduction="batchmean", log_target=True) * temperature**2


def symmetry_loss(logits_BC: torch.Tensor, swapped_BC: torch.Tensor) -> torch.Tensor:
    """Mean Jensen–Shannon divergence, in nats, between P(contradiction) of pairs and of the same pairs swapped.

    Two memories conflict or they don't, whichever came first; what one entails the other need not, so the other
    classes are free. Ours: labels in both orders alone leave the two scores a tenth apart.
    """
    both_2B = torch.stack([_contradiction(logits_BC), _contradiction(swapped_BC)])
    mean_B = both_2B.mean(dim=0)
    return (_entropy(mean_B) - _entropy(both_2B).mean(dim=0)).mean()


def _contradiction(logits_BC: torch.Tensor) -> torch.Tensor:
    return logits_BC.float().softmax(dim=-1)[:, Label.CONTRADICTION].clamp(_SMALLEST, 1 - _SMALLEST)


def _entropy(probability: torch.Tensor) -> torch.Tensor:
    return -(probability * probability.log() + (1 - probability) * torch.log1p(-probability))


def hidden_loss(student_BH: torch.Tensor, teacher_BH: torch.Tensor) -> torch.Tensor:
    """Mean 1 − cosine of the two models' sentence vectors."""
    return (1 - F.cosine_similarity(student_BH.float(), teacher_BH.float(), dim=-1)).mean()
