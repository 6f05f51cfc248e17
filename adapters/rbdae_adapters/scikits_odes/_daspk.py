"""DASPK of scikits.odes: BDF in Fortran, with dense Jacobians.

It reads the Jacobian's buffer by columns, so that `jacfn` is handed its transpose. Negative times are its switch for
single steps: it runs on a shifted clock if the interval begins before 0. It keeps state in Fortran variables, so that
one run at a time can use it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import MissingSolver, Request, Solvable, Stats
from rbdae_adapters._sundials import (
    DASPK_REASONS,
    STALLED,
    STALLED_MESSAGE,
    ResidualNative,
    algebraic,
    first_step,
    gave_up,
    tolerances,
)
from rbdae_adapters.toolkit import AbstractStepper, Dense, Recorder

_FIXED_REALS = 50
"""Numbers at the start of RWORK."""


@final
class _Daspk(AbstractStepper):
    """DASPK through the package's class; times are `shift`ed to be positive."""

    def __init__(
        self,
        problem: Solvable,
        solver: Any,
        recorder: Recorder,
        t_end: float,
        t0: float,
        shift: float,
    ) -> None:
        self._solver = solver
        self._t_end, self._t, self._y, self._shift = t_end, t0, recorder.y0.copy(), shift
        self._clock = t0 - shift  # DASPK's own time, to the last bit: it repeats a step for one that differs
        self._yd = np.array(problem.yd0, dtype=float)
        self._before = self._clock
        solver.init_step(self._clock, self._y, self._yd)
        # the residual, errors and weights come first, and weights once more if unknowns are left out of the error test
        first = _FIXED_REALS + (3 + int(solver.info[15])) * problem.n
        self._latest = slice(first, first + problem.n)

    def step(self) -> tuple[float, Vec]:
        self._solver.info[2] = 1
        flag, y, yd, t = self._call(self._clock, self._t_end - self._shift)
        self._solver.info[2] = 0
        if flag < 0:
            message = self._solver.messages.get(flag, "no message")
            raise gave_up(DASPK_REASONS, flag, message)
        if flag == 1 and t <= self._clock:
            raise gave_up(DASPK_REASONS, STALLED, STALLED_MESSAGE)
        self._before, self._clock = self._clock, t
        self._t = self._t_end if flag > 1 else t + self._shift
        self._y, self._yd = y, yd
        return self._t, y

    def _call(self, t: float, target: float) -> tuple[int, Vec, Vec, float]:
        """DASPK itself, since `step` of the class prints what it returns."""
        solver = self._solver
        solver.y, solver.yp, t, flag = solver._runner(
            solver._resFn, solver._jacFn, solver.y, solver.yp, t, target, *solver.call_args
        )
        return flag, solver.y, solver.yp, t

    def interpolant(self) -> Dense:
        def dense(t: float) -> Vec:
            if t >= self._t:
                return self._y
            # DASPK refuses outputs behind the time it is given
            flag, y, _, _ = self._call(self._before, t - self._shift)
            if flag != 3:
                raise RuntimeError(f"DASPK's interpolation at t = {t!r} returned {flag}")
            return y

        return dense

    def replace(self, t: float, y: Vec) -> None:
        self._solver.rwork[self._latest] = y
        self._y = y

    def finish(self, stats: Stats) -> None:
        # IWORK(12) to IWORK(15)
        evaluations, jacobians, failures, unconverged = self._solver.iwork[11:15].tolist()
        stats.evaluations, stats.jacobians = evaluations, jacobians
        stats.factorisations = jacobians
        stats.rejected = failures + unconverged


def _shifted(function: Callable[..., None], shift: float) -> Callable[..., None]:
    """`function` on DASPK's clock."""
    if shift == 0.0:
        return function

    def shifted(t: float, *rest: Any) -> None:
        function(t + shift, *rest)

    return shifted


def stepper(problem: Solvable, form: ResidualNative, request: Request, recorder: Recorder) -> AbstractStepper:
    """DASPK for `form`."""
    if importlib.util.find_spec("scikits_odes_daepack") is None:
        raise MissingSolver("scikits.odes:ddaspk needs scikits_odes_daepack: pip install scikits-odes-daepack==3.0.0")
    from scikits_odes import dae

    shift = min(request.t0, 0.0)
    res, jac = _shifted(form.resfn, shift), _shifted(form.jacfn, shift)
    options = dict(form.options, jacfn=jac, tstop=request.t_end - shift)
    # the class behind the front end: `t` and the work arrays are needed
    solver = dae("ddaspk", res, **options)._integrator
    return _Daspk(problem, solver, recorder, request.t_end, request.t0, shift)


def native(problem: Solvable, rtol: float, atol: float | Vec, given: dict[str, Any]) -> ResidualNative:
    """The arguments that ``dae("ddaspk", p.resfn, **p.options)`` takes."""
    residual, jacobian = problem.callbacks.residual, problem.callbacks.jacobian

    def resfn(t: float, y: Vec, yp: Vec, res: Vec) -> None:
        residual(t, y, yp, res)

    def jacfn(t: float, y: Vec, yp: Vec, cj: float, J: Mat) -> None:
        jacobian(t, y, yp, cj, J.T)

    options, requested = dict(given), rtol
    rtol, atol = tolerances(problem, rtol, atol)
    options["atol"] = np.array(np.broadcast_to(atol, (problem.n,)), dtype=float)
    options["rtol"] = np.full(problem.n, rtol)  # both or neither are arrays
    options["jacfn"] = jacfn
    if problem.kind == "dae":
        options |= algebraic(problem)
    options.setdefault("first_step", first_step(problem, requested))
    y0, yd0 = np.array(problem.y0, dtype=float), np.array(problem.yd0, dtype=float)
    return ResidualNative(resfn, jacfn, y0, yd0, problem.t0, options)


__all__ = ["native", "stepper"]
