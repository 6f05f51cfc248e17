"""DASPK of scikits.odes: BDF in Fortran, with dense Jacobians.

It reads the Jacobian's buffer by columns, so that `jacfn` is handed its transpose. Negative times are its switch for
single steps: it runs on a shifted clock if the interval begins before 0. It keeps state in Fortran variables, so that
one run at a time can use it.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import io
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
from rbdae_adapters.toolkit import AbstractStepper, Dense, Recorder, Trap

_FIXED_REALS = 50
"""Numbers at the start of RWORK."""


@final
class _Daspk(AbstractStepper):
    """DASPK through the package's class; times are `shift`ed to be positive."""

    def __init__(
        self,
        problem: Solvable,
        solver: Any,
        trap: Trap,
        recorder: Recorder,
        t_end: float,
        t0: float,
        shift: float,
    ) -> None:
        self._solver, self._trap = solver, trap
        self._t_end, self._t, self._y, self._shift = t_end, t0, recorder.y0.copy(), shift
        self._clock = t0 - shift  # DASPK's own time, to the last bit: it repeats a step for one that differs
        self._yd = np.array(problem.yd0, dtype=float)
        self._before = self._clock
        solver.init_step(self._clock, self._y, self._yd)
        # the residual, errors and weights come first, and weights once more if unknowns are left out of the error test
        first = _FIXED_REALS + (3 + int(solver.info[15])) * problem.n
        self._latest = slice(first, first + problem.n)

    def step(self) -> tuple[float, Vec]:
        y, yd = np.empty_like(self._y), np.empty_like(self._yd)
        self._solver.t = self._clock  # interpolation leaves another time there
        with contextlib.redirect_stdout(io.StringIO()):  # the class prints what it returns
            flag, t = self._solver.step(-(self._t_end - self._shift), y, yd)
        self._trap.release()
        if flag < 0:
            message = self._solver.messages.get(flag, "no message")
            raise gave_up(DASPK_REASONS, flag, message)
        if flag == 1 and t <= self._clock:
            raise gave_up(DASPK_REASONS, STALLED, STALLED_MESSAGE)
        self._before, self._clock = self._clock, t
        self._t = self._t_end if flag > 1 else t + self._shift
        self._y, self._yd = y, yd
        return self._t, y

    def interpolant(self) -> Dense:
        def dense(t: float) -> Vec:
            if t >= self._t:
                return self._y
            y = np.empty_like(self._y)
            self._solver.t = self._before  # DASPK refuses outputs behind the time it is given
            flag, _ = self._solver.step(t - self._shift, y)
            if flag != 3:
                raise RuntimeError(f"DASPK's interpolation at t = {t!r} returned {flag}")
            return y

        return dense

    def replace(self, t: float, y: Vec) -> None:
        self._solver.rwork[self._latest] = y
        self._y = y

    def finish(self, stats: Stats) -> None:
        _flush_fortran()
        # IWORK(12) to IWORK(15)
        evaluations, jacobians, failures, unconverged = self._solver.iwork[11:15].tolist()
        stats.evaluations, stats.jacobians = evaluations, jacobians
        stats.factorisations = jacobians
        stats.rejected = failures + unconverged


def _flush_fortran() -> None:
    """Write Fortran's output now, while it is not shown, and not at the end of the process."""
    library = importlib.util.find_spec("scikits_odes_daepack.ddaspk")
    with contextlib.suppress(OSError, AttributeError):  # another compiler's runtime
        ctypes.CDLL(library.origin if library else None)._gfortran_flush_i4(None)


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

    trap, shift = Trap(), min(request.t0, 0.0)
    res, jac = _shifted(form.resfn, shift), _shifted(form.jacfn, shift)
    options = dict(form.options, jacfn=trap(jac), tstop=request.t_end - shift)
    # the class behind the front end: `t` and the work arrays are needed
    solver = dae("ddaspk", trap(res), **options)._integrator
    return _Daspk(problem, solver, trap, recorder, request.t_end, request.t0, shift)


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
