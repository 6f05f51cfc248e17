"""Values of records in files, which may hold anything: read with their kind and range, or refused by name."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat

_LARGEST = 2**63 - 1

DAMAGED = (ValueError, KeyError, TypeError, AttributeError, IndexError, ArithmeticError, RecursionError)
"""What reading of a damaged record may raise."""


def refused(error: Exception) -> str:
    """The fault of a record, in a few words."""
    said = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
    if isinstance(error, RecursionError):
        said = "it is nested too deeply"
    return said if len(said) <= 300 else said[:297] + "..."


def parsed(text: str | bytes) -> Any:
    """JSON without NaN and infinities, which are no JSON.

    Raises
    ------
    ValueError
        for what is none, and for what is nested too deeply
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def digest(content: Mapping[str, Any]) -> str:
    """The digest of what JSON writes and reads again: 16 hexadecimal digits, in which no two contents agree by
    chance."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def number_of(given: Mapping[str, Any], name: str, least: float = 0.0, below: float = math.inf) -> float:
    """A finite number in [least, below)."""
    value = given[name]
    try:
        number = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not least <= number < below:
        where = f"from {least:g} on" if below == math.inf else f"from {least:g} to {below:g}"
        raise ValueError(f"{name} must be a number {where}, got {_check.show(value)}")
    return number


def number_or_nan(given: Mapping[str, Any], name: str) -> float:
    """A number from zero on; None stands for what is not a number."""
    return math.nan if given[name] is None else number_of(given, name)


def count_of(given: Mapping[str, Any], name: str, least: int) -> int:
    """A whole number."""
    value = given[name]
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _LARGEST:
        raise ValueError(f"{name} must be a whole number from {least} on, got {_check.show(value)}")
    return value


def text_of(given: Mapping[str, Any], name: str) -> str:
    """A string."""
    value = given[name]
    if not isinstance(value, str):
        raise ValueError(f"{name} must be text, got {_check.show(value)}")
    return value


def texts_of(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of strings."""
    value = given[name]
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"{name} must be a list of texts, got {_check.show(value)}")
    return tuple(value)


def versions_of(given: Mapping[str, Any], name: str) -> dict[str, str]:
    """Texts by their names."""
    value = given[name]
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ValueError(f"{name} must be texts by their names, got {_check.show(value)}")
    return value


def numbers_of(given: Mapping[str, Any], name: str) -> list[float]:
    """A list of numbers from zero on."""
    value = given[name]
    if not isinstance(value, list):
        raise ValueError(f"{name} must be a list of numbers, got {_check.show(value)}")
    return [number_of({name: item}, name) for item in value]


def rows_of(given: Mapping[str, Any], name: str, width: int) -> Mat:
    """Finite numbers of shape (n, width), n > 0."""
    value = given[name]
    rows = value if isinstance(value, list) and value and all(isinstance(row, list) for row in value) else []
    plain = all(isinstance(item, (int, float)) and not isinstance(item, bool) for row in rows for item in row)
    out = np.array(rows, dtype=float) if plain and {len(row) for row in rows} == {width} else np.full(1, np.nan)
    if not np.isfinite(out).all():
        raise ValueError(f"{name} must be rows of {width} numbers, got {_check.show(value)}")
    return out


__all__ = [
    "DAMAGED",
    "count_of",
    "digest",
    "number_of",
    "number_or_nan",
    "numbers_of",
    "parsed",
    "refused",
    "rows_of",
    "text_of",
    "texts_of",
    "versions_of",
]
