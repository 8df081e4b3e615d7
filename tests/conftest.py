"""Shared by all tests: no model hub, the data folder, and how Hypothesis searches."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# Before anything imports transformers: a test must never wait for, or depend on, a download.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"

ROOT = Path(__file__).resolve().parent.parent

# A busy machine makes any deadline flaky; continuous integration must give the same verdict twice.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The data folder beside the checkout; skips the test where there is none."""
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(f"no data folder at {os.path.relpath(folder, ROOT)} beside the checkout")
    return folder


@pytest.fixture(autouse=True, scope="session")
def _interruptible() -> None:
    """Where the tests were started with SIGINT ignored (a background job), Ctrl-C must still be what it is."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
