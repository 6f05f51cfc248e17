"""Random runs: driven, looped and redundant mechanisms by a seed, each through every DAE solver and form that takes it.

Half of the seeds are of each kind: `random_system` (trees and loops with drives) and `redundant_system`, whose
equations follow from each other.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from random_systems import random_system
from redundant_systems import redundant_system

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae.rotations import CHARTS

KINDS = ("random", "redundant")
END = 0.1
PATIENCE = 50_000
"""More steps are a failure."""

SAID = (
    "came near a singular set",
    "rad from their singular set",
    "singular near t",
    "joints are near a singular position",
)
"""What a run says that ends at a singular position of the joints or of a chart."""


class _Enough(Exception):
    """Ends a run that takes too many steps."""


@dataclass(frozen=True)
class Case:
    """One run."""

    seed: int
    formulation: str
    rotation: str
    velocity: str
    solver: str
    tolerance: float

    @property
    def kind(self) -> str:
        return KINDS[self.seed % 2]

    def __str__(self) -> str:
        pairing = f"{self.formulation}/{self.rotation}/{self.velocity}"
        return f"{self.kind}-{self.seed}-{pairing}-{self.solver}-{self.tolerance:.0e}"


def system_of(seed: int) -> rbdae.System:
    """The mechanism of a seed."""
    made = (random_system, redundant_system)[seed % 2]
    return made(seed // 2)


def dae_solvers() -> list[str]:
    """Those that take constrained equations."""
    return [
        name
        for name in (info.name for info in rbdae.solvers())
        if not _method(name).pairings and {"dae", "overdetermined"} & _method(name).kinds
    ]


def _method(name: str) -> Any:
    from cases import method

    return method(name)


def cases_of(seed: int) -> list[Case]:
    """Every DAE solver with every form that it takes, at a tolerance of the seed; each form in a chart and with a
    velocity of the seed."""
    rng = np.random.default_rng((seed, 4))
    tolerance = float(10.0 ** rng.uniform(-9.0, -4.0))
    drawn = {form: charts[int(rng.integers(len(charts)))] for form, charts in _pairings().items()}
    return [Case(seed, form, *drawn[form], solver, tolerance) for form, solver in _pairs()]


@cache
def _pairings() -> dict[str, list[tuple[str, str]]]:
    """The charts and velocities of each form."""
    found: dict[str, list[tuple[str, str]]] = {}
    for form, rotation, velocity in rbdae.pairings():
        found.setdefault(form, []).append((rotation, velocity))
    return found


def _pairs() -> Iterator[tuple[str, str]]:
    for name, form in FORMULATIONS.items():
        if form.kind == "ode":
            continue
        for solver in dae_solvers():
            if _method(solver).accepts(form.kind, form.index):
                yield name, solver


def formulated(case: Case) -> rbdae.Problem:
    """The problem of a case. Charts are centred at the start, which may be a singular attitude of others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return rbdae.formulate(
            system_of(case.seed),
            case.formulation,
            rotation=case.rotation,
            velocity=case.velocity,
            reference="start" if CHARTS[case.rotation].centre else "space",
            consistent="project",
            redundant="minimum-norm",
        )


def run(case: Case, problem: rbdae.Problem) -> rbdae.Solution | str:
    """The run of a case, or why there is none."""
    times: list[float] = []

    def count(t: float) -> None:
        times.append(t)
        if len(times) >= PATIENCE:
            raise _Enough

    try:
        return rbdae.solve(
            problem, (0.0, END), solver=case.solver, rtol=case.tolerance, atol=case.tolerance, progress=count
        )
    except _Enough:
        return f"after {PATIENCE} steps it is at t = {times[-1]!r}, {times[-1] - times[-100]:.3g} for the last hundred"


def complaint(found: rbdae.Solution | str) -> str:
    """What is wrong with a run; empty if it has reached the end, or says that its end is a singular one."""
    if isinstance(found, str):
        return found
    if found.success:
        return "" if np.isfinite(found.y).all() else "numbers that are not finite"
    return "" if any(word in found.message for word in SAID) else found.message


def verdict(found: rbdae.Solution | str) -> str:
    """``"passed"``, ``"singular"`` or ``"failed"``."""
    if complaint(found):
        return "failed"
    return "passed" if isinstance(found, rbdae.Solution) and found.success else "singular"
