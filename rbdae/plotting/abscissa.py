"""The horizontal axis of diagrams: the time, or a quantity such as the angle of a crank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.problem.observables import with_unit
from rbdae.problem.problem import Problem
from rbdae.quantities.quantity import Quantity


@final
@dataclass(frozen=True, slots=True, eq=False)
class Abscissa:
    """A horizontal axis.

    Attributes
    ----------
    name, unit : what it says
    at : its values at times (m,)
    """

    name: str
    unit: str
    at: Callable[[Vec], Vec]

    @property
    def label(self) -> str:
        """The name with its unit."""
        return with_unit(self.name, self.unit)


TIME: Final = Abscissa("t", "s", lambda t: t)


def abscissa(run: Any, over: Quantity | str | None, owner: str) -> Abscissa:
    """The axis that was asked for: None for the time, or a quantity of a joint or force with one component.

    Raises
    ------
    TypeError, ValueError
        for what is no quantity of the run's problem, for a vector, and for a run without its problem
    """
    if over is None:
        return TIME
    problem = getattr(run, "problem", None)
    if not isinstance(problem, Problem):
        raise ValueError(f"{owner}: over={_check.show(over)} needs a run of a rbdae.Problem; leave it out")
    if not isinstance(over, (str, Quantity)):
        raise TypeError(
            f"{owner}: over must be a quantity or its label, got {_check.show(over)}; pass e.g. 'pin.angle'"
        )
    try:
        known, quantity = problem.interpretation.owners.find(over)
    except ValueError as error:
        raise ValueError(f"{owner}: over: {error}") from None
    if quantity.components:
        raise ValueError(
            f"{owner}: over must have one component, got {known.name}.{quantity.name}; choose e.g. an angle"
        )

    def at(t: Vec) -> Vec:
        recorded = len(t) == len(run.t) and np.array_equal(t, run.t)
        return np.asarray(run.quantity(over) if recorded else run.quantity(over, t), dtype=float)

    return Abscissa(f"{known.name}.{quantity.name}", quantity.unit, at)


__all__ = ["TIME", "Abscissa", "abscissa"]
