"""scikits.odes 3.0: IDA and CVODE of SUNDIALS 6, and DASPK, driven one internal step at a time.

- Variables of higher index leave the error test by `exclude_algvar_from_error`, velocities of index 3
  declared algebraic for this purpose, and Newton's convergence test by large tolerances (see `_sundials`).
- The package has no sparse direct solver, and drops a Jacobian for the band ones. IDA runs constraints of more than
  `KRYLOV_FROM` unknowns with "spgmr" and our sparse factorisation (see `_krylov`), and others with dense Jacobians.
- `nonlin_conv_coef` is cut to an integer by the package (0.33 becomes 0, which SUNDIALS ignores): refused.
- DASPK has its own module (`_daspk`).
- Exceptions of callbacks are kept aside and raised afterwards, because IDA's wrapper would drop them.

All three are multistep codes without a way to take a corrected state back: with a projection they start
again, at order 1, where the drift exceeds some ten tolerances (`_sundials.Restarts`). A restart costs 20 to
40 steps: on a swinging pendulum at rtol = 1e-8 they double the steps. Recorded states are projected anyway.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import AbstractAdapter, Method, Outcome, Request, Solvable, Stats, Unsupported
from rbdae_adapters import _daspk
from rbdae_adapters._krylov import preconditioned
from rbdae_adapters._quiet import quiet
from rbdae_adapters._stepping import (
    AbstractStepper,
    Dense,
    Recorder,
    Trap,
    drive,
    take_options,
)
from rbdae_adapters._sundials import (
    CVODE_REASONS,
    IDA_REASONS,
    MAX_STEPS,
    STALLED,
    STALLED_MESSAGE,
    ResidualNative,
    Restarts,
    RhsNative,
    algebraic,
    first_step,
    gave_up,
    tolerances,
)

KRYLOV_FROM = 100
"""Unknowns from which IDA's default for constrained forms is "spgmr" with a sparse factorisation, in place of "dense".
On the chain the times cross here."""

_SUNDIALS = frozenset(
    {
        "order",
        "max_steps",
        "max_step_size",
        "first_step_size",
        "max_conv_fails",
        "max_nonlin_iters",
        "nonlin_conv_coef",
        "linsolver",
        "maxl",
        "precond_type",
        "prec_setupfn",
        "prec_solvefn",
        "jac_times_vecfn",
        "jac_times_setupfn",
        "user_data",
    }
)
_OPTIONS = {
    "ida": _SUNDIALS | {"constraints_type"},
    "cvode": _SUNDIALS | {"lmm", "lmm_type", "nonlinsolver", "bdf_stability_detection", "min_step_size"},
    "ddaspk": frozenset({"order", "max_steps", "max_step_size", "first_step"}),
}
_DENSE = frozenset({"dense", "lapackdense"})
_CALLBACKS = ("jacfn", "prec_setupfn", "prec_solvefn", "jac_times_vecfn", "jac_times_setupfn")
_PRECONDITIONER = ("precond_type", "prec_setupfn", "prec_solvefn")
_KRYLOV = {"ida": frozenset({"spgmr", "sptfqmr"}), "cvode": frozenset({"spgmr", "spbcgs", "sptfqmr"})}


@final
class _Messages:
    """SUNDIALS' own words, in place of its printing."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, code: int, module: bytes, function: bytes, message: bytes) -> None:
        self.last = message.decode(errors="replace").strip()


