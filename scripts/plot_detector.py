"""Draw what a conflict detector's probabilities are worth, and what more data buys it.

python scripts/plot_detector.py reliability --data DATA                            results/reliability.png
python scripts/plot_detector.py curve --data DATA --models '{"0.25": DIR, "1": DIR}'   results/attribute-curve.{png,md}
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
import numpy as np
from jsonargparse import auto_cli

import calm.models.late_join  # noqa: F401  so that a folder of this shape loads by its name
from calm.bench.detector import probabilities
from calm.bench.measures import Interval, average_precision, bootstrap, calibration_error, reliability
from calm.bench.results import ORIGIN, append_row, origin
from calm.conflict import ConflictScorer
from calm.errors import CalmError
from calm.scorers import load_scorer
from calm.train.dev_sets import load_dev_sets
from calm.train.examples import Example
from calm.train.test_sets import load_test_sets

mpl.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).parent.parent
CURVE_HEADS = ("share of attributes", "set", "pairs", "average precision", "share of conflicts", *ORIGIN)
CURVE_SETS = ("seen_attributes", "unseen_attributes")


def draw_reliability(data: Path, scorer: str = "detector", output: Path = ROOT / "results" / "reliability.png") -> None:
    """How often pairs of a score conflict, on each dev set: on the diagonal a probability means what it says.

    Args:
        data: folder of the training sets, dev sets among them
        scorer: "detector" (the installed one), "auto", "rules", or a detector: folder or hub id
        output: PNG
    """
    judge = load_scorer(scorer)
    sets = load_dev_sets(data)
    figure, axes = plt.subplots(1, len(sets), figsize=(3 * len(sets), 3.4), sharey=True, layout="constrained")
    for axis, (name, examples) in zip(axes, sets.items(), strict=True):
        scores_P, conflict_P = _scored(judge, examples)
        scores_P = probabilities(judge, scores_P)
        bins = reliability(scores_P, conflict_P)
        error = calibration_error(scores_P, conflict_P)
        print(f"{name}: ECE {error:.3f} of {len(examples):,} pairs")
        axis.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        axis.bar([b.score for b in bins], [b.pairs / len(examples) for b in bins], width=0.06, color="0.88")
        axis.plot([b.score for b in bins], [b.share for b in bins], marker="o", markersize=4)
        axis.set(title=f"{name}\nECE {error:.3f}, n = {len(examples):,}", xlabel="P(contradiction)", xlim=(0, 1))
        axis.set_ylim(0, 1)
    axes[0].set_ylabel("share that conflicts; bars: share of pairs")
    figure.savefig(output, dpi=150)


def curve(data: Path, models: dict[str, Path], output: Path = ROOT / "results" / "attribute-curve.md") -> None:
    """Average precision on behaviours, of detectors that learnt from ever more of the attributes.

    Args:
        data: folder of the test sets
        models: detectors by the share of the attributes that each learnt from
        output: Markdown table to append to; the plot lies beside it, with the ending .png
    """
    sets = {name: examples for name, examples in load_test_sets(data).items() if name in CURVE_SETS}
    found: dict[str, dict[float, Interval]] = {name: {} for name in sets}
    chance = {name: float(np.mean([e.conflict for e in examples])) for name, examples in sets.items()}
    for share, folder in sorted(models.items(), key=lambda item: float(item[0])):
        judge = load_scorer(str(folder))
        for name, examples in sets.items():
            scores_P, conflict_P = _scored(judge, examples)
            made = bootstrap(average_precision, scores_P, conflict_P, np.array([e.kind for e in examples]))
            found[name][float(share)] = made
            row = (share, name, f"{len(examples):,}", str(made), f"{chance[name]:.3f}")
            print(", ".join(row))
            append_row(output, "Average precision against the number of attributes", CURVE_HEADS, (*row, *origin(ROOT)))
    _plot_curve(found, chance, output.with_suffix(".png"))


def _plot_curve(found: dict[str, dict[float, Interval]], chance: dict[str, float], output: Path) -> None:
    figure, axis = plt.subplots(figsize=(5, 3.6), layout="constrained")
    for name, points in found.items():
        values = list(points.values())
        low = [made.value - made.low for made in values]
        high = [made.high - made.value for made in values]
        line = axis.errorbar(
            list(points), [made.value for made in values], yerr=[low, high], marker="o", capsize=3, label=name
        )
        axis.axhline(chance[name], color=line.lines[0].get_color(), linestyle=":", linewidth=1)
    axis.set(xlabel="share of the training attributes", ylabel="average precision (dotted: chance)", ylim=(0.3, 1))
    axis.legend()
    figure.savefig(output, dpi=150)


def _scored(judge: ConflictScorer, examples: Sequence[Example]) -> tuple[np.ndarray, np.ndarray]:
    """Scores and whether each pair conflicts, both (P,)."""
    scores_P = judge.score([(e.older, e.newer) for e in examples])
    return scores_P, np.array([e.conflict for e in examples])


if __name__ == "__main__":
    try:
        auto_cli({"reliability": draw_reliability, "curve": curve})
    except (CalmError, OSError, ValueError) as error:
        sys.exit(f"plot_detector: {error}")
