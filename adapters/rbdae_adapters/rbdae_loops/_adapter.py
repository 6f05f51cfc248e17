"""The adapter: methods and options."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, final

from rbdae._arrays import Vec
from rbdae._frozen import changed
from rbdae._version import __version__
from rbdae.adapter import AbstractAdapter, Method, Outcome, Request, Solvable, Steps
from rbdae.machine.loops.methods import METHODS, ODEX, Extrapolation, OneStep
from rbdae.problem.contract import CompiledFunction
from rbdae_adapters.rbdae_loops import _fixed
from rbdae_adapters.rbdae_loops._function import right_hand_side
from rbdae_adapters.rbdae_loops._loop import OneStepRun
from rbdae_adapters.rbdae_loops._stepper import LoopStepper
from rbdae_adapters.toolkit import free_loop, stepwise_loop, take_options
from rbdae_adapters.toolkit import options as check


def _factor(owner: str, name: str, value: object) -> float:
    """A factor by which steps grow."""
    out = check.positive(owner, name, value)
    if out < 1.0:
        raise ValueError(f"{owner}: {name} must be at least 1, got {out!r}; leave it out")
    return out


_OPTIONS: dict[str, check.Check] = {
    "first_step": check.positive,
    "max_step": check.limit,
    "max_steps": check.count,
    "safety": check.fraction,
    "shrink": check.fraction,
    "grow": _factor,
    "beta": check.not_negative,
}


_HAMILTONIAN = ("hamiltonian", "hamiltonian-momentum", "hamiltonian-differentiated", "hamiltonian-eliminated")
"""Momenta as unknowns, and no further multipliers: the schemes take their state, and no equation of theirs."""


@cache
def _one_step(method: OneStep) -> Method:
    summary = f"{method.tableau.summary}, explicit, its loop in machine code"
    return Method(method.name, frozenset({"ode"}), one_step=True, summary=summary)


_ODEX = Method("odex", frozenset({"ode"}), one_step=True, summary=f"{ODEX.summary}, its loop in machine code")

_FIXED = (
    Method(
        "energy-momentum",
        frozenset({"ode", "dae"}),
        indices=frozenset({1, 2, 3}),
        one_step=True,
        fixed_step=True,
        summary="keeps energy and momentum: QUAT.EM-R, variant='paper' for QUAT.EM [BS09], or DIR.EM; order 2",
        pairings=frozenset((f, r, "momentum") for f in _HAMILTONIAN for r in ("quaternion", "directors")),
    ),
    Method(
        "variational",
        frozenset({"ode", "dae"}),
        indices=frozenset({1, 2, 3}),
        one_step=True,
        fixed_step=True,
        summary="keeps momentum, symplectic: QUAT.VI [BS09], with joints and weight; order 2",
        pairings=frozenset((form, "quaternion", "momentum") for form in _HAMILTONIAN),
    ),
    Method(
        "simo-wong",
        frozenset({"ode"}),
        one_step=True,
        fixed_step=True,
        summary="keeps momentum: ALGO.C1 [SW91], variant='energy-momentum' keeps energy; order 2",
        pairings=frozenset({("index-0", "quaternion", "angular")}),
    ),
    Method(
        "midpoint",
        frozenset({"ode"}),
        one_step=True,
        fixed_step=True,
        summary="mid-point rule of [GR95], section 11: keeps energy and momentum, and other readings; order 2",
        pairings=frozenset({("index-0", "quaternion", "angular")}),
    ),
)
"""Methods of fixed step size."""


@final
@dataclass(frozen=True, slots=True)
class NativeProblem:
    """The functions and values that a loop of one's own needs, in C, in machine code or in Python.

    Parameters
    ----------
    function : the right-hand side as a machine function: `address` of ``int32 f(void* context, double t, const double*
        y, const double* yd, double c, double* out)``, which does not read yd and c, `context`, and `check`, to be
        called after a result that is not 0; of methods of fixed step size the three functions of a step, `newton`,
        `advance` and `predict` (`rbdae.machine.loops.fixed`), and `n_unknowns` of a step
    t0, y0 : the start, shape (n,)
    method : the method's name
    """

    function: CompiledFunction | Any
    t0: float
    y0: Vec
    method: str


@final
class LoopsAdapter(AbstractAdapter):
    """One-step methods in machine code, see the package `rbdae_adapters.rbdae_loops`."""

    package = "rbdae"
    install = "pip install rbdae"

    @property
    def methods(self) -> tuple[Method, ...]:  # type: ignore[override]
        """The methods that have a tableau, and those of fixed step size."""
        return (*map(_one_step, METHODS.values()), _ODEX, *_FIXED)

    def version(self) -> str | None:
        """The version of rbdae."""
        return __version__

    def native(self, problem: Solvable, method: str, **options: Any) -> NativeProblem:
        """The right-hand side as a machine function, and the start; of fixed-step methods the functions of a step.

        Raises
        ------
        rbdae.adapter.Unsupported
            for options, and for models that the method cannot take
        """
        take_options(options, (), f"the native form of rbdae:{method}")
        if method in _fixed.SCHEMES:
            scheme = next(iter(_fixed.SCHEMES[method].values()))
            return NativeProblem(_fixed.functions_of(problem, scheme, method), problem.t0, problem.y0.copy(), method)
        return NativeProblem(right_hand_side(problem), problem.t0, problem.y0.copy(), method)

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        """Run one of the methods."""
        began = time.perf_counter()
        if method.name in _fixed.SCHEMES:
            own = take_options(request.options, _fixed.options_of(method.name), f"rbdae:{method.name}")
            return _fixed.run(problem, method.name, request, own)
        scheme, options = self._scheme(method, request)
        function = right_hand_side(problem, request.direction)
        inside = free_loop.inside(problem, request)
        if inside is not None:
            one = OneStepRun(scheme, function, request, inside.y0, options, stepwise=False, inside=inside)
            return free_loop.run(one, request, began, inside.events)
        beside = {name: value for name, value in options.items() if name != "max_steps"}
        return stepwise_loop.run(
            lambda recorder: OneStepRun(scheme, function, request, recorder.y0, beside, stepwise=True),
            problem,
            request,
            options.get("max_steps"),
        )

    def stepper(self, problem: Solvable, method: Method, request: Request) -> LoopStepper | None:
        """A run of a method with a tableau, or of ODEX, that its owner continues; None for methods of fixed step size,
        and where a projection or a switch is asked in Python."""
        if method.name in _fixed.SCHEMES or request.events or request.watch is not None:
            return None
        scheme, options = self._scheme(method, request)
        inside = free_loop.inside(problem, changed(request, each_step=False))
        if inside is None:
            return None
        function = right_hand_side(problem)
        run = OneStepRun(scheme, function, request, inside.y0, options, stepwise=False, inside=inside)
        return LoopStepper(run, inside.y0, options.get("max_step", math.inf), keeps=request.keep_steps)

    def _scheme(self, method: Method, request: Request) -> tuple[OneStep | Extrapolation, Mapping[str, Any]]:
        """A method and its options, checked."""
        scheme = ODEX if method.name == ODEX.name else METHODS[method.name]
        known = _OPTIONS if scheme is not ODEX else {name: _OPTIONS[name] for name in _OPTIONS if name != "beta"}
        return scheme, request.options and take_options(request.options, known, f"rbdae:{method.name}")

    def work(self, problem: Solvable, method: str, options: Mapping[str, str], steps: Steps, times: Vec) -> Vec | None:
        """The work of the steps of methods with a fixed step size: forces times increments, multipliers times what
        drives prescribe. For schemes that keep energy it is what the energy changes by."""
        return _fixed.work(problem, method, options, steps, times) if method in _fixed.SCHEMES else None


ADAPTER = LoopsAdapter()

__all__ = ["ADAPTER", "LoopsAdapter", "NativeProblem"]
