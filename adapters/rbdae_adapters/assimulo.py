"""Assimulo: Hairer and Wanner's Fortran codes, ODASSL for overdetermined systems, LSODAR and the Euler methods.

How each of them takes part:

- Radau5ODE, Dopri5, RodasODE, LSODAR and the Euler methods run through Assimulo's classes. Our Jacobian is called by
  Radau5ODE, RodasODE, LSODAR and ImplicitEuler.
- Radau5DAE: Assimulo's class drops the user's Jacobian and doubles all unknowns, (y, y'), with index classes 1 and 2;
  so it gives up at index 3, and at index 2 with tight tolerances. Here the same compiled RADAU5 gets the
  equations F(t, y, y') = 0 with the derivatives of the differential unknowns only, every unknown in its index
  class ([HW96], section VII.3), and analytic Jacobians. Options keep Assimulo's names; index-3 forms run at
  tolerances tighter by `INDEX_3_MARGIN`.
- ODASSL is called step by step without Assimulo's loop, which has no dense output. It never calls a user's
  Jacobian: it takes finite differences of the residual. It tests no errors of multipliers (`algvar` 0 in the native
  object). Index 3 is not offered: it works on the heavy top, but its corrector fails at the start of stiffer models.

A projected state goes back into all of them without a restart: into the one-step methods through the Fortran
code's own array, with Dopri5's first stage evaluated anew; into ODASSL and LSODAR as the zeroth difference of their
history, which moves the recent history along, as CVODE's own projection does.

Left out: RungeKutta34, which rejects no steps, GLIMDA, and Assimulo's SUNDIALS solvers (see scikits.odes).
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.adapter import AbstractAdapter, Method, Outcome, Reason, Request, Solvable, Stats
from rbdae_adapters._quiet import quiet
from rbdae_adapters._stepping import (
    AbstractStepper,
    Dense,
    GaveUp,
    Recorder,
    Trap,
    atol_vector,
    drive,
    take_options,
)

INDEX_3_MARGIN = 1e-3
"""Radau5DAE runs index-3 forms at tolerances tighter by this: the classes loosen those of velocities by 1/h."""

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
    -5: (Reason.NOT_FINITE, "the equations are not finite beyond this time"),  # the only case that we report
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


@cache
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


def _rhs(problem: Solvable, counts: _Counts) -> Callable[[float, Vec], Vec]:
    n, rhs = problem.n, problem.callbacks.rhs

    def fun(t: float, y: Vec) -> Vec:
        counts.evaluations += 1
        out = np.empty(n)
        rhs(t, y, out)
        return out

    return fun


def _rhs_jacobian(problem: Solvable, counts: _Counts) -> Callable[[float, Vec], Mat]:
    n, callbacks = problem.n, problem.callbacks  # asking for the Jacobian allocates memory of its size

    def jac(t: float, y: Vec) -> Mat:
        counts.jacobians += 1
        out = np.empty((n, n), order="F")
        callbacks.rhs_jacobian(t, y, out)
        return out

    return jac


def _finite(values: Vec) -> bool:
    """Whether all are finite. The Fortran codes do not ask: a NaN makes their step size a NaN."""
    return bool(values.dot(values) < np.inf) or bool(np.isfinite(values).all())


def _res(problem: Solvable, counts: _Counts) -> Callable[[float, Vec, Vec], Vec]:
    rows, residual = problem.n_equations, problem.callbacks.residual

    def res(t: float, y: Vec, yd: Vec) -> Vec:
        counts.evaluations += 1
        out = np.empty(rows)
        residual(t, y, yd, out)
        return out

    return res


def _explicit(problem: Solvable, rhs: Callable[[float, Vec], Vec], jacobian: Callable[[float, Vec], Mat]) -> Any:
    native = _part("problem").Explicit_Problem(rhs, problem.y0.copy(), problem.t0)
    native.jac = jacobian
    native.name = problem.formulation
    return native


def _implicit(problem: Solvable, kind: str, counts: _Counts) -> Any:
    made = getattr(_part("problem"), kind)
    native = made(_res(problem, counts), problem.y0.copy(), problem.yd0.copy(), problem.t0)
    shape = (problem.n_equations, problem.n)
    jacobian = problem.callbacks.jacobian

    def jac(c: float, t: float, y: Vec, yd: Vec) -> Mat:
        counts.jacobians += 1
        out = np.empty(shape)
        jacobian(t, y, yd, c, out)
        return out

    native.jac = jac
    native.name = problem.formulation
    return native


def _configure(solver: Any, name: str, options: dict[str, Any]) -> None:
    """Set options by way of Assimulo's own checks."""
    for option, value in options.items():
        try:
            setattr(solver, option, value)
        except Exception as error:
            raise ValueError(f"assimulo:{name} refuses {option}={value!r}: {error}") from None


