"""The command line: ``rbdae models``, ``rbdae solvers``, ``rbdae run MODEL ...``."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

import rbdae
from rbdae import _check
from rbdae._arrays import Vec
from rbdae.adapter import Stats
from rbdae.models import MODELS, Entry
from rbdae.rotations import CHARTS
from rbdae.solving import solvers_for

# What `run` takes if no solver is named: the first one that is installed and takes the formulation.
_PREFERRED = (
    "scipy:DOP853",
    "sksundae:ida",
    "scikits.odes:ida",
    "solve_dae:Radau",
    "assimulo:Radau5DAE",
    "assimulo:ODASSL",
)

_FAILED, _REFUSED = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns 0, or 1 if the solver gave up, or 2 if the input was refused."""
    given = _parser().parse_args(arguments)
    try:
        if given.command == "models":
            return _models()
        if given.command == "solvers":
            print(rbdae.solvers())
            return 0
        return _run(given)
    except (ValueError, TypeError, ImportError, OSError, rbdae.ProjectionError) as error:
        print(f"rbdae: {error}", file=sys.stderr)
        return _REFUSED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rbdae", description=rbdae.__doc__)
    parser.add_argument("--version", action="version", version=f"rbdae {rbdae.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("models", help="list the mechanisms that can be run")
    commands.add_parser("solvers", help="list the solvers, installed or not")
    run = commands.add_parser("run", help="integrate a model and print how it went")
    run.add_argument("model", metavar="MODEL", help="a name from `rbdae models`")
    run.add_argument("--formulation", default="null-space", help="index-3 ... index-0, null-space, hamiltonian, ...")
    run.add_argument("--rotation", default="quaternion", help=_either(CHARTS))
    run.add_argument("--velocity", help="angular or coordinate; hamiltonian forms have momentum")
    run.add_argument("--solver", help="package:method, see `rbdae solvers`; default: one that is installed and fits")
    run.add_argument("--rtol", type=float, default=1e-8, help="relative tolerance (default: 1e-8)")
    run.add_argument("--atol", type=float, help="absolute tolerance (default: the relative one)")
    run.add_argument("--t-end", type=float, help="end time, s (default: the model's own)")
    run.add_argument("--step", type=float, help="step size, s; for fixed-step methods")
    run.add_argument("--projection", action="store_true", help="project accepted steps onto the constraints")
    run.add_argument("--progress", action="store_true", help="show a bar (needs tqdm)")
    run.add_argument("--plot", type=Path, metavar="FILE", help="write a picture (needs matplotlib)")
    run.add_argument("--save", type=Path, metavar="FILE", help="write the trajectory, .npz")
    return parser


def _either(names: Iterable[str]) -> str:
    """``"a, b or c"``."""
    *some, last = names
    return f"{', '.join(some)} or {last}"


def _models() -> int:
    width = max(map(len, MODELS))
    for name, entry in MODELS.items():
        print(f"{name:{width}}  {entry.summary}; to t = {entry.t_end:g} s")
    return 0


def _run(given: argparse.Namespace) -> int:
    entry = _model(given.model)
    _check_folders(given.plot, given.save)
    with _Notice("compiling the kernels; this is needed once", after=3.0):
        problem = rbdae.formulate(entry(), given.formulation, rotation=given.rotation, velocity=given.velocity)
    solution = rbdae.solve(
        problem,
        (problem.t0, entry.t_end if given.t_end is None else given.t_end),
        solver=given.solver or _default_solver(problem),
        rtol=given.rtol,
        atol=given.rtol if given.atol is None else given.atol,
        step=given.step,
        projection=given.projection,
        progress=given.progress,
    )
    print(_summary(given.model, solution, problem))
    _write(solution, given.plot, given.save)
    if not solution.success:
        print(f"rbdae: {solution.message}", file=sys.stderr)
        return _FAILED
    return 0


def _check_folders(*files: Path | None) -> None:
    """Before the run: it would be lost if its results cannot be written."""
    for path in files:
        if path is not None and not path.absolute().parent.is_dir():
            raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to; make it first")


def _write(solution: rbdae.Solution, picture: Path | None, trajectory: Path | None) -> None:
    if trajectory is not None:
        print(f"trajectory written to {solution.save(trajectory)}")
    if picture is not None:
        os.environ.setdefault("MPLBACKEND", "Agg")
        solution.plot().savefig(picture, dpi=150)
        print(f"picture written to {picture}")


def _model(name: str) -> Entry:
    if name not in MODELS:
        raise _check.unknown("model", name, MODELS, most=1)
    return MODELS[name]


class _Notice:
    """A context that prints a line if it takes longer than `after` seconds."""

    def __init__(self, text: str, after: float) -> None:
        self._timer = threading.Timer(after, lambda: print(f"rbdae: {text} ...", file=sys.stderr, flush=True))
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()


def _default_solver(problem: rbdae.Problem) -> str:
    able = solvers_for(problem)
    installed = {s.name for s in rbdae.solvers() if s.available}
    for name in _PREFERRED:
        if name in able and name in installed:
            return name
    raise ValueError(
        f"no installed solver takes {problem.formulation!r} (these would: {', '.join(able)}); "
        "`pip install scikit-sundae` brings one, or choose --formulation null-space"
    )


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
    return f"work        {reported}, {stats.seconds:.3f} s"


def _numbers(values: Vec) -> str:
    return " ".join(f"{x:+.8e}" for x in values)


if __name__ == "__main__":
    sys.exit(main())
