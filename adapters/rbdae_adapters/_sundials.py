"""What the two bindings of SUNDIALS share: native forms, tolerances for higher index, return codes.

Tolerances. A BDF code differentiates what it integrates: with step h, the rounding errors of index-2
unknowns are multiplied by 1/h and those of index-3 unknowns by 1/h^2, whatever the error test asks for.
Therefore

- multipliers of index 2, velocities and multipliers of index 3 (`leaves_error_test`) get the absolute
  tolerance `LOOSE`, which takes them out of the error test and out of Newton's convergence test;
- multipliers of index 1 get ``sqrt(atol)``: they do not feed back into the motion, and where the acceleration
  constraint holds v' they carry the rounding of v, divided by h;
- at index 3 the positions are integrated more accurately than asked for, by `INDEX_3_MARGIN`, because the
  velocities are their derivatives (error in v = error in q / h) and nothing else controls them;
- the first step of a DAE is `first_step`, because the package's own choice (a change of half a tolerance) is
  so small that multipliers would start as noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Reason
from rbdae_adapters._stepping import GaveUp, leaves_error_test

if TYPE_CHECKING:
    from rbdae.problem import Problem

LOOSE = 1e10
"""Absolute tolerance that stands for "not tested"."""

INDEX_3_MARGIN = 1e-3
"""Factor on both tolerances at index 3."""

SMALLEST_TOLERANCE = 1e-14
"""Where the margin ends: below it rounding fails the error test."""

MAX_STEPS = 1_000_000
"""Steps of a run, unless the user gives a limit; the packages' 500 are meant for one output interval."""

STALLED = 0
"""In place of a return code: the package reports success, but the time stands still."""

STALLED_MESSAGE = "steps are below the resolution of the time"

IDA_REASONS = {
    STALLED: Reason.STEP_TOO_SMALL,
    -1: Reason.TOO_MANY_STEPS,
    -2: Reason.ERROR_TEST,
    -3: Reason.ERROR_TEST,
    -4: Reason.NOT_CONVERGED,
    -6: Reason.SINGULAR,
    -7: Reason.SINGULAR,
}
CVODE_REASONS = {
    STALLED: Reason.STEP_TOO_SMALL,
    -1: Reason.TOO_MANY_STEPS,
    -2: Reason.ERROR_TEST,
    -3: Reason.ERROR_TEST,
    -4: Reason.NOT_CONVERGED,
    -6: Reason.SINGULAR,
    -7: Reason.SINGULAR,
}
DASPK_REASONS = {
    STALLED: Reason.STEP_TOO_SMALL,
    -1: Reason.TOO_MANY_STEPS,
    -2: Reason.ERROR_TEST,
    -6: Reason.ERROR_TEST,
    -7: Reason.NOT_CONVERGED,
    -8: Reason.SINGULAR,
    -9: Reason.NOT_CONVERGED,
    -10: Reason.NOT_CONVERGED,
}


@final
@dataclass(frozen=True, slots=True)
class ResidualNative:
    """What the DAE solvers of scikit-sundae and scikits.odes take, e.g. ``IDA(p.resfn, **p.options)``.

    Parameters
    ----------
    resfn : ``resfn(t, y, yp, res)``, fills `res` (n,)
    jacfn : ``jacfn(t, y, yp, res, cj, J)``, fills dF/dy + cj dF/dyp: `J` of shape (n, n), or the CSC data
        where the linear solver is sparse. scikits.odes' ddaspk has no `res` here: ``jacfn(t, y, yp, cj, J)``
    y0, yd0 : consistent initial values, shape (n,)
    t0 : initial time
    options : the other arguments of the constructor, the Jacobian and the tolerances among them
    """

    resfn: Callable[[float, Vec, Vec, Vec], None]
    jacfn: Callable[..., None]
    y0: Vec
    yd0: Vec
    t0: float
    options: dict[str, Any]


@final
@dataclass(frozen=True, slots=True)
class RhsNative:
    """What the CVODE classes of scikit-sundae and scikits.odes take: ``CVODE(p.rhsfn, **p.options)``.

    Parameters
    ----------
    rhsfn : ``rhsfn(t, y, yp)``, fills `yp` (n,)
    jacfn : ``jacfn(t, y, yp, J)``, fills `J` (n, n)
    y0 : consistent initial state, shape (n,)
    t0 : initial time
    options : the other arguments of the constructor, the Jacobian and the tolerances among them
    """

    rhsfn: Callable[[float, Vec, Vec], None]
    jacfn: Callable[[float, Vec, Vec, Mat], None]
    y0: Vec
    t0: float
    options: dict[str, Any]


def tolerances(problem: Problem, rtol: float, atol: float | Vec) -> tuple[float, float | Vec]:
    """`rtol` and `atol` for the package, as the module's docstring says; ODE forms keep theirs."""
    if problem.kind == "ode":
        return rtol, atol
    vector = np.array(np.broadcast_to(atol, (problem.n,)), dtype=float)
    if problem.index == 3:
        rtol = min(rtol, max(rtol * INDEX_3_MARGIN, SMALLEST_TOLERANCE))
        vector = np.minimum(vector, np.maximum(vector * INDEX_3_MARGIN, SMALLEST_TOLERANCE))
    algebraic = ~np.asarray(problem.differential)
    vector[algebraic] = np.maximum(vector[algebraic], np.sqrt(vector[algebraic]))
    vector[leaves_error_test(problem)] = LOOSE
    return rtol, vector


def first_step(problem: Problem, rtol: float) -> float:
    """A first step of order 1: changes the tested unknowns by about ``0.1 sqrt(rtol)``, relative to 1."""
    tested = ~leaves_error_test(problem) & np.asarray(problem.differential)
    y, yd = np.asarray(problem.y0)[tested], np.asarray(problem.yd0)[tested]
    rate = float(np.max(np.abs(yd) / (1.0 + np.abs(y)), initial=0.0))
    return float(0.1 * np.sqrt(rtol) / max(rate, 1.0))


def restart_drift(problem: Problem, usual: float) -> float:
    """Drift that is worth a restart: none at index 3.

    There the equations hold the positions, and the velocities of a restart are the least accurate of all: at
    order 1 they miss their constraint by O(h), which would ask for the next restart at once.
    """
    return float("inf") if problem.index == 3 else usual


def gave_up(
    problem: Problem, reasons: dict[int, Reason], code: int, message: str, t: float, y: Vec, yd: Vec | None
) -> GaveUp:
    """The surrender for a return code; an infinite model is told from a solver that is stuck."""
    out = np.empty(problem.n)
    finite = True
    for s in (t, t + 1e-9 * max(1.0, abs(t))):
        with np.errstate(all="ignore"):
            if yd is None:
                problem.callbacks.rhs(s, y, out)
            else:
                problem.callbacks.residual(s, y, yd, out)
        finite = finite and bool(np.isfinite(out).all())
    reason = reasons.get(code, Reason.SOLVER) if finite else Reason.NOT_FINITE
    return GaveUp(reason, f"return code {code}: {message}")


__all__ = [
    "CVODE_REASONS",
    "DASPK_REASONS",
    "IDA_REASONS",
    "INDEX_3_MARGIN",
    "LOOSE",
    "MAX_STEPS",
    "STALLED",
    "STALLED_MESSAGE",
    "ResidualNative",
    "RhsNative",
    "first_step",
    "gave_up",
    "restart_drift",
    "tolerances",
]
