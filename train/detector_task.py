"""Training of a detector as a Lightning module: the same for the teacher and for every student.

Legend: B pairs, C classes, H hidden size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import lightning as L
import torch
from torch import nn
from torchmetrics.functional.classification import binary_average_precision, binary_f1_score

from calm.models.detector import logits_and_vectors, output_layer, takes_segments
from calm.train.batches import Batch
from calm.train.examples import Label
from calm.train.loss import hidden_loss, label_loss, soft_loss, symmetry_loss


@dataclass(frozen=True)
class Optimisation:
    """How a detector learns. Ours: chosen on the dev sets.

    Attributes:
        learning_rate: peak of AdamW's, > 0; rises linearly, then falls as a cosine to a hundredth of it
        warmup: share of all steps in which it rises, in [0, 1)
        weight_decay: of matrices, >= 0; biases and norms have none
        clip: largest norm of the gradient, > 0
        soft_weight: share of the loss that follows the teacher, in [0, 1]; of no effect without a teacher
        temperature: that both models' probabilities are softened by, > 0
        hidden_weight: of the distance between the two models' vectors of a pair, >= 0
        symmetry_weight: of the distance between a pair's scores in its two orders, >= 0; above 0 a step reads every
            pair in both, which takes twice the time
    """

    learning_rate: float = 1e-4
    warmup: float = 0.05
    weight_decay: float = 0.01
    clip: float = 1.0
    soft_weight: float = 0.5
    temperature: float = 2.0
    hidden_weight: float = 0.0
    symmetry_weight: float = 0.0

    def __post_init__(self) -> None:
        ranges = {
            "learning_rate": self.learning_rate > 0,
            "warmup": 0 <= self.warmup < 1,
            "weight_decay": self.weight_decay >= 0,
            "clip": self.clip > 0,
            "soft_weight": 0 <= self.soft_weight <= 1,
            "temperature": self.temperature > 0,
            "hidden_weight": self.hidden_weight >= 0,
            "symmetry_weight": self.symmetry_weight >= 0,
        }
        for field, inside in ranges.items():
            if not inside:
                raise ValueError(f"optimisation.{field} is {getattr(self, field)}, which is out of range")


class DetectorTask(L.LightningModule):
    """Hard labels, and a teacher's softened logits where a batch has them."""

    def __init__(
        self,
        model: nn.Module,
        optimisation: Optimisation,
        total_steps: int,
        dev_sets: tuple[str, ...],
        teacher_size: int | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.model = model
        self.optimisation = optimisation
        self.total_steps = total_steps
        self.dev_sets = dev_sets
        self._seed = seed
        self.projection: nn.Linear | None = None
        if teacher_size is not None and optimisation.hidden_weight > 0:
            self.projection = nn.Linear(output_layer(model).in_features, teacher_size)
        self._takes_segments = takes_segments(model)
        self._seen: dict[int, list[tuple[torch.Tensor, torch.Tensor]]] = {}

    def forward(self, batch: Batch) -> torch.Tensor:
        """Logits (B, C)."""
        logits: torch.Tensor = self.model(**batch.inputs(segments=self._takes_segments)).logits
        return logits

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        """The dropout of a step depends on its number alone, so that a resumed training repeats it."""
        torch.manual_seed(
            ((self._seed * 1_000_003 + self.current_epoch) * 1_000_003 + batch_idx) * 64 + self.global_rank
        )

    def training_step(self, batch: Batch, batch_idx: int) -> torch.Tensor:
        """The loss of one batch."""
        logits_BC, vectors_BH = logits_and_vectors(self.model, batch.inputs(segments=self._takes_segments))
        loss = label_loss(logits_BC, batch.labels_B)
        if batch.teacher_BC is not None:
            loss = self._taught(loss, soft_loss(logits_BC, batch.teacher_BC, self.optimisation.temperature))
        if self.projection is not None and batch.vectors_BH is not None:
            loss = loss + self.optimisation.hidden_weight * hidden_loss(self.projection(vectors_BH), batch.vectors_BH)
        if self.optimisation.symmetry_weight > 0:
            symmetry = symmetry_loss(*logits_BC.chunk(2))
            self.log("train/symmetry", symmetry, batch_size=len(batch))
            loss = loss + self.optimisation.symmetry_weight * symmetry
        self.log("train/loss", loss, prog_bar=True, batch_size=len(batch))
        return loss

    def _taught(self, hard: torch.Tensor, soft: torch.Tensor) -> torch.Tensor:
        self.log("train/hard", hard)
        self.log("train/soft", soft)
        return (1 - self.optimisation.soft_weight) * hard + self.optimisation.soft_weight * soft

    def validation_step(self, batch: Batch, batch_idx: int, dataloader_idx: int = 0) -> None:
        """Keep the scores of a dev set until all of it is read."""
        self._seen.setdefault(dataloader_idx, []).append(
            (self(batch).softmax(dim=-1)[:, Label.CONTRADICTION], batch.labels_B == Label.CONTRADICTION)
        )

    def on_validation_epoch_end(self) -> None:
        """Average precision and F1 at even odds, per dev set and on average."""
        mean: list[torch.Tensor] = []
        for number, parts in sorted(self._seen.items()):
            scores_P = torch.cat([scores_B for scores_B, _ in parts])
            conflict_P = torch.cat([conflict_B for _, conflict_B in parts]).long()
            name = self.dev_sets[number]
            average_precision = binary_average_precision(scores_P, conflict_P)
            mean.append(average_precision)
            self.log(f"dev/{name}/ap", average_precision, sync_dist=True)
            self.log(f"dev/{name}/f1", binary_f1_score(scores_P, conflict_P), sync_dist=True)
        if mean:
            self.log("dev/ap", torch.stack(mean).mean(), prog_bar=True, sync_dist=True)
        self._seen.clear()

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:
        """Lightning does not look inside a frozen dataclass."""
        return batch.to(device)

    def configure_optimizers(self) -> dict[str, Any]:
        """AdamW with a schedule by step."""
        learning = [p for p in self.parameters() if p.requires_grad]
        groups = [
            {"params": [p for p in learning if p.ndim >= 2], "weight_decay": self.optimisation.weight_decay},
            {"params": [p for p in learning if p.ndim < 2], "weight_decay": 0.0},
        ]
        optimizer = torch.optim.AdamW(groups, lr=self.optimisation.learning_rate, fused=True)
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: rate(step, self.total_steps, self.optimisation.warmup)
        )
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def rate(step: int, total_steps: int, warmup: float) -> float:
    """The learning rate at a step as a share of its peak, in [0.01, 1] after the warm-up."""
    rising = max(1, round(warmup * total_steps))
    if step < rising:
        return (step + 1) / rising
    done = min(1.0, (step - rising) / max(1, total_steps - rising))
    return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * done))
