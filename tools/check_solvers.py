"""Import every solver package and let each of its solvers integrate something tiny; one line each.

    python tools/check_solvers.py            all of them; exit status 1 if one fails
    python tools/check_solvers.py --import   only whether the packages import, silently

The problem is x' = v, v' = -x from (1, 0), as a DAE with one algebraic unknown, z = x, where the solver takes
DAEs; ODASSL gets the invariant x^2 + v^2 = 1 on top, so more equations than unknowns.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import math
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

PACKAGES = ("sksundae", "solve_dae", "scikits_odes", "scikits_odes_sundials", "assimulo.solvers")
END = 2.0
TOLERANCE = 1e-6
ODE_START = np.array([1.0, 0.0])
DAE_START = np.array([1.0, 0.0, 1.0])
DAE_SLOPE = np.array([0.0, -1.0, 0.0])


def ode(t: float, y: Vector) -> Vector:
    return np.array([y[1], -y[0]])


def ode_jacobian(t: float, y: Vector) -> NDArray[np.float64]:
    return np.array([[0.0, 1.0], [-1.0, 0.0]])


def dae(t: float, y: Vector, yd: Vector) -> Vector:
    return np.array([yd[0] - y[1], yd[1] + y[2], y[2] - y[0]])


def overdetermined(t: float, y: Vector, yd: Vector) -> Vector:
    return np.append(dae(t, y, yd), y[0] ** 2 + y[1] ** 2 - 1.0)


def ode_into(t: float, y: Vector, out: Vector) -> int:
    out[:] = ode(t, y)
    return 0


def dae_into(t: float, y: Vector, yd: Vector, out: Vector) -> int:
    out[:] = dae(t, y, yd)
    return 0


def sksundae_ida() -> float:
    from sksundae.ida import IDA

    solver = IDA(dae_into, rtol=TOLERANCE, atol=TOLERANCE, algebraic_idx=[2])
    return float(solver.solve(np.array([0.0, END]), DAE_START, DAE_SLOPE).y[-1, 0])


def sksundae_cvode() -> float:
    from sksundae.cvode import CVODE

    solver = CVODE(ode_into, rtol=TOLERANCE, atol=TOLERANCE)
    return float(solver.solve(np.array([0.0, END]), ODE_START).y[-1, 0])


def solve_dae(method: str) -> float:
    from solve_dae.integrate import solve_dae as solve

    solution = solve(dae, (0.0, END), DAE_START, DAE_SLOPE, method=method, rtol=TOLERANCE, atol=TOLERANCE)
    return float(solution.y[0, -1])


def odes_ida() -> float:
    from scikits_odes import dae as solver_for

    solver = solver_for("ida", dae_into, rtol=TOLERANCE, atol=TOLERANCE, algebraic_vars_idx=[2], old_api=False)
    return float(solver.solve([0.0, END], DAE_START, DAE_SLOPE).values.y[-1, 0])


def odes_cvode() -> float:
    from scikits_odes import ode as solver_for

    solver = solver_for("cvode", ode_into, rtol=TOLERANCE, atol=TOLERANCE, old_api=False)
    return float(solver.solve([0.0, END], ODE_START).values.y[-1, 0])


def odes_ddaspk() -> float:
    from scikits_odes import dae as solver_for

    solver = solver_for("ddaspk", dae_into, rtol=TOLERANCE, atol=TOLERANCE, algebraic_vars_idx=[2], old_api=True)
    return float(solver.solve([0.0, END], DAE_START, DAE_SLOPE)[2][-1, 0])


def assimulo(name: str) -> float:
    import assimulo.solvers
    from assimulo.problem import Explicit_Problem, Implicit_Problem, Overdetermined_Problem

    if name == "ODASSL":
        problem = Overdetermined_Problem(overdetermined, DAE_START, DAE_SLOPE, 0.0)
    elif name == "Radau5DAE":
        problem = Implicit_Problem(dae, DAE_START, DAE_SLOPE, 0.0)
    else:
        problem = Explicit_Problem(ode, ODE_START, 0.0)
        problem.jac = ode_jacobian
    solver = getattr(assimulo.solvers, name)(problem)
    solver.verbosity = 50
    solver.rtol = solver.atol = TOLERANCE
    return float(solver.simulate(END)[1][-1, 0])


SOLVERS: tuple[tuple[str, str, Callable[[], float]], ...] = (
    ("scikit-sundae", "IDA", sksundae_ida),
    ("scikit-sundae", "CVODE", sksundae_cvode),
    ("solve_dae", "Radau", lambda: solve_dae("Radau")),
    ("solve_dae", "BDF", lambda: solve_dae("BDF")),
    ("scikits-odes", "ida", odes_ida),
    ("scikits-odes", "cvode", odes_cvode),
    ("scikits-odes", "ddaspk", odes_ddaspk),
    ("assimulo-testing", "Radau5DAE", lambda: assimulo("Radau5DAE")),
    ("assimulo-testing", "ODASSL", lambda: assimulo("ODASSL")),
    ("assimulo-testing", "Radau5ODE", lambda: assimulo("Radau5ODE")),
    ("assimulo-testing", "RodasODE", lambda: assimulo("RodasODE")),
    ("assimulo-testing", "Dopri5", lambda: assimulo("Dopri5")),
    ("assimulo-testing", "LSODAR", lambda: assimulo("LSODAR")),
    ("assimulo-testing", "RungeKutta34", lambda: assimulo("RungeKutta34")),
)


def packages_import() -> bool:
    """Whether all packages import; a broken one counts as missing, whatever it raises."""
    for name in PACKAGES:
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                importlib.import_module(name)
        except Exception:
            return False
    return True


def check(package: str, method: str, solve: Callable[[], float]) -> bool:
    """Run one solver, print its line, say whether it came out right."""
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            error = abs(solve() - math.cos(END))
        verdict = f"error {error:.1e}"
    except Exception as problem:  # a report of every solver, so whatever one raises is its line
        error, verdict = math.inf, f"{type(problem).__name__}: {problem}"
    good = error < 100 * TOLERANCE
    try:
        number = version(package)
    except PackageNotFoundError:
        number = "missing"
    print(f"{'ok    ' if good else 'FAILED'} {package + ' ' + number:26} {method:14} {verdict}", flush=True)
    return good


def main() -> None:
    if sys.argv[1:] == ["--import"]:
        sys.exit(0 if packages_import() else 1)
    if sys.argv[1:]:
        sys.exit("usage: check_solvers.py [--import]")
    if not all([check(*each) for each in SOLVERS]):
        sys.exit(1)


if __name__ == "__main__":
    main()
