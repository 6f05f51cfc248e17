"""SUNDIALS' IDA and CVODE without Python between their steps.

The shared libraries come from scikit-sundae's wheel, or from a folder (`_library`). Callbacks are machine functions
(`_shims`), IDA's linear solver is our factors (`rbdae.machine.factors`), the loop is `rbdae.machine.loops.multistep`. A
run stays in machine code from start to end, except where an event changes sign or a switch may be due; a progress
function is called after every step. The steps are the same in all cases.

A projected state goes back without a restart: in CVODE's BDF by its own projection function; in the others into the
zeroth column of their history, which shifts the recent history (`_run`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae._check import count
from rbdae.adapter import AbstractAdapter, Method, MissingSolver, Outcome, Request, Solvable
from rbdae_adapters._sundials import MAX_STEPS, adams_or_bdf, bdf, first_step, least_tolerance, tolerances
from rbdae_adapters.sundials import _library
from rbdae_adapters.sundials._run import SETTERS, MultistepRun
from rbdae_adapters.toolkit import loops, take_options, usable
from rbdae_adapters.toolkit.loops import Inside, machine

_COMMON = ("library", "linsolver", "max_num_steps", *(name for name, *_ in SETTERS))
_OPTIONS = {"ida": (*_COMMON, "suppress_alg"), "cvode": (*_COMMON, "lmm")}
_CHOICES: dict[str, tuple[object, ...]] = {
    "linsolver": ("factors", "dense"),
    "lmm": ("adams", "bdf"),
    "suppress_alg": (True, False),
}


def _prepared(
    problem: Solvable, method: str, rtol: float, atol: float | Vec, options: Mapping[str, Any]
) -> tuple[_library.Library, float, float | Vec, dict[str, Any]]:
    """The library, SUNDIALS' tolerances, and the options with our defaults."""
    given = take_options(options, _OPTIONS[method], f"sundials:{method}", **_CHOICES)
    library = _library.library(given.pop("library", None))
    given["max_num_steps"] = count("sundials", "max_num_steps", given.get("max_num_steps", MAX_STEPS))
    if method == "ida":
        given.setdefault("first_step", first_step(problem, rtol))
        rtol, atol = tolerances(problem, rtol, atol)
    return library, rtol, atol, given


@final
@dataclass(frozen=True, slots=True)
class NativeProblem:
    """Functions and values for your own SUNDIALS loop, see ``examples/sundials_by_hand.py``.

    Parameters
    ----------
    function, jacobian : machine functions, see `rbdae.machine.function`: residual and the data of its Jacobian, or
        right-hand side and its Jacobian, row by row
    y0, yd0 : consistent initial values, shape (n,)
    t0 : initial time
    rtol, atol : SUNDIALS' tolerances, by the class of each unknown
    options : ``max_num_steps``, IDA's ``first_step``, and the given options
    library : the SUNDIALS of a run: ``library.call(name, result, *arguments)`` calls one of its functions with ctypes
        values, ``library.address(name)`` is its address, ``library.has(name)`` tells whether it exists
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
    """IDA and CVODE of the installed SUNDIALS, see the package `rbdae_adapters.sundials`."""

    package = "sundials"
    install = "pip install scikit-sundae"
    methods = (
        bdf("ida", "its callbacks, factors and loop in machine code"),
        adams_or_bdf("projected in its steps, its callbacks and loop in machine code"),
    )

    def version(self) -> str | None:
        try:
            return ".".join(map(str, _library.library().version))
        except MissingSolver:
            return None

    def native(
        self, problem: Solvable, method: str, *, rtol: float = 1e-6, atol: float | Vec = 1e-6, **options: Any
    ) -> NativeProblem:
        """Machine functions, consistent values and SUNDIALS' tolerances; `options` as for a run."""
        library, rtol, atol, given = _prepared(problem, method, rtol, atol, options)
        names = ("residual", "jacobian_data") if method == "ida" else ("rhs", "rhs_jacobian")
        function, jacobian = (machine(problem, name) for name in names)
        y0, yd0 = np.array(problem.y0, dtype=float), np.array(problem.yd0, dtype=float)
        return NativeProblem(function, jacobian, y0, yd0, problem.t0, rtol, atol, given, library)

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        implicit = method.name == "ida"
        request = usable(problem, request, least_tolerance(problem))
        library, rtol, atol, options = _prepared(problem, method.name, request.rtol, request.atol, request.options)
        with ExitStack() as ends:

            def make(y0: Vec, within: Inside | None) -> MultistepRun:
                made = MultistepRun(library, problem, request, y0, implicit, rtol, atol, options, within)
                return ends.enter_context(closing(made))

            return loops.run(make, problem, request, options["max_num_steps"])


ADAPTER = SundialsAdapter()
