"""scikit-sundae: IDA and CVODE of SUNDIALS 7, one internal step at a time. `sundials:ida` is quicker.

The package has no `IDASetSuppressAlg`; large absolute tolerances take its place (see `_sundials`).
Output inside a step is SUNDIALS' own interpolation polynomial. Options are its constructors' arguments, with `lmm` for
CVODE's `method`; it refuses others itself. Its Krylov solvers do not get our Jacobian: they take differences, or the
user's `precond` and `jactimes`.

With a projection both codes restart when the drift exceeds some ten tolerances (`toolkit.Recorder`), which takes more
steps. Recorded states are projected anyway.
"""

from __future__ import annotations

import warnings
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import AbstractAdapter, Method, Outcome, Request, Solvable, Stats
from rbdae_adapters._sundials import (
    MAX_STEPS,
    REASONS,
    InternalSteps,
    Native,
    adams_or_bdf,
    bdf,
    first_step,
    gave_up,
    least_tolerance,
    tolerances,
)
from rbdae_adapters.toolkit import Dense, Recorder, drive, installed, take_options, usable

SPARSE_FROM = 250
"""Number of unknowns from which IDA's default linear solver is sparse: there SuperLU_MT overtakes the dense one, where
bands are narrow."""

_KRYLOV = frozenset({"gmres", "bicgstab", "tfqmr"})


@final
class _Stepper(InternalSteps):
    def __init__(self, native: Native, recorder: Recorder) -> None:
        super().__init__(native, recorder)
        from sksundae.cvode import CVODE
        from sksundae.ida import IDA

        with warnings.catch_warnings():  # our Jacobian is meant to replace differences
            warnings.filterwarnings("ignore", message="Custom sparse Jacobian approximation")
            solver, function = (CVODE, native.rhsfn) if native.resfn is None else (IDA, native.resfn)
            self._solver: Any = solver(function, **native.options)
        self._counts = np.zeros((2, 2), dtype=np.int64)  # evaluations and Jacobians before the last start, and since
        self._start()

    def _start(self) -> None:
        self._counts = np.array([self._counts.sum(axis=0), [0, 0]])
        self._solver.init_step(self._t, self._y, *(() if self._yd is None else (self._yd,)))

    def _advance(self) -> tuple[float, Vec, Vec | None]:
        result = self._solver.step(self._t_end, "onestep", self._t_end)
        self._counts[1] = result.nfev, result.njev
        if result.status < 0:
            raise gave_up(REASONS, result.status, result.message)
        return result.t, result.y, None if self._yd is None else result.yp

    def interpolant(self) -> Dense:
        step = self._solver.step
        return lambda t: step(t, "normal").y

    def finish(self, stats: Stats) -> None:
        stats.evaluations, stats.jacobians = self._counts.sum(axis=0).tolist()
        stats.factorisations = -1 if self._yd is None else stats.jacobians  # CVODE reuses Jacobians
        stats.rejected = -1  # the package does not report them


@final
class SksundaeAdapter(AbstractAdapter):
    """`sksundae.ida.IDA` and `sksundae.cvode.CVODE`."""

    package = "sksundae"
    install = "pip install scikit-sundae"
    methods = (
        bdf("ida", "dense or sparse analytic Jacobian"),
        adams_or_bdf("analytic Jacobian"),
    )

    def version(self) -> str | None:
        return installed("scikit-sundae", "sksundae")

    def native(
        self, problem: Solvable, method: str, *, rtol: float = 1e-6, atol: float | Vec = 1e-6, **options: Any
    ) -> Native:
        """Callbacks and the arguments of the package's constructor; `options` are the package's own."""
        given = take_options(options, None, f"sksundae:{method}")
        return (_ida if method == "ida" else _cvode)(problem, rtol, atol, given)

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        request = usable(problem, request, least_tolerance(problem))
        recorder = Recorder(problem, request, one_step=False)
        native = self.native(problem, method.name, rtol=request.rtol, atol=request.atol, **request.options)
        return drive(_Stepper(native, recorder), recorder, max_steps=native.options.get("max_num_steps", MAX_STEPS))


def _ida(problem: Solvable, rtol: float, atol: float | Vec, given: dict[str, Any]) -> Native:
    options = {"linsolver": "sparse" if problem.n >= SPARSE_FROM else "dense", **given}
    sparse = options["linsolver"] == "sparse"
    fill: Any = problem.callbacks.jacobian_data if sparse else problem.callbacks.jacobian
    if sparse:
        options["sparsity"] = pattern = problem.sparsity.copy()
        # the index type of the package's buffers
        pattern.indices, pattern.indptr = pattern.indices.astype(np.int32), pattern.indptr.astype(np.int32)
    options["rtol"], options["atol"] = tolerances(problem, rtol, atol)
    if problem.kind == "dae":
        options["algebraic_idx"] = [int(i) for i in np.flatnonzero(~np.asarray(problem.differential))]
    options.setdefault("first_step", first_step(problem, rtol))
    return Native.of_residual(problem, options, fill, with_jacobian=options["linsolver"] not in _KRYLOV)


def _cvode(problem: Solvable, rtol: float, atol: float | Vec, given: dict[str, Any]) -> Native:
    options = {"method": given.pop("lmm", "adams"), **given, "rtol": rtol, "atol": atol}
    return Native.of_rhs(problem, options, with_jacobian=options.get("linsolver") not in _KRYLOV)


ADAPTER = SksundaeAdapter()
