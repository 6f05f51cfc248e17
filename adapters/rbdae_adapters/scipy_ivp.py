"""scipy's `solve_ivp` solvers, step by step through their `OdeSolver` classes.

A projected state goes back into each of them without a restart:

- RK23, RK45, DOP853: into `y`; `f` is evaluated again, because the last stage of a step is the first of the next.
- Radau: the same; its starting values come from the collocation polynomial of the unprojected step, which
  differs only by the correction.
- BDF, LSODA: into the zeroth backward difference, or the zeroth column of the Nordsieck array, which shifts the recent
  history, like CVODE's own projection.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy
from scipy.integrate import BDF, LSODA, OdeSolver

from rbdae._arrays import Mat, Vec
from rbdae.adapter import AbstractAdapter, Method, Outcome, Reason, Request, Solvable, Stats
from rbdae_adapters.toolkit import AbstractStepper, Dense, Functions, GaveUp, Recorder, drive, take_options
from rbdae_adapters.toolkit.events import LSODA as REASONS

_IMPLICIT = frozenset({"Radau", "BDF", "LSODA"})
_OPTIONS = ("first_step", "max_step", "max_steps")
"""Options passed on; the package only warns about unknown ones."""
_ODE = frozenset({"ode"})
_WITH = "implicit, analytic Jacobian"


@final
@dataclass(frozen=True, slots=True)
class ScipyProblem:
    """Arguments for ``solve_ivp(p.fun, t_span, p.y0, method=p.method, jac=p.jac)``.

    Parameters
    ----------
    fun : ``fun(t, y)``, a new array (n,)
    jac : ``jac(t, y)``, a new array (n, n); for the implicit methods
    y0 : consistent initial state, shape (n,)
    t0 : initial time
    method : scipy's name
    """

    fun: Callable[[float, Vec], Vec]
    jac: Callable[[float, Vec], Mat]
    y0: Vec
    t0: float
    method: str


@final
class _Stepper(AbstractStepper):
    def __init__(self, native: ScipyProblem, request: Request, y0: Vec, options: dict[str, Any]) -> None:
        arguments = dict(options, rtol=request.rtol, atol=request.atol)
        if native.method in _IMPLICIT:
            arguments["jac"] = native.jac
        solver_class = getattr(scipy.integrate, native.method)
        self._solver: OdeSolver = solver_class(native.fun, request.t0, y0.copy(), request.t_end, **arguments)

    def step(self) -> tuple[float, Vec]:
        solver = self._solver
        message = solver.step()
        if solver.status == "failed":
            detail = message or "no message"
            if not isinstance(solver, LSODA):  # the others give no reason but a small step
                raise GaveUp(Reason.STEP_TOO_SMALL, detail)
            integrator = solver._lsoda_solver._integrator
            istate, said = integrator.istate, integrator.messages.get(integrator.istate, "unknown")
            raise GaveUp(REASONS.get(istate, Reason.SOLVER), f"{detail} istate = {istate}: {said}")
        return solver.t, solver.y

    @property
    def next_step(self) -> float | None:
        return None if isinstance(self._solver, LSODA) else float(self._solver.h_abs)

    def interpolant(self) -> Dense:
        dense: Dense = self._solver.dense_output()
        return dense

    def replace(self, t: float, y: Vec) -> None:
        solver = self._solver
        solver.y = y
        if isinstance(solver, BDF):
            solver.D[0] = y
        elif isinstance(solver, LSODA):
            inner = solver._lsoda_solver
            inner._y = y.copy()
            inner._integrator.rwork[20 : 20 + len(y)] = y
        else:
            solver.f = solver.fun(t, y)

    def finish(self, stats: Stats) -> None:
        stats.evaluations = int(self._solver.nfev)
        stats.jacobians = int(self._solver.njev)
        stats.factorisations = int(self._solver.nlu)
        stats.rejected = -1  # scipy does not count them


@final
class ScipyAdapter(AbstractAdapter):
    """`scipy.integrate`: explicit and implicit methods for the ODE forms."""

    package = "scipy"
    install = "pip install scipy"
    methods = (
        Method("RK23", _ODE, one_step=True, summary="Bogacki-Shampine 3(2), explicit"),
        Method("RK45", _ODE, one_step=True, summary="Dormand-Prince 5(4), explicit"),
        Method("DOP853", _ODE, one_step=True, summary="Dormand-Prince 8(5,3), explicit"),
        Method("Radau", _ODE, one_step=True, summary=f"Radau IIA of order 5, {_WITH}", coarse_output=True),
        Method("BDF", _ODE, summary=f"BDF of order 1 to 5, {_WITH}"),
        # static memory until scipy 1.16
        Method("LSODA", _ODE, summary="Adams or BDF, chosen by itself, analytic Jacobian", shared_state="lsoda"),
    )

    def version(self) -> str | None:
        return str(scipy.__version__)

    def native(self, problem: Solvable, method: str, **options: Any) -> ScipyProblem:
        take_options(options, (), f"the native form of scipy:{method}")
        functions = Functions(problem)  # scipy keeps references to returned arrays
        y0 = np.array(problem.y0, dtype=float)
        return ScipyProblem(functions.rhs, functions.rhs_jacobian, y0, problem.t0, method)

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        options = take_options(request.options, _OPTIONS, f"scipy:{method.name}")
        max_steps = options.pop("max_steps", None)
        if request.first_step is not None and method.one_step:
            options["first_step"] = request.first_step
        recorder = Recorder(problem, request, one_step=True)
        stepper = _Stepper(self.native(problem, method.name), request, recorder.y0, options)
        return drive(stepper, recorder, max_steps=max_steps)


ADAPTER = ScipyAdapter()