@final
class _Sundials(AbstractStepper):
    """IDA (carries yd) or CVODE (does not)."""

    def __init__(
        self,
        problem: Solvable,
        solver: Any,
        trap: Trap,
        messages: _Messages,
        counts: dict[str, int],
        recorder: Recorder,
        t_end: float,
        t0: float,
        *,
        implicit: bool,
    ) -> None:
        self._problem, self._solver, self._trap, self._messages = problem, solver, trap, messages
        self._counts, self._t_end, self._implicit = counts, t_end, implicit
        self._reasons = IDA_REASONS if implicit else CVODE_REASONS
        self._t, self._y = t0, recorder.y0.copy()
        self._restarts = Restarts(problem, recorder)
        self._yd = np.array(problem.yd0, dtype=float)
        self._past = np.zeros(3, dtype=np.int64)  # CVODE's counts before the last restart
        self._interpolating = False
        self._call(solver.init_step)

    def _call(self, start: Callable[..., Any]) -> None:
        # the package keeps pointers to what it gets
        self._kept = (self._y.copy(), self._yd.copy())
        flag = start(self._t, *self._kept[: 2 if self._implicit else 1]).flag
        self._trap.release()
        if flag < 0:
            raise self._surrender(flag, "at the start")

    def _surrender(self, flag: int, message: str) -> Exception:
        message = self._messages.last or message
        yd = self._yd if self._implicit else None
        return gave_up(self._problem, self._reasons, int(flag), message, self._t, self._y, yd)

    def _mode(self, *, interpolating: bool) -> None:
        if interpolating != self._interpolating:
            self._solver.set_options(one_step_compute=not interpolating)
            self._interpolating = interpolating

    def step(self) -> tuple[float, Vec]:
        self._mode(interpolating=False)
        for _ in range(3):  # after interpolation the first call returns to the end of the step
            result = self._solver.step(self._t_end)
            self._trap.release()
            if result.flag < 0:
                raise self._surrender(result.flag, result.message)
            if result.values.t > self._t:
                break
        else:
            raise self._surrender(STALLED, STALLED_MESSAGE)
        self._t, self._y = result.values.t, result.values.y
        if self._implicit:
            self._yd = result.values.ydot
        return self._t, self._y

    def interpolant(self) -> Dense:
        self._mode(interpolating=True)

        def dense(t: float) -> Vec:
            y: Vec = self._solver.step(t).values.y
            return y

        return dense

    def replace(self, t: float, y: Vec) -> None:
        self._restarts.note()
        self._past += self._info()
        self._t, self._y = t, y
        self._call(self._solver.reinit_IC)

    def _info(self) -> Any:
        if self._implicit:
            return np.zeros(3, dtype=np.int64)
        info = self._solver.get_info()
        return np.array([info["NumRhsEvals"], info["NumErrTestFails"], info["NumLinSolvSetups"]])

    def finish(self, stats: Stats) -> None:
        stats.jacobians = self._counts["jacobian"]
        if "jac_times_setupfn" in self._counts:  # each factorisation has its Jacobian from there, but the first
            stats.jacobians = 1 + self._counts["jac_times_setupfn"]
        if self._implicit:
            stats.evaluations = self._counts["function"]
            stats.factorisations = (
                1 + self._counts["prec_setupfn"] if "prec_setupfn" in self._counts else stats.jacobians
            )
            stats.rejected = -1  # the package does not report them
        else:
            evaluations, rejected, factorisations = (self._past + self._info()).tolist()
            stats.evaluations, stats.rejected, stats.factorisations = evaluations, rejected, factorisations


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
        Method(
            "ida",
            frozenset({"ode", "dae"}),
            frozenset({1, 2, 3}),
            summary="SUNDIALS IDA: BDF of order 1 to 5 for F(t, y, y') = 0, dense analytic Jacobian, or a sparse one "
            "that preconditions Krylov's iterations",
        ),
        Method("cvode", frozenset({"ode"}), summary="SUNDIALS CVODE: Adams (default) or BDF, analytic Jacobian"),
        Method(
            "ddaspk",
            frozenset({"ode", "dae"}),
            frozenset({1, 2, 3}),
            summary="DASPK: BDF of order 1 to 5 for F(t, y, y') = 0, dense analytic Jacobian",
        ),
    )

    def version(self) -> str | None:
        if any(importlib.util.find_spec(name) is None for name in ("scikits_odes", "scikits_odes_sundials")):
            return None
        return importlib.metadata.version("scikits-odes-sundials")

    def native(
        self, problem: Solvable, method: str, *, rtol: float = 1e-6, atol: float | Vec = 1e-6, **options: Any
    ) -> ResidualNative | RhsNative:
        """Callbacks and the arguments of the package's constructor; `options` are the package's own.

        With a Krylov solver on a constrained form, `resfn` gives the residual multiplied by P^-1 (see `_krylov`), and
        serves one solver at a time.
        """
        given = take_options(options, _OPTIONS[method], f"scikits.odes:{method}")
        if method == "cvode":
            return _cvode(problem, rtol, atol, given)
        return (_ida if method == "ida" else _daspk.native)(problem, rtol, atol, given)

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        options = dict(request.options)
        max_steps = options.get("max_steps", MAX_STEPS)
        recorder = Recorder(problem, request, one_step=False)
        with quiet() as chatter:
            native = self.native(problem, method.name, rtol=request.rtol, atol=request.atol, **options)
            make = _daspk.stepper if method.name == "ddaspk" else _sundials_stepper
            outcome = drive(make(problem, native, request, recorder), recorder, max_steps=max_steps)
        return chatter.added_to(outcome)


def _guarded(trap: Trap, function: Callable[..., int | None], counts: dict[str, int], name: str) -> Callable[..., int]:
    """`function`, counted; keeps an exception and stops SUNDIALS: IDA's wrapper cannot pass it on."""
    counts[name] = 0

    def guarded(*args: Any) -> int:
        if trap.error is not None:
            return -1
        counts[name] += 1
        try:
            return function(*args) or 0
        except BaseException as error:
            trap.error = error
            return -1

    return guarded


def _sundials_stepper(problem: Solvable, native: Any, request: Request, recorder: Recorder) -> AbstractStepper:
    trap, messages = Trap(), _Messages()
    counts = {"jacobian": 0}
    implicit = isinstance(native, ResidualNative)
    options = dict(native.options, one_step_compute=True, old_api=False, err_handler=messages)
    if request.t_end > 0.0:  # the package ignores others; there the solver steps past the end
        options["tstop"] = request.t_end
    for name in _CALLBACKS:
        if callable(options.get(name)):
            options[name] = _guarded(trap, options[name], counts, "jacobian" if name == "jacfn" else name)
    if isinstance(native, ResidualNative):
        from scikits_odes_sundials.ida import IDA

        solver = IDA(_guarded(trap, native.resfn, counts, "function"), **options)
    else:
        from scikits_odes_sundials.cvode import CVODE

        solver = CVODE(_guarded(trap, native.rhsfn, counts, "function"), **options)
    return _Sundials(problem, solver, trap, messages, counts, recorder, request.t_end, request.t0, implicit=implicit)


