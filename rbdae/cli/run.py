"""``rbdae run``: integrate one mechanism and print how it went."""

from __future__ import annotations

import argparse
import sys
import warnings

import numpy as np

import rbdae
from rbdae._arrays import Vec
from rbdae.adapter import Stats
from rbdae.cli.outputs import check_outputs, write_all, write_picture, write_states
from rbdae.cli.parser import hold_of, of, option_of
from rbdae.cli.target import end_of, target


def run_one(given: argparse.Namespace) -> int:
    """The command; 0, or 1 if the solver gave up, or 130 after Ctrl-C: the files are then of the run so far."""
    own = dict(option_of(text, "max_step=0.01") for text in given.option)
    check_outputs(given)
    found = target(given.model)
    t_end = end_of(found, given.t_end)
    problem = rbdae.formulate(found.system, **of(given, rbdae.formulate) | {"hold": hold_of(given)})
    options = {"atol": given.rtol} | of(given, rbdae.solve)
    interrupted = False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rbdae.FailedRunWarning)  # its message is printed below
            solution = rbdae.solve(problem, (problem.t0, t_end), **options, **own)
    except KeyboardInterrupt as error:
        so_far = getattr(error, "solution", None)
        if not isinstance(so_far, rbdae.Solution):
            raise
        solution, interrupted = so_far, True
    print(_summary(found.name, solution, problem))
    write_all(
        {
            "trajectory": (given.save, solution.save),
            "states": (given.csv, lambda path: write_states(solution, path)),
            "report": (given.report, lambda path: solution.report(path, title=found.name)),
            "picture": (given.plot, lambda path: write_picture(solution.plot(), path)),
        }
    )
    if not solution.success:
        print(f"rbdae: {solution.message}", file=sys.stderr)
        return 130 if interrupted else 1
    return 0


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
    names = ("steps", "rejected", "evaluations", "jacobians", "factorisations", "projections", "restarts")
    counts = {name: getattr(stats, name) for name in names}
    reported = ", ".join(f"{count} {name}" for name, count in counts.items() if count >= 0)
    return f"work        {reported}, {stats.seconds:.3f} s of the processor"


def _numbers(values: Vec) -> str:
    return " ".join(f"{x:+.8e}" for x in values)
