"""The contents that a file of `Solution.save` must have, checked before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from rbdae import _check
from rbdae.adapter import Reason, Stats
from rbdae.problem.problem import Problem

_REMEDY = "the file is damaged, or was changed by hand; save the solution again"


def signature(problem: Problem) -> dict[str, Any]:
    """The values that must agree between a stored trajectory and the problem it is read with."""
    return {
        "formulation": problem.formulation,
        "rotation": problem.rotation,
        "velocity": problem.velocity,
        "labels": list(problem.labels),
    }


def check_stored(path: str | Path, arrays: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Refuse contents that no run can have left.

    Raises
    ------
    ValueError
        with the file, and what is wrong in it
    """
    try:
        _check_metadata(metadata)
        _check_arrays(arrays, metadata)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}; {_REMEDY}") from None


def _of_kind(metadata: Mapping[str, Any], name: str, kind: type | tuple[type, ...]) -> Any:
    if name not in metadata:
        raise ValueError(f"metadata lack {name!r}")
    value = metadata[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{name} in metadata cannot be {_check.show(value)}")
    return value


def _check_metadata(metadata: Mapping[str, Any]) -> None:
    for name in ("solver", "message"):
        _of_kind(metadata, name, str)
    reason = _of_kind(metadata, "reason", str)
    if reason not in Reason.__members__:
        raise ValueError(f"reason in metadata cannot be {_check.show(reason)}")
    _check.number("metadata", "rtol", _of_kind(metadata, "rtol", (int, float)))
    _check.count("metadata", "events", _of_kind(metadata, "events", int), 0)
    stats, known = _of_kind(metadata, "stats", dict), {field.name for field in fields(Stats)}
    if not set(stats) <= known:
        raise ValueError(f"stats in metadata have {_check.show(sorted(set(stats) - known))}, which no run counts")
    for name, value in stats.items():
        if name != "code":
            _check.number("stats in metadata", name, value)
        elif not isinstance(value, str):
            raise ValueError(f"code in metadata cannot be {_check.show(value)}")
    if metadata.get("direction", 1.0) not in (1.0, -1.0):
        raise ValueError(f"direction in metadata must be 1 or -1, got {_check.show(metadata['direction'])}")
    options = metadata.get("options", {})
    if not isinstance(options, dict) or not all(isinstance(value, str) for value in options.values()):
        raise ValueError(f"options in metadata cannot be {_check.show(options)}")
    problem = _of_kind(metadata, "problem", (dict, type(None)))
    if problem is not None:
        for name in ("formulation", "rotation", "velocity"):
            _of_kind(problem, name, str)
        labels = _of_kind(problem, "labels", list)
        if not all(isinstance(label, str) for label in labels):
            raise ValueError("labels in metadata must be strings")


def _array(arrays: Mapping[str, Any], name: str, *shape: int | None) -> Any:
    """An array of real numbers; None stands for any length."""
    if name not in arrays:
        raise ValueError(f"the array {name!r} is missing")
    value = arrays[name]
    fits = value.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, value.shape, strict=True))
    if value.dtype.kind not in "iuf" or not fits:
        raise ValueError(f"the array {name!r} has kind {value.dtype} and shape {value.shape}")
    return value


def _times(arrays: Mapping[str, Any], name: str, direction: float | None = None) -> Any:
    """The times of an array, which go in the direction of the run, where the file has it."""
    t = _array(arrays, name, None)
    steps = np.diff(t) * (direction or 1.0)
    if not np.isfinite(t).all() or ((steps < 0.0).any() and (direction is not None or (steps > 0.0).any())):
        raise ValueError(f"the times in {name!r} must be finite, and rise or fall as the run does")
    return t


def _check_arrays(arrays: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    direction = metadata.get("direction")
    t = _times(arrays, "t", direction)
    y = _array(arrays, "y", len(t), None)
    n = y.shape[1]
    states = [("y", y)]
    if metadata["problem"] is not None and len(metadata["problem"]["labels"]) != n:
        raise ValueError(f"y has {n} unknowns, but there are {len(metadata['problem']['labels'])} labels")
    atol = np.asarray(metadata.get("atol"))
    if atol.dtype.kind not in "iuf" or atol.shape not in ((), (n,)) or not np.isfinite(atol).all():
        raise ValueError(f"atol in metadata cannot be {_check.show(metadata.get('atol'))}")
    for k in range(metadata["events"]):
        states.append(
            (f"event_{k}_y", _array(arrays, f"event_{k}_y", len(_times(arrays, f"event_{k}_t", direction)), n))
        )
    if "steps_t" in arrays or "steps_y" in arrays:
        states.append(("steps_y", _array(arrays, "steps_y", len(_times(arrays, "steps_t", direction)), n)))
    if "mechanism" in arrays:
        _array(arrays, "mechanism", *([None] * arrays["mechanism"].ndim))
    for name, rows in states:
        if not np.isfinite(rows).all() and metadata["reason"] != Reason.NOT_FINITE.name:
            raise ValueError(f"the array {name!r} has entries that are not finite")


def check_selections(
    path: str | Path,
    arrays: Mapping[str, Any],
    rows: int,
    left_out: int,
    velocities: int | None,
    n_v: int,
    bodies: int,
    inputs: int,
) -> None:
    """Refuse selections that do not belong to a model with that many joint rows, rows that are left out of them,
    independent velocities, bodies and inputs."""
    try:
        times = _times(arrays, "selection_t") if "selection_t" in arrays else np.zeros(0)
        count = len(times) + 1
        if "selection_y" in arrays:
            _finite(arrays, "selection_y", len(times), arrays["y"].shape[1])
        if "selection_dropped" in arrays:
            dropped = _array(arrays, "selection_dropped", count, left_out)
            rising = (np.diff(dropped, axis=1) > 0).all()
            if dropped.dtype.kind not in "iu" or ((dropped < 0) | (dropped >= rows)).any() or not rising:
                raise ValueError(f"the array 'selection_dropped' must have rising numbers of joint rows below {rows}")
            _finite(arrays, "selection_strength", count, 2)
        if "selection_pivot_floor" in arrays:
            _finite(arrays, "selection_pivot_floor", count, None)
        if "selection_S" in arrays or velocities is not None:
            _finite(arrays, "selection_S", count, velocities, n_v)
            _finite(arrays, "selection_sizes", count, velocities)
        if "selection_inputs" in arrays:
            _finite(arrays, "selection_inputs", count, inputs)
        if "selection_references" in arrays:
            _check_rotations(arrays, count, bodies)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}; {_REMEDY}") from None


def _check_rotations(arrays: Mapping[str, Any], count: int, bodies: int) -> None:
    name = "selection_references"
    R = _array(arrays, name, count, bodies, 3, 3)
    if not np.allclose(np.swapaxes(R, -1, -2) @ R, np.eye(3), rtol=0, atol=1e-9):
        raise ValueError(f"the array {name!r} has matrices that are no rotations")


def _finite(arrays: Mapping[str, Any], name: str, *shape: int | None) -> None:
    if not np.isfinite(_array(arrays, name, *shape)).all():
        raise ValueError(f"the array {name!r} has entries that are not finite")


__all__ = ["check_selections", "check_stored", "signature"]