def _ida(problem: Solvable, rtol: float, atol: float | Vec, given: dict[str, Any]) -> ResidualNative:
    residual, jacobian = problem.callbacks.residual, problem.callbacks.jacobian
    options = dict(given)
    if problem.kind == "dae" and problem.index < 3 and problem.n >= KRYLOV_FROM:
        options.setdefault("linsolver", "spgmr")
    linsolver = _linear_solver(problem, "ida", options)

    def resfn(t: float, y: Vec, yp: Vec, res: Vec) -> None:
        residual(t, y, yp, res)

    def jacfn(t: float, y: Vec, yp: Vec, res: Vec, cj: float, J: Mat) -> None:
        jacobian(t, y, yp, cj, J)

    if linsolver in _DENSE:
        options["jacfn"] = jacfn
    requested = rtol
    options["rtol"], options["atol"] = tolerances(problem, rtol, atol)
    options["compute_initcond"] = None
    if problem.kind == "dae":
        options |= algebraic(problem)
    options.setdefault("first_step_size", first_step(problem, requested))
    native: Callable[[float, Vec, Vec, Vec], None] = resfn
    if problem.kind == "dae" and linsolver in _KRYLOV["ida"]:
        native, ours = preconditioned(problem, 1.0 / (options["first_step_size"] or first_step(problem, requested)))
        options |= ours
    y0, yd0 = np.array(problem.y0, dtype=float), np.array(problem.yd0, dtype=float)
    return ResidualNative(native, jacfn, y0, yd0, problem.t0, options)


def _cvode(problem: Solvable, rtol: float, atol: float | Vec, given: dict[str, Any]) -> RhsNative:
    rhs, callbacks = problem.callbacks.rhs, problem.callbacks  # asking for the Jacobian allocates memory of its size
    options = dict(given)
    if "lmm" in options and "lmm_type" in options:
        raise Unsupported("scikits.odes:cvode was given both 'lmm' and 'lmm_type', which are the same; give one")
    options["lmm_type"] = options.pop("lmm", options.get("lmm_type", "adams"))
    linsolver = _linear_solver(problem, "cvode", options)

    def rhsfn(t: float, y: Vec, yp: Vec) -> None:
        rhs(t, y, yp)

    def jacfn(t: float, y: Vec, fy: Vec, J: Mat) -> None:
        callbacks.rhs_jacobian(t, y, J)

    if linsolver in _DENSE and options.get("nonlinsolver", "newton").lower() == "newton":
        options["jacfn"] = jacfn
    options["rtol"], options["atol"] = rtol, atol
    return RhsNative(rhsfn, jacfn, np.array(problem.y0, dtype=float), problem.t0, options)


def _linear_solver(problem: Solvable, method: str, options: dict[str, Any]) -> str:
    """The linear solver's name, refused where the package would drop our Jacobian or could not converge."""
    if "nonlin_conv_coef" in options and options["nonlin_conv_coef"] != int(options["nonlin_conv_coef"]):
        raise Unsupported(
            f"scikits.odes 3.0 cuts nonlin_conv_coef={options['nonlin_conv_coef']} to an integer; "
            "tighten rtol and atol instead"
        )
    name = str(options.get("linsolver", "dense")).lower()
    known = _DENSE | _KRYLOV[method]
    if name not in known:
        raise Unsupported(
            f"scikits.odes:{method} does not run with linsolver={name!r} and an analytic Jacobian; "
            f"take one of {', '.join(sorted(known))}, or sksundae:ida, which has a sparse one"
        )
    if method == "ida":
        given = [k for k in _PRECONDITIONER if options.get(k) is not None]
        if given:
            raise Unsupported(
                f"scikits.odes 3.0 fails inside IDA where it calls a preconditioner, so {given[0]!r} cannot be had; "
                "constrained forms get our sparse factorisation with linsolver='spgmr' or 'sptfqmr'"
            )
        if name in _KRYLOV[method] and problem.kind == "dae" and problem.index == 3:
            raise Unsupported(
                f"linsolver={name!r} measures its error with the weights of the error test, which leaves out the "
                f"velocities of {problem.formulation}; take 'dense', an index-2 formulation, or sksundae:ida"
            )
        products = [k for k in ("jac_times_vecfn", "jac_times_setupfn") if options.get(k) is not None]
        if products and name in _KRYLOV[method] and problem.kind == "dae":
            raise Unsupported(f"{products[0]!r} cannot be had: constrained forms take products with our Jacobian")
    return name


ADAPTER = ScikitsOdesAdapter()

__all__ = ["ADAPTER", "ScikitsOdesAdapter"]
