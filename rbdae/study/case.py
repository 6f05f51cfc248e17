"""What one run of a study consists of, and the list of all cases that make sense."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae.formulations import FORMULATIONS, SPELLINGS, pairings
from rbdae.initial.given import Hold, check_hold
from rbdae.problem.projection import Projection
from rbdae.rotations import CHARTS
from rbdae.solving.registry import find_method
from rbdae.solving.registry import solvers as known_solvers

Option: TypeAlias = bool | int | float | str | tuple[Any, ...] | None
Options: TypeAlias = Mapping[str, Any] | Iterable[tuple[str, Any]]
Redundant: TypeAlias = Literal["error", "minimum-norm"]
OnSingularity: TypeAlias = Literal["stop", "switch"]

TOLERANCES = (1e-4, 1e-6, 1e-8)
"""Of `rbdae.compare` where none are named."""

_REDUNDANT = ("error", "minimum-norm")
_ON_SINGULARITY = ("stop", "switch")


@final
@dataclass(frozen=True, slots=True)
class Case:
    """What one run consists of; rtol = atol = `tolerance`. Hashable: equal cases are one case.

    Parameters
    ----------
    formulation, rotation, velocity : as `rbdae.formulate` takes them
    solver : ``"package:method"``
    tolerance : rtol and atol of the run
    redundant, hold : as `rbdae.formulate` takes them
    projection : as `rbdae.solve` takes it; True becomes a `rbdae.Projection`, False None
    options : the solver's own; a dict becomes sorted pairs (name, value). Values are numbers, strings, booleans or
        tuples of them
    on_singularity : as `rbdae.solve` takes it; with ``"switch"`` rotations that have a singular set begin with
        ``reference="start"``, so that every rotation can be compared from any start
    """

    formulation: str
    rotation: str
    velocity: str
    solver: str
    tolerance: float
    redundant: Redundant = "error"
    hold: Hold = ()
    projection: Projection | bool | None = None
    options: Options = ()
    on_singularity: OnSingularity = "stop"

    def __post_init__(self) -> None:
        if not isinstance(self.redundant, str) or self.redundant not in _REDUNDANT:
            raise _check.unknown("value of redundant", self.redundant, _REDUNDANT)
        if not isinstance(self.on_singularity, str) or self.on_singularity not in _ON_SINGULARITY:
            raise _check.unknown("value of on_singularity", self.on_singularity, _ON_SINGULARITY)
        hold = tuple(item if isinstance(item, str) else tuple(item) for item in check_hold(self.hold))
        object.__setattr__(self, "hold", hold)
        object.__setattr__(self, "projection", _projection(self.projection))
        object.__setattr__(self, "options", _pairs(self.solver, self.options))

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
        """Where the chart is centred, as `rbdae.formulate` takes it."""
        chart = CHARTS.get(self.rotation)
        return "start" if self.on_singularity == "switch" and chart is not None and chart.centre else "space"

    @property
    def curve(self) -> tuple[str, str]:
        """`form` and `method`: what cases of one work-precision curve have in common."""
        return self.form, self.method


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


def _pairs(solver: str, options: Options) -> tuple[tuple[str, Option], ...]:
    """Options in one order, with values that can be compared, stored and sent to other processes."""
    try:
        named = dict(options)
    except (TypeError, ValueError):
        raise TypeError(
            f"options of {solver} must be a dict of names and values, got {_check.show(options)}; pass e.g. "
            "{'max_step': 0.1}"
        ) from None
    for name in named:
        if not isinstance(name, str):
            raise TypeError(f"options of {solver}: a name must be a string, got {_check.show(name)}; quote it")
    return tuple((name, _plain(f"option {name} of {solver}", named[name])) for name in sorted(named))


def _plain(what: str, value: Any) -> Option:
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


def cases(
    formulations: Iterable[str] | None = None,
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
) -> list[Case]:
    """All cases that make sense; None takes all there are (of the solvers: those installed, with step control).

    Parameters
    ----------
    formulations, rotations, velocities, solvers, tolerances : what to combine
    redundant, hold, projection, on_singularity : the same for all cases, see `Case`
    options : for each solver's name its own options, as in ``{"scipy:DOP853": {"max_step": 0.1}}``

    Raises
    ------
    TypeError, ValueError
        for names that do not exist, with the nearest ones; for what is no list; and where nothing is left, with what
        excluded everything
    rbdae.adapter.MissingSolver
        for a solver whose package is not installed
    """
    known = pairings()
    spelt = None if formulations is None else [SPELLINGS.get(f, f) for f in _names("formulations", formulations)]
    wanted = {
        "formulation": _known("formulation", spelt, FORMULATIONS),
        "rotation": _known("rotation", rotations, CHARTS),
        "velocity": _known("velocity", velocities, {v for _, _, v in known}),
    }
    chosen = installed_solvers() if solvers is None else _unique(_names("solvers", solvers))
    methods = {name: find_method(name)[1] for name in chosen}
    selected = [p for p in known if all(w is None or x in w for x, w in zip(p, wanted.values(), strict=True))]
    if not selected:
        raise ValueError(_without_pairing(wanted))
    sizes = _tolerances(tolerances)
    own = _options(options, methods)
    found = [
        Case(f, r, v, name, tolerance, redundant, hold, projection, own.get(name, ()), on_singularity)
        for f, r, v in selected
        for name, method in methods.items()
        if method.accepts(FORMULATIONS[f].kind, FORMULATIONS[f].index, (f, r, v))
        for tolerance in sizes
    ]
    if not found:
        raise ValueError(_without_solver({f for f, _, _ in selected}, list(methods)))
    return found


def _options(options: Mapping[str, Options] | None, methods: Iterable[str]) -> dict[str, Options]:
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise TypeError(
            f"options must be a dict by the names of solvers, got {_check.show(options)}; pass e.g. "
            "{'scipy:DOP853': {'max_step': 0.1}}"
        )
    methods = list(methods)
    for name in options:
        if name not in methods:
            raise ValueError(
                f"options are given for {_check.show(name)}, which is not among the solvers: {', '.join(methods)}; "
                "correct the name, or leave the options out"
            )
    return dict(options)


def _without_pairing(wanted: Mapping[str, list[str] | None]) -> str:
    """Why no form has all that was chosen, with the nearest one that has most of it."""
    chosen = "; ".join(f"{what} {' or '.join(names)}" for what, names in wanted.items() if names is not None)
    remedies = []
    for number, what in enumerate(wanted):
        others = [
            p for p in pairings() if all(w is None or p[k] in w for k, w in enumerate(wanted.values()) if k != number)
        ]
        if others:
            found = ", ".join(dict.fromkeys(p[number] for p in others))
            remedies.append(f"with another {what} there are {found}")
    return f"no case is left: no form has {chosen}; {'; '.join(remedies) or 'rbdae.pairings() lists all forms'}"


def _without_solver(forms: Iterable[str], methods: list[str]) -> str:
    """Why no solver takes any of the forms."""
    forms = sorted(forms)
    infos = {s.name: s for s in known_solvers()}
    kinds = {
        f: "an ODE" if (form := FORMULATIONS[f]).kind == "ode" else f"{_ARTICLE[form.kind]} of index {form.index}"
        for f in forms
    }
    forms_said = ", ".join(f"{f} is {kind}" for f, kind in kinds.items())
    takes = ", ".join(f"{name} takes {infos[name].takes}" for name in methods)
    able = [
        s.name
        for s in infos.values()
        if s.available
        and any(find_method(s.name)[1].accepts(FORMULATIONS[f].kind, FORMULATIONS[f].index) for f in forms)
    ]
    remedy = f"choose solvers from {', '.join(able)}" if able else "`rbdae solvers` says how to install others"
    return f"no case is left: {forms_said}, but {takes}; {remedy}"


_ARTICLE = {"dae": "a DAE", "overdetermined": "an overdetermined DAE"}


def _tolerances(tolerances: Iterable[float]) -> list[float]:
    # an iterator would be used up by the first form
    if isinstance(tolerances, (str, bytes, dict, np.ma.MaskedArray)) or not isinstance(tolerances, Iterable):
        raise TypeError(f"tolerances must be a list of numbers, got {_check.show(tolerances)}; pass e.g. [1e-6, 1e-8]")
    given = list(tolerances)
    if not given:
        raise ValueError("tolerances must not be empty, got []; pass e.g. [1e-6, 1e-8]")
    sizes = [_check.positive("cases", "tolerances", value, "pass e.g. [1e-8]") for value in given]
    for size in sizes:
        if size >= 1.0:
            raise ValueError(f"cases: tolerances must be below 1, got {size!r}; pass e.g. [1e-8]")
    return sorted(set(sizes), reverse=True)


def installed_solvers() -> list[str]:
    """Solvers that choose their own steps and whose packages are installed."""
    return [s.name for s in known_solvers() if s.available and not find_method(s.name)[1].fixed_step]


_EXAMPLES = {
    "formulations": "index-1",
    "rotations": "quaternion",
    "velocities": "angular",
    "solvers": "scipy:DOP853",
}


def _names(what: str, names: Iterable[str]) -> list[str]:
    """A list of strings that is not empty; a string is one name, and no list of letters."""
    if isinstance(names, str):
        raise TypeError(f"{what} must be a list of strings, got {_check.show(names)}; pass [{names!r}]")
    given = _check.names(what, names)
    if not given:
        raise ValueError(
            f"{what} must not be empty, got []; pass e.g. ['{_EXAMPLES[what]}'], or leave it out for all there are"
        )
    return given


def _unique(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _known(what: str, names: Iterable[str] | None, known: Iterable[str]) -> list[str] | None:
    if names is None:
        return None
    wanted, known = _names({"velocity": "velocities"}.get(what, f"{what}s"), names), sorted(known)
    for name in wanted:
        if name not in known:
            raise _check.unknown(what, name, known)
    return _unique(wanted)


__all__ = ["TOLERANCES", "Case", "Option", "Options", "Redundant", "cases", "installed_solvers"]
