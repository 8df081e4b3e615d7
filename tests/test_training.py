"""Training a detector: it learns a batch by heart, goes on after a stop as if there had been none, and logs."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.special import softmax
from tiny_models import save_bert
from transformers import AutoTokenizer

pytest.importorskip("lightning")

from calm.conflict import STRONG, move
from calm.crossencoder import CrossEncoderScorer
from calm.models.detector import LABELS, cross_encoder, output_layer
from calm.train.detector_task import DetectorTask, Optimisation
from calm.train.examples import Example, Label, swapped
from calm.train.finish import finish
from calm.train.fit import DetectorTraining, Run, fit
from calm.train.pair_data import PairData
from calm.train.teacher import Teacher, answers

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # Lightning's hints on folders, workers and log steps

WORDS = "tea coffee ghent utrecht oslo office desk blue green".split()
DEV = {
    "some": [
        Example("i live in ghent", "i live in oslo", Label.CONTRADICTION, "dev"),
        Example("i drink tea", "i live in oslo", Label.COMPATIBLE, "dev"),
    ]
}


def pairs(count: int) -> list[Example]:
    """A contradiction where the last words differ, an entailment where they are equal."""
    made = []
    for n in range(count):
        one, two = WORDS[n % 9], WORDS[(n * n) % 9]
        label = Label.ENTAILMENT if one == two else Label.CONTRADICTION
        made.append(Example(f"i live in {one}", f"our colour was {two}", label, "made"))
    return made


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_bert(tmp_path_factory.mktemp("models") / "tiny", LABELS)


@pytest.fixture
def training(base: str) -> DetectorTraining:
    return DetectorTraining(
        base=base, epochs=2, pairs_per_epoch=16, batch_size=8, optimisation=Optimisation(learning_rate=1e-3)
    )


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(output=tmp_path / "run", accelerator="cpu", dev_every=1)


def draw(number: int) -> list[Example]:
    return pairs(64)[number * 16 : (number + 1) * 16]


def weights(task: DetectorTask) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in task.model.state_dict().items()}


@pytest.mark.parametrize("shape", ["cross", "late-join"])
def test_one_batch_is_learnt_by_heart(training: DetectorTraining, run: Run, shape: str) -> None:
    training = replace(
        training, shape=shape, lower_layers=1, epochs=150, pairs_per_epoch=8, dropout=0.0,
        optimisation=Optimisation(learning_rate=6e-3, weight_decay=0.0),
    )  # fmt: skip
    task = fit(training, replace(run, dev_every=150), lambda _: pairs(8), DEV)
    assert task.trainer.callback_metrics["train/loss"] < 0.05


def test_a_resumed_training_equals_an_uninterrupted_one(training: DetectorTraining, run: Run, tmp_path: Path) -> None:
    training = replace(training, epochs=3, dropout=0.2)
    whole = weights(fit(training, replace(run, output=tmp_path / "whole"), draw, DEV))

    def stopped(number: int) -> list[Example]:
        if number == 2:
            raise KeyError("the power went")
        return draw(number)

    with pytest.raises(KeyError):
        fit(training, run, stopped, DEV)
    resumed = weights(fit(training, replace(run, resume=True), draw, DEV))
    for name, value in whole.items():
        assert torch.equal(resumed[name], value), name


def test_nothing_to_resume_is_said_before_any_work(training: DetectorTraining, run: Run) -> None:
    with pytest.raises(FileNotFoundError, match="leave --resume out"):
        fit(training, replace(run, resume=True), draw, DEV)


def test_equal_seeds_give_equal_weights(training: DetectorTraining, run: Run, tmp_path: Path) -> None:
    first = weights(fit(training, run, draw, DEV))
    second = weights(fit(training, replace(run, output=tmp_path / "again"), draw, DEV))
    assert all(torch.equal(second[name], value) for name, value in first.items())


def test_a_fast_run_touches_everything_and_keeps_nothing(training: DetectorTraining, run: Run) -> None:
    task = fit(training, replace(run, fast=True), draw, DEV)
    assert {"train/loss", "dev/some/ap", "dev/some/f1", "dev/ap"} <= set(task.trainer.callback_metrics)
    assert not (run.output / "last.ckpt").exists()


def test_the_csv_log_is_always_there(training: DetectorTraining, run: Run) -> None:
    fit(training, run, draw, DEV)
    (file,) = run.output.rglob("metrics.csv")
    with file.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    assert sum(bool(row["dev/some/ap"]) for row in rows) == training.epochs


def test_wandb_logs_without_a_network(training: DetectorTraining, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run.output.mkdir()
    fit(replace(training, epochs=1), replace(run, logger="wandb"), draw, DEV)
    assert list(run.output.rglob("*.wandb"))
    assert list(run.output.rglob("metrics.csv"))


def test_frozen_parts_stay_as_they_are(training: DetectorTraining, run: Run) -> None:
    task = fit(replace(training, frozen_layers=1), run, draw, DEV)
    before = fit(replace(training, frozen_layers=1), replace(run, fast=True, output=run.output / "x"), draw, DEV)
    after, start = weights(task), weights(before)
    same = {name for name, value in after.items() if torch.equal(value, start[name])}
    assert {n for n in after if ".embeddings." in n or ".layer.0." in n} <= same
    assert "bert.encoder.layer.1.output.dense.weight" not in same


def test_a_student_follows_its_teacher(training: DetectorTraining, run: Run, base: str, tmp_path: Path) -> None:
    teacher = Teacher(save_bert(tmp_path / "sure", LABELS, certain=2), tmp_path / "kept")
    optimisation = Optimisation(learning_rate=3e-3, soft_weight=1.0, hidden_weight=0.1)
    training = replace(training, epochs=20, dropout=0.0, optimisation=optimisation)
    task = fit(training, replace(run, dev_every=20), lambda _: pairs(16), DEV, teacher)
    assert task.projection is not None
    assert task.trainer.callback_metrics["train/soft"] < 0.05
    assert len(list((tmp_path / "kept").glob("*.npz"))) == 1


def test_in_both_orders_a_batch_has_its_pairs_and_then_the_same_swapped(base: str) -> None:
    tokenizer = AutoTokenizer.from_pretrained(base)
    made = PairData(tokenizer, lambda _: pairs(12), DEV, 4, both_orders=True).batches(0)
    assert [len(batch) for batch in made] == [8, 8, 8]
    for batch in made:
        texts = [tokenizer.decode(ids, skip_special_tokens=False) for ids in batch.ids_BL]
        halves = [text.removeprefix("[CLS] ").split(" [SEP]")[:2] for text in texts]
        assert [[b.strip(), a.strip()] for a, b in halves[:4]] == [[a.strip(), b.strip()] for a, b in halves[4:]]
        conflicts = batch.labels_B == Label.CONTRADICTION
        assert torch.equal(conflicts[:4], conflicts[4:])


def test_a_weight_on_symmetry_brings_the_two_orders_together(training: DetectorTraining, run: Run) -> None:
    asked = [
        replace(pair, label=label)
        for pair, label in zip(pairs(8), [Label.CONTRADICTION, Label.NEUTRAL] * 4, strict=True)
    ]

    def gap(weight: float, output: Path) -> float:
        optimisation = Optimisation(learning_rate=3e-3, symmetry_weight=weight)
        longer = replace(training, epochs=30, pairs_per_epoch=8, dropout=0.0, optimisation=optimisation)
        task = fit(longer, replace(run, output=output, dev_every=30), lambda _: asked, DEV)
        tokenizer = AutoTokenizer.from_pretrained(training.base)
        both = [
            answers(task.model.eval(), tokenizer, some)[0].softmax(-1)[:, 0]
            for some in (asked, list(map(swapped, asked)))
        ]
        return float((both[0] - both[1]).abs().mean())

    assert gap(20.0, run.output / "with") < gap(1e-9, run.output / "without") / 2


class Mute:
    """A model that must not be asked again."""

    def __call__(self, *_: object) -> None:
        raise AssertionError("the answers were kept")


def test_kept_answers_are_those_of_the_model(base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Sequence[Example] = pairs(11)
    teacher = Teacher(base, tmp_path, batch_size=3)
    fresh = teacher(asked)
    with monkeypatch.context() as patch:
        patch.setattr("calm.train.teacher.answers", Mute())
        kept = teacher(asked)
    assert torch.equal(kept.logits_PC, fresh.logits_PC)
    alone = Teacher(base, tmp_path / "other", batch_size=1)(asked)
    torch.testing.assert_close(alone.logits_PC, fresh.logits_PC, atol=1e-5, rtol=1e-5)
    assert fresh.vectors_PH.shape == (11, teacher.size)


def test_a_finished_detector_is_calibrated_for_whoever_loads_it(base: str, tmp_path: Path) -> None:
    torch.manual_seed(3)
    model = cross_encoder(base, dropout=0.0)
    output_layer(model).weight.data *= 40  # far too sure
    dev = {"some": pairs(12), "few": DEV["some"]}
    asked = [*dev["some"], *dev["few"]]
    raw_PC, _ = answers(model.eval(), AutoTokenizer.from_pretrained(base), asked)
    raw = raw_PC.double().numpy()
    made = finish(model, AutoTokenizer.from_pretrained(base), dev, tmp_path / "model")
    assert made.temperature > 1
    probability_P = softmax(made.apply(raw), axis=1)[:, Label.CONTRADICTION]
    scorer = CrossEncoderScorer(str(tmp_path / "model"))
    scored_P = move(scorer.score([(e.older, e.newer) for e in asked]), STRONG, scorer.threshold)
    np.testing.assert_allclose(scored_P, probability_P, atol=0.01)  # the weights are written in half precision
    said = json.loads((tmp_path / "model" / "calibration.json").read_text(encoding="utf-8"))
    assert said == {"temperature": made.temperature, "offset": made.offset, "threshold": scorer.threshold}


def test_a_teachers_classes_are_found_by_name(tmp_path: Path, base: str) -> None:
    other = save_bert(tmp_path / "other", ("neutral", "contradiction", "entailment"), order=(2, 0, 1))
    ours, theirs = Teacher(base, tmp_path / "a")(pairs(4)), Teacher(other, tmp_path / "b")(pairs(4))
    torch.testing.assert_close(theirs.logits_PC, ours.logits_PC)
    with pytest.raises(ValueError, match="no class contradiction"):
        Teacher(save_bert(tmp_path / "two", ("yes", "entailment")), tmp_path / "c")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pairs_per_epoch": 30}, "no multiple of batch_size 8: use 24"),
        ({"epochs": 0}, "at least 1"),
        ({"attribute_share": 0.0}, "attribute_share"),
    ],
)
def test_bad_settings_say_what_to_do(training: DetectorTraining, change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(training, **change)


@pytest.mark.parametrize("field", ["learning_rate", "temperature", "clip"])
def test_optimisation_has_ranges(field: str) -> None:
    with pytest.raises(ValueError, match=field):
        Optimisation(**{field: 0.0})
