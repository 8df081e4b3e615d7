"""Train a teacher: a stronger encoder than the shipped detector's, on the same pairs.

python scripts/train_teacher.py --config configs/teacher-mpnet.yaml --data DATA --run.output runs/teacher
"""

from __future__ import annotations

import sys
from pathlib import Path

from jsonargparse import auto_cli

from calm.errors import CalmError
from calm.train.fit import DetectorTraining, Run, fit_detector


def main(data: Path, run: Run, training: DetectorTraining) -> None:
    """Train a teacher and write it as a Transformers folder, `run.output`/model.

    Args:
        data: folder of the training sets
        run: where and on what
        training: encoder, sources, length
    """
    fit_detector(training, run, data)


if __name__ == "__main__":
    try:
        auto_cli(main, as_positional=False)
    except (CalmError, OSError, ValueError) as error:
        sys.exit(f"train_teacher: {error}")
