"""The choices of one run of a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae.formulations import FORMULATIONS, Formulation
from rbdae.initial.given import Hold, check_hold
from rbdae.problem.projection import Projection
from rbdae.rotations import CHARTS

Option: TypeAlias = bool | int | float | str | tuple[Any, ...] | None
Options: TypeAlias = Mapping[str, Any] | Iterable[tuple[str, Any]]
Redundant: TypeAlias = Literal["error", "minimum-norm"]
OnSingularity: TypeAlias = Literal["stop", "switch"]

_WORDS = {"redundant": ("error", "minimum-norm"), "on_singularity": ("stop", "switch")}


@final
@dataclass(frozen=True, slots=True)
class Case:
    """The choices of one run; rtol = atol = `tolerance`. Hashable: equal cases are one case.

    Parameters
    ----------
    formulation, rotation, velocity : as `rbdae.formulate` takes them. A value with the default options becomes its
        name
    solver : ``"package:method"``
    tolerance : rtol and atol of the run
    redundant, hold : as `rbdae.formulate` takes them
    projection : as `rbdae.solve` takes it; True becomes a `rbdae.Projection`, False None
    options : the solver's own; a dict becomes sorted pairs (name, value). Values are numbers, strings, booleans or
        tuples of them
    on_singularity : as `rbdae.solve` takes it; with ``"switch"`` rotations that have a singular set begin with
        ``reference="start"``, so that every rotation can be compared from any start
    step : size of the steps of a fixed-step method, s; None for all others. ``options={"step": ...}`` is the same
    """

    formulation: str | Formulation
    rotation: str
    velocity: str
    solver: str
    tolerance: float
    redundant: Redundant = "error"
    hold: Hold = ()
    projection: Projection | bool | None = None
    options: Options = ()
    on_singularity: OnSingularity = "stop"
    step: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.formulation, Formulation) and self.formulation == FORMULATIONS.get(self.formulation.name):
            object.__setattr__(self, "formulation", self.formulation.name)
        for name, words in _WORDS.items():
            if getattr(self, name) not in words:
                raise _check.unknown(f"value of {name}", getattr(self, name), words)
        hold = tuple(item if isinstance(item, str) else tuple(item) for item in check_hold(self.hold))
        object.__setattr__(self, "hold", hold)
        object.__setattr__(self, "projection", _projection(self.projection))
        try:
            named = sorted(dict(self.options).items())
        except (TypeError, ValueError):
            raise TypeError(
                f"options of {self.solver} must be a dict of names and values, got {_check.show(self.options)}; pass "
                "e.g. {'max_step': 0.1}"
            ) from None
        options = {name: _plain(f"option {name} of {self.solver}", value) for name, value in named}
        step = options.pop("step", None) if self.step is None else self.step
        if step is not None:
            step = _check.positive("Case", "step", step, "give the size of a step in seconds, e.g. 1e-3")
        object.__setattr__(self, "options", tuple(options.items()))
        object.__setattr__(self, "step", step)

    @property
    def form(self) -> str:
        """Formulation, rotation and velocity in one string."""
        return f"{self.formulation}, {self.rotation}, {self.velocity}"

    @property
    def method(self) -> str:
        """The solver with its options and the projection in one string, as in ``"scipy:DOP853 (max_step=0.1)"``."""
        extras = [f"{name}={value!r}" for name, value in dict(self.options).items()]
        if self.projection is not None:
            extras.append("projected")
        return f"{self.solver} ({', '.join(extras)})" if extras else self.solver

    @property
    def reference(self) -> Literal["space", "start"]:
        """The place where the chart is centred, as `rbdae.formulate` takes it."""
        chart = CHARTS.get(self.rotation)
        return "start" if self.on_singularity == "switch" and chart is not None and chart.centre else "space"

    @property
    def curve(self) -> tuple[str, str]:
        """`form` and `method`: what cases of one work-precision curve have in common."""
        return self.form, self.method

    @property
    def knob(self) -> float:
        """The number that is turned along a curve: the step size of a fixed-step method, else the tolerance."""
        return self.tolerance if self.step is None else self.step

    @property
    def at(self) -> str:
        """The same in words, as in ``"1e-06"`` or ``"step 0.001"``."""
        return f"{self.tolerance:.0e}" if self.step is None else f"step {self.step:g}"


def _projection(given: Projection | bool | None) -> Projection | None:
    if given is None or given is False:
        return None
    if given is True:
        return Projection()
    if not isinstance(given, Projection):
        raise TypeError(
            f"projection must be True, False, None or a rbdae.Projection, got {_check.show(given)}; pass e.g. True"
        )
    return given


def _plain(what: str, value: Any) -> Option:
    """An option that can be compared, stored and sent to other processes."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return tuple(_plain(what, item) for item in value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(
        f"{what} must be a number, a string, True, False or a tuple of these, got {_check.show(value)}; a study stores "
        "its options, and sends them to other processes"
    )
