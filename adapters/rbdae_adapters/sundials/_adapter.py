"""The adapter: methods and options."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae._check import count, show
from rbdae.adapter import (
    AbstractAdapter,
    Method,
    MissingSolver,
    Outcome,
    Request,
    Solvable,
    Unsupported,
)
from rbdae.problem.contract import CompiledProjection
from rbdae_adapters._sundials import MAX_STEPS, first_step, least_tolerance, tolerances
from rbdae_adapters.sundials import _library
from rbdae_adapters.sundials._integrator import KRYLOV, Integrator
from rbdae_adapters.sundials._run import MultistepRun
from rbdae_adapters.toolkit import Recorder, loops, take_options, usable

_COMMON = (
    "library", "linsolver", "first_step", "min_step", "max_step", "max_order", "max_num_steps", "max_nonlin_iters",
    "max_conv_fails", "max_err_test_fails", "nonlin_conv_coef", "krylov_dim",
)  # fmt: skip
_OPTIONS = {"ida": (*_COMMON, "suppress_alg"), "cvode": (*_COMMON, "lmm")}
_CHOICES = {
    "linsolver": ("factors", "dense", *KRYLOV),
    "lmm": ("adams", "bdf"),
    "suppress_alg": (True, False),
}


def _options(given: Mapping[str, Any], method: str) -> dict[str, Any]:
    """The user's options; numbers are checked by SUNDIALS, which is told them."""
    out = take_options(given, _OPTIONS[method], f"sundials:{method}")
    for name, known in _CHOICES.items():
        if name in out and out[name] not in known:
            listed = ", ".join(map(repr, known))
            raise ValueError(f"sundials:{method}: {name} must be one of {listed}, got {show(out[name])}; choose one")
    return out


@final
@dataclass(frozen=True, slots=True)
class NativeProblem:
    """The functions and values that a SUNDIALS loop of one's own needs: see ``examples/sundials_by_hand.py``.

    Parameters
    ----------
    function, jacobian : machine functions, see `rbdae.machine.function`: residual and the data of its Jacobian, or
        right-hand side and its Jacobian, row after row
    y0, yd0 : consistent initial values, shape (n,)
    t0 : initial time
    rtol, atol : SUNDIALS' tolerances, by the class of each unknown
    options : ``max_num_steps``, IDA's ``first_step``, and what was given
    library : the SUNDIALS that a run would take: ``library.call(name, result, *arguments)`` calls a function of it with
        values of ctypes, ``library.address(name)`` says where it begins, ``library.has(name)`` whether it is there
    """

    function: Any
    jacobian: Any
    y0: Vec
    yd0: Vec
    t0: float
    rtol: float
    atol: float | Vec
    options: Mapping[str, Any]
    library: _library.Library


@final
class SundialsAdapter(AbstractAdapter):
    """IDA and CVODE of the SUNDIALS that is there, see the package `rbdae_adapters.sundials`."""

    package = "sundials"
    install = "pip install scikit-sundae"
    methods = (
        Method(
            "ida",
            frozenset({"ode", "dae"}),
            frozenset({1, 2, 3}),
            summary="BDF of order 1 to 5 for F(t, y, y') = 0, its callbacks, factors and loop in machine code",
            untested=frozenset({1}),
        ),
        Method(
            "cvode",
            frozenset({"ode"}),
            summary="Adams (default) or BDF, projected in its steps, its callbacks and loop in machine code",
        ),
    )

    def version(self) -> str | None:
        """The version of the first library that is there."""
        try:
            return ".".join(map(str, _library.library().version))
        except MissingSolver:
            return None

    def native(
        self, problem: Solvable, method: str, *, rtol: float = 1e-6, atol: float | Vec = 1e-6, **options: Any
    ) -> NativeProblem:
        """Machine functions, consistent values and SUNDIALS' tolerances; `options` are those of a run."""
        from rbdae_adapters.sundials._integrator import machine

        given = _options(options, method)
        library = _library.library(given.pop("library", None))
        implicit = method == "ida"
        if implicit:
            given.setdefault("first_step", first_step(problem, rtol))
            rtol, atol = tolerances(problem, rtol, atol)
        given.setdefault("max_num_steps", MAX_STEPS)
        names = ("residual", "jacobian_data") if implicit else ("rhs", "rhs_jacobian")
        functions = [machine(problem, name) for name in names]
        y0, yd0 = np.array(problem.y0, dtype=float), np.array(problem.yd0, dtype=float)
        return NativeProblem(functions[0], functions[1], y0, yd0, problem.t0, rtol, atol, given, library)

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        """Run one of the two."""
        began = time.perf_counter()
        options = _options(request.options, method.name)
        library = _library.library(options.pop("library", None))
        implicit = method.name == "ida"
        max_steps = count("sundials", "max_num_steps", options.pop("max_num_steps", MAX_STEPS))
        request = usable(problem, request, least_tolerance(problem))
        rtol, atol = request.rtol, request.atol
        if implicit:
            options.setdefault("first_step", first_step(problem, rtol))
            rtol, atol = tolerances(problem, rtol, atol)
        made: list[Integrator] = []

        def integrator(y0: Vec, correction: CompiledProjection | None = None) -> Integrator:
            one = Integrator(
                library, problem, y0, implicit, rtol, atol, (request.t0, request.t_end), options,
                request.direction, correction, request.projector is not None and correction is None,
            )  # fmt: skip
            made.append(one)
            return one

        def stepwise(recorder: Recorder) -> MultistepRun:
            return MultistepRun(integrator(recorder.y0), implicit, request, recorder.y0, None, stepwise=True)

        # States are projected within the steps of CVODE's BDF, between those of the others
        within = not implicit and options.get("lmm") == "bdf"
        inside = loops.inside(problem, request)
        try:
            if inside is None:
                return loops.stepwise(stepwise, problem, request, max_steps)
            y0, correction, watch, events = *inside, inside.events
            made_here = integrator(y0, correction if within else None)
            if within and request.t_eval is None:
                correction = None  # ends of steps are projected, states between them are not
            one = MultistepRun(
                made_here, implicit, request, y0, max_steps, correction=correction, watch=watch, within=within
            )
            return loops.free(one, request, began, events)
        finally:
            for each in made:
                each.close()


ADAPTER = SundialsAdapter()

__all__ = ["ADAPTER", "NativeProblem", "SundialsAdapter", "Unsupported"]
