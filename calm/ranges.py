"""Checks of option ranges, for the configs' `__post_init__`; each raises `InvalidOption` with field and value."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from calm.errors import InvalidOption, shown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def at_least(field: str, value: int, least: int) -> None:
    """Refuse a `value` below `least`."""
    if value < least:
        raise InvalidOption(f"{shown(value)} is less than {least}", field=field)


def in_unit(field: str, value: float) -> None:
    """Refuse a `value` outside [0, 1], NaN included."""
    if not 0.0 <= value <= 1.0:
        raise InvalidOption(f"{shown(value)} is not in [0, 1]", field=field)


def all_in_unit(config: DataclassInstance) -> None:
    """Refuse a config of which a number, or a number of a tuple, is outside [0, 1]."""
    for spec in fields(config):
        value = getattr(config, spec.name)
        for number in value if isinstance(value, tuple) else (value,):
            in_unit(spec.name, number)
