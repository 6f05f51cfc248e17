"""`load`: a `Solution` from the file that `Solution.save` wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec, sense
from rbdae.adapter import Reason, Stats, Steps
from rbdae.io.npz import read_npz
from rbdae.multibody.mechanism import difference
from rbdae.multibody.selection import from_arrays
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.start import consistent_start
from rbdae.solving.checks import check_problem
from rbdae.solving.segments import Segments
from rbdae.solving.solution import EventLog, Solution
from rbdae.solving.stored import check_selections, check_stored, signature


def load(path: str | Path, problem: Problem | None = None) -> Solution:
    """Read what `Solution.save` wrote.

    Parameters
    ----------
    path : the ``.npz`` file
    problem : the problem that was solved, made by the same call of `formulate`; without it only the arrays are there

    Raises
    ------
    TypeError
        for a path or problem of another kind
    OSError
        for a file that cannot be opened
    ValueError
        for a damaged file or one of another kind, and for a problem whose form, unknowns or mechanism differ from the
        stored ones (masses, geometry, stiffnesses, up to 1e-9; functions of the user cannot be compared)
    """
    if problem is not None:
        check_problem("load", problem)
    arrays, metadata = read_npz(path)
    check_stored(path, arrays, metadata)
    events = tuple(EventLog(arrays[f"event_{k}_t"], arrays[f"event_{k}_y"]) for k in range(metadata["events"]))
    segments = None
    if problem is not None and metadata["problem"] is not None:
        mine = signature(problem)
        for key, value in metadata["problem"].items():
            if mine.get(key) != value:
                raise ValueError(
                    f"{path} was solved with {key} {_check.show(value)}, but the problem has "
                    f"{_check.show(mine.get(key))}; formulate it as it was"
                )
        if isinstance(problem, Problem):
            _refuse_another_mechanism(path, problem, arrays)
        if isinstance(problem, Problem) and _has_selections(problem, arrays):
            chosen, left_out = problem.selection.velocities, len(problem.selection.rows.dropped)
            n_nu, n_v = None if chosen is None else len(chosen.S), problem.layout.n_velocities
            counts = problem.layout.n_rows, left_out, n_nu, n_v, problem.model.n, len(problem.inputs)
            check_selections(path, arrays, *counts)
            problem, segments = _restored(problem, arrays, _direction(arrays, metadata))
    t, y = arrays["t"], arrays["y"]
    atol = np.asarray(metadata["atol"], dtype=float)
    return Solution(
        problem=problem,
        t=t,
        y=y,
        solver=metadata["solver"],
        reason=Reason[metadata["reason"]],
        _said=metadata["message"],
        stats=Stats(**metadata["stats"]),
        rtol=metadata["rtol"],
        atol=float(atol) if atol.ndim == 0 else atol,
        events=events,
        segments=segments,
        steps=Steps(arrays["steps_t"], arrays["steps_y"]) if "steps_t" in arrays else None,
        options=metadata.get("options", {}),  # files of older versions have none
    )


def _refuse_another_mechanism(path: str | Path, problem: Problem, arrays: Mapping[str, Any]) -> None:
    """Compare the numbers of the mechanism; files of older versions have none."""
    workspace, stored = problem.workspace, arrays.get("mechanism")
    if stored is not None:
        where = difference(workspace.model, workspace.settings, np.asarray(stored).ravel())
        if where is not None:
            raise ValueError(
                f"{path} was solved for another mechanism: {where} differs from that of the problem; load it with the "
                "system that was solved"
            )


def _has_selections(problem: Problem, arrays: Mapping[str, Any]) -> bool:
    """Whether the file may tell of selections other than that of the problem."""
    return problem.selection.references is not None or any(name.startswith("selection_") for name in arrays)


def _restored(problem: Problem, arrays: Mapping[str, Any], direction: float) -> tuple[Problem, Segments]:
    """The problem and the segments of a stored run; `y0` stays the state that it is, unless a later segment centres its
    charts elsewhere: their parameters need not reach so far, and the state at the change is its start."""
    times = tuple(float(t) for t in arrays.get("selection_t", ()))
    problems: list[Problem] = []
    for k, selection in enumerate(from_arrays(arrays, problem.selection)):
        other = problem.with_selection(selection)
        t, row = problem.t0, None
        if problems and selection.references is not problems[0].selection.references:
            t = times[k - 1]
            row = arrays["selection_y"][k - 1] if "selection_y" in arrays else _state_at(arrays, t)
        y0 = problem.translated(problem.t0, problem.y0, other) if row is None else row
        problems.append(
            replace(other, start=consistent_start(Interpretation(other.workspace), t, y0, problem.assembly))
        )
    return problems[0].by_time(problems[1:], times, direction), Segments(tuple(problems), times, direction)


def _direction(arrays: Mapping[str, Any], metadata: Mapping[str, Any]) -> float:
    """The direction of the run in time; files of older versions have it in their times alone."""
    known = [arrays[name] for name in ("steps_t", "t", "selection_t") if name in arrays]
    return float(metadata.get("direction", sense(*known)))


def _state_at(arrays: Mapping[str, Any], t: float) -> Vec | None:
    """The stored step at a time, if there is one; files before version 0.3 have the states at changes nowhere else."""
    names = ("steps_t", "steps_y") if "steps_t" in arrays else ("t", "y")
    times, states = (arrays[name] for name in names)
    (found,) = np.nonzero(times == t)
    return states[found[0]].copy() if len(found) else None


__all__ = ["load"]
