"""What a user installs: one top-level name, everything that a checkout has, one version."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

import calm

SOURCES = {"calm": "calm", "models": "calm/models", "train": "calm/train"}
"""Where a folder of the checkout lies in the wheel."""


@pytest.fixture(scope="module")
def project(root: Path) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """The wheel of this checkout, built from a copy so that the checkout stays clean."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, copy)
    for name in SOURCES:
        shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    done = subprocess.run([sys.executable, "-c", build, "dist"], cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = (copy / "dist").glob("*.whl")
    return ZipFile(built)


def metadata(wheel: ZipFile, name: str) -> str:
    (path,) = (path for path in wheel.namelist() if path.endswith(f".dist-info/{name}"))
    return wheel.read(path).decode()


def test_the_only_top_level_name_is_calm(wheel):
    tops = {path.split("/")[0] for path in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"calm"}


def test_the_wheel_holds_every_file_of_the_checkout(root, wheel):
    expected = {
        f"{place}/{path.relative_to(root / folder).as_posix()}"
        for folder, place in SOURCES.items()
        for path in (root / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert expected >= {
        "calm/data/demo.json",
        "calm/py.typed",
        "calm/models/__init__.py",
        "calm/train/__init__.py",
    }
    packed = {path for path in wheel.namelist() if path.startswith("calm/")}
    assert packed == expected


def test_the_migrations_are_in_the_wheel(wheel):
    packed = wheel.namelist()
    assert "calm/store/migrations/env.py" in packed
    assert any(path.startswith("calm/store/migrations/versions/") for path in packed)


def test_one_version_one_licence_one_command(wheel):
    said = Parser().parsestr(metadata(wheel, "METADATA"))
    assert (said["Name"], said["Version"]) == ("calm-memory", calm.__version__)
    assert said["License-Expression"] == "Apache-2.0"
    assert "calm = calm.cli:main" in metadata(wheel, "entry_points.txt")
    assert "Apache License" in metadata(wheel, "licenses/LICENSE")


def test_every_dependency_has_a_pin_in_the_constraints(root, project):
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(line.count("==") == 1 for line in pins)
    pinned = {canonical(line.split("==")[0]) for line in pins}
    groups = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    wanted = {canonical(requirement) for group in groups for requirement in group}
    assert wanted - pinned == {"calm-memory"}


def canonical(requirement: str) -> str:
    name = requirement
    for mark in "[<>=!~; ":
        name = name.split(mark)[0]
    return name.strip().lower().replace("_", "-")
