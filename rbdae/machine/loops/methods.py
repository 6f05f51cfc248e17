"""The methods, as names bound to the loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, final

from rbdae.machine.language.program import Program, callables
from rbdae.machine.loops import control, fixed, loop, memory, multistep, odex
from rbdae.machine.loops.dop853 import DOP853 as DOP853
from rbdae.machine.loops.dopri5 import DOPRI5 as DOPRI5
from rbdae.machine.loops.tableau import Tableau as Tableau
from rbdae.machine.loops.tableau import functions

LEVEL = 1
"""Of optimisation: vector registers are in the text already, and a higher one takes longer for the same speed."""


@final
@dataclass(frozen=True, eq=False)
class Stepper:
    """What makes the steps of a loop.

    Parameters
    ----------
    name, summary : the name as a solver, and what lists call it
    bindings : gives `attempt`, `dense` and `interpolate`, and what these leave open, by name
    made_of : all that they depend on
    vectors : of memory
    shrinks, grows : a step has at least, and at most, these times the length of the one before, Hairer's FAC1 and FAC2
    beta : of the stabilised controller
    order, beta_in_exponent : the next step size has the error to the power of 1 / order - beta_in_exponent beta
    """

    name: str
    summary: str
    bindings: Callable[[], Mapping[str, Any]]
    made_of: str
    vectors: int = memory.VECTORS
    shrinks: float = 1.0
    grows: float = 1.0
    beta: float = 0.0
    order: float = math.inf
    beta_in_exponent: float = 0.0

    def exponent(self, beta: float) -> float:
        """The exponent of the error in the next step size."""
        return 1.0 / self.order - self.beta_in_exponent * beta

    @property
    def program(self) -> Program:
        """`run`, `dense` and `interpolate`, whose functions are written when they are not cached."""
        return Program((loop.run, loop.dense, loop.interpolate), self.bindings)


def of_tableau(tableau: Tableau) -> Stepper:
    """The method that a tableau describes."""

    def bindings() -> Mapping[str, Any]:
        numbers = {"RATES_NEW": tableau.places[tableau.end], "ORDER": tableau.order}
        return {"attempt": control.attempt, **functions(tableau, loop.__name__), **numbers}

    return Stepper(
        tableau.name,
        f"{tableau.summary}, explicit",
        bindings,
        repr(tableau),
        shrinks=tableau.shrinks,
        grows=tableau.grows,
        beta=tableau.beta,
        order=tableau.order,
        beta_in_exponent=tableau.beta_in_exponent,
    )


def _of_module(module: Any, **more: int) -> Callable[[], Mapping[str, Any]]:
    return lambda: {name: getattr(module, name) for name in ("attempt", "dense", "interpolate")} | more


MULTISTEP = Stepper("multistep", "steps that a library chooses and takes", _of_module(multistep), "multistep")

FIXED = Stepper("fixed", "implicit steps of fixed size", _of_module(fixed), "fixed", vectors=fixed.VECTORS)

ODEX = Stepper(
    "odex",
    "ODEX (extrapolated mid-point rule, orders 4 to 18)",
    _of_module(odex, RATES_NEW=odex.END, ORDER=8),
    "odex",
    vectors=odex.MEMORY,
    shrinks=0.02,
    grows=4.0,
)

METHODS: dict[str, Stepper] = {}
"""All methods that have a tableau, by name; solvers of `rbdae` are read from here."""


def register(tableau: Tableau) -> None:
    """Make a solver of a tableau."""
    if tableau.name in METHODS:
        raise ValueError(f"there is a method {tableau.name!r} already: give this one another name")
    METHODS[tableau.name] = of_tableau(tableau)


register(DOPRI5)
register(DOP853)


@cache
def entries(method: Stepper) -> tuple[Any, ...]:
    """`run`, `dense` and `interpolate` of a method, which take addresses."""
    return callables(method.program, LEVEL, made_of=method.made_of)


__all__ = ["FIXED", "LEVEL", "METHODS", "MULTISTEP", "ODEX", "Stepper", "Tableau", "entries", "of_tableau", "register"]
