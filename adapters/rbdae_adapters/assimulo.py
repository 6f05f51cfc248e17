"""Assimulo: Hairer and Wanner's Fortran codes, ODASSL for overdetermined systems, and LSODAR.

- Radau5ODE, Dopri5, RodasODE and LSODAR run through Assimulo's classes and loop (`_run_class`). All but Dopri5 call our
  Jacobian.
- Radau5DAE: Assimulo's class drops the user's Jacobian and doubles all unknowns, (y, y'), with index classes 1 and 2;
  so it gives up at index 3, and at index 2 with tight tolerances. Here the same compiled RADAU5 gets the equations in
  another form (`_Stacked`). Options keep Assimulo's names.
- ODASSL is called step by step without Assimulo's loop, which has no dense output (`_Odassl`). It never calls a user's
  Jacobian: it takes finite differences of the residual. It tests no errors of multipliers (`algvar` 0 in the native
  object). Index 3 is not offered: it works on the heavy top, but its corrector fails at the start of stiffer models.

A projected state goes back into all of them without a restart: into the one-step methods through the Fortran
code's own array, with Dopri5's first stage evaluated again; into ODASSL and LSODAR as the zeroth difference of their
history, which shifts the recent history, like CVODE's own projection.

Not offered: the Euler methods, RungeKutta34, which rejects no steps, GLIMDA, and Assimulo's SUNDIALS solvers.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.adapter import AbstractAdapter, Method, Outcome, Reason, Request, Solvable, Stats, Unsupported
from rbdae_adapters.toolkit import (
    AbstractStepper,
    Dense,
    Functions,
    GaveUp,
    Recorder,
    atol_vector,
    drive,
    finite,
    first_step,
    multipliers,
    take_options,
    usable,
)
from rbdae_adapters.toolkit.events import DASSL, LSODA

_ODASSL_OPTIONS = ("inith", "maxh", "maxord", "max_steps")
"""Options of ODASSL in a run, which has no class of Assimulo's."""

_MAX_STEPS = 100_000
"""Assimulo's default for Radau5 and Dopri5, used for the others too."""


def _ode(name: str, summary: str, shared: str, **more: Any) -> Method:
    return Method(name, frozenset({"ode"}), summary=summary, shared_state=shared, **({"one_step": True} | more))


@final
class AssimuloAdapter(AbstractAdapter):
    """Hairer and Wanner's codes, ODASSL and LSODAR by Assimulo."""

    package = "assimulo"
    install = "pip install assimulo-testing"
    methods = (
        Method(
            "Radau5DAE",
            frozenset({"dae", "ode"}),
            frozenset({1, 2, 3}),
            one_step=True,
            summary="RADAU5 (Radau IIA, order 5); analytic Jacobian, which Assimulo's own class drops",
            shared_state="radau5",
            coarse_output=True,
        ),
        Method(
            "ODASSL",
            frozenset({"overdetermined", "dae", "ode"}),
            frozenset({1, 2}),
            summary="BDF for overdetermined and square DAEs; never calls a user's Jacobian (finite differences)",
            shared_state="odassl",
            untested=frozenset({1}),
            overdetermined_indices=frozenset({0, 2}),  # index 1: its elimination is singular (`overdetermined-1`)
        ),
        _ode("Radau5ODE", "RADAU5 (Radau IIA, order 5), analytic Jacobian", "radau5", coarse_output=True),
        _ode("RodasODE", "RODAS (Rosenbrock, order 4), analytic Jacobian", "rodas"),
        _ode("Dopri5", "DOPRI5 (Dormand-Prince 5(4)), explicit", "dopri5"),
        _ode("LSODAR", "Adams or BDF, chosen by itself, analytic Jacobian", "odepack", one_step=False),
    )

    def version(self) -> str | None:
        """The version of the distribution that contains the package: Modelon's wheels have their own name."""
        if importlib.util.find_spec("assimulo") is None:
            return None
        for name in ("assimulo-testing", "assimulo"):
            with suppress(importlib.metadata.PackageNotFoundError):
                return importlib.metadata.version(name)
        return "unknown"

    def native(
        self, problem: Solvable, method: str, *, rtol: float = 1e-6, atol: float | Vec = 1e-6, **options: Any
    ) -> Any:
        """An `Explicit_Problem`, an `Implicit_Problem` (Radau5DAE) or an `Overdetermined_Problem` (ODASSL).

        Each has `jac` in the class's signature, and `options`: solver attributes for ``setattr(solver, name, value)``,
        including tolerances, limits, the first step and the given options. The latter two have `algvar`, 0 for
        multipliers, and ``unknowns(y, yd)``, the unknowns of `problem`. At index 2 Radau5DAE's class has the
        multipliers in yd, see `implicit_problem`; it does not support index 3.
        """
        functions = Functions(problem)
        usual: dict[str, Any] = {"usejac": True, "maxsteps": _MAX_STEPS, "inith": first_step(problem, rtol)}
        if method == "Radau5DAE":
            if problem.index == 3:
                raise Unsupported(
                    f"Assimulo's own Radau5DAE has no index class for {problem.formulation}; take a form of index 2, "
                    "or rbdae.solve, which calls RADAU5 in another way"
                )
            native = implicit_problem(problem, functions, "Implicit_Problem")
            usual |= _CONSTRAINED if _Stacked(problem, functions).constrained else {}
        elif method == "ODASSL":
            native = implicit_problem(problem, functions, "Overdetermined_Problem")
            usual = {"inith": usual["inith"]}
        else:
            native = explicit_problem(problem, functions, lambda t, y, sw=None: functions.rhs(t, y), problem.y0)
        native.options = configured(getattr(module("solvers"), method)(native), method, usual, options)
        native.options |= {"rtol": rtol, "atol": np.array(np.broadcast_to(atol, (problem.n,)), dtype=float)}
        return native

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        if method.name == "Radau5DAE":
            return _run_radau5(problem, method, request)
        if method.name == "ODASSL":
            options = take_options(request.options, _ODASSL_OPTIONS, "assimulo:ODASSL")
            max_steps = options.pop("max_steps", None)
            recorder = Recorder(problem, request, one_step=True)
            return drive(_Odassl(problem, request, recorder, options), recorder, max_steps=max_steps)
        return _run_class(problem, method, request)


