"""Solvers that run through Assimulo's classes, with Assimulo's loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Method, Outcome, Reason, Request, Solvable, Stats
from rbdae_adapters.assimulo._native import Counts, configure, explicit_problem, rhs, rhs_jacobian
from rbdae_adapters.assimulo._package import DOPRI5, HAIRER, LSODAR, finite, module, surrender_of_class
from rbdae_adapters.toolkit import Recorder, atol_vector, first_step

_TAKES_JACOBIAN = frozenset({"Radau5ODE", "RodasODE", "LSODAR", "ImplicitEuler"})
_ADAPTIVE = frozenset({"Radau5ODE", "RodasODE", "Dopri5", "LSODAR"})
_CODES = {"LSODAR": LSODAR, "Dopri5": DOPRI5}
_MAX_STEPS = 100_000
"""The default of Radau5ODE and Dopri5, for the others too."""

_ALMOST = 1e-9
"""A last step of fixed size that ends nearer to the end of the run than this part of a step ends there."""

_LATEST = 20
"""LSODAR's real array holds the latest state from here on, the zeroth difference of its history."""


@cache
def _reporting(name: str) -> type:
    """Assimulo's class `name` whose accepted steps go to a `Recorder` and nowhere else."""
    base: Any = getattr(module("solvers"), name)

    class Reporting(base):  # type: ignore[misc]  # the base is known at run time only
        recorder: Recorder

        def report_solution(self, t: float, y: Vec, opts: Any) -> bool:
            """Called after each accepted step; returns whether to leave the solver."""
            recorder = self.recorder
            self.altered = False
            step, left = recorder.request.step, recorder.request.t_end - t
            if step is not None and 0.0 < left < _ALMOST * step:
                t += left  # rounding of the sum of steps
            self.t, self.y = t, np.array(y)
            back = recorder.accept(t, self.y, lambda: self.interpolate)
            if recorder.done:
                return True
            if back and name == "LSODAR":
                self._RWORK[_LATEST : _LATEST + len(y)] = self.y
            elif back:
                y[:] = self.y  # the solver's own memory
                self.altered = True
            return False

    if name != "Dopri5":
        return Reporting

    class ReportingDopri5(Reporting):
        # The signature is spelled out because f2py asks for it.
        def _solout(self, nrsol: int, told: float, t: float, y: Vec, cont: Vec, lrc: int, irtrn: int) -> int:
            flag: int = super()._solout(nrsol, told, t, y, cont, lrc, 1)
            # 2 makes DOPRI5 evaluate the first stage again.
            return 2 if self.altered and flag >= 0 else flag

    return ReportingDopri5


def _functions(
    problem: Solvable, name: str, recorder: Recorder, counts: Counts
) -> tuple[Callable[[float, Vec], Vec], Callable[[float, Vec], Mat]]:
    """Right-hand side and Jacobian; f2py passes as many arguments as a signature shows."""
    evaluate, differentiate = rhs(problem, counts), rhs_jacobian(problem, counts)

    def fun(t: float, y: Vec) -> Vec:
        out: Vec = evaluate(t, y)
        if not finite(out):
            if name == "Radau5ODE":
                raise module("exception").AssimuloRecoverableError  # tries a smaller step
            recorder.fail(Reason.NOT_FINITE, "the right-hand side is not finite", t)
            raise FloatingPointError  # leaves the solver; the outcome is set
        return out

    def jac(t: float, y: Vec) -> Mat:
        out: Mat = differentiate(t, y)
        return out

    return fun, jac


def _solver(
    problem: Solvable, native: Any, method: Method, request: Request, recorder: Recorder, options: dict[str, Any]
) -> Any:
    """Assimulo's class for `native`, with everything that was asked for."""
    name = method.name
    solver: Any = _reporting(name)(native)
    solver.verbosity = 50
    solver.report_continuously = True
    if name == "LSODAR":  # it counts its own limit in each step from zero
        recorder.max_steps = int(options.get("maxsteps", _MAX_STEPS))
    if name in _TAKES_JACOBIAN:
        options.setdefault("usejac", True)
    if name == "RodasODE":
        options.setdefault("maxsteps", _MAX_STEPS)
    if method.one_step and not method.fixed_step and request.first_step is not None:
        # their own 0.01 s may lead into what is not finite, which RodasODE and Dopri5 cannot take back
        options.setdefault("inith", request.first_step)
    if method.fixed_step:
        solver.h = request.step
    if name != "ExplicitEuler":
        solver.rtol, solver.atol = request.rtol, atol_vector(problem, request)
    configure(solver, name, options)
    return solver


def settings(problem: Solvable, name: str, rtol: float) -> dict[str, Any]:
    """Attributes of Assimulo's class for those who call it."""
    out: dict[str, Any] = {"usejac": True} if name in _TAKES_JACOBIAN else {}
    if name in _ADAPTIVE:
        out["maxsteps"] = _MAX_STEPS
    if name in _ADAPTIVE and name != "LSODAR":
        out["inith"] = first_step(problem, rtol)
    return out


def _finish(stats: Stats, solver: Any, name: str, *, gave_up: bool) -> None:
    """Assimulo's counts, which are lost when it gives up."""
    stats.rejected = -1 if gave_up or name == "LSODAR" else int(solver.statistics["nerrfails"])
    if not gave_up and name in ("Radau5ODE", "RodasODE"):
        stats.factorisations = int(solver.statistics["nlus"])


def run(problem: Solvable, method: Method, request: Request, options: dict[str, Any]) -> Outcome:
    """Run one of Assimulo's classes."""
    name = method.name
    counts = Counts()
    recorder = Recorder(problem, request, one_step=True)
    native = explicit_problem(problem, *_functions(problem, name, recorder, counts))
    native.y0 = recorder.y0.copy()
    native.handle_result = lambda solver, t, y: None

    def handle_event(solver: Any, info: Any) -> None:
        if recorder.done:
            raise module("exception").TerminateSimulation

    native.handle_event = handle_event
    solver = _solver(problem, native, method, request, recorder, options)
    solver.recorder = recorder
    try:
        solver.simulate(request.t_end)
    except Exception as error:
        own = isinstance(error, (module("exception").AssimuloException, FloatingPointError)) or type(error) is Exception
        if not own:
            raise
        end = surrender_of_class(error, _CODES.get(name, HAIRER))
        recorder.fail(end.reason, end.detail)
        _finish(recorder.stats, solver, name, gave_up=True)
    else:
        _finish(recorder.stats, solver, name, gave_up=False)
    recorder.stats.evaluations, recorder.stats.jacobians = counts.evaluations, counts.jacobians
    return recorder.outcome()


__all__ = ["run", "settings"]
