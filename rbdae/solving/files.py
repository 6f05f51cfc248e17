"""Runs in ``.npz`` files: arrays, and the rest as JSON text under ``metadata``."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._files import checked, is_special, replacing
from rbdae.adapter import Reason, Stats, Steps
from rbdae.multibody.mechanism import difference, mechanism
from rbdae.multibody.selection import from_arrays, to_arrays
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.start import consistent_start
from rbdae.solving.segments import Segments

_FORMAT = 2
_REMEDY = "the file is damaged, or was changed by hand; save the solution again"
_SIGNATURE = ("formulation", "rotation", "velocity", "labels")
"""Names that must agree between a stored run and the problem that it is read with."""


def write_run(solution: Any, path: str | Path, compress: bool) -> Path:
    """Write a `rbdae.Solution`, see `rbdae.Solution.save`."""
    problem, segments = solution.problem, solution.segments
    of_problem = None if problem is None else {name: getattr(problem, name) for name in _SIGNATURE}
    metadata = {
        "format": _FORMAT,
        "solver": solution.solver,
        "reason": solution.reason.name,
        "message": solution.message,
        "stats": asdict(solution.stats),
        "rtol": solution.rtol,
        "atol": np.asarray(solution.atol).tolist(),
        "events": len(solution.events),
        "problem": None if of_problem is None else of_problem | {"labels": list(of_problem["labels"])},
        "direction": solution._sense if segments is None else segments.direction,
        "options": dict(solution.options),
    }
    arrays: dict[str, Any] = {"metadata": np.array(json.dumps(metadata)), "t": solution.t, "y": solution.y}
    if solution.steps is not None:
        arrays |= {"steps_t": solution.steps.t, "steps_y": solution.steps.y}
    if isinstance(problem, Problem):
        segments = segments or Segments((problem,))
        arrays["selection_t"] = np.array(segments.times)
        arrays["selection_y"] = np.array([each.y0 for each in segments.problems[1:]]).reshape(-1, problem.n)
        arrays |= to_arrays([each.selection for each in segments.problems])
        arrays["mechanism"] = mechanism(problem.workspace.model, problem.workspace.settings)
    for k, event in enumerate(solution.events):
        arrays[f"event_{k}_t"], arrays[f"event_{k}_y"] = event.t, event.y
    target = checked("path", path, "run.npz")
    if target.suffix != ".npz" and not is_special(target):
        target = target.with_name(target.name + ".npz")
    compression = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    # as `numpy.savez` does, which in NumPy 1 leaves an open archive behind where a disk is full
    with replacing(target) as new, zipfile.ZipFile(new, "w", compression) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)
    return target


def read_npz(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays and metadata of a file; ValueError for another kind of file, and for a damaged one."""
    source = checked("path", path, "run.npz")
    try:
        with open(source, "rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        metadata = json.loads(str(arrays.pop("metadata")))
        known = metadata.get("format")
    except OSError:
        raise
    except Exception as error:  # zipfile, zlib, json and NumPy have a dozen kinds for damaged files
        raise ValueError(
            f"{path} is damaged, or was not written by Solution.save ({type(error).__name__}: {error}); save the "
            "solution again"
        ) from error
    if known != _FORMAT:
        raise ValueError(f"{path} has format {known!r}, this version reads format {_FORMAT}; save the solution again")
    return arrays, metadata


def read_run(path: str | Path, problem: Problem | None) -> dict[str, Any]:
    """The fields of a `rbdae.Solution` from a file, see `rbdae.load`; its events as (times, states)."""
    arrays, metadata = read_npz(path)
    segments = None
    try:
        _check_metadata(metadata)
        _check_arrays(arrays, metadata)
        if problem is not None and metadata["problem"] is not None:
            _refuse_another_problem(path, problem, arrays, metadata["problem"])
            if isinstance(problem, Problem):
                _check_selections(arrays, problem)
                problem, segments = _restored(problem, arrays, float(metadata["direction"]))
    except _AnotherProblem:
        raise
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}; {_REMEDY}") from None
    atol = np.asarray(metadata["atol"], dtype=float)
    return {
        "problem": problem,
        "t": arrays["t"],
        "y": arrays["y"],
        "solver": metadata["solver"],
        "reason": Reason[metadata["reason"]],
        "_said": metadata["message"],
        "stats": Stats(**metadata["stats"]),
        "rtol": metadata["rtol"],
        "atol": float(atol) if atol.ndim == 0 else atol,
        "events": [(arrays[f"event_{k}_t"], arrays[f"event_{k}_y"]) for k in range(metadata["events"])],
        "segments": segments,
        "steps": Steps(arrays["steps_t"], arrays["steps_y"]) if "steps_t" in arrays else None,
        "options": metadata["options"],
    }


class _AnotherProblem(ValueError):
    """A file that is sound, but of another problem."""


def _refuse_another_problem(
    path: str | Path, problem: Problem, arrays: Mapping[str, Any], stored: Mapping[str, Any]
) -> None:
    for name in _SIGNATURE:
        mine = getattr(problem, name)
        if (list(mine) if name == "labels" else mine) != stored[name]:
            raise _AnotherProblem(
                f"{path} was solved with {name} {_check.show(stored[name])}, but the problem has {_check.show(mine)}; "
                "formulate it as it was"
            )
    if isinstance(problem, Problem) and "mechanism" in arrays:
        where = difference(problem.workspace.model, problem.workspace.settings, arrays["mechanism"].ravel())
        if where is not None:
            raise _AnotherProblem(
                f"{path} was solved for another mechanism: {where} differs in the problem; load it with the "
                "system that was solved"
            )


