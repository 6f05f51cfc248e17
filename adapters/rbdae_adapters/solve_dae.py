"""solve_dae's Radau and BDF for F(t, y, y') = 0, step by step, with our analytic Jacobians.

solve_dae announces `var_index` but does not implement it (0.2.4 raises NotImplementedError). Here tolerances have its
effect: for index-2 and index-3 unknowns they are divided by h and h^2, which scales error and Newton norms as in Radau5
([HW96], sections IV.8 and VII.3). More settings are ours:

- multipliers of index 1, which are rates of velocities, are scaled as index 2, and all multipliers are measured against
  the largest of them;
- Newton's iteration is not asked for less than some roundings, and increments below its tolerance that
  hardly fall count as zero (`_Stepper`): the package would take them for divergence, and halve the step for ever if a
  motion is so simple, or so fast, that the first increment is rounding;
- a step that is lost in rounding ends the run: at t = 0 the package would continue to 1e-308 s;
- no step of Radau leaves a much shorter rest: the last step of a DAE of index 2 or 3 would be lost in rounding, which
  is divided by h or h^2;
- index-3 forms run at tolerances tighter by `INDEX_3_MARGIN`, with a first step that is not lost in rounding.

A projected state goes back into both methods without a restart: Radau takes it as the start of its next step,
BDF as its zeroth backward difference, which shifts the recent history.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from rbdae._arrays import Bools, Ints, Vec
from rbdae.adapter import AbstractAdapter, Method, Outcome, Reason, Request, Solvable, Stats
from rbdae_adapters.toolkit import (
    AbstractStepper,
    Dense,
    Functions,
    GaveUp,
    Recorder,
    atol_vector,
    drive,
    first_step,
    installed,
    take_options,
    usable,
)

_SPARSE_FROM = 60
"""Number of unknowns from which our Jacobians are CSC matrices (an estimate of when SuperLU overtakes LAPACK)."""

INDEX_3_MARGIN = 1e-2
"""Tightens the tolerances of index-3 forms: the scaling loosens the velocities' tolerances by 1/h."""

_LEAST_TOLERANCE = 1e-11
"""Tightest tolerance of index-3 forms, before the margin."""

_EPS = float(np.finfo(float).eps)

_NO_STEP = 10
"""A rest of the interval below this number of roundings of the time is no step."""

_COMMON = (
    "first_step", "max_step", "max_steps", "sparse", "jac_recompute_rate", "jac_recompute_iter", "controller_deadband",
)  # fmt: skip
_OPTIONS = {
    "Radau": (*_COMMON, "stages", "continuous_error_weight", "newton_max_iter", "newton_iter_embedded"),
    "BDF": (*_COMMON, "max_order", "NDF_strategy"),
}
"""Options passed on; the package only warns about unknown ones."""


@final
@dataclass(frozen=True, slots=True)
class SolveDaeProblem:
    """Arguments for ``solve_dae(p.fun, t_span, p.y0, p.yp0, method=p.method, jac=p.jac)``.

    Parameters
    ----------
    fun : ``fun(t, y, yp)``, a new array (n,)
    jac : ``jac(t, y, yp) -> (dF/dy, dF/dyp)``, arrays (n, n) or CSC matrices
    y0, yp0 : consistent initial values, shape (n,)
    t0 : initial time
    var_index : index of each unknown in the package's convention: 1 for everything in an ODE, up to 3
    method : the package's name
    """

    fun: Callable[[float, Vec, Vec], Vec]
    jac: Callable[[float, Vec, Vec], tuple[Any, Any]]
    y0: Vec
    yp0: Vec
    t0: float
    var_index: Ints
    method: str


_LOST = 1e-3
"""A step may shrink to this part (ten halvings) before the run gives up."""

_FALLS = 0.5
"""Increments of Newton's iteration that keep at least this part of the previous one may be rounding."""

_STANDS, _STAGNANT = 0.9, 10.0
"""Increments that keep more than the first number are rounding even up to this multiple of the tolerance: another step
size cannot reduce them."""


