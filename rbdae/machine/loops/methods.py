"""The methods, as names bound to the loop."""

from __future__ import annotations

from functools import cache
from typing import Any

from rbdae.machine.language.program import Program, callables
from rbdae.machine.loops import fixed, loop, multistep, odex
from rbdae.machine.loops.dop853 import DOP853 as DOP853
from rbdae.machine.loops.dopri5 import DOPRI5 as DOPRI5
from rbdae.machine.loops.tableau import Stepper as Stepper
from rbdae.machine.loops.tableau import Tableau as Tableau

LEVEL = 1
"""Of optimisation: vector registers are in the text already, and a higher one takes longer for the same speed."""


MULTISTEP = Stepper(name="multistep", summary="steps that a library chooses and takes", module=multistep)

FIXED = Stepper(name="fixed", summary="implicit steps of fixed size", module=fixed, vectors=fixed.VECTORS)

ODEX = Stepper(
    name="odex",
    summary="ODEX (extrapolated mid-point rule, orders 4 to 18)",
    module=odex,
    numbers=(("RATES_NEW", odex.END), ("ORDER", 8)),
    vectors=odex.MEMORY,
    shrinks=0.02,
    grows=4.0,
)

METHODS: dict[str, Tableau] = {}
"""All methods that have a tableau, by name; solvers of `rbdae` are read from here."""


def register(tableau: Tableau) -> None:
    """Make a solver of a tableau."""
    if tableau.name in METHODS:
        raise ValueError(f"there is a method {tableau.name!r} already: give this one another name")
    METHODS[tableau.name] = tableau


register(DOPRI5)
register(DOP853)


@cache
def entries(method: Stepper) -> tuple[Any, ...]:
    """`run`, `dense` and `interpolate` of a method, which take addresses."""
    program = Program((loop.run, loop.dense, loop.interpolate), method.bindings)
    return callables(program, LEVEL, made_of=method.name if method.module else method.made_of)


__all__ = ["FIXED", "LEVEL", "METHODS", "MULTISTEP", "ODEX", "Stepper", "Tableau", "entries", "register"]
