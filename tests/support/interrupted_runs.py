"""Runs solvers on a pendulum with a Python force, to be interrupted: a child of the tests.

For each run it prints a line before, and one after with what has become of it; the parent sends SIGINT between them.
``python interrupted_runs.py SOLVER,SOLVER RUNS``.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

import numpy as np
import toy

import rbdae
from rbdae.adapter import Reason

T_END = 2000.0
"""Long enough that the signal comes before the end."""


def problem(compiled: bool, kinds: Any) -> Any:
    """A toy, or a mechanism whose force is called by ctypes."""
    if not compiled:
        return toy.Pendulum("index-0" if "ode" in kinds else "overdetermined")
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    body = system.add_body("b", mass=1.0, inertia=(1.0, 2.0, 2.5))

    def force(t: float, x: Any, out: Any) -> None:
        out[:] = 0.0
        out[0] = np.sin(20.0 * t)

    called = rbdae.forces.CalledBack(force)  # recorded, the run would end before the signal comes
    system.add_force(rbdae.forces.UserForce(body, called, difference_step=1e-6))
    return rbdae.formulate(system, "index-0" if "ode" in kinds else "overdetermined")


def said(line: object) -> None:
    sys.__stdout__.write(json.dumps(line) + "\n")
    sys.__stdout__.flush()


def run(solver: Any, one: Any) -> dict[str, Any]:
    """What becomes of a run."""
    try:
        solution = rbdae.solve(one, (0.0, T_END), solver=solver.name, rtol=1e-8, atol=1e-8)
    except KeyboardInterrupt as error:
        partial = getattr(error, "solution", None)  # none in the first instructions of solve
        if partial is None:
            return {"ended": "no solution"}
        good = partial.reason is Reason.KEYBOARD and np.isfinite(partial.y).all() and partial.y.shape[1] == one.n
        rising = not len(partial.t) or (partial.t[0] == 0.0 and (np.diff(partial.t) > 0.0).all())
        return {"ended": "interrupted", "good": bool(good and rising and len(partial.t) == len(partial.y))}
    except BaseException as error:
        return {"ended": f"{type(error).__name__}: {error}"}
    return {"ended": f"lost: {solution.message}"}


def main(names: str, runs: int) -> None:
    for solver in rbdae.solvers():
        if solver.name not in names.split(","):
            continue
        problems = [problem(False, solver.kinds), problem(True, solver.kinds)]
        for one in problems:  # compiled before the clock runs
            more = {"step": 1e-3} if solver.name.endswith("Euler") else {}
            rbdae.solve(one, (0.0, 0.01), solver=solver.name, **more)
        for k in range(runs):
            try:
                said({"solver": solver.name})
                outcome = run(solver, problems[k % 2])
            except KeyboardInterrupt:  # before the run, or after it
                outcome = {"ended": "outside"}
            said(outcome)


if __name__ == "__main__":
    # what a shell starts in the background ignores Ctrl-C, and so do its children
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(sys.argv[1], int(sys.argv[2]))
