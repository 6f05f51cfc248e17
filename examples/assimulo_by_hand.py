"""Your own Assimulo script: rbdae supplies an `Implicit_Problem`, Assimulo's Radau5DAE is used as in its manual.

Two bodies with a spherical joint, as a DAE of index 2; Assimulo's state events find when the first one passes a height.
"""

from __future__ import annotations

import numpy as np
from assimulo.solvers import Radau5DAE

import rbdae
from rbdae_adapters import assimulo

HEIGHT = 1.0
"""Height of the first body's centre of mass for the event, m."""


def run(t_end: float = 0.2, tolerance: float = 1e-8) -> tuple[rbdae.Problem, np.ndarray, np.ndarray, list[float]]:
    """Times, unknowns in rows, and the times at which the body passes the height."""
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-2", rotation="directors")

    # Assimulo's class gives y the index class 1 and y' the class 2, so multipliers are in y' here.
    native = assimulo.ADAPTER.native(problem, "Radau5DAE", rtol=tolerance, atol=tolerance)
    passages: list[float] = []
    native.state_events = lambda t, y, yd, sw: np.array([y[2] - HEIGHT])
    native.handle_event = lambda solver, info: passages.append(solver.t)

    solver = Radau5DAE(native)
    solver.verbosity = 50
    for name, value in native.options.items():  # tolerances, first step, limit of steps
        setattr(solver, name, value)
    t, y, yd = (np.array(each) for each in solver.simulate(t_end))
    return problem, t, native.unknowns(y, yd), passages


def main() -> None:
    problem, t, y, passages = run()
    energy = problem.energy(t, y).total
    print(f"{len(t)} times; energy changed by {np.ptp(energy) / energy[0]:.1e} of its value")
    print(f"constraint at the end: {np.abs(problem.constraints(t[-1], y[-1]).position).max():.1e} m")
    print(f"the first body passes z = {HEIGHT:g} m at t = {', '.join(f'{at:.6f}' for at in passages)} s")


if __name__ == "__main__":
    main()
