"""The adapter: methods, options, and which module runs which."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import AbstractAdapter, Method, Outcome, Request, Solvable, Unsupported
from rbdae_adapters.assimulo import _classes, _odassl, _radau5_dae
from rbdae_adapters.assimulo._native import (
    Counts,
    classed_problem,
    explicit_problem,
    implicit_problem,
    rhs,
    rhs_jacobian,
)
from rbdae_adapters.toolkit import first_step, take_options
from rbdae_adapters.toolkit import options as check

_RADAU: dict[str, check.Check] = {
    "inith": check.not_negative,
    "newt": check.count,
    "thet": check.fraction,
    "fnewt": check.positive,
    "quot1": check.positive,
    "quot2": check.positive,
    "fac1": check.positive,
    "fac2": check.positive,
    "maxh": check.limit,
    "safe": check.fraction,
    "maxsteps": check.count,
    "usejac": check.flag,
}
_OPTIONS: dict[str, dict[str, check.Check]] = {
    "Radau5DAE": _RADAU,
    "Radau5ODE": _RADAU,
    "ODASSL": {"inith": check.not_negative, "maxh": check.limit, "maxord": check.count, "max_steps": check.count},
    "Dopri5": {name: _RADAU[name] for name in ("inith", "safe", "fac1", "fac2", "maxh", "maxsteps")}
    | {"beta": check.not_negative},
    "RodasODE": {name: _RADAU[name] for name in ("inith", "fac1", "fac2", "maxh", "safe", "maxsteps", "usejac")},
    "LSODAR": {
        "maxh": check.limit,
        "maxordn": check.count,
        "maxords": check.count,
        "maxsteps": check.count,
        "usejac": check.flag,
    },
    "ExplicitEuler": {},
    "ImplicitEuler": {"newt": check.count, "usejac": check.flag},
}
_NATIVE_OPTIONS = {"ODASSL": {name: _OPTIONS["ODASSL"][name] for name in ("inith", "maxh")}}
"""Of its class, whose `maxord` refuses what it should take, and which counts no steps."""

_ODE = frozenset({"ode"})


@final
class AssimuloAdapter(AbstractAdapter):
    """Assimulo, see the package `rbdae_adapters.assimulo`."""

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
        Method(
            "Radau5ODE",
            _ODE,
            one_step=True,
            summary="RADAU5 (Radau IIA, order 5), analytic Jacobian",
            shared_state="radau5",
            coarse_output=True,
        ),
        Method(
            "RodasODE",
            _ODE,
            one_step=True,
            summary="RODAS (Rosenbrock, order 4), analytic Jacobian",
            shared_state="rodas",
        ),
        Method(
            "Dopri5",
            _ODE,
            one_step=True,
            summary="DOPRI5 (Dormand-Prince 5(4)), explicit",
            shared_state="dopri5",
        ),
        Method("LSODAR", _ODE, summary="Adams or BDF, chosen by itself, analytic Jacobian", shared_state="odepack"),
        Method(
            "ExplicitEuler", _ODE, one_step=True, fixed_step=True, summary="explicit Euler, fixed step, for comparison"
        ),
        Method(
            "ImplicitEuler",
            _ODE,
            one_step=True,
            fixed_step=True,
            summary="implicit Euler, fixed step, analytic Jacobian, for comparison",
        ),
    )

    def version(self) -> str | None:
        """The distribution's version."""
        if importlib.util.find_spec("assimulo") is None:
            return None
        return self._version

    @functools.cached_property  # it reads the lists of files of all distributions
    def _version(self) -> str:
        """The version of the distribution that has the package: Modelon's wheels have a name of their own."""
        names = importlib.metadata.packages_distributions().get("assimulo", [])
        return importlib.metadata.version(names[0]) if names else "unknown"

    def native(
        self, problem: Solvable, method: str, *, rtol: float = 1e-6, atol: float | Vec = 1e-6, **options: Any
    ) -> Any:
        """An `Explicit_Problem`, an `Implicit_Problem` (Radau5DAE) or an `Overdetermined_Problem` (ODASSL).

        Each has `jac` in the class's signature, and `options`: attributes of the solver, tolerances, limits and the
        first step among them, for ``setattr(solver, name, value)``; `options` that are given are added. The latter two
        have `algvar`, 0 for multipliers, and ``unknowns(y, yd)``, the unknowns of `problem`. At index 2 Radau5DAE's
        class has the multipliers in yd, see `_native.classed_problem`; index 3 is beyond it.
        """
        given = take_options(
            options, _NATIVE_OPTIONS.get(method, _OPTIONS[method]), f"the native form of assimulo:{method}"
        )
        counts = Counts()
        if method == "Radau5DAE":
            if problem.index == 3:
                raise Unsupported(
                    f"Assimulo's own Radau5DAE has no index class for {problem.formulation}; take a form of index 2, "
                    "or rbdae.solve, which calls RADAU5 in another way"
                )
            native = classed_problem(problem, counts)
            given = _radau5_dae.settings(problem, counts, rtol) | given
        elif method == "ODASSL":
            native = implicit_problem(problem, counts, "Overdetermined_Problem")
            given = {"inith": first_step(problem, rtol)} | given
        else:
            native = explicit_problem(problem, rhs(problem, counts), rhs_jacobian(problem, counts))
            given = _classes.settings(problem, method, rtol) | given
        if method != "ExplicitEuler":
            given |= {"rtol": rtol, "atol": np.array(np.broadcast_to(atol, (problem.n,)), dtype=float)}
        native.options = given
        return native

    def run(self, problem: Solvable, method: Method, request: Request) -> Outcome:
        """Run one of the methods."""
        options = take_options(request.options, _OPTIONS[method.name], f"assimulo:{method.name}")
        if method.name == "Radau5DAE":
            return _radau5_dae.run(problem, method, request, options)
        if method.name == "ODASSL":
            return _odassl.run(problem, request, options)
        return _classes.run(problem, method, request, options)


ADAPTER = AssimuloAdapter()

__all__ = ["ADAPTER", "AssimuloAdapter"]
