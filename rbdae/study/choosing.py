"""The list of all cases of a study that make sense."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

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
        for names that do not exist, with the nearest ones; for what is no list; and where nothing is left
    rbdae.adapter.MissingSolver
        for a solver whose package is not installed
    """
    forms = [*FORMULATIONS.values()] if formulations is None else _forms(formulations)
    charts = _known("rotation", "rotations", rotations, CHARTS)
    speeds = _known("velocity", "velocities", velocities, {v for _, _, v in pairings()})
    methods = {
        name: find_method(name)[1]
        for name in (installed_solvers() if solvers is None else _names("solvers", solvers, "scipy:DOP853"))
    }
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"options must be a dictionary by the names of solvers, got {_check.show(options)}")
    own = dict(options or {})
    for name in own:
        if name not in methods:
            raise ValueError(
                f"options are given for {_check.show(name)}, which is not among the solvers: {', '.join(methods)}; "
                "correct the name, or leave the options out"
            )
    knobs = _knobs(_sizes("tolerances", tolerances, 1.0), steps, methods, own)
    selected = [p for p in pairings_of(forms) if p[1] in charts and p[2] in speeds]
    found = [
        Case(f, r, v, name, tolerance, redundant, hold, projection, own.get(name, ()), on_singularity, step)
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
    if not found:
        kinds = ", ".join(sorted({f"{f} ({f.kind}, index {f.index})" for f, _, _ in selected}))
        takes = ", ".join(f"{s.name} takes {s.takes}" for s in known_solvers() if s.name in methods)
        raise ValueError(f"no case is left of {kinds}: {takes}; `rbdae solvers` lists what each solver takes")
    return found


def _knobs(
    tolerances: list[float], steps: Iterable[float] | None, methods: Mapping[str, Method], own: Mapping[str, Options]
) -> dict[str, list[tuple[float, float | None]]]:
    """For each solver the tolerances and step sizes that it runs with; None for the steps that it chooses itself."""
    sizes = None if steps is None else _sizes("steps", steps, math.inf)
    fixed = [name for name, method in methods.items() if method.fixed_step]
    if sizes is not None and not fixed:
        raise ValueError(
            f"cases: steps are those of fixed-step methods, but {', '.join(methods)} choose their own; leave steps out"
        )
    out: dict[str, list[tuple[float, float | None]]] = {name: [(size, None) for size in tolerances] for name in methods}
    for name in fixed:
        if ("step" in dict(own.get(name, ()))) == (sizes is not None):
            raise ValueError(
                f"cases: {name} takes steps of fixed size; give them once, by steps=[1e-2, 5e-3], in seconds, or as "
                "its option 'step'"
            )
        out[name] = [(min(tolerances), step) for step in sizes] if sizes else [(min(tolerances), None)]
    return out


def _sizes(what: str, given: Iterable[float], below: float) -> list[float]:
    """Positive numbers, the largest first."""
    if isinstance(given, (str, bytes, dict)) or not isinstance(given, Iterable):
        raise TypeError(f"{what} must be a list of numbers, got {_check.show(given)}; pass e.g. [1e-2, 1e-3]")
    sizes = [_check.positive("cases", what, value, "pass e.g. [1e-2, 1e-3]") for value in given]
    if not sizes or max(sizes) >= below:
        wanted = "must not be empty" if not sizes else f"must be below {below:g}"
        raise ValueError(f"{what} {wanted}, got {sizes}; pass e.g. [1e-2, 1e-3]")
    return sorted(set(sizes), reverse=True)


def installed_solvers() -> list[str]:
    """Solvers that choose their own steps and whose packages are installed."""
    return [s.name for s in known_solvers() if s.available and not find_method(s.name)[1].fixed_step]


def _forms(given: Iterable[Any]) -> list[Formulation]:
    """Formulations by name or as values, each once, in the order of the table."""
    listed = [given] if isinstance(given, str) or not isinstance(given, Iterable) else [*given]
    own = {str(form): form for form in listed if isinstance(form, Formulation)}
    names = (
        given if isinstance(given, str) else [str(each) if isinstance(each, Formulation) else each for each in listed]
    )
    forms = {own.get(name) or named(name) for name in _names("formulations", names, "index-1")}
    order = [*FORMULATIONS]
    return sorted(forms, key=lambda f: (order.index(f.name) if f.name in order else len(order), str(f)))


def _known(what: str, plural: str, names: Iterable[str] | None, known: Iterable[str]) -> list[str]:
    """Known names, each once; all of them for None."""
    if names is None:
        return sorted(known)
    wanted = _names(plural, names, next(iter(known)))
    for name in wanted:
        if name not in known:
            raise _check.unknown(what, name, sorted(known))
    return wanted


def _names(what: str, names: Iterable[Any], example: str) -> list[str]:
    """Strings, each once, at least one; a single string is refused, as it is a list of letters."""
    if isinstance(names, str):
        raise TypeError(f"{what} must be a list of strings, got {_check.show(names)}; pass [{names!r}]")
    given = _check.names(what, names)
    if not given:
        raise ValueError(
            f"{what} must not be empty, got []; pass e.g. [{example!r}], or leave it out for all there are"
        )
    return list(dict.fromkeys(given))
