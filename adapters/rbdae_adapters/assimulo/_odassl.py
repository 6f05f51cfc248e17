"""ODASSL, called one step at a time without Assimulo's loop."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Outcome, Reason, Request, Solvable, Stats
from rbdae_adapters.assimulo._native import Counts, residual
from rbdae_adapters.assimulo._package import ODASSL, finite, module, surrender
from rbdae_adapters.toolkit import AbstractStepper, Dense, GaveUp, Recorder, Trap, atol_vector, drive, quiet

_UNTESTED = 1e7
"""Tolerance that takes an unknown out of the error test."""

_FIXED_REALS = 40
"""Numbers at the start of RWORK; the residual, errors and weights follow, then the history."""


@final
class _Stepper(AbstractStepper):
    """ODASSL in its intermediate-output mode, which returns after each step and interpolates within it."""

    def __init__(
        self, problem: Solvable, request: Request, recorder: Recorder, trap: Trap, options: dict[str, Any]
    ) -> None:
        n, rows = problem.n, problem.n_equations
        self._counts = Counts()
        self._call = module("lib.odassl").odassl
        self._trap = trap
        self._res = self._residual(problem, trap)
        self._rows, self._n = rows, n
        loose = ~problem.differential
        self._rtol = np.where(loose, _UNTESTED, request.rtol)
        self._atol = np.where(loose, _UNTESTED, atol_vector(problem, request))
        self._real = np.zeros(_FIXED_REALS + 8 * n + rows**2 + 3 * rows)
        self._whole = np.zeros(22 + rows, dtype=np.int32)
        self._info = np.zeros(15, dtype=np.int32)
        self._info[1] = 1  # tolerances are vectors
        self._info[2] = 1  # return after each step
        self._info[3] = 1  # and never step beyond
        self._real[0] = request.t_end
        for option, at, number in (("maxh", 6, 1), ("inith", 7, 2)):
            if option in options:
                self._info[at], self._real[number] = 1, float(options[option])
        if "maxord" in options:
            self._info[8], self._whole[2] = 1, int(options["maxord"])
        zeroth_difference = _FIXED_REALS + rows + 2 * n
        self._latest = slice(zeroth_difference, zeroth_difference + n)
        self._t, self._told, self._t_end = request.t0, request.t0, request.t_end
        self._y, self._yd = recorder.y0.copy(), np.array(problem.yd0, dtype=float)

    def _residual(self, problem: Solvable, trap: Trap) -> Any:
        evaluate = trap(residual(problem, self._counts))

        def res(t: float, y: Vec, yd: Vec) -> Vec:  # f2py passes as many arguments as it sees
            out: Vec = evaluate(t, y, yd)
            if not finite(out):
                raise GaveUp(Reason.NOT_FINITE, f"the residual is not finite at t = {t:.9g}")
            return out

        return res

    def _advance(self, t: float, target: float, info: Any, real: Vec, whole: Any) -> Any:
        try:
            return self._call(
                self._res,
                self._rows,
                self._n,
                t,
                self._y.copy(),
                self._yd.copy(),
                target,
                info,
                self._rtol,
                self._atol,
                real,
                whole,
                lambda *_: None,
            )
        finally:
            self._trap.release()

    def step(self) -> tuple[float, Vec]:
        self._told = self._t
        self._t, self._y, self._yd, _, self._info, flag, self._real, self._whole = self._advance(
            self._t, self._t_end, self._info, self._real, self._whole
        )
        if flag < 0:
            raise surrender(flag, ODASSL, name="idid")
        return self._t, self._y

    def interpolant(self) -> Dense:
        info, real, whole, told = self._info.copy(), self._real.copy(), self._whole.copy(), self._told

        # Asked for a time inside the last step, ODASSL interpolates and does nothing else.
        def at(s: float) -> Vec:
            if s == told:  # it refuses the time that it stands at
                s = np.nextafter(s, np.inf)
            y: Vec = self._advance(told, s, info.copy(), real.copy(), whole.copy())[1]
            return y

        return at

    def replace(self, t: float, y: Vec) -> None:
        self._y = y.copy()
        self._real[self._latest] = y

    def finish(self, stats: Stats) -> None:
        stats.evaluations = self._counts.evaluations
        stats.jacobians = int(self._whole[12])
        stats.factorisations = int(self._whole[12])
        stats.rejected = int(self._whole[13] + self._whole[14])


def run(problem: Solvable, request: Request, options: dict[str, Any]) -> Outcome:
    """Run ODASSL."""
    max_steps = options.pop("max_steps", None)
    recorder = Recorder(problem, request, one_step=True)
    with quiet() as chatter:
        stepper = _Stepper(problem, request, recorder, Trap(), options)
        outcome = drive(stepper, recorder, max_steps=max_steps)
    return chatter.added_to(outcome)


__all__ = ["run"]
