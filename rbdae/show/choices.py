"""The choices of a user for a picture, checked: names, titles, and the horizontal axis."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.problem.observables import with_unit
from rbdae.problem.problem import Problem
from rbdae.quantities.quantity import Quantity


def names(what: str, one: str, given: Iterable[str], known: Iterable[str]) -> list[str]:
    """Known names, each once, in the order in which they are given, and at least one."""
    known = list(known)
    out = list(dict.fromkeys(_check.names(what, given)))
    if not out:
        raise ValueError(f"{what} must name at least one {one}, got []; choose from {', '.join(known)}")
    for name in out:
        if name not in known:
            raise _check.unknown(one, name, known)
    return out


def text(what: str, value: object) -> str:
    """A string that can be written: no half of a surrogate pair."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, got {_check.show(value)} of type {type(value).__name__}; pass '...'")
    if not value.isascii() and value.encode("utf-8", "replace") != value.encode("utf-8", "surrogatepass"):
        raise ValueError(f"{what} must not have half of a surrogate pair, got {_check.show(value)}; remove it")
    return value


def title(what: str, value: object) -> str:
    """A title of a picture. Text between two dollars is mathtext, as everywhere in matplotlib.

    Raises
    ------
    TypeError
        for what is no string
    ValueError
        for half of a surrogate pair, and for mathtext that cannot be read
    """
    given = text(what, value)
    from matplotlib.mathtext import MathTextParser

    if (given.count("$") - given.count(r"\$")) % 2 == 0 and "$" in given:
        try:
            MathTextParser("path").parse(given)
        except ValueError as error:
            said = " ".join(str(error).split())
            raise ValueError(
                f"{what} must be text or mathtext, got {_check.show(given)} ({said}); write \\$ for a dollar"
            ) from None
    return given


@final
@dataclass(frozen=True, slots=True, eq=False)
class Abscissa:
    """A horizontal axis: the time, or a quantity such as the angle of a crank.

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
    name = f"{known.name}.{quantity.name}"
    if quantity.components:
        raise ValueError(f"{owner}: over must have one component, got {name}; choose e.g. an angle")

    def at(t: Vec) -> Vec:
        recorded = len(t) == len(run.t) and np.array_equal(t, run.t)
        return np.asarray(run.quantity(over) if recorded else run.quantity(over, t), dtype=float)

    return Abscissa(name, quantity.unit, at)
