"""Common part of the two SUNDIALS bindings: native forms, tolerances for higher index, return codes.

Tolerances. A BDF code differentiates the unknowns numerically: with step h, rounding errors are multiplied by 1/h for
index-2 unknowns and by 1/h^2 for index-3 unknowns, whatever the error test asks for. Therefore

- multipliers, and at index 3 the velocities, get the absolute tolerance `LOOSE`, which takes them out of the
  error test and out of Newton's convergence test. Multipliers of index 1 too: they do not feed back into the
  motion, and in forms that hold the acceleration constraint they carry the rounding of v, divided by h;
- the other unknowns are integrated more accurately than requested, by `MARGIN`: at index 3 because the velocities
  are differences of positions (error in v = error in q / h) and nothing else controls them, at index 1
  because the constraints drift;
- the first step is `first_step`: the packages' own choice (a change of half a tolerance) is so small that
  multipliers would start as noise, and each restart would cost ten steps more.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Method, Reason, Solvable
from rbdae_adapters.toolkit import AbstractStepper, GaveUp, Recorder, leaves_error_test, loosened, multipliers
from rbdae_adapters.toolkit import first_step as first_step
from rbdae_adapters.toolkit.events import DASSL

LOOSE = 1e10
"""Absolute tolerance that stands for "not tested"."""

MARGIN = {1: 0.1, 2: 1.0, 3: 1e-3}
"""Factor on both tolerances by index, so that rtol = atol = 1e-10 ends near 1e-6 or better at every index."""

LEAST_TOLERANCE = {1: 1e-12, 2: 0.0, 3: 1e-10}
"""Tightest tolerances by index, before the margin: with 1e-13 Newton's method ends in rounding, and DASPK refuses."""

MAX_STEPS = 1_000_000
"""Default limit on steps; the packages' 500 are meant for one output interval."""

STALLED = 0
"""Replaces the return code if the package reports success but the time stands still."""

STALLED_MESSAGE = "steps are below the resolution of the time"

REASONS = {
    STALLED: Reason.STEP_TOO_SMALL,
    -1: Reason.TOO_MANY_STEPS,
    -2: Reason.ERROR_TEST,
    -3: Reason.ERROR_TEST,
    -4: Reason.NOT_CONVERGED,
    -6: Reason.SINGULAR,
    -7: Reason.SINGULAR,
}
"""Reasons by return codes of IDA and CVODE."""
DASPK_REASONS = DASSL | {STALLED: Reason.STEP_TOO_SMALL, -2: Reason.ERROR_TEST}


@final
@dataclass(frozen=True, slots=True)
class Native:
    """Arguments for the solvers of scikit-sundae and scikits.odes: ``IDA(p.resfn, **p.options)`` or
    ``CVODE(p.rhsfn, **p.options)``.

    Parameters
    ----------
    resfn : of DAE solvers, ``resfn(t, y, yp, res)``, fills `res` (n,)
    rhsfn : of CVODE, ``rhsfn(t, y, yp)``, fills `yp` (n,)
    jacfn : ``jacfn(t, y, yp, res, cj, J)``, fills dF/dy + cj dF/dyp: `J` of shape (n, n), or the CSC data
        if the linear solver is sparse. scikits.odes' ddaspk has no `res` here: ``jacfn(t, y, yp, cj, J)``; of CVODE
        ``jacfn(t, y, yp, J)``
    y0, yd0 : consistent initial values, shape (n,); no yd0 for CVODE
    t0 : initial time
    options : the constructor's other arguments, including the Jacobian and the tolerances
    """

    jacfn: Callable[..., None]
    y0: Vec
    t0: float
    options: dict[str, Any]
    resfn: Any = None
    yd0: Vec | None = None
    rhsfn: Any = None

    @classmethod
    def of_residual(
        cls, problem: Solvable, options: dict[str, Any], fill: Callable[..., None], with_jacobian: bool = True
    ) -> Native:
        """The arguments with a problem's residual, its start, and its Jacobian (`fill`) unless the options have one."""
        residual = problem.callbacks.residual

        def resfn(t: float, y: Vec, yp: Vec, res: Vec) -> None:
            residual(t, y, yp, res)

        def jacfn(t: float, y: Vec, yp: Vec, res: Vec, cj: float, J: Mat) -> None:
            fill(t, y, yp, cj, J)

        if with_jacobian:
            options.setdefault("jacfn", jacfn)
        y0, yd0 = np.array(problem.y0, dtype=float), np.array(problem.yd0, dtype=float)
        return cls(options.get("jacfn", jacfn), y0, problem.t0, options, resfn, yd0)

    @classmethod
    def of_rhs(cls, problem: Solvable, options: dict[str, Any], with_jacobian: bool) -> Native:
        """The arguments with a problem's right-hand side, its Jacobian and start."""
        callbacks = problem.callbacks
        rhs = callbacks.rhs  # the Jacobian is looked up on demand, because this allocates memory of its size

        def rhsfn(t: float, y: Vec, yp: Vec) -> None:
            rhs(t, y, yp)

        def jacfn(t: float, y: Vec, yp: Vec, J: Mat) -> None:
            callbacks.rhs_jacobian(t, y, J)

        if with_jacobian:
            options["jacfn"] = jacfn
        return cls(jacfn, np.array(problem.y0, dtype=float), problem.t0, options, rhsfn=rhsfn)


