"""What it costs to read a run, over what the run costs, in processor time of one process.

For each mechanism a run of a thousand rows and more, and over its time that of energies, momenta, all positions,
velocities and angular velocities, all rotations, reactions, drift, saving and loading; then the times of one state, of
`solution(t)` a step, and of runs with an event that reads `problem.states`, that of the README among them.

    python benchmarks/reading.py [heavy_top] [linked_bodies] [andrews] [chain10] [chain25] [--quick]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import rbdae

ROUNDS = 7
"""Times that each of them is measured; the least one counts."""


class Case(NamedTuple):
    system: Callable[[], rbdae.System]
    form: str
    method: str
    end: float
    tolerance: float
    body: str


CASES = {
    "heavy_top": Case(rbdae.models.heavy_top, "index-0", "rbdae:dopri5", 5.0, 1e-10, "top"),
    "linked_bodies": Case(rbdae.models.linked_bodies, "index-0", "rbdae:dopri5", 0.5, 1e-9, "first"),
    "andrews": Case(rbdae.models.andrews, "index-0", "rbdae:dop853", 0.3, 1e-8, "K1"),
    "chain10": Case(lambda: rbdae.models.chain(10), "index-0", "rbdae:dopri5", 2.0, 1e-9, "link 1"),
    "chain25": Case(lambda: rbdae.models.chain(25), "index-0", "rbdae:dopri5", 2.0, 1e-9, "link 1"),
}


def seconds(function: Callable[[], Any], rounds: int, times: int = 1) -> float:
    """Processor time of a call, the least of some; it has been called before."""
    function()
    out = []
    for _ in range(rounds):
        began = time.process_time()
        for _ in range(times):
            function()
        out.append((time.process_time() - began) / times)
    return min(out)


def motion(problem: rbdae.Problem, run: rbdae.Solution) -> None:
    """All positions, velocities and angular velocities as arrays."""
    for state in problem.states(run.t, run.y).values():
        assert len(state.position) == len(state.velocity) == len(state.angular_velocity)


def readings(problem: rbdae.Problem, run: rbdae.Solution, path: Path) -> dict[str, Callable[[], Any]]:
    """What is read, by name."""
    t, y = run.t, run.y
    return {
        "energy": lambda: problem.energy(t, y),
        "momentum": lambda: problem.momentum(t, y),
        "motion": lambda: motion(problem, run),
        "reactions": lambda: problem.reactions(t, y),
        "drift": lambda: replace(run).drift,
        "save": lambda: run.save(path),
        "load": lambda: rbdae.load(path, problem),
        "rotations": lambda: [state.orientation for state in problem.states(t, y).values()],
    }


def with_event(problem: rbdae.Problem, body: str, **options: Any) -> Callable[[], Any]:
    """A run with the README's event for a body."""

    def turned(t: float, y: Any) -> float:
        return float(problem.states(t, y)[body].orientation.as_matrix()[1, 0])

    turned.direction = 1  # type: ignore[attr-defined]
    return lambda: rbdae.solve(problem, events=[turned], **options)


def show(name: str, case: Case, rounds: int, folder: Path) -> dict[str, float]:
    """Measure a mechanism and print its lines; the ratios by name."""
    problem = rbdae.formulate(case.system(), case.form)
    options: dict[str, Any] = {"solver": case.method, "rtol": case.tolerance, "atol": case.tolerance}
    span = (0.0, case.end)
    run = rbdae.solve(problem, span, **options)
    own = seconds(lambda: rbdae.solve(problem, span, **options), rounds)
    ratios = {
        what: seconds(read, rounds) / own for what, read in readings(problem, run, folder / f"{name}.npz").items()
    }
    body = next(iter(problem.states(0.0, problem.y0)))
    event = seconds(with_event(problem, body, t_span=span, **options), 1) / own
    one = seconds(lambda: problem.states(0.0, problem.y0), rounds, 100)
    turned = seconds(lambda: problem.states(0.0, problem.y0)[body].orientation, rounds, 100)
    times = np.linspace(*span, 1000)
    between = seconds(lambda: replace(run)(times), rounds) / min(len(run.t), 1000)
    print(f"{name}: {len(run.t)} rows, {1e6 * own / len(run.t):.2f} us each; over the run:")
    print(
        "   " + ", ".join(f"{what} {ratio:.2f}" for what, ratio in ratios.items()) + f", run with an event {event:.1f}"
    )
    print(
        f"   one state {1e6 * one:.1f} us, with its rotation {1e6 * turned:.1f}; solution(t) {1e6 * between:.0f} us a "
        "step"
    )
    return ratios


def readme(rounds: int) -> float:
    """The README's run with its event over the same without it."""
    problem = rbdae.formulate(rbdae.models.andrews(), "index-0")
    options: dict[str, Any] = {"t_span": (0.0, 0.03), "rtol": 1e-8, "atol": 1e-8, "projection": True}
    out = 0.0
    for solver in ("scipy:DOP853", "rbdae:dop853"):
        plain = seconds(lambda: rbdae.solve(problem, solver=solver, **options), rounds)  # noqa: B023
        event = seconds(with_event(problem, "K1", solver=solver, **options), rounds)
        print(f"README's event, {solver}: {event / plain:.1f} times the plain run")
        out = max(out, event / plain)
    return out


def main(arguments: list[str] | None = None) -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args(arguments)
    rounds = 2 if given.quick else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        for name in given.cases:
            show(name, CASES[name], rounds, Path(folder))
    readme(rounds)


if __name__ == "__main__":
    main()
