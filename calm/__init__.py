"""CALM: decides which retrieved memories may enter an agent's context."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calm.governor import Governor as Governor
    from calm.records import Record as Record

__version__ = "0.1.0"
__all__ = ["Governor", "Record", "__version__"]


def __getattr__(name: str) -> object:
    """`Governor` and `Record` on first use, so that `calm --version` doesn't wait for torch."""
    if name == "Governor":
        from calm.governor import Governor

        return Governor
    if name == "Record":
        from calm.records import Record

        return Record
    raise AttributeError(f"module 'calm' has no attribute {name!r}")
