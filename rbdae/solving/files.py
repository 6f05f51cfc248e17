"""Runs in ``.npz`` files, arrays and the rest as JSON text under ``metadata``, and as tables of pandas."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.adapter import Reason, Stats, Steps
from rbdae.multibody.choices.mechanism import difference, mechanism
from rbdae.multibody.choices.selection import from_arrays, to_arrays
from rbdae.output_files import checked, is_special, replacing
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.observables import TABLE, with_unit
from rbdae.problem.problem import Problem
from rbdae.problem.start import consistent_start

if TYPE_CHECKING:
    from pandas import DataFrame

_FORMAT = 3
_SIGNATURE = ("formulation", "rotation", "velocity", "labels")
"""Names that must agree between a stored run and the problem that it is read with."""


def write_run(solution: Any, path: str | Path) -> Path:
    """Write a `rbdae.Solution`, see `rbdae.Solution.save`."""
    problem = solution.problem
    metadata = {
        "format": _FORMAT,
        "solver": solution.solver,
        "reason": solution.reason.name,
        "message": solution.message,
        "stats": asdict(solution.stats),
        "rtol": solution.rtol,
        "atol": np.asarray(solution.atol).tolist(),
        "events": len(solution.events),
        "problem": None if problem is None else {name: getattr(problem, name) for name in _SIGNATURE},
        "direction": solution._sense if problem is None else solution.segments.direction,
        "options": dict(solution.options),
    }
    arrays: dict[str, Any] = {"metadata": np.array(json.dumps(metadata)), "t": solution.t, "y": solution.y}
    if solution.steps is not None:
        arrays |= {"steps_t": solution.steps.t, "steps_y": solution.steps.y}
    if isinstance(problem, Problem):
        segments = solution.segments
        arrays["selection_t"] = np.array(segments.times)
        arrays["selection_y"] = np.array([each.y0 for each in segments.problems[1:]]).reshape(-1, problem.n)
        arrays |= to_arrays([each.selection for each in segments.problems])
        arrays["mechanism"] = mechanism(problem.workspace.model, problem.workspace.settings)
    for k, event in enumerate(solution.events):
        arrays[f"event_{k}_t"], arrays[f"event_{k}_y"] = event.t, event.y
    target = checked("path", path, "run.npz")
    if target.suffix != ".npz" and not is_special(target):
        target = target.with_name(target.name + ".npz")
    with replacing(target) as new, open(new, "wb") as file:
        np.savez(file, **arrays)
    return target


def read_npz(path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays and metadata of a file; ValueError for another kind of file, and for a damaged one: zip
    archives have checksums."""
    source = checked("path", path, "run.npz")
    try:
        with open(source, "rb") as file, np.load(file, allow_pickle=False) as stored:
            if any(member.compress_type for member in stored.zip.infolist()):  # a few bytes may be gigabytes
                raise ValueError("its arrays are compressed")
            arrays = {name: stored[name] for name in stored.files}
        metadata = json.loads(str(arrays.pop("metadata")))
    except OSError:
        raise
    except Exception as error:  # zipfile, zlib, json and NumPy have a dozen kinds for damaged files
        raise ValueError(
            f"{path} is damaged, or was not written by Solution.save ({type(error).__name__}: {error}); save the "
            "solution again"
        ) from error
    known = metadata.get("format")
    if known != _FORMAT:
        raise ValueError(f"{path} has format {known!r}, this version reads format {_FORMAT}; save the solution again")
    return arrays, metadata


def read_run(path: str | Path, problem: Problem | None) -> dict[str, Any]:
    """The fields of a `rbdae.Solution` from a file, see `rbdae.load`; its events as (times, states)."""
    arrays, metadata = read_npz(path)
    if problem is not None and metadata["problem"] is not None:
        _refuse_another_problem(path, problem, arrays, metadata["problem"])
        if isinstance(problem, Problem):
            problem = _restored(problem, arrays, float(metadata["direction"]))
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
        "steps": Steps(arrays["steps_t"], arrays["steps_y"]) if "steps_t" in arrays else None,
        "options": metadata["options"],
    }


def _refuse_another_problem(
    path: str | Path, problem: Problem, arrays: Mapping[str, Any], stored: Mapping[str, Any]
) -> None:
    for name in _SIGNATURE:
        mine = getattr(problem, name)
        if (list(mine) if name == "labels" else mine) != stored[name]:
            raise ValueError(
                f"{path} was solved with {name} {_check.show(stored[name])}, but the problem has {_check.show(mine)}; "
                "formulate it as it was"
            )
    if isinstance(problem, Problem) and "mechanism" in arrays:
        where = difference(problem.workspace.model, problem.workspace.settings, arrays["mechanism"].ravel())
        if where is not None:
            raise ValueError(
                f"{path} was solved for another mechanism: {where} differs in the problem; load it with the "
                "system that was solved"
            )


def _restored(problem: Problem, arrays: Mapping[str, Any], direction: float) -> Problem:
    """The problem of a stored run; `y0` stays the state that it is, unless a later segment centres its
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
    return problems[0].by_time(problems[1:], times, direction)


# ------------------------------------------------------------ tables of pandas: a row for each time

_VELOCITIES: Final = {
    **dict.fromkeys(("vx", "vy", "vz"), "m/s"),
    **dict.fromkeys(("px", "py", "pz"), "kg m/s"),
    **dict.fromkeys(("Omega1", "Omega2", "Omega3", "omega1", "omega2", "omega3"), "rad/s"),
}


def frame(run: Any, quantities: str | Iterable[str]) -> DataFrame:
    """A data frame with the columns of some quantities, in the order of their names; see `Solution.to_pandas`."""
    wanted = [quantities] if isinstance(quantities, str) else quantities
    wanted = _check.known("quantities", "quantity", wanted, ("unknowns", *TABLE))
    pandas = _check.package("to_pandas", "pandas")
    listed: list[tuple[str, Vec]] = []
    for name in wanted:
        if name == "unknowns":
            known = units(run._problem) if isinstance(run._problem, Problem) else ("",) * run.y.shape[1]
            listed += zip(map(with_unit, run._problem.labels, known), run.y.T, strict=True)
        else:
            listed += TABLE[name].columns(getattr(run, name))
    names, index = [name for name, _ in listed], pandas.Index(run.t, name="t [s]")
    # names of bodies are free: a dictionary would lose one of two columns that happen to have the same name
    values = np.stack([each for _, each in listed], axis=1) if listed else None
    out: DataFrame = pandas.DataFrame(values, index=index, columns=names)
    return out


def units(problem: Problem) -> tuple[str, ...]:
    """The unit of each unknown, in the order of ``problem.labels``; empty for numbers, and where it depends on the
    formulation: quasi-velocities of joints, internal states of forces, multipliers."""
    layout, turns = problem.layout, "" if problem.workspace.settings.chart.internal else "rad"

    def unit(k: int, name: str) -> str:
        if k < layout.q.stop:
            return "m" if name in ("x", "y", "z") else turns
        if k >= layout.v.stop or name.startswith("nu"):
            return ""
        return "kg m^2/s" if name.startswith("pi_") else _VELOCITIES.get(name, "1/s")

    return tuple(unit(k, label.rpartition(".")[2]) for k, label in enumerate(problem.labels))
