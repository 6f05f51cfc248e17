"""scikits.odes 3.0: IDA and CVODE of SUNDIALS 6, and DASPK, one internal step at a time; `sundials:ida` is quicker and
has sparse factors.

- `exclude_algvar_from_error` takes unknowns of higher index out of the error test; velocities of index 3 are declared
  algebraic for this purpose. Large tolerances take them out of Newton's convergence test (`rbdae_adapters._sundials`).
- The linear solver is dense, with our Jacobian: the package has no sparse one, drops a Jacobian for the band ones, and
  fails when IDA calls a preconditioner. Take `sundials:ida` for a sparse one.
- Options are the package's own; it refuses others. Version 3.0 truncates fractions, such as a `nonlin_conv_coef`, to
  integers.
- Exceptions of callbacks become return codes: IDA's wrapper would drop them, and `rbdae.solve` raises them.

DASPK reads the Jacobian's buffer by columns, so `jacfn` gets its transpose. It uses negative times as a switch for
single steps, so it runs on a shifted clock if the interval begins before 0. It keeps state in Fortran variables, so
only one run at a time can use it. It takes a projected state as the zeroth column of its history, in its work array,
which shifts the recent history. IDA and CVODE cannot take it back here: with a projection they restart when the drift
exceeds some ten tolerances (`toolkit.Recorder`), which takes more steps. Recorded states are projected anyway.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import AbstractAdapter, Method, Outcome, Request, Solvable, Stats
from rbdae_adapters._sundials import (
    DASPK_REASONS,
    MAX_STEPS,
    REASONS,
    STALLED,
    STALLED_MESSAGE,
    InternalSteps,
    Native,
    adams_or_bdf,
    algebraic,
    bdf,
    first_step,
    gave_up,
    least_tolerance,
    tolerances,
)
from rbdae_adapters.toolkit import AbstractStepper, Dense, Recorder, drive, installed, take_options, usable

_DASPK_OPTIONS = ("order", "max_steps", "max_step_size", "first_step")
"""Options of DASPK, whose class accepts any name."""
_FIXED_REALS = 50
"""Numbers at the start of DASPK's RWORK."""


@final
class ScikitsOdesAdapter(AbstractAdapter):
    """`scikits_odes_sundials`' IDA and CVODE, and `scikits_odes.dae("ddaspk", ...)`."""

    package = "scikits.odes"
    install = (
        "apt-get install gfortran libsundials-dev liblapack-dev; "
        "pip install scikits-odes==3.0.0 scikits-odes-sundials==3.0.0 scikits-odes-daepack==3.0.0 "
        "(or conda install -c conda-forge scikits.odes)"
    )
    methods = (
        bdf("ida", "dense analytic Jacobian"),
        adams_or_bdf("analytic Jacobian"),
        bdf("ddaspk", "dense analytic Jacobian", shared_state="ddaspk"),
    )

    def version(self) -> str | None:
        return installed("scikits-odes-sundials", "scikits_odes", "scikits_odes_sundials")

    def native(
        self, problem: Solvable, method: str, *, rtol: float = 1e-6, atol: float | Vec = 1e-6, **options: Any
    ) -> Native:
        """Callbacks and the arguments of the package's constructor; `options` are the package's own.

        They include tolerances, the classes of unknowns and a limit of a million steps. DASPK has no such limit: it
        ends after 500 steps between two outputs, whatever `max_steps` is.
        """
        given = take_options(options, _DASPK_OPTIONS if method == "ddaspk" else None, f"scikits.odes:{method}")
        if "max_step" in given:
            given["max_step_size"] = given.pop("max_step")
        return {"ida": _ida, "cvode": _cvode, "ddaspk": _ddaspk}[method](problem, rtol, atol, given)

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        request = usable(problem, request, least_tolerance(problem))
        recorder = Recorder(problem, request, one_step=method.name == "ddaspk")
        native = self.native(problem, method.name, rtol=request.rtol, atol=request.atol, **request.options)
        stepper_class: Any = _Daspk if method.name == "ddaspk" else _Stepper
        return drive(
            stepper_class(problem, native, recorder), recorder, max_steps=native.options.get("max_steps", MAX_STEPS)
        )


# ---------------------------------------------------------------- arguments