@final
class _Stepper(AbstractStepper):
    """Wraps a solver's residual and its `solve_lu`, which gives increments of Newton's iteration: of the rates for
    Radau, of the unknowns for BDF."""

    def __init__(
        self,
        native: SolveDaeProblem,
        request: Request,
        y0: Vec,
        atol: Vec,
        algebraic: Bools,
        roundings: int,
        options: dict[str, Any],
    ) -> None:
        from solve_dae.integrate._dae.bdf import BDFDAE
        from solve_dae.integrate._dae.radau import RadauDAE

        self._bdf = native.method == "BDF"
        self._fun, self._t = native.fun, request.t0
        self._solver: Any = None
        # Tolerances times h^(1 - index). Index-1 multipliers count as index 2: they are rates of the velocities.
        self._power = 1.0 - np.maximum(native.var_index, np.where(algebraic, 2, 1))
        self._tolerances = np.full_like(atol, request.rtol), atol
        self._scaled = self._tolerances[0].copy(), atol.copy()
        self._algebraic = np.flatnonzero(algebraic)
        self._given = atol.copy()
        self._evaluations = 0  # since the last increment
        self._h = self._largest = 0.0
        self._least = _EPS * abs(request.t_end - request.t0)
        self._sizes: dict[int, tuple[Any, float]] = {}
        solver_class: Any = BDFDAE if self._bdf else RadauDAE
        span = request.t0, y0.copy(), native.yp0.copy(), request.t_end
        solver = solver_class(self._evaluate, *span, rtol=request.rtol, atol=atol, jac=native.jac, **options)
        self._solver, self._h, self._evaluations = solver, 0.0, 0
        self._stages = 0 if self._bdf else int(solver.stages)
        self._halves = not self._bdf and bool(np.any(native.var_index >= 2))
        self._solve_lu, solver.solve_lu = solver.solve_lu, self._increment
        solver.rtol, solver.atol = self._scaled
        solver.newton_tol = max(solver.newton_tol, min(1e-2, roundings * _EPS / request.rtol))

    def _evaluate(self, t: float, y: Vec, yp: Vec) -> Vec:
        """The residual, with tolerances scaled by the attempted step size; raises `GaveUp` if this step is lost.

        The package retries a rejected step and keeps our arrays: they are rewritten in place. The last evaluation
        before each error test is at the end of the step.
        """
        self._evaluations += 1
        h = t - self._t
        if h != self._h and h > 0.0:  # also in each first evaluation of a step
            self._h, self._largest = h, max(self._largest, h)
            if self._solver is not None and h < min(self._least, _LOST * self._largest):  # the first one may be small
                raise GaveUp(Reason.STEP_TOO_SMALL, f"a step of {h:.3g} s is lost in rounding")
            factor = min(h, 1.0) ** self._power
            for tolerance, scaled in zip(self._tolerances, self._scaled, strict=True):
                np.multiply(tolerance, factor, out=scaled)
        return self._fun(t, y, yp)

    def _increment(self, LU: Any, b: Any) -> Any:
        """The increment, or zero, which ends Newton's iteration, if it is below the tolerance and hardly falls.

        The package accepts an iterate by the rate at which increments fall, and takes increments that do not fall for
        divergence.
        """
        out = self._solve_lu(LU, b)
        if not np.iscomplexobj(out):
            evaluations, self._evaluations = self._evaluations, 0
            if evaluations < self._stages:
                return out  # for Radau's error estimate, which has one evaluation
        solver = self._solver
        scale = self._scaled[1] + np.abs(solver.y) * self._scaled[0]
        size = float(np.linalg.norm(out / scale)) / len(scale) ** 0.5 * (self._h if self._stages else 1.0)
        _, before = self._sizes.get(id(LU), (None, np.inf))
        self._sizes[id(LU)] = LU, size  # a factorisation that is kept keeps its number
        rounding = size < solver.newton_tol * (_STAGNANT if size > _STANDS * before else 1.0)
        return np.zeros_like(out) if rounding and size >= _FALLS * before else out

    def step(self) -> tuple[float, Vec]:
        solver = self._solver
        self._sizes.clear()
        self._largest = 0.0
        if self._algebraic.size:
            # Multipliers much smaller than the others cannot be computed to their own relative accuracy.
            largest = np.abs(solver.y[self._algebraic]).max()
            self._tolerances[1][self._algebraic] = np.maximum(
                self._given[self._algebraic], self._tolerances[0][0] * largest
            )
        if self._halves and solver.h_abs < (rest := solver.t_bound - solver.t) < 2.0 * solver.h_abs:
            solver.h_abs, solver.h_abs_old, solver.LU_real = 0.5 * rest, None, None  # factors belong to a step size
        try:
            message = solver.step()
        except RuntimeError as error:  # from SuperLU, through the package
            if "exactly singular" not in str(error):
                raise
            raise GaveUp(Reason.SINGULAR, str(error)) from error
        if solver.status == "failed":
            raise GaveUp(Reason.STEP_TOO_SMALL, message or "no message")
        if 0.0 < solver.t_bound - solver.t <= _NO_STEP * np.spacing(abs(solver.t_bound)):
            solver.t = solver.t_bound  # the rest is less than the shortest step, which would fail
        self._t = solver.t
        return solver.t, solver.y

    @property
    def next_step(self) -> float:
        return float(self._solver.h_abs)

    def interpolant(self) -> Dense:
        dense = self._solver.dense_output()
        return lambda t: dense(t)[0]

    def replace(self, t: float, y: Vec) -> None:
        self._solver.y = y
        if self._bdf:
            self._solver.D[0] = y

    def finish(self, stats: Stats) -> None:
        solver = self._solver
        stats.rejected, stats.evaluations = solver.nrejct, solver.nfev
        stats.jacobians, stats.factorisations = solver.njev, solver.nlu


