"""Train the conflict detector, from labels alone or from a teacher's answers as well.

python scripts/distill_detector.py --config configs/detector-l6.yaml --data DATA --run.output runs/l6
python scripts/distill_detector.py --config configs/detector-l6.yaml --data DATA --run.output runs/l6 --teacher MODEL
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from jsonargparse import auto_cli

from calm.errors import CalmError
from calm.train.fit import DetectorTraining, Run, fit_detector
from calm.train.teacher import Teacher


def main(data: Path, run: Run, training: DetectorTraining, teacher: str | None = None) -> None:
    """Train a detector and write it as a Transformers folder, `run.output`/model.

    Args:
        data: folder of the training sets
        run: where and on what
        training: shape, sources, length
        teacher: three-class model to learn from: folder or hub id; its answers are kept in `run.output`/teacher
    """
    device = "cuda" if torch.cuda.is_available() and run.accelerator != "cpu" else "cpu"
    taught = None if teacher is None else Teacher(teacher, run.output / "teacher", device)
    fit_detector(training, run, data, taught)


if __name__ == "__main__":
    try:
        auto_cli(main, as_positional=False)
    except (CalmError, OSError, ValueError) as error:
        sys.exit(f"distill_detector: {error}")
