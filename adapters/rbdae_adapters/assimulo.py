"""Assimulo: Hairer and Wanner's Fortran codes, ODASSL for overdetermined systems, LSODAR and the Euler methods.

How each of them takes part:

- Radau5ODE, Dopri5, RodasODE, LSODAR and the Euler methods run through Assimulo's classes. Our Jacobian is called by
  Radau5ODE, RodasODE, LSODAR and ImplicitEuler.
- Radau5DAE: Assimulo's class drops the user's Jacobian and doubles all unknowns, (y, y'), with index classes 1 and 2;
  so it gives up at index 3, and at index 2 with tight tolerances. Here the same compiled RADAU5 gets the
  equations F(t, y, y') = 0 with the derivatives of the differential unknowns only, every unknown in its index
  class (Hairer & Wanner II, section VII.3), and analytic Jacobians. Options keep Assimulo's names.
- ODASSL is called step by step without Assimulo's loop, which has no dense output. It never calls a user's
  Jacobian: it takes finite differences of the residual. It tests no errors of index-2 multipliers nor of index-3
  velocities and multipliers (`algvar` 0 in the native object).

A projected state goes back without a restart into the one-step methods (through the Fortran code's own array,
with Dopri5's first stage evaluated anew) and into ODASSL (its zeroth divided difference, which moves the recent
history along). LSODAR starts again, at order 1, where the drift exceeds ten times the tolerance; a restart
costs some 20 to 40 evaluations.

Left out: RungeKutta34, which rejects no steps, GLIMDA, and Assimulo's SUNDIALS solvers (see scikits.odes).
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.adapter import AbstractAdapter, Method, Outcome, Reason, Request, Stats
from rbdae_adapters._quiet import quiet
from rbdae_adapters._stepping import (
    AbstractStepper,
    Dense,
    GaveUp,
    Recorder,
    Trap,
    atol_vector,
    drive,
    leaves_error_test,
    take_options,
)

if TYPE_CHECKING:
    from rbdae.problem import Problem

_RADAU = frozenset(
    {"inith", "newt", "thet", "fnewt", "quot1", "quot2", "fac1", "fac2", "maxh", "safe", "maxsteps", "usejac"}
)
_OPTIONS = {
    "Radau5DAE": _RADAU,
    "Radau5ODE": _RADAU,
    "ODASSL": frozenset({"inith", "maxh", "maxord", "max_steps"}),
    "Dopri5": frozenset({"inith", "safe", "fac1", "fac2", "beta", "maxh", "maxsteps"}),
    "RodasODE": frozenset({"inith", "fac1", "fac2", "maxh", "safe", "maxsteps", "usejac"}),
    "LSODAR": frozenset({"maxh", "maxordn", "maxords", "maxsteps", "usejac"}),
    "ExplicitEuler": frozenset[str](),
    "ImplicitEuler": frozenset({"newt", "usejac"}),
}
_IMPLICIT = frozenset({"Radau5ODE", "RodasODE", "LSODAR", "ImplicitEuler"})

_HAIRER = {
    -2: (Reason.TOO_MANY_STEPS, "larger nmax is needed"),
    -3: (Reason.STEP_TOO_SMALL, "step size becomes too small"),
    -4: (Reason.SINGULAR, "matrix is repeatedly singular"),
}
_DOPRI = _HAIRER | {-4: (Reason.STEP_TOO_SMALL, "problem is probably stiff (interrupted)")}
_LSODAR = {
    -1: (Reason.TOO_MANY_STEPS, "excess work done"),
    -2: (Reason.STEP_TOO_SMALL, "excess accuracy requested"),
    -4: (Reason.ERROR_TEST, "repeated error test failures"),
    -5: (Reason.NOT_CONVERGED, "repeated convergence failures"),
}
_ODASSL = {
    -1: (Reason.TOO_MANY_STEPS, "a large amount of work has been expended"),
    -2: (Reason.STEP_TOO_SMALL, "the error tolerances are too stringent"),
    -6: (Reason.ERROR_TEST, "repeated error test failures on the last attempted step"),
    -7: (Reason.NOT_CONVERGED, "the corrector could not converge"),
    -8: (Reason.SINGULAR, "the matrix of partial derivatives is singular"),
    -9: (Reason.NOT_CONVERGED, "the corrector could not converge, with repeated error test failures"),
    -10: (Reason.NOT_CONVERGED, "the corrector could not converge because ires was -1"),
}
_CODES = {"Dopri5": _DOPRI, "LSODAR": _LSODAR}


@lru_cache(maxsize=None)
def _part(name: str) -> ModuleType:
    """A module of Assimulo, without what it prints and warns when it is imported."""
    with quiet():
        return importlib.import_module(f"assimulo.{name}")


class _Counts:
    """Calls of our functions: Assimulo's own counts are lost when it gives up."""

    __slots__ = ("evaluations", "jacobians")

    def __init__(self) -> None:
        self.evaluations = 0
        self.jacobians = 0


