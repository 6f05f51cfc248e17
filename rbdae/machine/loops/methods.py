"""The methods, as names bound to the loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, TypeAlias, final

from rbdae.machine import language, loops
from rbdae.machine.language.program import Program, callables
from rbdae.machine.loops import control, loop, memory, multistep, odex, odex_rows
from rbdae.machine.loops.dop853 import DOP853
from rbdae.machine.loops.dopri5 import DOPRI5
from rbdae.machine.loops.tableau import Tableau as Tableau
from rbdae.machine.loops.tableau import Writer, functions
from rbdae.machine.sources import sources


@final
@dataclass(frozen=True, eq=False)
class OneStep:
    """A method with an error estimate."""

    tableau: Tableau
    vectors: ClassVar[int] = memory.VECTORS

    @property
    def name(self) -> str:
        """Its name as a solver."""
        return self.tableau.name

    @property
    def made_of(self) -> str:
        """All numbers that its code depends on."""
        return repr(self.tableau)

    @property
    def text(self) -> str:
        """Its functions, as they are written from the tableau."""
        return Writer(self.tableau).text

    @cached_property
    def program(self) -> Program:
        """`run`, `dense` and `interpolate` for this method, whose functions are written when they are not cached."""
        return Program((loop.run, loop.dense, loop.interpolate), self._bound)

    def _bound(self) -> Mapping[str, Any]:
        numbers = {"RATES_NEW": self.tableau.places[self.tableau.end], "ORDER": self.tableau.order}
        return {"attempt": control.attempt, **functions(self.tableau, loop.__name__), **numbers}

    @property
    def shrinks(self) -> float:
        """The factor by which a step becomes shorter at most, Hairer's FAC1."""
        return self.tableau.shrinks

    @property
    def grows(self) -> float:
        """The factor by which it becomes longer at most, Hairer's FAC2."""
        return self.tableau.grows

    @property
    def beta(self) -> float:
        """The beta of the stabilised controller."""
        return self.tableau.beta

    def exponent(self, beta: float) -> float:
        """The exponent of the error in the next step size."""
        return 1.0 / self.tableau.order - self.tableau.beta_in_exponent * beta


@final
@dataclass(frozen=True, eq=False)
class Multistep:
    """Steps that a library chooses and takes, see `rbdae.machine.loops.multistep`."""

    name: str = "multistep"
    made_of: str = "multistep"
    shrinks: float = 1.0
    grows: float = 1.0
    beta: float = 0.0
    vectors: int = memory.VECTORS

    @cached_property
    def program(self) -> Program:
        """`run`, `dense` and `interpolate`."""
        m = multistep
        bound = {"attempt": m.attempt, "dense": m.dense, "interpolate": m.interpolate}
        return Program((loop.run, m.dense, m.interpolate), bound)

    def exponent(self, beta: float) -> float:
        """No exponent: the library has a control of its own."""
        return 0.0


@final
@dataclass(frozen=True, eq=False)
class Extrapolation:
    """Extrapolated steps of variable order, see `rbdae.machine.loops.odex`; `shrinks` and `grows` are FAC1 and FAC2."""

    name: str = "odex"
    summary: str = "ODEX (extrapolated mid-point rule, orders 4 to 18)"
    made_of: str = "odex"
    shrinks: float = 0.02
    grows: float = 4.0
    beta: float = 0.0
    vectors: int = odex_rows.MEMORY

    @cached_property
    def program(self) -> Program:
        """`run`, `dense` and `interpolate`."""
        bound: dict[str, Any] = {"attempt": odex.attempt, "dense": odex.dense, "interpolate": odex.interpolate}
        bound |= {"RATES_NEW": odex_rows.END, "ORDER": 8}
        return Program((loop.run, odex.dense, odex.interpolate), bound)

    def exponent(self, beta: float) -> float:
        """No exponent: each row has its own."""
        return 0.0


MULTISTEP = Multistep()
ODEX = Extrapolation()

Stepper: TypeAlias = OneStep | Multistep | Extrapolation
"""What makes the steps of a loop."""

METHODS: dict[str, OneStep] = {}
"""All methods that have a tableau, by name; solvers of `rbdae` are read from here."""


def register(tableau: Tableau) -> None:
    """Make a solver of a tableau."""
    if tableau.name in METHODS:
        raise ValueError(f"there is a method {tableau.name!r} already: give this one another name")
    METHODS[tableau.name] = OneStep(tableau)


register(DOPRI5)
register(DOP853)

__all__ = ["METHODS", "MULTISTEP", "ODEX", "Extrapolation", "Multistep", "OneStep", "Stepper", "Tableau", "register"]


LEVEL = 1
"""Of optimisation: vector registers are in the text already, and a higher one takes longer for the same speed."""


@cache
def entries(method: Stepper) -> tuple[Any, ...]:
    """`run`, `dense` and `interpolate` of a method, which take addresses."""
    return callables(method.program, LEVEL, made_of=(method.made_of, sources(loops, language)))