def _surrender(error: Exception, table: dict[int, tuple[Reason, str]]) -> GaveUp:
    """The reason behind one of Assimulo's exceptions, most of which tell a flag only."""
    text = str(error) or type(error).__name__
    numbers = re.findall(r"-\d+", str(getattr(error, "value", text)))
    reason, meaning = table.get(int(numbers[-1]), (Reason.SOLVER, "")) if numbers else (Reason.SOLVER, "")
    return GaveUp(reason, f"{text} ({meaning})" if meaning and meaning not in text else text)


# Solvers that run through Assimulo's classes


@cache
def _reporting(name: str) -> type:
    """Assimulo's class `name` whose accepted steps go to a `Recorder` and nowhere else."""
    base: Any = getattr(_part("solvers"), name)

    class Reporting(base):  # type: ignore[misc]  # the base is known at run time only
        recorder: Recorder
        trap: Trap

        def report_solution(self, t: float, y: Vec, opts: Any) -> bool:
            """Called after each accepted step; returns whether to leave the solver."""
            stop: bool = self.trap(self._report)(t, y)
            return stop

        def _report(self, t: float, y: Vec) -> bool:
            recorder = self.recorder
            self.altered = False
            self.t, self.y = t, np.array(y)
            back = recorder.accept(t, self.y, lambda: self.interpolate)
            if recorder.done:
                return True
            if back and name == "LSODAR":
                self._RWORK[20 : 20 + len(y)] = self.y
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
            # 2 makes DOPRI5 evaluate the first stage anew.
            return 2 if self.altered and flag >= 0 else flag

    return ReportingDopri5


def _run_class(problem: Solvable, method: Method, request: Request, options: dict[str, Any]) -> Outcome:
    name = method.name
    counts, trap = _Counts(), Trap()
    recorder = Recorder(problem, request, one_step=True)
    if name == "LSODAR":  # which counts its own limit anew in each step
        recorder.max_steps = int(options.get("maxsteps", 100_000))
    rhs, jacobian = trap(_rhs(problem, counts)), trap(_rhs_jacobian(problem, counts))

    # f2py passes as many arguments as the signature shows.
    def fun(t: float, y: Vec) -> Vec:
        out: Vec = rhs(t, y)
        if not _finite(out):
            if name == "Radau5ODE":
                raise _part("exception").AssimuloRecoverableError  # tries a smaller step
            recorder.fail(Reason.NOT_FINITE, f"the right-hand side is not finite at t = {t:.9g}")
            raise FloatingPointError  # leaves the solver; the outcome is set
        return out

    def jac(t: float, y: Vec) -> Mat:
        out: Mat = jacobian(t, y)
        return out

    native = _explicit(problem, fun, jac)
    native.y0 = recorder.y0.copy()
    native.handle_result = lambda solver, t, y: None

    def handle_event(solver: Any, info: Any) -> None:
        if recorder.done or trap.error is not None:
            raise _part("exception").TerminateSimulation

    native.handle_event = handle_event
    solver = _reporting(name)(native)
    solver.recorder, solver.trap = recorder, trap
    solver.verbosity = 50
    solver.report_continuously = True
    if name in _IMPLICIT:
        options.setdefault("usejac", True)
    if name == "RodasODE":
        options.setdefault("maxsteps", 100_000)  # as Radau5ODE and Dopri5
    if method.fixed_step:
        solver.h = request.step
    if name != "ExplicitEuler":
        solver.rtol, solver.atol = request.rtol, atol_vector(problem, request)
    _configure(solver, name, options)
    stats = recorder.stats
    with quiet() as chatter:
        try:
            solver.simulate(request.t_end)
        except Exception as error:
            if trap.error is None:
                end = _surrender(error, _LSODAR if name == "LSODAR" else _DOPRI if name == "Dopri5" else _HAIRER)
                recorder.fail(end.reason, end.detail)
                stats.rejected = -1
        else:
            stats.rejected = solver.statistics["nerrfails"] if name != "LSODAR" else -1
            if name in ("Radau5ODE", "RodasODE"):
                stats.factorisations = solver.statistics["nlus"]
    trap.release()
    stats.evaluations, stats.jacobians = counts.evaluations, counts.jacobians
    return chatter.added_to(recorder.outcome())


