"""The methods, as names bound to the loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, final

from rbdae.machine.loops import control, dop853, dop853_dense, dopri5, loop, multistep
from rbdae.machine.native.program import Program


@final
@dataclass(frozen=True, eq=False)
class OneStep:
    """A method with an error estimate.

    Parameters
    ----------
    name : Hairer's
    module, dense : its stages and its dense output
    """

    name: str
    module: ModuleType
    dense: ModuleType

    @cached_property
    def program(self) -> Program:
        """`run`, `dense` and `interpolate` for this method."""
        m, d = self.module, self.dense
        bound: Mapping[str, Any] = {
            "attempt": control.attempt,
            "stages": m.stages,
            "error": m.error,
            "complete": m.complete,
            "RATES_NEW": m.RATES_NEW,
            "ORDER": m.ORDER,
            "dense": d.dense,
            "interpolate": d.interpolate,
        }
        return Program((loop.run, d.dense, d.interpolate), bound)

    @property
    def shrinks(self) -> float:
        """The factor by which a step becomes shorter at most, Hairer's FAC1."""
        return float(self.module.SHRINKS)

    @property
    def grows(self) -> float:
        """The factor by which it becomes longer at most, Hairer's FAC2."""
        return float(self.module.GROWS)

    @property
    def beta(self) -> float:
        """The beta of the stabilised controller."""
        return float(self.module.BETA)

    def exponent(self, beta: float) -> float:
        """The exponent of the error in the next step size."""
        return float(self.module.EXPONENT - self.module.BETA_IN_EXPONENT * beta)


@final
@dataclass(frozen=True, eq=False)
class Multistep:
    """Steps that a library chooses and takes, see `rbdae.machine.loops.multistep`."""

    name: str = "multistep"
    shrinks: float = 1.0
    grows: float = 1.0
    beta: float = 0.0

    @cached_property
    def program(self) -> Program:
        """`run`, `dense` and `interpolate`."""
        m = multistep
        bound = {"attempt": m.attempt, "dense": m.dense, "interpolate": m.interpolate}
        return Program((loop.run, m.dense, m.interpolate), bound)

    def exponent(self, beta: float) -> float:
        """No exponent: the library has a control of its own."""
        return 0.0


MULTISTEP = Multistep()

METHODS = {
    "dopri5": OneStep("dopri5", dopri5, dopri5),
    "dop853": OneStep("dop853", dop853, dop853_dense),
}

__all__ = ["METHODS", "MULTISTEP", "Multistep", "OneStep"]