def _rhs(problem: Problem, counts: _Counts) -> Callable[[float, Vec], Vec]:
    n, rhs = problem.n, problem.callbacks.rhs

    def fun(t: float, y: Vec) -> Vec:
        counts.evaluations += 1
        out = np.empty(n)
        rhs(t, y, out)
        return out

    return fun


def _rhs_jacobian(problem: Problem, counts: _Counts) -> Callable[[float, Vec], Mat]:
    n, jacobian = problem.n, problem.callbacks.rhs_jacobian

    def jac(t: float, y: Vec) -> Mat:
        counts.jacobians += 1
        out = np.empty((n, n), order="F")
        jacobian(t, y, out)
        return out

    return jac


def _rows(problem: Problem) -> int:
    """Number of equations, which exceeds the unknowns of overdetermined forms."""
    return len(problem.residual(problem.t0, problem.y0, problem.yd0))


def _res(problem: Problem, counts: _Counts) -> Callable[[float, Vec, Vec], Vec]:
    rows, residual = _rows(problem), problem.callbacks.residual

    def res(t: float, y: Vec, yd: Vec) -> Vec:
        counts.evaluations += 1
        out = np.empty(rows)
        residual(t, y, yd, out)
        return out

    return res


def _explicit(problem: Problem, counts: _Counts, wrap: Callable[[Any], Any] = lambda f: f) -> Any:
    native = _part("problem").Explicit_Problem(wrap(_rhs(problem, counts)), problem.y0.copy(), problem.t0)
    native.jac = wrap(_rhs_jacobian(problem, counts))
    native.name = problem.formulation
    return native


def _implicit(problem: Problem, counts: _Counts, kind: str) -> Any:
    made = getattr(_part("problem"), kind)
    native = made(_res(problem, counts), problem.y0.copy(), problem.yd0.copy(), problem.t0)
    shape = (_rows(problem), problem.n)
    jacobian = problem.callbacks.jacobian

    def jac(c: float, t: float, y: Vec, yd: Vec) -> Mat:
        counts.jacobians += 1
        out = np.empty(shape)
        jacobian(t, y, yd, c, out)
        return out

    native.jac = jac
    native.name = problem.formulation
    return native


@lru_cache(maxsize=None)
def _reporting(name: str) -> type:
    """Assimulo's class `name` whose accepted steps go to a `Recorder` and nowhere else."""
    base: Any = _part("solvers").__dict__[name]

    class Reporting(base):  # type: ignore[misc]  # the base is known at run time only
        recorder: Recorder
        trap: Trap

        def report_solution(self, t: float, y: Vec, opts: Any) -> bool:
            self.t, self.y = t, np.array(y)
            if self.trap.error is not None:
                return True
            back = self.recorder.accept(t, self.y, lambda: self.interpolate)
            if self.recorder.done:
                return True
            if not back:
                return False
            if name == "LSODAR":
                return True  # starts again from self.y
            y[:] = self.y  # the solver's own array
            return False

        def _solout(self, *arguments: Any) -> int:
            """As Assimulo's; tells DOPRI5 (2) that the state was altered: the first stage is evaluated anew."""
            before = self.recorder.stats.projections_returned if False else None
            del before
            flag: int = super()._solout(*arguments)
            return flag

    return Reporting