# Radau5DAE


@final
class _Stacked:
    """F(t, y, y') = 0 as M Y' = f(t, Y) for RADAU5, Y = (y, derivatives of differential unknowns) by index class.

    The derivative of an unknown of class k is of class k + 1 where the index is above 1.
    """

    def __init__(self, problem: Solvable, counts: _Counts) -> None:
        n = problem.n
        differential = np.flatnonzero(problem.differential)
        algebraic = np.flatnonzero(~problem.differential)
        known = np.maximum(problem.variable_index, 1)
        rates = np.minimum(known[differential] + int(problem.index > 1), 3)
        classes = np.concatenate([known[differential], rates, known[algebraic]])
        order = np.argsort(classes, kind="stable")
        self.n = n
        self.size = len(order)
        self.groups = [int(np.sum(classes == k)) for k in (1, 2, 3)]
        self.where: Ints = np.concatenate([differential, n + differential, algebraic])[order]
        at = np.argsort(order)
        many = len(differential)
        self._y, self._rate = at[:many], at[many : 2 * many]
        self._rows = np.setdiff1d(np.arange(self.size), self._y)
        mass = np.zeros((1, self.size))
        mass[0, self._y] = 1.0
        self.mass: Mat = mass
        self._both = np.zeros(2 * n)
        self._residual = _res(problem, counts)
        self._jacobian = problem.callbacks.jacobian
        self._counts = counts
        self._by_y, self._by_yd = np.empty((n, n)), np.empty((n, n))

    def stack(self, y: Vec, yd: Vec) -> Vec:
        return np.asarray(np.concatenate([y, yd])[self.where])

    def unstack(self, stacked: Vec) -> Vec:
        """y, as a view that the next call overwrites."""
        self._both[self.where] = stacked
        return self._both[: self.n]

    def fun(self, t: float, stacked: Vec) -> tuple[Vec, list[int]]:
        y = self.unstack(stacked)
        out = np.empty(self.size)
        out[self._y] = stacked[self._rate]
        out[self._rows] = self._residual(t, y, self._both[self.n :])
        return out, [0]

    def jac(self, t: float, stacked: Vec) -> Mat:
        y = self.unstack(stacked)
        yd = self._both[self.n :]
        self._counts.jacobians += 1
        self._jacobian(t, y, yd, 0.0, self._by_y)
        self._jacobian(t, y, yd, 1.0, self._by_yd)
        self._by_yd -= self._by_y
        out = np.zeros((self.size, self.size), order="F")
        out[self._y, self._rate] = 1.0
        out[self._rows] = np.hstack([self._by_y, self._by_yd])[:, self.where]
        return out


