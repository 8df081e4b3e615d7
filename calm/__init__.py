"""CALM: decides which retrieved memories may enter an agent's context."""

from __future__ import annotations

__version__ = "0.1.0"
