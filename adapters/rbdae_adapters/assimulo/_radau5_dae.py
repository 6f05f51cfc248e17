"""Radau5DAE: Assimulo's compiled RADAU5 on F(t, y, y') = 0, with analytic Jacobians and an index class per unknown.

Assimulo's own class doubles all unknowns and drops the user's Jacobian. Here the unknowns of RADAU5 are y and the
derivatives of its differential entries only, each in its index class ([HW96], section VII.3). RADAU5 is told that the
first of them are the rates of those behind them (its M1), so that it factorises the equations alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.adapter import Method, Outcome, Request, Solvable
from rbdae_adapters.assimulo._native import Counts, configure, implicit_problem, residual
from rbdae_adapters.assimulo._package import HAIRER, finite, module, surrender
from rbdae_adapters.toolkit import Recorder, atol_vector, first_step, usable

USES_M1 = True
"""False for a comparison (`benchmarks/radau5.py`)."""

INDEX_3_MARGIN = 1e-3
"""Index-3 forms run at tolerances tighter by this: the classes loosen those of velocities by 1/h."""

GROWTH = 2.0
"""Largest growth of a step where equations constrain velocities or positions, unless the user gives `fac2`.

RADAU5 may accept the first Newton iterate of a step because the iteration of the step before has converged well. Where
steps grow eightfold (its own default), as from its small first ones, this estimate is wrong by two powers of ten and
more: the step ends off its constraint by many tolerances, and from there velocities would have to jump in any step,
however short. The first iterate is farthest from the last one where a constraint moves, by a drive. The estimate is the
rate theta of the step before to the power 0.8, and theta grows with the square of the step: it cannot be too small for
theta below GROWTH^-10, here 1e-3."""

NEWTON = 1e-3
"""Newton's tolerance there, in tolerances, unless the user gives `fnewt`; RADAU5's own is up to 0.015. With
GROWTH = 2.5 and RADAU5's own some runs of driven pendulums collapse, with this one and GROWTH = 2 none of 960."""

_MAX_STEPS = 100_000
"""Assimulo's default."""

_LEAST_TOLERANCE = 1e-10
"""Tightest tolerance of index-3 forms, before the margin."""


@final
class _Stacked:
    """F(t, y, y') = 0 as M Y' = f(t, Y) for RADAU5, Y = (y, derivatives of differential unknowns) by index class.

    The derivative of an unknown of class k is of class k + 1 where some equations have no derivative and no algebraic
    unknown: these determine derivatives only once they are differentiated. So it is above index 1, and in
    `hiller-anantharaman`, whose multipliers are derivatives.

    Attributes
    ----------
    m1 : RADAU5's M1: how many equations at the beginning are Y_i' = Y_(i + m1), whose rows are neither stored nor
        factorised (IWORK(9), IWORK(10)); 0 if the index classes order the unknowns otherwise
    solved : the number of the other equations, to which the Jacobian and the diagonal of M belong
    """

    def __init__(self, problem: Solvable, counts: Counts) -> None:
        n = problem.n
        differential = np.flatnonzero(problem.differential)
        algebraic = np.flatnonzero(~problem.differential)
        self._residual = residual(problem, counts)
        self._jacobian = problem.callbacks.jacobian
        self._counts = counts
        self._by_y, self._by_yd = np.empty((n, n)), np.empty((n, n))
        known = np.maximum(problem.variable_index, 1)
        constrained = problem.index > 1 or (problem.kind == "dae" and self._constrains(problem))
        rates = np.minimum(known[differential] + int(constrained), 3)
        classes = np.concatenate([known[differential], rates, known[algebraic]])
        order = np.argsort(classes, kind="stable")
        self.n = n
        self.constrained = constrained
        self.size = len(order)
        self.groups = [int(np.sum(classes == k)) for k in (1, 2, 3)]
        self._source: Ints = np.concatenate([differential, n + differential, algebraic])[order]
        at = np.argsort(order)
        many = len(differential)
        self._y, self._rate = at[:many], at[many : 2 * many]
        self._rows = np.setdiff1d(np.arange(self.size), self._y)
        leading = np.array_equal(self._y, np.arange(many)) and np.array_equal(self._rate, np.arange(many, 2 * many))
        self.m1 = many if leading and USES_M1 else 0
        self.solved = self.size - self.m1
        mass = np.zeros((1, self.size))
        mass[0, self._y] = 1.0
        self.mass: Mat = mass[:, self.m1 :]
        self._both = np.zeros(2 * n)

    def stack(self, y: Vec, yd: Vec) -> Vec:
        """Y of y and y'."""
        return np.asarray(np.concatenate([y, yd])[self._source])

    def unstack(self, stacked: Vec) -> Vec:
        """y, as a view that the next call overwrites."""
        self._both[self._source] = stacked
        return self._both[: self.n]

    def put_back(self, stacked: Vec, y: Vec) -> None:
        """Make `y` that of `stacked`, which keeps its derivatives."""
        self.unstack(stacked)[:] = y
        stacked[:] = self._both[self._source]

    def fun(self, t: float, stacked: Vec) -> Vec:
        """f(t, Y)."""
        y = self.unstack(stacked)
        out = np.empty(self.size)
        out[self._y] = stacked[self._rate]
        out[self._rows] = self._residual(t, y, self._both[self.n :])
        return out

    def jac(self, t: float, stacked: Vec) -> Mat:
        """df/dY of the last `solved` equations."""
        y = self.unstack(stacked)
        self._differentiate(t, y, self._both[self.n :])
        out = np.zeros((self.solved, self.size), order="F")
        if not self.m1:
            out[self._y, self._rate] = 1.0
        out[self._rows - self.m1] = np.hstack([self._by_y, self._by_yd])[:, self._source]
        return out

    def _constrains(self, problem: Solvable) -> bool:
        """Whether an equation has no derivative and no algebraic unknown."""
        self._differentiate(problem.t0, problem.y0, problem.yd0)
        direct = np.hstack([self._by_yd[:, problem.differential], self._by_y[:, ~problem.differential]])
        return not direct.any(axis=1).all()

    def _differentiate(self, t: float, y: Vec, yd: Vec) -> None:
        """dF/dy and dF/dyd."""
        self._counts.jacobians += 1
        self._jacobian(t, y, yd, 0.0, self._by_y)
        self._jacobian(t, y, yd, 1.0, self._by_yd)
        self._by_yd -= self._by_y


