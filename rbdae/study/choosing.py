"""The list of all cases of a study that make sense."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rbdae import _check
from rbdae.adapter import Method
from rbdae.formulations import FORMULATIONS, Formulation, pairings
from rbdae.formulations.pairing import pairings_of
from rbdae.formulations.table import named
from rbdae.initial.given import Hold
from rbdae.problem.projection import Projection
from rbdae.rotations import CHARTS
from rbdae.solving.registry import find_method
from rbdae.solving.registry import solvers as known_solvers
from rbdae.study.case import Case, OnSingularity, Options, Redundant

TOLERANCES = (1e-4, 1e-6, 1e-8)
"""Of `rbdae.compare` where none are named."""


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
    """All cases that make sense; None takes all there are (of the solvers: those installed, with step control).

    Parameters
    ----------
    formulations, rotations, velocities, solvers, tolerances : what to combine
    redundant, hold, projection, on_singularity : the same for all cases, see `Case`
    options : for each solver's name its own options, as in ``{"scipy:DOP853": {"max_step": 0.1}}``
    steps : sizes of the steps of fixed-step methods, s, which have no tolerances to be varied: they run once for each
        of these, with the tightest of `tolerances`

    Raises
    ------
    TypeError, ValueError
        for names that do not exist, with the nearest ones; for what is no list; and where nothing is left, with what
        excluded everything
    rbdae.adapter.MissingSolver
        for a solver whose package is not installed
    """
    forms = [*FORMULATIONS.values()] if formulations is None else _forms(formulations)
    known = pairings_of(forms)
    wanted = {
        "formulation": None if formulations is None else [str(form) for form in forms],
        "rotation": _known("rotation", rotations, CHARTS),
        "velocity": _known("velocity", velocities, {v for _, _, v in pairings()}),
    }
    chosen = installed_solvers() if solvers is None else _unique(_names("solvers", solvers))
    methods = {name: find_method(name)[1] for name in chosen}
    _, charts, speeds = wanted.values()
    selected = [p for p in known if (charts is None or p[1] in charts) and (speeds is None or p[2] in speeds)]
    if not selected:
        raise ValueError(_without_pairing(wanted, forms))
    sizes = _sizes("tolerances", tolerances, "1e-6, 1e-8", 1.0)
    own = _options(options, methods)
    knobs = _knobs(sizes, None if steps is None else _sizes("steps", steps, "1e-2, 5e-3"), methods, own)
    found = [
        Case(f, r, v, name, tolerance, redundant, hold, projection, own.get(name, ()), on_singularity, step)
        for f, r, v in selected
        for name, method in methods.items()
        if method.accepts(f.kind, f.index, (f.name, r, v))
        for tolerance, step in knobs[name]
    ]
    if not found:
        raise ValueError(_without_solver({str(f): f for f, _, _ in selected}, list(methods)))
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


def _without_pairing(wanted: Mapping[str, list[str] | None], forms: list[Formulation]) -> str:
    """Why no form has all that was chosen, with the nearest one that has most of it."""
    chosen = "; ".join(f"{what} {' or '.join(names)}" for what, names in wanted.items() if names is not None)
    remedies = []
    known = [(str(f), c, v) for f, c, v in pairings_of(dict.fromkeys([*FORMULATIONS.values(), *forms]))]
    for number, what in enumerate(wanted):
        others = [p for p in known if all(w is None or p[k] in w for k, w in enumerate(wanted.values()) if k != number)]
        if others:
            found = ", ".join(dict.fromkeys(p[number] for p in others))
            remedies.append(f"with another {what} there are {found}")
    return f"no case is left: no form has {chosen}; {'; '.join(remedies) or 'rbdae.pairings() lists all forms'}"


def _without_solver(forms: Mapping[str, Formulation], methods: list[str]) -> str:
    """Why no solver takes any of the forms."""
    infos = {s.name: s for s in known_solvers()}
    forms_said = ", ".join(
        f"{name} is {'an ODE' if f.kind == 'ode' else f'{_ARTICLE[f.kind]} of index {f.index}'}"
        for name, f in sorted(forms.items())
    )
    takes = ", ".join(f"{name} takes {infos[name].takes}" for name in methods)
    able = [
        s.name
        for s in infos.values()
        if s.available and any(find_method(s.name)[1].accepts(f.kind, f.index) for f in forms.values())
    ]
    remedy = f"choose solvers from {', '.join(able)}" if able else "`rbdae solvers` says how to install others"
    return f"no case is left: {forms_said}, but {takes}; {remedy}"


_ARTICLE = {"dae": "a DAE", "overdetermined": "an overdetermined DAE"}


def _knobs(
    tolerances: list[float], steps: list[float] | None, methods: Mapping[str, Method], own: Mapping[str, Options]
) -> dict[str, list[tuple[float, float | None]]]:
    """For each solver the tolerances and step sizes that it runs with; None for the steps that it chooses itself."""
    fixed = [name for name, method in methods.items() if method.fixed_step]
    if steps is not None and not fixed:
        raise ValueError(
            f"cases: steps are those of fixed-step methods, but {', '.join(methods)} choose their own; leave steps out"
        )
    out: dict[str, list[tuple[float, float | None]]] = {name: [(size, None) for size in tolerances] for name in methods}
    for name in fixed:
        in_options = "step" in dict(own.get(name, ()))
        if in_options == (steps is not None):
            raise ValueError(
                f"cases: {name} takes steps of fixed size, "
                + ("which are given twice, as steps and among its options" if in_options else "and none is given")
                + "; pass steps=[1e-2, 5e-3], in seconds"
            )
        out[name] = [(min(tolerances), step) for step in steps] if steps else [(min(tolerances), None)]
    return out


def _sizes(what: str, given: Iterable[float], example: str, below: float = math.inf) -> list[float]:
    """Positive numbers, the largest first."""
    # an iterator would be used up by the first form
    if isinstance(given, (str, bytes, dict, np.ma.MaskedArray)) or not isinstance(given, Iterable):
        raise TypeError(f"{what} must be a list of numbers, got {_check.show(given)}; pass e.g. [{example}]")
    listed = list(given)
    if not listed:
        raise ValueError(f"{what} must not be empty, got []; pass e.g. [{example}]")
    sizes = [_check.positive("cases", what, value, f"pass e.g. [{example}]") for value in listed]
    for size in sizes:
        if size >= below:
            raise ValueError(f"cases: {what} must be below {below:g}, got {size!r}; pass e.g. [{example}]")
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


def _forms(given: Iterable[str | Formulation]) -> list[Formulation]:
    """Formulations by name or as values, each once, in the order of the table."""
    own = {}
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes, Mapping, np.ndarray)):
        listed = [*given]
        own = {str(form): form for form in listed if isinstance(form, Formulation)}
        given = [str(form) if isinstance(form, Formulation) else form for form in listed]
    forms = {own.get(name) or named(name) for name in _names("formulations", given)}
    order = [*FORMULATIONS]
    return sorted(forms, key=lambda f: (order.index(f.name) if f.name in order else len(order), str(f)))


def _names(what: str, names: Iterable[Any]) -> list[str]:
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


__all__ = ["TOLERANCES", "cases", "installed_solvers"]
