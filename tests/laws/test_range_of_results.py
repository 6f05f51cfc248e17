"""Finite arguments of any size give finite results or a word."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rbdae.rotations import quaternions
from rbdae_papers import kinematics

R = Rotation.from_rotvec([0.3, 0.2, -0.4]).as_matrix()
POOL = (np.array([0.3, 0.5, -0.7]), R, np.array([0.5, 0.5, -0.5, 0.5]), 0.4, np.diag([1.0, 2.0, 3.0]))
OTHERS = (np.array([0.6, 0.8]), np.full((2, 4), 0.5))  # for those that take nothing of POOL
SIZES = (1e308, -1e308, 1e200, 1e-200, 1e-320)

FUNCTIONS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": getattr(module, name)
    for module in (kinematics, quaternions)
    for name in module.__all__
    if inspect.isfunction(getattr(module, name))
}

WITHOUT_CALL = {"kinematics.screw_displacement", "kinematics.screw_velocity"}
"""Those that take a screw; they have a test of their own below."""


def arrays(value: Any, name: str = "") -> list[tuple[str, np.ndarray]]:
    """Numbers of a result, with the names of a record's fields."""
    if isinstance(value, Rotation):
        return [("", value.as_quat())]
    if isinstance(value, tuple):
        names = getattr(value, "_fields", ("",) * len(value))
        return [pair for field, part in zip(names, value, strict=True) for pair in arrays(part, field)]
    raw = np.asarray(value)
    return [(name, raw)] if raw.dtype.kind == "f" else []


def valid_call(function: Callable[..., Any]) -> tuple[Any, ...] | None:
    """Arguments that a function takes, found by trial."""
    required = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    pool = (*POOL, *OTHERS) if len(required) < 3 else POOL if len(required) < 5 else POOL[:3]
    for given in product(pool, repeat=len(required)):
        try:
            found = arrays(function(*given))
        except (TypeError, ValueError):
            continue
        if found and all(np.isfinite(part).all() for _, part in found):
            return given
    return None


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_result_is_infinite_without_a_word(name):
    function = FUNCTIONS[name]
    if name in WITHOUT_CALL:
        return
    given = valid_call(function)
    assert given is not None, f"no arguments of POOL fit {name}"
    for k, value in enumerate(given):
        for size, where in product(SIZES, ("first", "all", "times")):
            other = np.array(value, dtype=float)
            if where == "times":
                other = other * size
            else:
                other[(0,) * other.ndim if where == "first" else ...] = size
            changed = [*given[:k], float(other) if other.ndim == 0 else other, *given[k + 1 :]]
            try:
                found = function(*changed)
            except (TypeError, ValueError) as error:
                assert str(error).count(";") or "beyond" in str(error), str(error)
                continue
            for field, part in arrays(found):
                assert np.isfinite(part).all() or (field == "pitch" and not np.isnan(part).any()), (
                    k,
                    size,
                    where,
                    field,
                )