def _ida(problem: Solvable, rtol: float, atol: float | Vec, options: dict[str, Any]) -> Native:
    options["compute_initcond"] = None
    options["rtol"], options["atol"] = tolerances(problem, rtol, atol)
    if problem.kind == "dae":
        options |= algebraic(problem)
    options.setdefault("first_step_size", first_step(problem, rtol))
    options.setdefault("max_steps", MAX_STEPS)  # the package's default 500 ends a run between two outputs
    return Native.of_residual(problem, options, problem.callbacks.jacobian)


def _cvode(problem: Solvable, rtol: float, atol: float | Vec, options: dict[str, Any]) -> Native:
    options["lmm_type"] = options.pop("lmm", options.get("lmm_type", "adams"))
    options["rtol"], options["atol"] = rtol, atol
    options.setdefault("max_steps", MAX_STEPS)
    newton = str(options.get("nonlinsolver", "newton")).lower() == "newton"
    return Native.of_rhs(problem, options, with_jacobian=newton)


def _ddaspk(problem: Solvable, rtol: float, atol: float | Vec, options: dict[str, Any]) -> Native:
    jacobian = problem.callbacks.jacobian

    def jacfn(t: float, y: Vec, yp: Vec, cj: float, J: Mat) -> None:
        jacobian(t, y, yp, cj, J.T)

    options.setdefault("first_step", first_step(problem, rtol))
    rtol, atol = tolerances(problem, rtol, atol)
    options["atol"] = np.array(np.broadcast_to(atol, (problem.n,)), dtype=float)
    options["rtol"] = np.full(problem.n, rtol)  # both or neither are arrays
    options["jacfn"] = jacfn
    if problem.kind == "dae":
        options |= algebraic(problem)
    return Native.of_residual(problem, options, jacobian)


# ---------------------------------------------------------------- IDA and CVODE


@final
class _Stepper(InternalSteps):
    def __init__(self, problem: Solvable, native: Native, recorder: Recorder) -> None:
        super().__init__(native, recorder)
        self._calls = Counter[str]()
        self._past = np.zeros(2, dtype=np.int64)  # CVODE's counts before the last start
        self._interpolating = False
        options = dict(native.options, one_step_compute=True, old_api=False, err_handler=self._note)
        if self._t_end > 0.0:  # the package ignores others: there the solver steps past the end
            options["tstop"] = self._t_end
        if "jacfn" in options:
            options["jacfn"] = self._contained(options["jacfn"], "jacfn")
        if native.resfn is not None:
            from scikits_odes_sundials.ida import IDA

            self._solver = IDA(self._contained(native.resfn, "function"), **options)
        else:
            from scikits_odes_sundials.cvode import CVODE

            self._solver = CVODE(self._contained(native.rhsfn, "function"), **options)
        self._begin(self._solver.init_step)

    def _note(self, code: int, module: bytes, function: bytes, message: bytes) -> None:
        """Keep SUNDIALS' message, which it would print."""
        self._said = message.decode(errors="replace").strip()

    def _contained(self, function: Callable[..., None], name: str) -> Callable[..., int]:
        """`function`, counted; an exception stops SUNDIALS."""

        def contained(*args: Any) -> int:
            self._calls[name] += 1
            try:
                function(*args)
            except BaseException:  # stored by `rbdae.solve`
                return -1
            return 0

        return contained

    def _begin(self, start: Callable[..., Any]) -> None:
        # the package keeps pointers to its arguments
        self._alive = [self._y.copy()] if self._yd is None else [self._y.copy(), self._yd.copy()]
        self._check(start(self._t, *self._alive).flag, "at the start")

    def _start(self) -> None:
        self._past += self._info()
        self._begin(self._solver.reinit_IC)

    def _check(self, flag: int, message: str) -> None:
        """Raise `GaveUp` for a return code that reports failure."""
        if flag < 0:
            raise gave_up(REASONS, int(flag), self._said or message)

    def _mode(self, *, interpolating: bool) -> None:
        if interpolating != self._interpolating:
            self._solver.set_options(one_step_compute=not interpolating)
            self._interpolating = interpolating

    def _advance(self) -> tuple[float, Vec, Vec | None]:
        self._mode(interpolating=False)
        result = self._solver.step(self._t_end)
        self._check(result.flag, result.message)
        values = result.values
        return values.t, values.y, None if self._yd is None else values.ydot

    def interpolant(self) -> Dense:
        self._mode(interpolating=True)

        def dense(t: float) -> Vec:
            y: Vec = self._solver.step(t).values.y
            return y

        return dense

    def _info(self) -> Any:
        """CVODE's counts of rejected steps and factorisations since the last start; IDA reports neither."""
        if self._yd is not None:
            return np.zeros(2, dtype=np.int64)
        info = self._solver.get_info()
        return np.array([info["NumErrTestFails"], info["NumLinSolvSetups"]])

    def finish(self, stats: Stats) -> None:
        stats.jacobians = self._calls["jacfn"]
        stats.evaluations = self._calls["function"]  # CVODE's own count lacks the first call of the package
        if self._yd is not None:
            stats.factorisations, stats.rejected = stats.jacobians, -1
        else:
            stats.rejected, stats.factorisations = (self._past + self._info()).tolist()


