"""The adapter: methods, options, and which module runs which."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from typing import Any, final

from rbdae.adapter import AbstractAdapter, Method, Outcome, Request, Solvable
from rbdae_adapters.assimulo import _classes, _odassl, _radau5_dae
from rbdae_adapters.assimulo._native import Counts, explicit_problem, implicit_problem, rhs, rhs_jacobian
from rbdae_adapters.toolkit import options as check
from rbdae_adapters.toolkit import take_options

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
_ODE = frozenset({"ode"})


@final
class AssimuloAdapter(AbstractAdapter):
    """Assimulo, see the package `rbdae_adapters.assimulo`."""

    package = "assimulo"
    install = (
        "`tools/install-solvers`, which builds it from its source release, or `conda install -c conda-forge assimulo`"
    )
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
        return importlib.metadata.version("assimulo")

    def native(self, problem: Solvable, method: str, **options: Any) -> Any:
        """An `Explicit_Problem`, an `Implicit_Problem` (Radau5DAE) or an `Overdetermined_Problem` (ODASSL).

        Each has `jac` in the class's signature; the latter two have `algvar`, 0 for multipliers.
        """
        take_options(options, (), f"the native form of assimulo:{method}")
        counts = Counts()
        if method not in ("Radau5DAE", "ODASSL"):
            return explicit_problem(problem, rhs(problem, counts), rhs_jacobian(problem, counts))
        native = implicit_problem(
            problem, counts, "Implicit_Problem" if method == "Radau5DAE" else "Overdetermined_Problem"
        )
        native.algvar = [int(x) for x in problem.differential]
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