# ---------------------------------------------------------------- the package


_HAIRER = {
    -2: Reason.TOO_MANY_STEPS,
    -3: Reason.STEP_TOO_SMALL,
    -4: Reason.SINGULAR,
    -5: Reason.NOT_FINITE,  # the only case of repeated rejections that we report
}
_CODES = {
    "Dopri5": _HAIRER | {-4: Reason.STEP_TOO_SMALL},  # "probably stiff"
    "LSODAR": LSODA,
    "ODASSL": DASSL,
}
"""Reasons by return codes; `_HAIRER` for the other methods."""

_RADAU5_SAYS = {
    "Maximal number of steps": Reason.TOO_MANY_STEPS,
    "Stepsize too small": Reason.STEP_TOO_SMALL,
    "Matrix is repeatedly singular": Reason.SINGULAR,
    "Repeated unexpected step rejections": Reason.NOT_FINITE,
}
"""Messages of Radau5ODE from Assimulo 3.3 on, which has its own return codes."""


def module(name: str) -> ModuleType:
    return importlib.import_module(f"assimulo.{name}")


def surrender(name: str, code: int) -> GaveUp:
    return GaveUp(_CODES.get(name, _HAIRER).get(code, Reason.SOLVER), f"return code {code}")


def surrender_of_class(name: str, error: Exception) -> GaveUp:
    """The exception for one of Assimulo's exceptions, most of them with a return code only."""
    text = str(error) or type(error).__name__
    codes = re.findall(r"-\d+", str(getattr(error, "value", text)))
    by_code = _CODES.get(name, _HAIRER).get(int(codes[-1]), Reason.SOLVER) if codes else Reason.SOLVER
    return GaveUp(next((reason for words, reason in _RADAU5_SAYS.items() if words in text), by_code), text)


