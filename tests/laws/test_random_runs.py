"""Random driven, looped and redundant models through DAE solvers and forms: a run reaches its end, or says that the
position or the chart is singular where it stops.

Half of the seeds are `random_system` (trees and loops with drives), half `redundant_system`, with equations that follow
from others.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import cases
import numpy as np
import pytest
from cases import NIGHTLY, Pairing, count
from random_systems import random_system
from redundant_systems import redundant_system

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae.rotations import CHARTS

END = 0.1
PATIENCE = 50_000
"""More steps are a failure."""

SAID = ("came near a singular set", "rad from their singular set", "singular near t", "near a singular position")
"""What a run says that ends at a singular position of the joints or of a chart."""

LONG = 4
"""A seed whose run takes nine seconds."""


class Case(NamedTuple):
    seed: int
    pairing: Pairing
    solver: str
    tolerance: float

    def problem(self) -> rbdae.Problem:
        """Charts are centred at the start, which may be a singular attitude of others."""
        system = (random_system, redundant_system)[self.seed % 2](self.seed // 2)
        formulation, rotation, velocity = self.pairing
        reference = "start" if CHARTS[rotation].centre else "space"
        given: dict[str, Any] = {"rotation": rotation, "velocity": velocity, "reference": reference}
        return rbdae.formulate(system, formulation, **given, consistent="project", redundant="minimum-norm")

    def complaint(self, problem: rbdae.Problem) -> str:
        """What is wrong with a run; empty if it has reached the end, or says that its end is a singular one."""
        times: list[float] = []

        def progress(t: float) -> None:
            times.append(t)
            if len(times) >= PATIENCE:
                raise TimeoutError(f"{PATIENCE} steps to t = {times[-1]!r}, {times[-1] - times[-100]:.3g} by a hundred")

        given: dict[str, Any] = {"solver": self.solver, "rtol": self.tolerance, "atol": self.tolerance}
        try:
            found = rbdae.solve(problem, (0.0, END), **given, progress=progress)
        except TimeoutError as error:
            return str(error)
        if found.success:
            return "" if np.isfinite(found.y).all() else "numbers that are not finite"
        return "" if any(word in found.message for word in SAID) else found.message


SOLVERS = [name for name in cases.ALL_INFOS if not cases.method(name).pairings]
PAIRS = [
    (name, solver)
    for name, form in FORMULATIONS.items()
    if form.kind != "ode"
    for solver in SOLVERS
    if cases.method(solver).accepts(form.kind, form.index)
]
"""Every form with every solver of constrained equations that takes it."""


@cache
def _cases(seed: int) -> list[Case]:
    """Each form in a chart and with a velocity of the seed, at a tolerance of the seed."""
    rng = np.random.default_rng((seed, 4))
    tolerance = float(10.0 ** rng.uniform(-9.0, -4.0))
    found: dict[str, list[Pairing]] = {}
    for pairing in cases.ALL_PAIRINGS:
        found.setdefault(pairing.formulation, []).append(pairing)
    drawn = {form: fitting[int(rng.integers(len(fitting)))] for form, fitting in found.items()}
    return [Case(seed, drawn[form], solver, tolerance) for form, solver in PAIRS]


@pytest.mark.sampled
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [seed for seed in range(count(13, 1000)) if NIGHTLY or seed != LONG])
def test_a_random_model_runs_through_dae_solvers(seed):
    """One solver and form in turn; all of them at night."""
    every = _cases(seed)
    problems: dict[Pairing, rbdae.Problem] = {}
    found = {}
    for case in every if NIGHTLY else [every[int(np.random.default_rng((seed, 5)).integers(len(every)))]]:
        cases.need(case.solver)
        if case.pairing not in problems:
            problems[case.pairing] = case.problem()
        found[case] = case.complaint(problems[case.pairing])
    assert {case: said for case, said in found.items() if said} == {}


def test_every_dae_solver_and_form_is_among_them():
    able = {solver for solver in SOLVERS if {"dae", "overdetermined"} & cases.method(solver).kinds}
    assert {solver for _, solver in PAIRS} == able and len({form for form, _ in PAIRS}) > 10
    assert len({case.pairing.rotation for seed in range(20) for case in _cases(seed)}) > 5
