"""Your own time loop: rbdae supplies residual and Jacobian, scikits.odes' IDA is used as in its manual.

Two bodies with a spherical joint, as a DAE of index 2, are computed at equally spaced times.
"""

from __future__ import annotations

import numpy as np
from scikits_odes import dae

import rbdae
from rbdae_adapters import scikits_odes


def run(t_end: float = 0.2, tolerance: float = 1e-8) -> tuple[rbdae.Problem, np.ndarray, np.ndarray]:
    """Times, and unknowns in rows."""
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-2", rotation="directors")

    # Residual, Jacobian and options in IDA's form: tolerances, algebraic unknowns out of the error test, and a larger
    # limit of steps than the package's 500.
    native = scikits_odes.ADAPTER.native(problem, "ida", rtol=tolerance, atol=tolerance)
    solver = dae("ida", native.resfn, old_api=False, **native.options)

    result = solver.solve(np.linspace(native.t0, t_end, 101), native.y0, native.yd0)
    if result.flag < 0:
        raise RuntimeError(f"IDA at t = {result.errors.t}: {result.message}")
    return problem, result.values.t, result.values.y


def main() -> None:
    problem, t, y = run()
    energy = problem.energy(t, y).total
    print(f"{len(t)} times; energy changed by {np.ptp(energy) / energy[0]:.1e} of its value")
    print(f"constraint at the end: {np.abs(problem.constraints(t[-1], y[-1]).position).max():.1e} m")
    force = problem.reactions(t, y)["spherical-1"]["first"].force
    print(f"joint force on 'first': {np.linalg.norm(force, axis=1).max():.6g} N at its largest")


if __name__ == "__main__":
    main()
