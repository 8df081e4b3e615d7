"""Who may import whom: the library stands without weights and training; `models` is no top-level name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("calm", "models", "train", "scripts", "tests")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
LIBRARY = [path for path in FILES if path.relative_to(ROOT).parts[0] == "calm" and path != ROOT / "calm" / "cli.py"]
"""All of calm but the composition root."""


def imported(source: str) -> Iterator[str]:
    """The full names that a module imports, at any depth: "a.b" for `import a.b` and `from a import b`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from (f"{module}.{alias.name}" for alias in node.names)


def within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", FILES, ids=named)
def test_nobody_imports_models_or_train_as_a_top_level_name(path):
    names = imported(path.read_text(encoding="utf-8"))
    assert [name for name in names if within(name, ("models", "train"))] == []


@pytest.mark.parametrize("path", LIBRARY, ids=named)
def test_the_library_imports_neither_weights_nor_training(path):
    names = list(imported(path.read_text(encoding="utf-8")))
    assert [name for name in names if within(name, ("calm.models", "calm.train", "scripts", "tests"))] == []
    assert [name for name in names if name.startswith(".")] == [], "relative imports hide who is imported"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import models.gate", "models.gate"),
        ("def f():\n    from models import gate", "models.gate"),
        ("from calm import models", "calm.models.x"),
        ("from calm.train.losses import kl as x", "calm.train.losses.kl"),
    ],
)
def test_the_rules_see_every_way_to_import(source, name):
    (found,) = imported(source)
    assert name.startswith(found)
    assert within(found, ("models", "calm.models", "calm.train"))


def test_the_rules_look_at_the_library():
    assert ROOT / "calm" / "records.py" in LIBRARY
    assert ROOT / "models" / "__init__.py" in FILES
