"""Your own time loop: rbdae supplies residual and Jacobian, scikit-sundae's IDA is used as in its manual.

Two bodies with a spherical joint, as a DAE of index 2, are stepped by hand; the joint's reaction force is printed. It
follows from positions and velocities, not from IDA's multipliers, whose errors IDA cannot test at index 2.
"""

from __future__ import annotations

import numpy as np
from sksundae.ida import IDA

import rbdae
from rbdae_adapters import sksundae


def run(t_end: float = 0.2, tolerance: float = 1e-8) -> tuple[rbdae.Problem, np.ndarray, np.ndarray]:
    """Times, and unknowns in rows."""
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-2", rotation="directors")

    # Residual, Jacobian and options in IDA's form, with the multipliers out of the error test.
    native = sksundae.ADAPTER.native(problem, "ida", rtol=tolerance, atol=tolerance)
    solver = IDA(native.resfn, **native.options)

    solver.init_step(native.t0, native.y0, native.yd0)
    times, states = [native.t0], [native.y0]
    while times[-1] < t_end:
        result = solver.step(t_end, method="onestep", tstop=t_end)
        if not result.success:
            raise RuntimeError(f"IDA at t = {result.t}: {result.message}")
        times.append(float(result.t))
        states.append(result.y.copy())
    return problem, np.array(times), np.array(states)


def main() -> None:
    problem, t, y = run()
    energy = problem.energy(t, y).total
    # By elimination at positions and velocities, and as accurate as these. `run_multipliers` are IDA's own, which it
    # does not test, so their accuracy is unknown.
    force = problem.reactions(t, y)["spherical-1"]["first"].force
    noise = np.abs(problem.run_multipliers(t, y) - problem.multipliers(t, y)).max() / np.abs(force).max()
    print(f"{len(t) - 1} steps; energy changed by {np.ptp(energy) / energy[0]:.1e} of its value")
    print(f"constraint at the end: {np.abs(problem.constraints(t[-1], y[-1]).position).max():.1e} m")
    print(f"joint force on 'first': {np.linalg.norm(force, axis=1).max():.6g} N at its largest")
    print(f"IDA's own multipliers are off by {noise:.1e} of it")


if __name__ == "__main__":
    main()