# ---------------------------------------------------------------- DASPK


@final
class _Daspk(AbstractStepper):
    """DASPK through the class behind the package's front end, which gives access to `t` and the work arrays."""

    def __init__(self, problem: Solvable, native: Native, recorder: Recorder) -> None:
        from scikits_odes import dae  # raises for "ddaspk" without the distribution scikits-odes-daepack

        t0, t_end = recorder.request.t0, recorder.request.t_end
        self._shift = shift = min(t0, 0.0)

        def shifted(function: Callable[..., None]) -> Callable[..., None]:  # on DASPK's clock
            return lambda t, *rest: function(t + shift, *rest)

        options = dict(native.options, jacfn=shifted(native.jacfn), tstop=t_end - shift)
        self._solver = solver = dae("ddaspk", shifted(native.resfn), **options)._integrator
        self._t_end, self._t, self._y = t_end, t0, recorder.y0.copy()
        self._clock = t0 - shift  # DASPK's own time, to the last bit: it repeats a step if the time differs
        self._yd = np.array(problem.yd0, dtype=float)
        self._before = self._clock
        solver.init_step(self._clock, self._y, self._yd)
        # the residual, errors and weights come first, and weights again if unknowns are left out of the error test
        first = _FIXED_REALS + (3 + int(solver.info[15])) * problem.n
        self._latest = slice(first, first + problem.n)

    def step(self) -> tuple[float, Vec]:
        self._solver.info[2] = 1
        flag, y, yd, t = self._call(self._clock, self._t_end - self._shift)
        self._solver.info[2] = 0
        if flag < 0:
            raise gave_up(DASPK_REASONS, flag, self._solver.messages.get(flag, "no message"))
        if flag == 1 and t <= self._clock:
            raise gave_up(DASPK_REASONS, STALLED, STALLED_MESSAGE)
        self._before, self._clock = self._clock, t
        self._t = self._t_end if flag > 1 else t + self._shift
        self._y, self._yd = y, yd
        return self._t, y

    def _call(self, t: float, target: float) -> tuple[int, Vec, Vec, float]:
        """Call DASPK itself, since the class's `step` prints its results."""
        solver = self._solver
        solver.y, solver.yp, t, flag = solver._runner(
            solver._resFn, solver._jacFn, solver.y, solver.yp, t, target, *solver.call_args
        )
        return flag, solver.y, solver.yp, t

    def interpolant(self) -> Dense:
        def dense(t: float) -> Vec:
            if t >= self._t:
                return self._y
            # DASPK refuses outputs before the given time
            flag, y, _, _ = self._call(self._before, t - self._shift)
            if flag != 3:
                raise RuntimeError(f"DASPK's interpolation at t = {t!r} returned {flag}")
            return y

        return dense

    def replace(self, t: float, y: Vec) -> None:
        self._solver.rwork[self._latest] = y
        self._y = y

    def finish(self, stats: Stats) -> None:
        # IWORK(12) to IWORK(15)
        evaluations, jacobians, failures, unconverged = self._solver.iwork[11:15].tolist()
        stats.evaluations, stats.jacobians, stats.factorisations = evaluations, jacobians, jacobians
        stats.rejected = failures + unconverged


ADAPTER = ScikitsOdesAdapter()
