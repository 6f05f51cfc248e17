"""The adapter: methods, options, and which module runs which."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from typing import Any, final

from rbdae._arrays import Vec
from rbdae.adapter import AbstractAdapter, Method, Outcome, Request, Solvable
from rbdae_adapters._sundials import MAX_STEPS, ResidualNative, RhsNative, least_tolerance
from rbdae_adapters.scikits_odes import _daspk, _ida_cvode, _native
from rbdae_adapters.toolkit import Recorder, drive, take_options, usable
from rbdae_adapters.toolkit import options as check

_SUNDIALS: dict[str, check.Check] = {
    "order": check.count_or_zero,
    "max_steps": check.count,
    "max_step_size": check.not_negative,
    "first_step_size": check.not_negative,
    "max_conv_fails": check.count_or_zero,
    "max_nonlin_iters": check.count_or_zero,
    "nonlin_conv_coef": check.not_negative,
    "linsolver": check.word,
    "maxl": check.count_or_zero,
    "precond_type": check.anything,
    "prec_setupfn": check.anything,
    "prec_solvefn": check.anything,
    "jac_times_vecfn": check.anything,
    "jac_times_setupfn": check.anything,
    "user_data": check.anything,
}
_OPTIONS: dict[str, dict[str, check.Check]] = {
    "ida": {**_SUNDIALS, "constraints_type": check.anything},
    "cvode": {
        **_SUNDIALS,
        "lmm": check.one_of("adams", "bdf"),
        "lmm_type": check.one_of("adams", "bdf"),
        "nonlinsolver": check.one_of("newton", "fixedpoint"),
        "bdf_stability_detection": check.flag,
        "min_step_size": check.not_negative,
    },
    "ddaspk": {
        "order": check.count,
        "max_steps": check.count,
        "max_step_size": check.not_negative,
        "first_step": check.not_negative,
    },
}


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
            untested=frozenset({1}),
        ),
        Method("cvode", frozenset({"ode"}), summary="SUNDIALS CVODE: Adams (default) or BDF, analytic Jacobian"),
        Method(
            "ddaspk",
            frozenset({"ode", "dae"}),
            frozenset({1, 2, 3}),
            summary="DASPK: BDF of order 1 to 5 for F(t, y, y') = 0, dense analytic Jacobian",
            shared_state="ddaspk",
            untested=frozenset({1}),
        ),
    )

    def version(self) -> str | None:
        """The version of the distribution with SUNDIALS."""
        if any(importlib.util.find_spec(name) is None for name in ("scikits_odes", "scikits_odes_sundials")):
            return None
        return importlib.metadata.version("scikits-odes-sundials")

    def native(
        self, problem: Solvable, method: str, *, rtol: float = 1e-6, atol: float | Vec = 1e-6, **options: Any
    ) -> ResidualNative | RhsNative:
        """Callbacks and the arguments of the package's constructor; `options` are the package's own.

        Tolerances, the classes of unknowns and a limit of a million steps are among them. DASPK has no such limit: it
        ends after 500 steps between two outputs, whatever `max_steps` says.

        With a Krylov solver on a constrained form, `resfn` gives the residual multiplied by P^-1 (see `_krylov`), and
        serves one solver at a time.
        """
        given = take_options(options, _OPTIONS[method], f"scikits.odes:{method}")
        if method == "cvode":
            return _native.cvode(problem, rtol, atol, given)
        return (_native.ida if method == "ida" else _daspk.native)(problem, rtol, atol, given)

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        """Run one of the methods."""
        options = dict(request.options)
        max_steps = options.get("max_steps", MAX_STEPS)
        request = usable(problem, request, least_tolerance(problem))
        recorder = Recorder(problem, request, one_step=method.name == "ddaspk")
        native = self.native(problem, method.name, rtol=request.rtol, atol=request.atol, **options)
        if method.name == "ddaspk" and isinstance(native, ResidualNative):
            stepper = _daspk.stepper(problem, native, request, recorder)
        else:
            stepper = _ida_cvode.stepper(problem, native, request, recorder)
        return drive(stepper, recorder, max_steps=max_steps)


ADAPTER = ScikitsOdesAdapter()

__all__ = ["ADAPTER", "ScikitsOdesAdapter"]