def _run_radau5(problem: Solvable, method: Method, request: Request, options: dict[str, Any]) -> Outcome:
    counts, trap = _Counts(), Trap()
    recorder = Recorder(problem, request, one_step=True)
    stacked = _Stacked(problem, counts)
    size = stacked.size
    rtol, atol = request.rtol, atol_vector(problem, request)
    if problem.index == 3:
        rtol = min(rtol, max(INDEX_3_MARGIN * rtol, 1e-13))
        atol = np.minimum(atol, np.maximum(INDEX_3_MARGIN * atol, 1e-13))
    settings = _part("solvers").Radau5DAE(_implicit(problem, "Implicit_Problem", counts))
    _configure(settings, method.name, options)
    lib = _part("lib.radau5")
    use_jacobian = options.get("usejac", True)
    fun, jac = trap(stacked.fun), trap(stacked.jac)

    def step(t: float, state: Vec, cont: Vec) -> int:
        y = stacked.unstack(state).copy()

        def dense(s: float) -> Vec:
            return stacked.unstack(np.array([lib.contr5(i, s, cont) for i in range(1, size + 1)])).copy()

        if recorder.accept(t, y, lambda: dense):
            stacked.unstack(state)[:] = y
            state[:] = stacked._both[stacked.where]
        return -1 if recorder.done else 1

    step = trap(step)

    # f2py passes as many arguments as the signature shows.
    def native_fun(t: float, state: Vec) -> Any:
        out, _ = fun(t, state)
        if _finite(out):
            return out, [0]
        return np.zeros(size), [-1]  # tries a smaller step

    def native_jac(t: float, state: Vec) -> Any:
        return jac(t, state)

    def solout(nr: int, told: float, t: float, state: Vec, cont: Vec, werr: Vec, lrc: int, irtrn: int) -> int:
        return step(t, state, cont)

    real = np.zeros(4 * size * size + 13 * size + 20)
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
    arguments = (
        native_fun,
        request.t0,
        stacked.stack(recorder.y0, problem.yd0),
        request.t_end,
        settings.inith,
        np.full(size, rtol),
        stacked.stack(atol, atol),
        1,
        native_jac,
        int(use_jacobian),
        size,
        size,
        lambda am: stacked.mass,
        1,
        0,
        0,
        solout,
        1,
        real,
        whole,
    )
    stats = recorder.stats
    with quiet() as chatter:
        try:
            _, _, _, whole, flag = lib.radau5(*arguments)
        except BaseException:
            trap.release()
            raise
    trap.release()
    if flag < 0:
        reason, meaning = _HAIRER.get(flag, (Reason.SOLVER, "no reason known"))
        recorder.fail(reason, f"{meaning} (flag {flag})")
    stats.rejected, stats.factorisations = int(whole[17]), int(whole[18])
    stats.evaluations, stats.jacobians = counts.evaluations, counts.jacobians
    return chatter.added_to(recorder.outcome())


# ODASSL


@final
class _Odassl(AbstractStepper):
    """ODASSL in its intermediate-output mode, which returns after each step and interpolates within it."""

    def __init__(
        self, problem: Solvable, request: Request, recorder: Recorder, trap: Trap, options: dict[str, Any]
    ) -> None:
        self._counts = _Counts()
        residual = trap(_res(problem, self._counts))

        def res(t: float, y: Vec, yd: Vec) -> Vec:  # f2py passes as many arguments as it sees
            out: Vec = residual(t, y, yd)
            if not _finite(out):
                raise GaveUp(Reason.NOT_FINITE, f"the residual is not finite at t = {t:.9g}")
            return out

        n, rows = problem.n, problem.n_equations
        self._call = _part("lib.odassl").odassl
        self._trap = trap
        self._res, self._rows, self._n = res, rows, n
        loose = ~problem.differential
        self._rtol = np.where(loose, 1e7, request.rtol)
        self._atol = np.where(loose, 1e7, atol_vector(problem, request))
        self._real = np.zeros(40 + 8 * n + rows**2 + 3 * rows)
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
        # The zeroth divided difference: behind 40 numbers, the residual, errors and weights.
        self._latest = slice(40 + rows + 2 * n, 40 + rows + 3 * n)
        self._t, self._told, self._t_end = request.t0, request.t0, request.t_end
        self._y, self._yd = recorder.y0.copy(), np.array(problem.yd0, dtype=float)

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
            reason, meaning = _ODASSL.get(flag, (Reason.SOLVER, "no reason known"))
            raise GaveUp(reason, f"{meaning} (idid {flag})")
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


