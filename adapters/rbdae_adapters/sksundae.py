"""scikit-sundae: IDA and CVODE of SUNDIALS 7, driven one internal step at a time. `sundials:ida` is quicker.

The package has no `IDASetSuppressAlg`, so that large absolute tolerances take its place (see `_sundials`).
Its output inside a step is SUNDIALS' own interpolation polynomial. Options are those of its constructors, and `lmm` for
CVODE's `method`; it refuses others itself.

Both codes are multistep codes without a way to take a corrected state back: with a projection they restart at order 1
when the drift exceeds some ten tolerances (`_sundials.Restarts`). A restart costs 20 to 40 steps: on a swinging
pendulum at rtol = 1e-8 they double the steps. Recorded states are projected anyway.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import warnings
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import AbstractAdapter, Method, Outcome, Request, Solvable, Stats, Unsupported
from rbdae_adapters._sundials import (
    MAX_STEPS,
    REASONS,
    STALLED,
    STALLED_MESSAGE,
    ResidualNative,
    Restarts,
    RhsNative,
    first_step,
    gave_up,
    least_tolerance,
    tolerances,
)
from rbdae_adapters.toolkit import AbstractStepper, Dense, Recorder, drive, take_options, usable

SPARSE_FROM = 250
"""Number of unknowns from which IDA's default linear solver is the sparse one: there SuperLU_MT, which needs about
0.2 ms for each solve, overtakes the dense one (measured with a band of 13)."""

_KRYLOV = frozenset({"gmres", "bicgstab", "tfqmr"})


@final
class _Stepper(AbstractStepper):
    """Either solver; IDA carries yd along, CVODE does not."""

    def __init__(self, problem: Solvable, native: ResidualNative | RhsNative, recorder: Recorder) -> None:
        self._solver = _solver(native)
        self._t, self._t_end = recorder.request.t0, recorder.request.t_end
        self._y = recorder.y0.copy()
        self._yd = native.yd0 if isinstance(native, ResidualNative) else None
        self._restarts = Restarts(problem, recorder)
        self._past = self._counts = (0, 0)  # evaluations and Jacobians before the last restart, and since then
        self._start()

    def _start(self) -> None:
        self._solver.init_step(self._t, self._y, *(() if self._yd is None else (self._yd,)))

    def step(self) -> tuple[float, Vec]:
        for _ in range(3):  # after interpolation the first call returns to the end of the step
            result = self._solver.step(self._t_end, "onestep", self._t_end)
            self._counts = (result.nfev, result.njev)
            if result.status < 0:
                raise gave_up(REASONS, result.status, result.message)
            if result.t > self._t:
                break
        else:
            raise gave_up(REASONS, STALLED, STALLED_MESSAGE)
        self._t, self._y = result.t, result.y
        if self._yd is not None:
            self._yd = result.yp
        return self._t, self._y

    def interpolant(self) -> Dense:
        step = self._solver.step
        return lambda t: step(t, "normal").y

    def replace(self, t: float, y: Vec) -> None:
        self._restarts.noted()
        self._past = (self._past[0] + self._counts[0], self._past[1] + self._counts[1])
        self._counts = (0, 0)
        self._t, self._y = t, y
        self._start()

    def finish(self, stats: Stats) -> None:
        stats.evaluations = self._past[0] + self._counts[0]
        stats.jacobians = self._past[1] + self._counts[1]
        stats.factorisations = -1 if self._yd is None else stats.jacobians  # CVODE reuses Jacobians
        stats.rejected = -1  # the package does not report them


@final
class SksundaeAdapter(AbstractAdapter):
    """`sksundae.ida.IDA` and `sksundae.cvode.CVODE`."""

    package = "sksundae"
    install = "pip install scikit-sundae"
    methods = (
        Method(
            "ida",
            frozenset({"ode", "dae"}),
            frozenset({1, 2, 3}),
            summary="BDF of order 1 to 5 for F(t, y, y') = 0, dense or sparse analytic Jacobian",
            untested=frozenset({1}),
        ),
        Method("cvode", frozenset({"ode"}), summary="Adams (default) or BDF, analytic Jacobian"),
    )

    def version(self) -> str | None:
        if importlib.util.find_spec("sksundae") is None:
            return None
        return importlib.metadata.version("scikit-sundae")

    def native(
        self, problem: Solvable, method: str, *, rtol: float = 1e-6, atol: float | Vec = 1e-6, **options: Any
    ) -> ResidualNative | RhsNative:
        """Callbacks and the arguments of the package's constructor; `options` are the package's own."""
        given = take_options(options, None, f"sksundae:{method}")
        return (_ida if method == "ida" else _cvode)(problem, rtol, atol, given)

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        request = usable(problem, request, least_tolerance(problem))
        recorder = Recorder(problem, request, one_step=False)
        native = self.native(problem, method.name, rtol=request.rtol, atol=request.atol, **request.options)
        stepper = _Stepper(problem, native, recorder)
        return drive(stepper, recorder, max_steps=native.options.get("max_num_steps", MAX_STEPS))


def _solver(native: ResidualNative | RhsNative) -> Any:
    from sksundae.cvode import CVODE
    from sksundae.ida import IDA

    with warnings.catch_warnings():
        # that our Jacobian takes precedence over differences is what is wanted
        warnings.filterwarnings("ignore", message="Custom sparse Jacobian approximation")
        if isinstance(native, ResidualNative):
            return IDA(native.resfn, **native.options)
        return CVODE(native.rhsfn, **native.options)


def _ida(problem: Solvable, rtol: float, atol: float | Vec, given: dict[str, Any]) -> ResidualNative:
    callbacks = problem.callbacks
    residual, jacobian, data = callbacks.residual, callbacks.jacobian, callbacks.jacobian_data
    options = {"linsolver": "sparse" if problem.n >= SPARSE_FROM else "dense", **given}

    def resfn(t: float, y: Vec, yp: Vec, res: Vec) -> None:
        residual(t, y, yp, res)

    def dense(t: float, y: Vec, yp: Vec, res: Vec, cj: float, JJ: Mat) -> None:
        jacobian(t, y, yp, cj, JJ)

    def sparse(t: float, y: Vec, yp: Vec, res: Vec, cj: float, JJ: Vec) -> None:
        data(t, y, yp, cj, JJ)

    jacfn = sparse if options["linsolver"] == "sparse" else dense
    if options["linsolver"] in _KRYLOV:
        if problem.kind == "dae" and options.get("precond") is None:
            raise Unsupported(
                f"sksundae:ida with linsolver={options['linsolver']!r} does not converge on a constrained "
                "problem without a preconditioner; give precond=sksundae.ida.IDAPrecond(...), "
                "or take 'dense', 'sparse', or sundials:ida, which has one"
            )
        options.setdefault("jactimes", _products(problem))
    else:
        options["jacfn"] = jacfn
    if options["linsolver"] == "sparse":
        options["sparsity"] = _pattern(problem)
    options["rtol"], options["atol"] = tolerances(problem, rtol, atol)
    if problem.kind == "dae":
        options["algebraic_idx"] = [int(i) for i in np.flatnonzero(~np.asarray(problem.differential))]
    options.setdefault("first_step", first_step(problem, rtol))
    y0, yd0 = np.array(problem.y0, dtype=float), np.array(problem.yd0, dtype=float)
    return ResidualNative(resfn, jacfn, y0, yd0, problem.t0, options)


def _cvode(problem: Solvable, rtol: float, atol: float | Vec, given: dict[str, Any]) -> RhsNative:
    rhs, callbacks = problem.callbacks.rhs, problem.callbacks  # asking for the Jacobian allocates memory of its size
    options = {"method": given.pop("lmm", "adams"), **given}
    linsolver = options.get("linsolver", "dense")
    if linsolver == "sparse":
        raise Unsupported(
            "sksundae:cvode has linsolver='sparse', but the Jacobian of a right-hand side is dense; "
            "take 'dense', or sksundae:ida"
        )

    def rhsfn(t: float, y: Vec, yp: Vec) -> None:
        rhs(t, y, yp)

    def jacfn(t: float, y: Vec, yp: Vec, JJ: Mat) -> None:
        callbacks.rhs_jacobian(t, y, JJ)

    if linsolver not in _KRYLOV:
        options["jacfn"] = jacfn
    options["rtol"], options["atol"] = rtol, atol
    return RhsNative(rhsfn, jacfn, np.array(problem.y0, dtype=float), problem.t0, options)


def _pattern(problem: Solvable) -> Any:
    """The sparsity as a CSC matrix, with the index type that the package's buffers want."""
    from scipy.sparse import csc_matrix  # a slow import, not needed with dense Jacobians

    pattern = csc_matrix(problem.sparsity, copy=True)
    pattern.indices = pattern.indices.astype(np.int32)
    pattern.indptr = pattern.indptr.astype(np.int32)
    return pattern


def _products(problem: Solvable) -> Any:
    """Products with our sparse Jacobian for the Krylov solvers, instead of differences of residuals."""
    from scipy.sparse import csc_matrix
    from sksundae.ida import IDAJacTimes

    data = problem.callbacks.jacobian_data
    matrix = csc_matrix(problem.sparsity, copy=True)

    def setup(t: float, y: Vec, yp: Vec, res: Vec, cj: float) -> None:
        data(t, y, yp, cj, matrix.data)

    def product(t: float, y: Vec, yp: Vec, res: Vec, v: Vec, Jv: Vec, cj: float) -> None:
        Jv[:] = matrix @ v

    return IDAJacTimes(setup, product)


ADAPTER = SksundaeAdapter()
