"""The runs of a study: the choices for one run, and the list of all sensible ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final, get_args

import numpy as np

from rbdae import _check
from rbdae._frozen import Table
from rbdae.formulations import FORMULATIONS, Formulation
from rbdae.formulations.pairing import pairings_of
from rbdae.formulations.table import VelocityName, named
from rbdae.initial.given import Hold, check_hold
from rbdae.problem.projection import Projection
from rbdae.rotations import CHARTS
from rbdae.solving.registry import find_method
from rbdae.solving.registry import solvers as known_solvers

Options: TypeAlias = Mapping[str, Any] | Iterable[tuple[str, Any]]
Redundant: TypeAlias = Literal["error", "minimum-norm"]
OnSingularity: TypeAlias = Literal["stop", "switch"]


@final
@dataclass(frozen=True, slots=True)
class Case:
    """The choices for one run. Hashable: equal cases are one case.

    Parameters
    ----------
    formulation, rotation, velocity : as for `rbdae.formulate`. A value with default options becomes its name
    solver : ``"package:method"``
    tolerance : rtol = atol of the run
    redundant, hold : as for `rbdae.formulate`
    projection : as for `rbdae.solve`; True becomes a `rbdae.Projection`, False None
    options : the solver's own; a dict becomes sorted pairs (name, value). Values are numbers, strings, booleans or
        tuples of them
    on_singularity : as for `rbdae.solve`; with ``"switch"`` rotations with a singular set begin with
        ``reference="start"``, so that every rotation can be compared from any start
    step : step size of a fixed-step method, s; None for all others. ``options={"step": ...}`` is equivalent
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
        form, projection = self.formulation, self.projection
        if isinstance(form, Formulation) and form == FORMULATIONS.get(form.name):
            form = form.name
        _check.one_of("value of redundant", self.redundant, get_args(Redundant))
        _check.one_of("value of on_singularity", self.on_singularity, get_args(OnSingularity))
        if projection is True:
            projection = Projection()
        elif projection is False:
            projection = None
        elif projection is not None and not isinstance(projection, Projection):
            raise TypeError(f"projection must be True, False, None or a rbdae.Projection, got {projection!r}")
        options = {name: _plain(f"option {name} of {self.solver}", v) for name, v in sorted(dict(self.options).items())}
        step = options.pop("step", None) if self.step is None else self.step
        if step is not None:
            step = _check.positive("Case", "step", step, "give the size of a step in seconds, e.g. 1e-3")
        hold = tuple(item if isinstance(item, str) else tuple(item) for item in check_hold(self.hold))
        checked = {"formulation": form, "hold": hold, "projection": projection, "step": step}
        for name, value in (checked | {"options": tuple(options.items())}).items():
            object.__setattr__(self, name, value)

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
        """The chart's centre, as for `rbdae.formulate`."""
        chart = CHARTS.get(self.rotation)
        return "start" if self.on_singularity == "switch" and chart is not None and chart.centre else "space"

    @property
    def curve(self) -> tuple[str, str]:
        """`form` and `method`, which the cases of one work-precision curve share."""
        return self.form, self.method

    @property
    def knob(self) -> float:
        """The number that varies along a curve: the step size of a fixed-step method, else the tolerance."""
        return self.tolerance if self.step is None else self.step

    @property
    def at(self) -> str:
        """`knob` as text, such as ``"1e-06"`` or ``"step 0.001"``."""
        return f"{self.tolerance:.0e}" if self.step is None else f"step {self.step:g}"


