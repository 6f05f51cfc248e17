"""``rbdae run``: integrate one mechanism and print how it went."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import warnings

import numpy as np

import rbdae
from rbdae._arrays import Vec
from rbdae.adapter import Stats
from rbdae.cli.formulated import again_with, formulated, may_be_left_out
from rbdae.cli.outputs import check_outputs, write_all, write_picture, write_states
from rbdae.cli.parser import option_of
from rbdae.cli.target import Target, end_of, target
from rbdae.cli.told import INTERRUPTED


def run_one(given: argparse.Namespace) -> int:
    """The command; 0, or 1 if the solver gave up, or 130 after Ctrl-C: the files are then of the run so far."""
    options = dict(option_of(text, "max_step=0.01") for text in given.option)
    check_outputs(
        {"--plot": given.plot, "--save": given.save, "--csv": given.csv, "--report": given.report},
        given.model,
        progress=given.progress,
    )
    found = target(given.model)
    t_end = end_of(found, given.t_end)
    with _Notice("compiling the kernels; this is needed once", after=3.0):
        problem = _formulated(given, found)
    interrupted = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rbdae.FailedRunWarning)  # its message is printed below
            solution = rbdae.solve(
                problem,
                (problem.t0, t_end),
                solver=given.solver,
                rtol=given.rtol,
                atol=given.rtol if given.atol is None else given.atol,
                step=given.step,
                projection=given.projection,
                on_singularity=given.on_singularity,
                progress=given.progress,
                **options,
            )
    except KeyboardInterrupt as error:
        so_far = getattr(error, "solution", None)
        if not isinstance(so_far, rbdae.Solution):
            raise
        solution, interrupted = so_far, True
    print(_summary(found.name, solution, problem))
    _write(solution, given, found.name)
    if not solution.success:
        print(f"rbdae: {solution.message}", file=sys.stderr)
        return INTERRUPTED if interrupted else 1
    return 0


def _formulated(given: argparse.Namespace, found: Target) -> rbdae.Problem:
    """The problem; where only redundant equations are in the way, the error says what to type."""

    form = (found.system, given.formulation, given.rotation, given.velocity)
    try:
        return formulated(*form, given.redundant, given, given.reference)
    except (ValueError, rbdae.ProjectionError) as error:
        if given.reference == "space" and "reference='start'" in str(error):
            raise ValueError(f"{error}. {again_with(given, '--reference', 'start')}") from error
        if given.redundant != "error" or not may_be_left_out(error):
            raise
        try:
            formulated(*form, "minimum-norm", given, given.reference)
        except (ValueError, rbdae.ProjectionError):
            raise error from None
        raise ValueError(f"{error}. {again_with(given, '--redundant', 'minimum-norm')}") from error


def _write(solution: rbdae.Solution, given: argparse.Namespace, name: str) -> None:
    os.environ.setdefault("MPLBACKEND", "Agg")
    write_all(
        {
            "trajectory": (given.save, solution.save),
            "states": (given.csv, lambda path: write_states(solution, path)),
            "report": (given.report, lambda path: solution.report(path, title=name)),
            "picture": (given.plot, lambda path: write_picture(solution.plot(), path)),
        }
    )


class _Notice:
    """A context that prints a line if it takes longer than `after` seconds."""

    def __init__(self, text: str, after: float) -> None:
        self._timer = threading.Timer(after, lambda: print(f"rbdae: {text} ...", file=sys.stderr, flush=True))
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()


def _summary(model: str, solution: rbdae.Solution, problem: rbdae.Problem) -> str:
    form = f"{problem.formulation}, {problem.rotation}, {problem.velocity}"
    size = f"{problem.n} unknowns, " + ("an ODE" if problem.kind == "ode" else f"a DAE of index {problem.index}")
    lines = [
        f"model       {model}",
        f"form        {form}: {size}",
        f"solver      {solution.solver}, rtol = {solution.rtol:g}, atol = {solution.atol:g}",
        f"result      {solution.message}",
    ]
    if len(solution.t):
        lines += _final_states(solution)
    return "\n".join([*lines, _work(solution.stats)])


def _final_states(solution: rbdae.Solution) -> list[str]:
    lines = [f"at t = {solution.t[-1]:.9g} s"]
    for name, state in solution.states.items():
        quaternion = np.roll(state.orientation[-1].as_quat(), 1)
        lines += [
            f"  {name}: position          {_numbers(state.position[-1])} m",
            f"  {name}: orientation       {_numbers(quaternion)} (scalar first)",
            f"  {name}: velocity          {_numbers(state.velocity[-1])} m/s",
            f"  {name}: angular velocity  {_numbers(state.angular_velocity[-1])} rad/s, body frame",
        ]
    energy = solution.energy
    drift = solution.drift
    return [
        *lines,
        f"energy      {energy.total[-1]:.9g} J, largest error of its balance {np.max(np.abs(energy.balance)):.2e} J",
        f"drift       {np.max(drift.position):.2e} in positions, {np.max(drift.velocity):.2e} in velocities",
    ]


def _work(stats: Stats) -> str:
    """Counts; the negative ones are not reported by the package."""
    counts = {
        "steps": stats.steps,
        "rejected": stats.rejected,
        "evaluations": stats.evaluations,
        "Jacobians": stats.jacobians,
        "factorisations": stats.factorisations,
        "projections": stats.projections,
        "restarts": stats.restarts,
    }
    reported = ", ".join(f"{count} {name}" for name, count in counts.items() if count >= 0)
    return f"work        {reported}, {stats.seconds:.3f} s of the processor"


def _numbers(values: Vec) -> str:
    return " ".join(f"{x:+.8e}" for x in values)


__all__ = ["run_one"]
