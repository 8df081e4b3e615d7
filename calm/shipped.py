"""The detector that is installed with calm."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def shipped_detector() -> Path | None:
    """Its folder, or None where the installation has no weights (a source tree without them).

    Found beside the package `calm.models` without importing it: the library stands without models.
    """
    spec = find_spec("calm.models")
    places = spec.submodule_search_locations if spec is not None else None
    for place in places or ():
        folder = Path(place) / "weights" / "detector"
        if (folder / "model.safetensors").is_file():
            return folder
    return None