def configured(solver: Any, name: str, usual: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Set our usual options, as far as its class has them, and the user's, through Assimulo's own checks."""
    options = {option: value for option, value in usual.items() if option in solver.options}
    options |= take_options(given, solver.options, f"assimulo:{name}")  # it accepts any attribute
    for option, value in options.items():
        try:
            setattr(solver, option, value)
        except Exception as error:
            raise ValueError(f"assimulo:{name} refuses {option}={value!r}: {error}") from None
    return options


# ---------------------------------------------------------------- its problem classes, with our equations in them


def explicit_problem(problem: Solvable, functions: Functions, rhs: Callable[..., Vec], y0: Vec) -> Any:
    native = module("problem").Explicit_Problem(rhs, y0.copy(), problem.t0)
    native.jac, native.name = lambda t, y, sw=None: functions.rhs_jacobian(t, y), problem.formulation
    return native


def implicit_problem(problem: Solvable, functions: Functions, kind: str) -> Any:
    """An `Implicit_Problem`, or an `Overdetermined_Problem`.

    The first has the index classes of Assimulo's Radau5DAE, which stacks (y, y') with y in class 1 and y' in class 2
    ([HW96], section VII.3). Multipliers of index 2 belong to class 2: they become derivatives of additional unknowns
    that begin at zero (as in `hiller-anantharaman`), so that F(t, y, y') = 0 keeps its equations.
    """
    differential = np.asarray(problem.differential)
    moved = ~differential & (np.asarray(problem.variable_index) >= 2) & (kind == "Implicit_Problem")

    def unknowns(y: Any, yd: Any) -> Vec:
        return np.asarray(np.where(moved, yd, y))

    def res(t: float, y: Vec, yd: Vec, sw: Any = None) -> Vec:
        return functions.residual(t, unknowns(y, yd), yd)

    def jac(c: float, t: float, y: Vec, yd: Vec, sw: Any = None) -> Mat:
        out = functions.jacobian(t, unknowns(y, yd), yd, c)
        out[:, moved] *= c
        return out

    y0, yd0 = np.where(moved, 0.0, problem.y0), np.where(moved, problem.y0, problem.yd0)
    native = getattr(module("problem"), kind)(res, y0, yd0, problem.t0)
    native.jac, native.name, native.unknowns = jac, problem.formulation, unknowns
    native.algvar = [int(x) for x in differential | moved]
    return native


# ---------------------------------------------------------------- Radau5DAE


INDEX_3_MARGIN = 1e-3
"""Tightens the tolerances of index-3 forms: the index classes loosen the velocities' tolerances by 1/h."""

GROWTH = 2.0
"""Default of `fac2`, the largest growth of a step, if equations constrain velocities or positions.

RADAU5 may accept the first Newton iterate of a step because the previous step's iteration converged well. If steps grow
eightfold (its own default), as from its small first ones, this estimate is wrong by two powers of ten or more: the step
ends off its constraint by many tolerances, and then velocities would have to jump in any step, however short. The first
iterate is farthest from the last if a drive moves a constraint. The estimate is the previous step's rate theta to the
power 0.8, and theta grows with the square of the step: it cannot be too small for theta below GROWTH^-10, here 1e-3."""

NEWTON = 1e-3
"""Default of `fnewt`, Newton's tolerance in tolerances, in the same cases; RADAU5's own is up to 0.015. With GROWTH =
2.5 and RADAU5's own some runs of driven pendulums collapse; with these values 0 of 960 do."""

_CONSTRAINED = {"fac2": GROWTH, "fnewt": NEWTON}

_LEAST_TOLERANCE = 1e-10
"""Tightest tolerance of index-3 forms, before the margin."""


@final
class _Stacked:
    """F(t, y, y') = 0 as M Y' = f(t, Y) for RADAU5, Y = (y, derivatives of differential unknowns) by index class.

    The derivative of an unknown of class k is of class k + 1 if some equations have no derivative and no algebraic
    unknown: these determine derivatives only when differentiated. This is the case above index 1, and in
    `hiller-anantharaman`, whose multipliers are derivatives.

    The initial `m1` equations Y_i' = Y_(i + m1) have rows that are neither stored nor factorised (IWORK(9), IWORK(10));
    m1 = 0 if the index classes order the unknowns otherwise. The other equations, `solved` of them, have a Jacobian and
    a diagonal of M.
    """

    def __init__(self, problem: Solvable, functions: Functions) -> None:
        n = problem.n
        differential = np.flatnonzero(problem.differential)
        algebraic = np.flatnonzero(~problem.differential)
        self._functions = functions
        index = np.maximum(problem.variable_index, 1)
        constrained = problem.index > 1 or (problem.kind == "dae" and self._constrains(problem))
        rates = np.minimum(index[differential] + int(constrained), 3)
        classes = np.concatenate([index[differential], rates, index[algebraic]])
        order = np.argsort(classes, kind="stable")
        self.n = n
        self.constrained = constrained
        self.size = len(order)
        self.groups = [int(np.sum(classes == k)) for k in (1, 2, 3)]
        self._source: Ints = np.concatenate([differential, n + differential, algebraic])[order]
        inverse = np.argsort(order)
        many = len(differential)
        self._y, self._rate = inverse[:many], inverse[many : 2 * many]
        self._rows = np.setdiff1d(np.arange(self.size), self._y)
        leading = np.array_equal(self._y, np.arange(many)) and np.array_equal(self._rate, np.arange(many, 2 * many))
        self.m1 = many if leading else 0
        self.solved = self.size - self.m1
        mass = np.zeros((1, self.size))
        mass[0, self._y] = 1.0
        self.mass: Mat = mass[:, self.m1 :]
        self.both = np.zeros(2 * n)  # (y, y') of the last call of `unstack`

    def stack(self, y: Vec, yd: Vec) -> Vec:
        return np.asarray(np.concatenate([y, yd])[self._source])

    def unstack(self, stacked: Vec) -> Vec:
        """y from Y, as a view that the next call overwrites."""
        self.both[self._source] = stacked
        return self.both[: self.n]

    def fun(self, t: float, stacked: Vec) -> Vec:
        """f(t, Y)."""
        y = self.unstack(stacked)
        out = np.empty(self.size)
        out[self._y] = stacked[self._rate]
        out[self._rows] = self._functions.residual(t, y, self.both[self.n :])
        return out

    def jac(self, t: float, stacked: Vec) -> Mat:
        """df/dY for the last `solved` equations."""
        y = self.unstack(stacked)
        by_y, by_yd = self._functions.jacobians_of(t, y, self.both[self.n :])
        out = np.zeros((self.solved, self.size), order="F")
        if not self.m1:
            out[self._y, self._rate] = 1.0
        out[self._rows - self.m1] = np.hstack([by_y, by_yd])[:, self._source]
        return out

    def _constrains(self, problem: Solvable) -> bool:
        """Whether an equation has no derivative and no algebraic unknown."""
        by_y, by_yd = self._functions.jacobians_of(problem.t0, problem.y0, problem.yd0)
        direct = np.hstack([by_yd[:, problem.differential], by_y[:, ~problem.differential]])
        return not direct.any(axis=1).all()


def _work_arrays(known: Any, stacked: _Stacked) -> tuple[Vec, Any]:
    """RADAU5's WORK and IWORK (documented with indices from 1) from Assimulo's options."""
    size, solved = stacked.size, stacked.solved
    real = np.zeros(size * (solved + 12) + solved * (1 + 3 * solved) + 20)
    names = ("safe", "thet", "fnewt", "quot1", "quot2", "maxh", "fac1", "fac2")
    real[1:9] = [getattr(known, name) for name in names]
    whole = np.zeros(3 * size + 20, dtype=np.int32)
    whole[1], whole[2] = known.maxsteps, known.newt
    whole[4:7] = stacked.groups
    whole[8] = whole[9] = stacked.m1
    return real, whole


def _run_radau5(problem: Solvable, method: Method, request: Request) -> Outcome:
    """Run RADAU5. f2py passes as many arguments to functions as their signatures have."""
    functions = Functions(problem)
    request = usable(problem, request, _LEAST_TOLERANCE if problem.index == 3 else 0.0)
    recorder = Recorder(problem, request, one_step=True)
    stacked = _Stacked(problem, functions)
    margin = INDEX_3_MARGIN if problem.index == 3 else 1.0
    rtol, atol = margin * request.rtol, margin * atol_vector(problem, request)
    # Assimulo's class checks the options and has their defaults
    checker = module("solvers").Radau5DAE(implicit_problem(problem, functions, "Implicit_Problem"))
    usual = {"usejac": True} | (_CONSTRAINED if stacked.constrained else {})
    options = configured(checker, method.name, usual, request.options)
    inith = checker.inith
    if "inith" not in options:
        if stacked.constrained:
            # its default 0.01 s would be accepted unchecked where index classes loosen the tolerances; at index 3
            # rounding is divided by the square of the step: a first step of order 1 may never be accepted
            inith = first_step(problem, request.rtol, 3 if problem.index == 3 else 1)
        inith = inith if request.first_step is None else request.first_step
    lib, size = module("lib.radau5"), stacked.size

    def fun(t: float, state: Vec) -> Any:
        out = stacked.fun(t, state)  # the Fortran codes do not check: a NaN makes their step size NaN
        return (out, [0]) if finite(out) else (np.zeros(size), [-1])  # -1 tries a smaller step

    def solout(nr: int, told: float, t: float, state: Vec, cont: Vec, werr: Vec, lrc: int, irtrn: int) -> Any:
        y = stacked.unstack(state).copy()

        def dense(s: float) -> Vec:
            return stacked.unstack(np.array([lib.contr5(i, s, cont) for i in range(1, size + 1)])).copy()

        if recorder.accept(t, y, lambda: dense):
            stacked.unstack(state)  # the derivatives stay
            state[:] = stacked.stack(y, stacked.both[problem.n :])
        return -1 if recorder.done else 1

    _, _, _, whole, flag = lib.radau5(
        fun,
        request.t0,
        stacked.stack(recorder.y0, problem.yd0),
        request.t_end,
        inith,
        np.full(size, rtol),
        stacked.stack(atol, atol),
        1,  # tolerances are vectors
        lambda t, state: stacked.jac(t, state),
        int(options["usejac"]),
        *(stacked.solved, stacked.solved),  # the whole Jacobian: its bandwidths MLJAC and MUJAC
        lambda am: stacked.mass,
        *(1, 0, 0),  # a diagonal mass matrix
        solout,
        1,  # with dense output
        *_work_arrays(checker, stacked),
    )
    if flag < 0:
        end = surrender(method.name, flag)
        recorder.fail(end.reason, end.detail)
    stats = recorder.stats
    stats.rejected, stats.factorisations = int(whole[17]), int(whole[18])
    stats.evaluations, stats.jacobians = functions.evaluations, functions.jacobians
    return recorder.outcome()


# ---------------------------------------------------------------- ODASSL


_UNTESTED = 1e7
"""Tolerance that excludes an unknown from the error test."""

_LEAST_RTOL = 1e-12
"""Least relative tolerance in the sizes of shifts, so that shifts cost no digits."""

_FIXED_REALS = 40
"""Numbers at the start of RWORK, before the residual, errors, weights and the history."""


@final
class _Odassl(AbstractStepper):
    """ODASSL in its intermediate-output mode, which returns after each step and interpolates within it."""

    def __init__(self, problem: Solvable, request: Request, recorder: Recorder, options: dict[str, Any]) -> None:
        n, rows = problem.n, problem.n_equations
        self._functions = Functions(problem)
        self._call = module("lib.odassl").odassl
        self._rows, self._n = rows, n
        loose = multipliers(problem)
        self._loose, self._relative, self._absolute = loose, request.rtol, atol_vector(problem, request)
        self._size = np.where(loose, 0.0, self._absolute / max(request.rtol, _LEAST_RTOL))
        self._rtol = np.where(loose, _UNTESTED, 0.0)
        self._real = np.zeros(_FIXED_REALS + 8 * n + rows**2 + 3 * rows)
        self._whole = np.zeros(22 + rows, dtype=np.int32)
        self._info = np.zeros(15, dtype=np.int32)
        self._info[1] = 1  # tolerances are vectors
        self._info[2] = 1  # return after each step
        self._info[3] = 1  # and never step beyond
        self._real[0] = request.t_end
        # its default, a change of half a tolerance, is so small that the multipliers' A2 A1^-1 A2^T is lost in rounding
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
        """Shift of small unknowns, by twice their size."""
        return np.where(np.abs(y) < self._size, 2.0 * self._size, 0.0)

    def _residual(self, t: float, z: Vec, yd: Vec) -> Vec:
        out = self._functions.residual(t, z - self._shift, yd)
        if not finite(out):
            raise GaveUp(Reason.NOT_FINITE, "the residual is not finite", t)
        return out

    def _advance(self, t: float, target: float, info: Any, real: Vec, whole: Any, shift: Vec) -> Any:
        return self._call(
            lambda t, z, yd: self._residual(t, z, yd),  # f2py passes as many arguments as the signature has
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
            raise surrender("ODASSL", flag)
        return self._t, self._y

    def interpolant(self) -> Dense:
        info, real, whole, told = self._info.copy(), self._real.copy(), self._whole.copy(), self._told
        shift = self._shift

        # Asked for a time inside the last step, ODASSL interpolates and does nothing else.
        def at(s: float) -> Vec:
            if s == told:  # it refuses its present time
                s = np.nextafter(s, np.inf)
            z: Vec = self._advance(told, s, info.copy(), real.copy(), whole.copy(), shift)[1]
            return z - shift

        return at

    def replace(self, t: float, y: Vec) -> None:
        self._y = y.copy()
        self._real[self._latest] = y + self._shift

    def finish(self, stats: Stats) -> None:
        stats.evaluations = self._functions.evaluations
        stats.jacobians = stats.factorisations = int(self._whole[12])
        stats.rejected = int(self._whole[13] + self._whole[14])


# ---------------------------------------------------------------- Assimulo's classes


_LSODAR_LATEST = 20
"""Place of the latest state, the zeroth difference of the history, in LSODAR's real array."""


def _run_class(problem: Solvable, method: Method, request: Request) -> Outcome:
    name, functions = method.name, Functions(problem)
    recorder = Recorder(problem, request, one_step=True)
    stats = recorder.stats

    def fun(t: float, y: Vec) -> Vec:  # f2py passes as many arguments as the signature has
        out = functions.rhs(t, y)
        if not finite(out):
            if name == "Radau5ODE":
                raise module("exception").AssimuloRecoverableError  # tries a smaller step
            recorder.fail(Reason.NOT_FINITE, "the right-hand side is not finite", t)
            raise FloatingPointError  # leaves the solver; the outcome is set
        return out

    def handle_event(solver: Any, info: Any) -> None:
        if recorder.done:
            raise module("exception").TerminateSimulation

    native = explicit_problem(problem, functions, fun, recorder.y0)
    native.handle_event = handle_event
    native.handle_result = lambda solver, t, y: None
    solver: Any = getattr(module("solvers"), name)(native)
    altered = False

    def report(t: float, y: Vec, opts: Any) -> bool:
        """Take an accepted step; returns whether to leave the solver."""
        nonlocal altered
        altered = False
        solver.t, solver.y = t, np.array(y)
        back = recorder.accept(t, solver.y, lambda: solver.interpolate)
        if recorder.done:
            return True
        if back and name == "LSODAR":
            solver._RWORK[_LSODAR_LATEST : _LSODAR_LATEST + len(y)] = solver.y
        elif back:
            y[:] = solver.y  # the solver's own memory
            altered = True
        return False

    def solout(nrsol: int, told: float, t: float, y: Vec, cont: Vec, lrc: int, irtrn: int) -> int:
        flag: int = reported(nrsol, told, t, y, cont, lrc, 1)
        return 2 if altered and flag >= 0 else flag  # 2 makes DOPRI5 evaluate the first stage again

    solver.report_solution, solver.verbosity, solver.report_continuously = report, 50, True
    if name == "Dopri5":
        reported, solver._solout = solver._solout, solout
    solver.rtol, solver.atol = request.rtol, atol_vector(problem, request)
    usual: dict[str, Any] = {"usejac": True, "maxsteps": _MAX_STEPS}
    if request.first_step is not None:
        # their default 0.01 s may lead to values that are not finite, from which RodasODE and Dopri5 cannot recover
        usual["inith"] = request.first_step
    options = configured(solver, name, usual, request.options)
    if name == "LSODAR":  # its own limit counts from zero in each step
        recorder.max_steps = int(options["maxsteps"])
    try:
        solver.simulate(request.t_end)
    except Exception as error:
        own = isinstance(error, (module("exception").AssimuloException, FloatingPointError)) or type(error) is Exception
        if not own:
            raise
        end = surrender_of_class(name, error)
        recorder.fail(end.reason, end.detail)
        stats.rejected = -1  # its counts are lost when it gives up
    else:
        stats.rejected = -1 if name == "LSODAR" else int(solver.statistics["nerrfails"])
        if name in ("Radau5ODE", "RodasODE"):
            stats.factorisations = int(solver.statistics["nlus"])
    stats.evaluations, stats.jacobians = functions.evaluations, functions.jacobians
    return recorder.outcome()


ADAPTER = AssimuloAdapter()