def _plain(what: str, value: Any) -> Any:
    """An option as a value that can be compared, stored and sent to other processes."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return tuple(_plain(what, item) for item in value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{what} must be a number, a string, True, False or a tuple of these, got {_check.show(value)}")


@final
class PairingTable(Table[tuple[Any, Any, Any]]):
    """A list of (formulation, rotation, velocity) that prints as a table."""

    def rows(self) -> list[Sequence[str]]:
        """A line for each formulation, and in the column of each velocity the rotations that have it."""
        speeds, all_of = get_args(VelocityName), ", ".join(CHARTS)
        found = {f: [", ".join(r for r in CHARTS if (f, r, v) in self) for v in speeds] for f, _, _ in self}
        short = {all_of: "all", "": "-"}
        return [("formulation", *speeds), *((f, *(short.get(each, each) for each in of)) for f, of in found.items())]

    def notes(self) -> list[str]:
        return [f"all rotations: {', '.join(CHARTS)}"]


def pairings() -> PairingTable:
    """All valid (formulation, rotation, velocity); prints as a table."""
    return PairingTable((f.name, r, v) for f, r, v in pairings_of(FORMULATIONS.values()))


def cases(
    formulations: Iterable[str | Formulation] | None = None,
    rotations: Iterable[str] | None = None,
    velocities: Iterable[str] | None = None,
    solvers: Iterable[str] | None = None,
    tolerances: Iterable[float] = (1e-8,),
    *,
    redundant: Redundant = "error",
    hold: Hold = (),
    projection: Projection | bool | None = None,
    options: Mapping[str, Options] | None = None,
    on_singularity: OnSingularity = "stop",
    steps: Iterable[float] | None = None,
) -> list[Case]:
    """All sensible cases. None takes every choice (for solvers: all installed ones with step control).

    Raises TypeError and ValueError for unknown names (with the nearest known ones), for values that are not lists, and
    if no case is left, and `rbdae.adapter.MissingSolver` for a solver whose package is not installed.

    Parameters
    ----------
    formulations, rotations, velocities, solvers : names to combine (formulations may be values); impossible
        combinations are left out
    tolerances : rtol = atol of the runs
    redundant, hold, projection, on_singularity : the same for all cases, see `Case`
    options : options of each solver by its name, as in ``{"scipy:DOP853": {"max_step": 0.1}}``
    steps : step sizes of fixed-step methods, s; these run once for each size, with the tightest of `tolerances`
    """
    forms = [*FORMULATIONS.values()] if formulations is None else _forms(formulations)
    charts, speeds = sorted(CHARTS), sorted({v for _, _, v in pairings()})
    charts = charts if rotations is None else _check.known("rotations", "rotation", rotations, charts)
    speeds = speeds if velocities is None else _check.known("velocities", "velocity", velocities, speeds)
    if solvers is None:
        solvers = [s.name for s in known_solvers() if s.available and not find_method(s.name)[1].fixed_step]
    listed = _check.names("solvers", _check.listed("solvers", solvers))
    methods = {name: find_method(name)[1] for name in listed}
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"options must be a dictionary by the names of solvers, got {_check.show(options)}")
    solver_options = dict(options or {})
    for name in solver_options:
        if name not in methods:
            raise ValueError(f"options are given for {name!r}, which is not among the solvers: {', '.join(methods)}")
    sizes = _check.positives("cases", "tolerances", tolerances)
    if sizes[0] >= 1.0:
        raise ValueError(f"tolerances must be below 1, got {sizes}; pass e.g. [1e-4, 1e-6]")
    widths = None if steps is None else _check.positives("cases", "steps", steps)
    knobs: dict[str, list[tuple[float, float | None]]] = {}
    for name, method in methods.items():
        if method.fixed_step and ("step" in dict(solver_options.get(name, ()))) == (widths is not None):
            raise ValueError(
                f"cases: {name} takes steps of fixed size; give them once, by steps=[1e-2, 5e-3], in seconds, or as "
                "its option 'step'"
            )
        fixed = [(sizes[-1], width) for width in widths or (None,)]
        knobs[name] = fixed if method.fixed_step else [(size, None) for size in sizes]
    if widths is not None and not any(method.fixed_step for method in methods.values()):
        raise ValueError(f"cases: steps are for fixed-step methods, but {', '.join(methods)} choose their own")
    selected = [p for p in pairings_of(forms) if p[1] in charts and p[2] in speeds]
    chosen = [
        Case(f, r, v, name, tolerance, redundant, hold, projection, solver_options.get(name, ()), on_singularity, step)
        for f, r, v in selected
        for name, method in methods.items()
        if method.accepts(f.kind, f.index, (f.name, r, v))
        for tolerance, step in knobs[name]
    ]
    if not selected:
        raise ValueError(
            f"no case is left: of {', '.join(map(str, forms))} no form has rotation {' or '.join(charts)} with "
            f"velocity {' or '.join(speeds)}; rbdae.pairings() lists all forms"
        )
    if not chosen:
        kinds = ", ".join(sorted({f"{f} ({f.kind}, index {f.index})" for f, _, _ in selected}))
        takes = ", ".join(f"{s.name} takes {s.takes}" for s in known_solvers() if s.name in methods)
        raise ValueError(f"no case is left of {kinds}: {takes}; `rbdae solvers` lists what each solver takes")
    return chosen


def _forms(given: Iterable[Any]) -> list[Formulation]:
    """Formulations by name or as values, without duplicates, in the order of the table."""
    forms = {named(each) for each in _check.listed("formulations", given)}
    order = [*FORMULATIONS]
    return sorted(forms, key=lambda f: (order.index(f.name) if f.name in order else len(order), str(f)))