def _restored(problem: Problem, arrays: Mapping[str, Any], direction: float) -> tuple[Problem, Segments]:
    """The problem and the segments of a stored run; `y0` stays the state that it is, unless a later segment centres its
    charts elsewhere: their parameters need not reach so far, and the state at the change is its start."""
    times = tuple(float(t) for t in arrays["selection_t"])
    problems: list[Problem] = []
    for k, selection in enumerate(from_arrays(arrays, problem.selection)):
        other = problem.with_selection(selection)
        t, y0 = problem.t0, problem.y0
        if problems and selection.references is not problems[0].selection.references:
            t, y0 = times[k - 1], arrays["selection_y"][k - 1]
        else:
            y0 = problem.translated(t, y0, other)
        start = consistent_start(Interpretation(other.workspace), t, y0, problem.assembly)
        problems.append(replace(other, start=start))
    return problems[0].by_time(problems[1:], times, direction), Segments(tuple(problems), times, direction)


# ------------------------------------------------------------ checks: what no run can have left


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


def _stats(value: Any) -> bool:
    known = {field.name: _text if field.name == "code" else _number for field in fields(Stats)}
    return isinstance(value, dict) and all(name in known and known[name](each) for name, each in value.items())


def _problem(value: Any) -> bool:
    if value is None:
        return True
    labels = value.get("labels") if isinstance(value, dict) else None
    return isinstance(labels, list) and all(map(_text, [*labels, *(value.get(name) for name in _SIGNATURE[:3])]))


_METADATA: Mapping[str, Callable[[Any], bool]] = {
    "solver": _text,
    "message": _text,
    "reason": lambda value: _text(value) and value in Reason.__members__,
    "rtol": _number,
    "events": lambda value: type(value) is int and 0 <= value < 10**6,
    "stats": _stats,
    "direction": lambda value: _number(value) and abs(value) == 1.0,
    "options": lambda value: isinstance(value, dict) and all(map(_text, value.values())),
    "problem": _problem,
}


def _check_metadata(metadata: Mapping[str, Any]) -> None:
    for name, holds in _METADATA.items():
        if name not in metadata:
            raise ValueError(f"metadata lack {name!r}")
        try:
            sound = holds(metadata[name])
        except OverflowError:
            sound = False
        if not sound:
            raise ValueError(f"{name} in metadata cannot be {_check.show(metadata[name])}")


def _array(arrays: Mapping[str, Any], name: str, *shape: int | None, finite: bool = True) -> Any:
    """An array of real numbers; None stands for any length."""
    if name not in arrays:
        raise ValueError(f"the array {name!r} is missing")
    value = arrays[name]
    fits = value.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, value.shape, strict=True))
    if value.dtype.kind not in "iuf" or not fits:
        raise ValueError(f"the array {name!r} has kind {value.dtype} and shape {value.shape}")
    if finite and not np.isfinite(value).all():
        raise ValueError(f"the array {name!r} has entries that are not finite")
    return value


def _check_arrays(arrays: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    stored = metadata["problem"]
    n = _array(arrays, "y", None, None, finite=False).shape[1]
    if stored is not None and len(stored["labels"]) != n:
        raise ValueError(f"y has {n} unknowns, but there are {len(stored['labels'])} labels")
    atol = np.asarray(metadata.get("atol"))
    if atol.dtype.kind not in "iuf" or atol.shape not in ((), (n,)) or not np.isfinite(atol).all():
        raise ValueError(f"atol in metadata cannot be {_check.show(metadata.get('atol'))}")
    pairs = [("t", "y"), *((f"event_{k}_t", f"event_{k}_y") for k in range(metadata["events"]))]
    if "steps_t" in arrays or "steps_y" in arrays:
        pairs.append(("steps_t", "steps_y"))
    for times, rows in pairs:
        t = _array(arrays, times, None, finite=False)
        if not np.isfinite(t).all() or (np.diff(t) * metadata["direction"] < 0.0).any():
            raise ValueError(f"the times in {times!r} must be finite, and rise or fall as the run does")
        _array(arrays, rows, len(t), n, finite=metadata["reason"] != Reason.NOT_FINITE.name)
    if "mechanism" in arrays:
        _array(arrays, "mechanism", None)


def _check_selections(arrays: Mapping[str, Any], problem: Problem) -> None:
    """Refuse selections that do not belong to the problem."""
    times = _array(arrays, "selection_t", None)
    if (np.diff(times) < 0.0).any() and (np.diff(times) > 0.0).any():
        raise ValueError("the times in 'selection_t' must rise or fall as the run does")
    count, rows, chosen = len(times) + 1, problem.layout.n_rows, problem.selection.velocities
    _array(arrays, "selection_y", len(times), problem.n)
    dropped = _array(arrays, "selection_dropped", count, len(problem.selection.rows.dropped))
    rising = (np.diff(dropped, axis=1) > 0).all()
    if dropped.dtype.kind not in "iu" or ((dropped < 0) | (dropped >= rows)).any() or not rising:
        raise ValueError(f"the array 'selection_dropped' must have rising numbers of joint rows below {rows}")
    _array(arrays, "selection_strength", count, 2)
    if "selection_pivot_floor" in arrays:
        _array(arrays, "selection_pivot_floor", count, None)
    if chosen is not None or "selection_S" in arrays:
        velocities = None if chosen is None else len(chosen.S)
        _array(arrays, "selection_S", count, velocities, problem.layout.n_velocities)
        _array(arrays, "selection_sizes", count, velocities)
    if "selection_inputs" in arrays:
        _array(arrays, "selection_inputs", count, len(problem.inputs))
    if "selection_references" in arrays:
        R = _array(arrays, "selection_references", count, problem.model.n, 3, 3)
        if not np.allclose(np.swapaxes(R, -1, -2) @ R, np.eye(3), rtol=0, atol=1e-9):
            raise ValueError("the array 'selection_references' has matrices that are no rotations")
