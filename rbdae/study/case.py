"""What one run of a study consists of, and the list of all cases that make sense."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae import _check
from rbdae.formulations import FORMULATIONS, SPELLINGS, pairings
from rbdae.rotations import CHARTS
from rbdae.solving.registry import find_method
from rbdae.solving.registry import solvers as known_solvers


@final
@dataclass(frozen=True, slots=True)
class Case:
    """What one run consists of; rtol = atol = `tolerance`."""

    formulation: str
    rotation: str
    velocity: str
    solver: str
    tolerance: float

    @property
    def form(self) -> str:
        """Formulation, rotation and velocity in one string."""
        return f"{self.formulation}, {self.rotation}, {self.velocity}"


def cases(
    formulations: Iterable[str] | None = None,
    rotations: Iterable[str] | None = None,
    velocities: Iterable[str] | None = None,
    solvers: Iterable[str] | None = None,
    tolerances: Iterable[float] = (1e-8,),
) -> list[Case]:
    """All cases that make sense; None takes all there are (of the solvers: those installed, with step control).

    Raises
    ------
    ValueError
        for names that do not exist, with the nearest ones
    rbdae.adapter.MissingSolver
        for a solver whose package is not installed
    """
    known = pairings()
    spelt = None if formulations is None else [SPELLINGS.get(f, f) for f in _check.names("formulations", formulations)]
    wanted_forms = _check_names("formulation", spelt, FORMULATIONS)
    wanted_charts = _check_names("rotation", rotations, CHARTS)
    wanted_velocities = _check_names("velocity", velocities, {v for _, _, v in known})
    methods = {
        name: find_method(name)[1]
        for name in (installed_solvers() if solvers is None else _check.names("solvers", solvers))
    }
    selected = [
        (f, r, v)
        for f, r, v in known
        if (wanted_forms is None or f in wanted_forms)
        and (wanted_charts is None or r in wanted_charts)
        and (wanted_velocities is None or v in wanted_velocities)
    ]
    # an iterator would be used up by the first form
    if isinstance(tolerances, (str, bytes, dict, np.ma.MaskedArray)) or not isinstance(tolerances, Iterable):
        raise TypeError(f"tolerances must be a list of numbers, got {_check.show(tolerances)}; pass e.g. [1e-6, 1e-8]")
    tolerances = tuple(_check.positive("cases", "tolerances", value, "pass e.g. [1e-8]") for value in tolerances)
    return [
        Case(f, r, v, name, tolerance)
        for f, r, v in selected
        for name, method in methods.items()
        if method.accepts(FORMULATIONS[f].kind, FORMULATIONS[f].index)
        for tolerance in tolerances
    ]


def installed_solvers() -> list[str]:
    """Solvers that choose their own steps and whose packages are installed."""
    return [s.name for s in known_solvers() if s.available and not find_method(s.name)[1].fixed_step]


def _check_names(what: str, names: Iterable[str] | None, known: Iterable[str]) -> list[str] | None:
    if names is None:
        return None
    wanted, known = _check.names({"velocity": "velocities"}.get(what, f"{what}s"), names), sorted(known)
    for name in wanted:
        if name not in known:
            raise _check.unknown(what, name, known)
    return wanted


__all__ = ["Case", "cases", "installed_solvers"]