def _work_arrays(settings: Any, stacked: _Stacked) -> tuple[Vec, Any]:
    """RADAU5's WORK and IWORK from Assimulo's options; its documentation counts from 1."""
    size, solved = stacked.size, stacked.solved
    real = np.zeros(size * (solved + 12) + solved * (1 + 3 * solved) + 20)
    real[1:9] = (
        settings.safe,
        settings.thet,
        settings.fnewt,
        settings.quot1,
        settings.quot2,
        settings.maxh,
        settings.fac1,
        settings.fac2,
    )
    whole = np.zeros(3 * size + 20, dtype=np.int32)
    whole[1], whole[2] = settings.maxsteps, settings.newt
    whole[4:7] = stacked.groups
    whole[8] = whole[9] = stacked.m1
    return real, whole


def _functions(stacked: _Stacked, recorder: Recorder, lib: Any) -> tuple[Callable[..., Any], ...]:
    """FCN, JAC and SOLOUT of RADAU5; f2py passes as many arguments as a signature shows."""
    size = stacked.size

    def fun(t: float, state: Vec) -> Any:
        out = stacked.fun(t, state)
        if finite(out):
            return out, [0]
        return np.zeros(size), [-1]  # tries a smaller step

    def jac(t: float, state: Vec) -> Any:
        return stacked.jac(t, state)

    def step(t: float, state: Vec, cont: Vec) -> int:
        y = stacked.unstack(state).copy()

        def dense(s: float) -> Vec:
            return stacked.unstack(np.array([lib.contr5(i, s, cont) for i in range(1, size + 1)])).copy()

        if recorder.accept(t, y, lambda: dense):
            stacked.put_back(state, y)
        return -1 if recorder.done else 1

    def solout(nr: int, told: float, t: float, state: Vec, cont: Vec, werr: Vec, lrc: int, irtrn: int) -> Any:
        return step(t, state, cont)

    return fun, jac, solout


def _tolerances(problem: Solvable, request: Request) -> tuple[float, Vec]:
    rtol, atol = request.rtol, atol_vector(problem, request)
    margin = INDEX_3_MARGIN if problem.index == 3 else 1.0
    return margin * rtol, margin * atol


def settings(problem: Solvable, counts: Counts, rtol: float) -> dict[str, Any]:
    """Attributes of Assimulo's class for those who call it, of which Newton's and the growth are for constraints."""
    out: dict[str, Any] = {"inith": first_step(problem, rtol), "maxsteps": _MAX_STEPS}
    return out | ({"fac2": GROWTH, "fnewt": NEWTON} if _Stacked(problem, counts).constrained else {})


def run(problem: Solvable, method: Method, request: Request, options: dict[str, Any]) -> Outcome:
    """Run RADAU5."""
    counts = Counts()
    request = usable(problem, request, _LEAST_TOLERANCE if problem.index == 3 else 0.0)
    recorder = Recorder(problem, request, one_step=True)
    stacked = _Stacked(problem, counts)
    rtol, atol = _tolerances(problem, request)
    # Assimulo's class checks the options and knows their defaults
    known = module("solvers").Radau5DAE(implicit_problem(problem, counts, "Implicit_Problem"))
    if stacked.constrained:
        options = {"fac2": GROWTH, "fnewt": NEWTON} | options
    configure(known, method.name, options)
    # Its own 0.01 s is accepted unseen where classes loosen what would see the error.
    own_step = stacked.constrained and "inith" not in options
    # At index 3 rounding is divided by the square of the step: one of order 1 may never be accepted.
    order = 3 if problem.index == 3 else 1
    inith = first_step(problem, request.rtol, order) if own_step else known.inith
    if request.first_step is not None and "inith" not in options:
        inith = request.first_step
    lib = module("lib.radau5")
    fun, jac, solout = _functions(stacked, recorder, lib)
    size = stacked.size
    full_matrix = (stacked.solved, stacked.solved)  # of the Jacobian: the bandwidths MLJAC and MUJAC
    diagonal_mass = (1, 0, 0)
    arguments = (
        fun,
        request.t0,
        stacked.stack(recorder.y0, problem.yd0),
        request.t_end,
        inith,
        np.full(size, rtol),
        stacked.stack(atol, atol),
        1,  # tolerances are vectors
        jac,
        int(options.get("usejac", True)),
        *full_matrix,
        lambda am: stacked.mass,
        *diagonal_mass,
        solout,
        1,  # with dense output
        *_work_arrays(known, stacked),
    )
    _, _, _, whole, flag = lib.radau5(*arguments)
    if flag < 0:
        end = surrender(flag, HAIRER, name="flag")
        recorder.fail(end.reason, end.detail)
    stats = recorder.stats
    stats.rejected, stats.factorisations = int(whole[17]), int(whole[18])
    stats.evaluations, stats.jacobians = counts.evaluations, counts.jacobians
    return recorder.outcome()


__all__ = ["INDEX_3_MARGIN", "run", "settings"]
