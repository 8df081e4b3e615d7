"""The detector that is installed with calm."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def shipped_detector() -> Path | None:
    """Its folder, or None where the installation has no weights (a source tree without them)."""
    for place in _places():
        folder = place / "weights" / "detector"
        if (folder / "model.safetensors").is_file():
            return folder
    return None


def _places() -> list[Path]:
    """Where the package `calm.models` lies. It is found, not imported: the library stands without models."""
    spec = find_spec("calm.models")
    return [Path(place) for place in (spec.submodule_search_locations if spec is not None else None) or ()]
