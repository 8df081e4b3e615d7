"""Every shipped YAML file parses for its command, changes something, and says what it is for."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonargparse import ArgumentParser

from calm.cli import build_parser
from calm.train.fit import DetectorTraining

FILES = sorted((Path(__file__).parent.parent / "configs").glob("*.yaml"))
SCRIPTS = {"detector": "scripts/distill_detector.py", "teacher": "scripts/train_teacher.py"}
TRAININGS = [path for path in FILES if path.stem.split("-")[0] in SCRIPTS]
COMMANDS = [path for path in FILES if path not in TRAININGS]
ARGUMENTS = {"query": ["Where?"], "admit": ["cases.jsonl"], "ingest": ["memories.jsonl"]}


def parsed(command: str, *more: str) -> dict[str, object]:
    options = build_parser().parse_args([command, *ARGUMENTS[command], *more])[command].as_dict()
    return {name: value for name, value in options.items() if name != "config"}


def test_there_are_some() -> None:
    assert FILES


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_config_parses_and_is_a_delta(path: Path) -> None:
    command = path.stem.split("-")[0]
    assert parsed(command, "--config", str(path)) != parsed(command)
    assert path.read_text(encoding="utf-8").startswith(f"# calm {command} ")


@pytest.mark.parametrize("path", TRAININGS, ids=lambda path: path.stem)
def test_a_training_config_parses_and_is_a_delta(path: Path) -> None:
    parser = ArgumentParser()
    parser.add_argument("--config", action="config")
    parser.add_class_arguments(DetectorTraining, "training")
    made = parser.instantiate(parser.parse_args(["--config", str(path)])).training
    assert isinstance(made, DetectorTraining)
    assert made != DetectorTraining()
    assert path.read_text(encoding="utf-8").startswith(f"# {SCRIPTS[path.stem.split('-')[0]]}: ")


def test_a_misspelled_key_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "query.yaml"
    path.write_text("budget_token: 4096\n", encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        parsed("query", "--config", str(path))
    assert left.value.code == 2
    assert "budget_token" in capsys.readouterr().err