class InternalSteps(AbstractStepper):
    """IDA (with yd) or CVODE (without), one internal step at a time.

    Neither binding can take back a corrected state: this needs a restart at order 1, which costs 20 to 40 steps.
    """

    def __init__(self, native: Native, recorder: Recorder) -> None:
        self._t, self._t_end = recorder.request.t0, recorder.request.t_end
        self._y, self._yd = recorder.y0.copy(), native.yd0
        self._said = ""

    @abstractmethod
    def _start(self) -> None:
        """Start or restart from t, y and yd."""

    @abstractmethod
    def _advance(self) -> tuple[float, Vec, Vec | None]:
        """One internal step: t, y and yd. Raises `GaveUp`."""

    def step(self) -> tuple[float, Vec]:
        for _ in range(3):  # after interpolation the first call returns to the end of the step
            t, y, yd = self._advance()
            if t > self._t:
                self._t, self._y, self._yd = t, y, yd
                return t, y
        raise gave_up(REASONS, STALLED, self._said or STALLED_MESSAGE)

    def replace(self, t: float, y: Vec) -> None:
        self._t, self._y = t, y
        self._start()


def bdf(name: str, summary: str, shared_state: str = "") -> Method:
    """A code of SUNDIALS' family for F(t, y, y') = 0, whose error test leaves the multipliers of index 1 out."""
    kinds, indices = frozenset({"ode", "dae"}), frozenset({1, 2, 3})
    summary = f"BDF of order 1 to 5 for F(t, y, y') = 0, {summary}"
    return Method(name, kinds, indices, summary=summary, shared_state=shared_state, untested=frozenset({1}))


def adams_or_bdf(summary: str) -> Method:
    return Method("cvode", frozenset({"ode"}), summary=f"Adams (default) or BDF, {summary}")


def tolerances(problem: Solvable, rtol: float, atol: float | Vec) -> tuple[float, float | Vec]:
    """`rtol` and `atol` for the package, see the module's docstring; unchanged for ODE forms."""
    if problem.kind == "ode":
        return rtol, atol
    index = problem.index
    rtol, atol = loosened(problem, rtol, atol, LEAST_TOLERANCE[index])
    margin = MARGIN[index]
    vector = np.full(problem.n, margin * np.asarray(atol))
    vector[leaves_error_test(problem) | multipliers(problem)] = LOOSE
    return margin * rtol, vector


def least_tolerance(problem: Solvable) -> float:
    """The tightest tolerance that a run can have."""
    return 0.0 if problem.kind == "ode" else LEAST_TOLERANCE[problem.index]


def algebraic(problem: Solvable) -> dict[str, Any]:
    """Options that declare algebraic unknowns for the error test, including the velocities at index 3."""
    excluded = leaves_error_test(problem)
    left = excluded | multipliers(problem)
    return {
        "algebraic_vars_idx": [int(i) for i in np.flatnonzero(left)],
        "exclude_algvar_from_error": bool(excluded.any()),
    }


def gave_up(reasons: dict[int, Reason], code: int, message: str) -> GaveUp:
    return GaveUp(reasons.get(code, Reason.SOLVER), f"return code {code}: {message}")
