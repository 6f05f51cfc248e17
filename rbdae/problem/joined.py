"""Values of consecutive times put together: arrays, rotations, dictionaries and dataclasses of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from rbdae._show import ByName
from rbdae.problem.body_state import BodyState, lazy_state
from rbdae.problem.measured import Measured


def joined(parts: Sequence[Any]) -> Any:
    """Values of consecutive times as one: arrays and rotations end to end, dictionaries, tuples and dataclasses entry
    by entry, truth values by `all`, arrays of them component by component. Parts of states are put together when they
    are asked for."""
    from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, np.ndarray):
        return np.logical_and.reduce(parts) if first.dtype == bool else np.concatenate(parts)
    if isinstance(first, Rotation):
        return Rotation.concatenate(parts)
    if isinstance(first, bool):
        return all(parts)
    if isinstance(first, ByName):
        return ByName(first.what, ((key, joined([part[key] for part in parts])) for key in first))
    if isinstance(first, dict):
        return {key: joined([part[key] for part in parts]) for key in first}
    if isinstance(first, tuple):
        return tuple(joined(column) for column in zip(*parts, strict=True))
    if isinstance(first, BodyState):
        return lazy_state(lambda what: joined([getattr(part, what) for part in parts]))
    if isinstance(first, Measured):
        return Measured(first.units, lambda name: joined([getattr(part, name) for part in parts]))
    if is_dataclass(first) and not isinstance(first, type):
        return type(first)(**{f.name: joined([getattr(part, f.name) for part in parts]) for f in fields(first)})
    raise TypeError(f"cannot put together values of type {type(first).__name__}")