@final
class SolveDaeAdapter(AbstractAdapter):
    """solve_dae: Radau and BDF for implicit equations, with analytic Jacobians at every index."""

    package = "solve_dae"
    install = "pip install solve_dae"
    methods = tuple(
        Method(name, frozenset({"dae", "ode"}), frozenset({1, 2, 3}), summary=summary, one_step=one, coarse_output=one)
        for name, one, summary in (
            ("Radau", True, "Radau IIA of order 5 (stages=), analytic Jacobians, dense or sparse"),
            ("BDF", False, "BDF of order 1 to 5, analytic Jacobians, dense or sparse"),
        )
    )

    def version(self) -> str | None:
        return installed("solve_dae", "solve_dae")

    def native(self, problem: Solvable, method: str, **options: Any) -> SolveDaeProblem:
        """Native objects; the option `sparse` (default: from 60 unknowns on) selects CSC Jacobians."""
        sparse = take_options(options, {"sparse"}, f"the native form of solve_dae:{method}").get("sparse")
        functions = Functions(problem)
        if sparse is None:
            sparse = problem.n >= _SPARSE_FROM
        return SolveDaeProblem(
            functions.residual,
            functions.sparse_jacobians_of if sparse else functions.jacobians_of,
            np.array(problem.y0, dtype=float),
            np.array(problem.yd0, dtype=float),
            problem.t0,
            np.maximum(problem.variable_index, 1),
            method,
        )

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        options = take_options(request.options, _OPTIONS[method.name], f"solve_dae:{method.name}")
        max_steps = options.pop("max_steps", None)
        native = self.native(problem, method.name, sparse=options.pop("sparse", None))
        request = usable(problem, request, _LEAST_TOLERANCE if problem.index == 3 else 0.0)
        recorder = Recorder(problem, request, one_step=True)
        atol = atol_vector(problem, request)
        if problem.index == 3:
            request, atol = replace(request, rtol=INDEX_3_MARGIN * request.rtol), INDEX_3_MARGIN * atol
            # smaller ones are lost in rounding, because errors of velocities grow like 1/h
            first = min(first_step(problem, request.rtol, 3), request.t_end - request.t0)
            options.setdefault("first_step", first)
        if request.first_step is not None and method.one_step:
            options["first_step"] = request.first_step
        # Newton's increments stagnate at some roundings of the unknowns, and remaining errors add up: with 500, Radau
        # had the same error on tops at 1e-8 and 1e-10. BDF needs 500, and so does Radau with integrals of multipliers
        # among the unknowns: with 50 it did not start below 1e-8.
        integrals = problem.kind == "dae" and np.all(problem.differential)
        roundings = 500 if method.name == "BDF" or integrals else 50
        stepper = _Stepper(native, request, recorder.y0, atol, ~problem.differential, roundings, options)
        return drive(stepper, recorder, max_steps=max_steps)


ADAPTER = SolveDaeAdapter()