def _run_odassl(problem: Solvable, method: Method, request: Request, options: dict[str, Any]) -> Outcome:
    max_steps = options.pop("max_steps", None)
    recorder = Recorder(problem, request, one_step=True)
    with quiet() as chatter:
        stepper = _Odassl(problem, request, recorder, Trap(), options)
        outcome = drive(stepper, recorder, max_steps=max_steps)
    return chatter.added_to(outcome)


_ODE = frozenset({"ode"})
_INDICES = frozenset({1, 2, 3})


@final
class AssimuloAdapter(AbstractAdapter):
    """Assimulo, see the module."""

    package = "assimulo"
    install = (
        "`tools/install-solvers`, which builds it from its source release, or `conda install -c conda-forge assimulo`"
    )
    methods = (
        Method(
            "Radau5DAE",
            frozenset({"dae", "ode"}),
            _INDICES,
            one_step=True,
            summary="RADAU5 (Radau IIA, order 5); analytic Jacobian, which Assimulo's own class drops",
        ),
        Method(
            "ODASSL",
            frozenset({"overdetermined", "dae", "ode"}),
            frozenset({1, 2}),
            summary="BDF for overdetermined and square DAEs; never calls a user's Jacobian (finite differences)",
        ),
        Method("Radau5ODE", _ODE, one_step=True, summary="RADAU5 (Radau IIA, order 5), analytic Jacobian"),
        Method("RodasODE", _ODE, one_step=True, summary="RODAS (Rosenbrock, order 4), analytic Jacobian"),
        Method("Dopri5", _ODE, one_step=True, summary="DOPRI5 (Dormand-Prince 5(4)), explicit"),
        Method("LSODAR", _ODE, summary="Adams or BDF, chosen by itself, analytic Jacobian"),
        Method(
            "ExplicitEuler", _ODE, one_step=True, fixed_step=True, summary="explicit Euler, fixed step, for comparison"
        ),
        Method(
            "ImplicitEuler",
            _ODE,
            one_step=True,
            fixed_step=True,
            summary="implicit Euler, fixed step, analytic Jacobian, for comparison",
        ),
    )

    def version(self) -> str | None:
        if importlib.util.find_spec("assimulo") is None:
            return None
        return importlib.metadata.version("assimulo")

    def native(self, problem: Solvable, method: str, **options: Any) -> Any:
        """An `Explicit_Problem`, an `Implicit_Problem` (Radau5DAE) or an `Overdetermined_Problem` (ODASSL).

        Each has `jac` in the class's signature; the latter two have `algvar`, 0 for multipliers.
        """
        take_options(options, (), f"the native form of assimulo:{method}")
        counts = _Counts()
        if method in ("Radau5DAE", "ODASSL"):
            kind = "Implicit_Problem" if method == "Radau5DAE" else "Overdetermined_Problem"
            native = _implicit(problem, kind, counts)
            native.algvar = [int(x) for x in problem.differential]
            return native
        return _explicit(problem, _rhs(problem, counts), _rhs_jacobian(problem, counts))

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        options = take_options(request.options, _OPTIONS[method.name], f"assimulo:{method.name}")
        if method.name == "Radau5DAE":
            return _run_radau5(problem, method, request, options)
        if method.name == "ODASSL":
            return _run_odassl(problem, method, request, options)
        return _run_class(problem, method, request, options)


ADAPTER = AssimuloAdapter()

__all__ = ["ADAPTER", "AssimuloAdapter"]
