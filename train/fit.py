"""One training of a detector: sources, model, trainer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import lightning as L
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger, Logger, WandbLogger
from transformers import AutoTokenizer, PreTrainedModel

from calm.embed import packaged_encoder
from calm.models.detector import cross_encoder, freeze
from calm.models.late_join import late_join
from calm.train.detector_task import DetectorTask, Optimisation
from calm.train.dev_sets import load_dev_sets
from calm.train.examples import Example
from calm.train.finish import finish
from calm.train.mixture import Shares, Sources, epoch, load_sources
from calm.train.pair_data import Draw, PairData
from calm.train.teacher import Teacher

HUB_BASE = "sentence-transformers/all-MiniLM-L6-v2"
"""What "auto" stands for where the packaged copy is not installed."""


@dataclass(frozen=True)
class DetectorTraining:
    """A detector's shape and how long it learns from what.

    Attributes:
        base: encoder that it begins as: folder or hub id; "auto" is MiniLM-L6, packaged or from the hub
        shape: "cross" reads a pair whole; "late-join" reads each memory alone in its lower layers
        layers: those of its layers that are kept, by index; None keeps all
        lower_layers: of a late-join detector, those that read a memory alone
        dropout: of hidden states, attention and head, in [0, 1)
        frozen_layers: lower layers that don't learn, >= 0; the embeddings never do
        epochs: passes of `pairs_per_epoch` newly drawn pairs, >= 1
        pairs_per_epoch: a multiple of `batch_size`
        batch_size: pairs per step and device, >= 1
        seed: of the head, the draws and their order
        attribute_share: part of the attributes that is learnt from, in (0, 1]
        shares: how often each source is drawn
        optimisation: learning rate and loss
    """

    base: str = "auto"
    shape: Literal["cross", "late-join"] = "cross"
    layers: tuple[int, ...] | None = None
    lower_layers: int = 3
    dropout: float = 0.1
    frozen_layers: int = 0
    epochs: int = 16
    pairs_per_epoch: int = 16_384
    batch_size: int = 32
    seed: int = 0
    attribute_share: float = 1.0
    shares: Shares = field(default_factory=Shares)
    optimisation: Optimisation = field(default_factory=Optimisation)

    def __post_init__(self) -> None:
        if self.epochs < 1 or self.batch_size < 1 or self.pairs_per_epoch < 1:
            raise ValueError("epochs, batch_size and pairs_per_epoch are at least 1")
        if self.pairs_per_epoch % self.batch_size:
            raise ValueError(
                f"pairs_per_epoch {self.pairs_per_epoch} is no multiple of batch_size {self.batch_size}: "
                f"use {self.pairs_per_epoch // self.batch_size * self.batch_size}"
            )
        if not 0 < self.attribute_share <= 1:
            raise ValueError(f"attribute_share {self.attribute_share} is not in (0, 1]")

    @property
    def encoder(self) -> str:
        """The folder or hub id that `base` stands for."""
        return str(packaged_encoder() or HUB_BASE) if self.base == "auto" else self.base

    @property
    def total_steps(self) -> int:
        """Steps of one device that trains alone."""
        return self.epochs * (self.pairs_per_epoch // self.batch_size)


@dataclass(frozen=True)
class Run:
    """Where and on what a training runs.

    Attributes:
        output: folder for checkpoints and logs
        logger: "csv", or "wandb" on top of it
        resume: whether to go on from the last checkpoint in `output`
        accelerator: "auto", "cpu" or "gpu"
        devices: how many of them; several train with DDP
        precision: "32-true", or "bf16-mixed" where the hardware has it
        dev_every: epochs between looks at the dev sets, >= 1
        fast: one batch of training and of each dev set, to see that everything fits together
    """

    output: Path
    logger: Literal["csv", "wandb"] = "csv"
    resume: bool = False
    accelerator: Literal["auto", "cpu", "gpu"] = "auto"
    devices: int = 1
    precision: Literal["32-true", "bf16-mixed"] = "32-true"
    dev_every: int = 2
    fast: bool = False


def fit_detector(training: DetectorTraining, run: Run, data: Path, teacher: Teacher | None = None) -> None:
    """Train a detector from the sources below `data`, and from a teacher's answers too where there is one; write it,
    calibrated on the dev sets, as a Transformers folder, `output/model`, unless the run is a fast one.

    The last checkpoint is `output/last.ckpt`, written at the end of each epoch. Raises `FileNotFoundError` where there
    is none to resume.
    """
    sources = load_sources(data, attribute_share=training.attribute_share)
    dev = load_dev_sets(data)
    task = fit(training, run, draw_from(sources, training), dev, teacher)
    if not run.fast and task.trainer.is_global_zero:
        finish(task.model, AutoTokenizer.from_pretrained(training.encoder), dev, run.output / "model")


def fit(
    training: DetectorTraining,
    run: Run,
    draw: Draw,
    dev: Mapping[str, Sequence[Example]],
    teacher: Teacher | None = None,
) -> DetectorTask:
    """Train a detector from any pairs by epoch, with any dev sets; else as `fit_detector`."""
    last = run.output / "last.ckpt"
    if run.resume and not last.exists():
        raise FileNotFoundError(f"no {last} to resume: leave --resume out for the first run")
    model = new_model(training)
    freeze(model, training.frozen_layers)
    pairs = PairData(
        AutoTokenizer.from_pretrained(training.encoder),
        draw,
        dev,
        training.batch_size,
        teacher,
        both_orders=training.optimisation.symmetry_weight > 0,
    )
    size = None if teacher is None else teacher.size
    task = DetectorTask(
        model, training.optimisation, training.total_steps // run.devices, tuple(dev), size, training.seed
    )
    trainer = make_trainer(run, training)
    trainer.fit(task, datamodule=pairs, ckpt_path=str(last) if run.resume else None, weights_only=True)
    return task


def new_model(training: DetectorTraining) -> PreTrainedModel:
    """The untrained detector of a training's shape."""
    if training.shape == "cross":
        return cross_encoder(training.encoder, training.layers, training.dropout, training.seed)
    if training.layers is not None:
        raise ValueError("layers are of the cross shape: a late-join detector keeps all of them")
    return late_join(training.encoder, training.lower_layers, training.dropout, training.seed)


def draw_from(sources: Sources, training: DetectorTraining) -> Draw:
    """The draw of each epoch's pairs: a function of its number."""

    def draw(number: int) -> list[Example]:
        return epoch(sources, training.shares, training.pairs_per_epoch, seed=training.seed * 1_000_003 + number)

    return draw


def make_trainer(run: Run, training: DetectorTraining) -> L.Trainer:
    """A trainer which draws new pairs every epoch and keeps the last checkpoint."""
    loggers: list[Logger] = [CSVLogger(run.output, name="logs")]
    if run.logger == "wandb":
        loggers.append(WandbLogger(project="calm-detector", save_dir=run.output))
    return L.Trainer(
        accelerator=run.accelerator,
        devices=run.devices,
        strategy="ddp" if run.devices > 1 else "auto",
        precision=run.precision,
        max_epochs=training.epochs,
        check_val_every_n_epoch=run.dev_every,
        reload_dataloaders_every_n_epochs=1,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
        gradient_clip_val=training.optimisation.clip,
        log_every_n_steps=20,
        logger=loggers,
        callbacks=[
            ModelCheckpoint(
                run.output, filename="last", save_top_k=1, enable_version_counter=False, save_on_train_epoch_end=True
            ),
            LearningRateMonitor("step"),
        ],
        fast_dev_run=run.fast,
    )
