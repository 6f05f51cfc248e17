"""ODASSL, called one step at a time without Assimulo's loop.

It makes its Jacobian by differences, whose increments are sqrt(eps) max(|z|, |h z'|, rtol |z| + atol): for an unknown
at zero with a tolerance of 1e-9 that is 1e-17, and the column is noise. So it gets z = y + shift with |z| of at least
the size atol / rtol at which y's relative tolerance begins; what it tests is rtol |y| + atol as before.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Outcome, Reason, Request, Solvable, Stats
from rbdae_adapters.assimulo._native import Counts, residual
from rbdae_adapters.assimulo._package import ODASSL, finite, module, surrender
from rbdae_adapters.toolkit import (
    AbstractStepper,
    Dense,
    GaveUp,
    Recorder,
    atol_vector,
    drive,
    first_step,
    multipliers,
)

_UNTESTED = 1e7
"""Tolerance that takes an unknown out of the error test."""

_LEAST = 1e-12
"""Relative tolerance that sizes are counted with where it is smaller: shifts are not to cost digits."""

_FIXED_REALS = 40
"""Numbers at the start of RWORK; the residual, errors and weights follow, then the history."""


@final
class _Stepper(AbstractStepper):
    """ODASSL in its intermediate-output mode, which returns after each step and interpolates within it."""

    def __init__(self, problem: Solvable, request: Request, recorder: Recorder, options: dict[str, Any]) -> None:
        n, rows = problem.n, problem.n_equations
        self._counts = Counts()
        self._call = module("lib.odassl").odassl
        self._res = self._residual(problem)
        self._rows, self._n = rows, n
        loose = multipliers(problem)
        self._loose, self._relative, self._absolute = loose, request.rtol, atol_vector(problem, request)
        self._size = np.where(loose, 0.0, self._absolute / max(request.rtol, _LEAST))
        self._rtol = np.where(loose, _UNTESTED, 0.0)
        self._real = np.zeros(_FIXED_REALS + 8 * n + rows**2 + 3 * rows)
        self._whole = np.zeros(22 + rows, dtype=np.int32)
        self._info = np.zeros(15, dtype=np.int32)
        self._info[1] = 1  # tolerances are vectors
        self._info[2] = 1  # return after each step
        self._info[3] = 1  # and never step beyond
        self._real[0] = request.t_end
        # its own, a change of half a tolerance, is so small that A2 A1^-1 A2^T of the multipliers is lost in rounding
        options = {"inith": first_step(problem, request.rtol)} | options
        for option, at, number in (("maxh", 6, 1), ("inith", 7, 2)):
            if options.get(option):  # 0 leaves it to the package
                self._info[at], self._real[number] = 1, float(options[option])
        if "maxord" in options:
            self._info[8], self._whole[2] = 1, int(options["maxord"])
        zeroth_difference = _FIXED_REALS + rows + 2 * n
        self._latest = slice(zeroth_difference, zeroth_difference + n)
        self._t, self._told, self._t_end = request.t0, request.t0, request.t_end
        self._y, self._yd = recorder.y0.copy(), np.array(problem.yd0, dtype=float)
        self._shift = self._away(self._y)

    def _away(self, y: Vec) -> Vec:
        """A shift of small unknowns, by twice their size."""
        return np.where(np.abs(y) < self._size, 2.0 * self._size, 0.0)

    def _residual(self, problem: Solvable) -> Any:
        evaluate = residual(problem, self._counts)

        def res(t: float, z: Vec, yd: Vec) -> Vec:  # f2py passes as many arguments as it sees
            out: Vec = evaluate(t, z - self._shift, yd)
            if not finite(out):
                raise GaveUp(Reason.NOT_FINITE, "the residual is not finite", t)
            return out

        return res

    def _advance(self, t: float, target: float, info: Any, real: Vec, whole: Any, shift: Vec) -> Any:
        return self._call(
            self._res,
            self._rows,
            self._n,
            t,
            self._y + shift,
            self._yd.copy(),
            target,
            info,
            self._rtol,
            np.where(self._loose, _UNTESTED, self._relative * np.abs(self._y) + self._absolute),
            real,
            whole,
            lambda *_: None,
        )

    def step(self) -> tuple[float, Vec]:
        self._told = self._t
        if (np.abs(self._y + self._shift) < 0.5 * self._size).any():
            shift = self._away(self._y)
            self._real[self._latest] += shift - self._shift
            self._shift = shift
        self._t, z, self._yd, _, self._info, flag, self._real, self._whole = self._advance(
            self._t, self._t_end, self._info, self._real, self._whole, self._shift
        )
        self._y = z - self._shift
        if flag < 0:
            raise surrender(flag, ODASSL, name="idid")
        return self._t, self._y

    def interpolant(self) -> Dense:
        info, real, whole, told = self._info.copy(), self._real.copy(), self._whole.copy(), self._told
        shift = self._shift

        # Asked for a time inside the last step, ODASSL interpolates and does nothing else.
        def at(s: float) -> Vec:
            if s == told:  # it refuses the time that it stands at
                s = np.nextafter(s, np.inf)
            z: Vec = self._advance(told, s, info.copy(), real.copy(), whole.copy(), shift)[1]
            return z - shift

        return at

    def replace(self, t: float, y: Vec) -> None:
        self._y = y.copy()
        self._real[self._latest] = y + self._shift

    def finish(self, stats: Stats) -> None:
        stats.evaluations = self._counts.evaluations
        stats.jacobians = int(self._whole[12])
        stats.factorisations = int(self._whole[12])
        stats.rejected = int(self._whole[13] + self._whole[14])


def run(problem: Solvable, request: Request, options: dict[str, Any]) -> Outcome:
    """Run ODASSL."""
    max_steps = options.pop("max_steps", None)
    recorder = Recorder(problem, request, one_step=True)
    stepper = _Stepper(problem, request, recorder, options)
    outcome = drive(stepper, recorder, max_steps=max_steps)
    return outcome


__all__ = ["run"]
