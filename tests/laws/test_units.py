"""No unit of length, mass or time decides anything: what is redundant, closed, consistent or drifted, which equations
and velocities are selected, and every number that a problem gives."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from cases import NIGHTLY, count
from random_systems import random_system as varied_system
from redundant_systems import SI, Maker, Units, kind, redundant_system
from units_law import evaluations, natural, sizes, worst

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae.joints import Revolute, Rod

EXTREMES = [
    Units(length, mass, time)
    for length, mass, time in ((1e-6, 1, 1), (1e6, 1, 1), (1, 1e-9, 1), (1, 1e9, 1), (1, 1, 1e-6), (1, 1, 1e6))
]
EXTREMES += [Units(1e-6, 1e9, 1e6), Units(1e6, 1e-9, 1e-6)]
IDS = [f"{u.length:g} m, {u.mass:g} kg, {u.time:g} s" for u in EXTREMES]

SAME = 1e-9
"""Of the largest number of a kind; 1.3e-10 is the worst of 2000 systems, 6e-11 the next."""

Make = Callable[[int, Units], rbdae.System]


def _problem(make: Make, seed: int, formulation: str, units: Units, **options: Any) -> rbdae.Problem:
    velocities = FORMULATIONS[formulation].velocities
    if FORMULATIONS[formulation].parameters:
        options |= {"alpha": 10.0 / units.time, "beta": 10.0 / units.time}
    velocity = velocities[seed % len(velocities)]
    return rbdae.formulate(
        make(seed, units), formulation, velocity=velocity, redundant="minimum-norm", **options, consistent="project"
    )


@cache
def _wanted(make: Make, seed: int, formulation: str) -> list[tuple[str, Any]]:
    return [*evaluations(_problem(make, seed, formulation, SI), SI)]


def _differ(make: Make, seed: int, formulation: str, units: Units) -> tuple[float, str]:
    return worst(_problem(make, seed, formulation, units), units, _wanted(make, seed, formulation))


# ---------------------------------------------------------------- what was seen


def _platform(length: float, spread: float = 0.5) -> rbdae.System:
    """A body on five rods, whose ends on it are that far apart."""
    system = rbdae.System(gravity=(0, 0, -9.81 * length))
    top = system.add_body(
        "top",
        mass=1.0,
        inertia=np.array((0.1, 0.2, 0.25)) * length**2,
        position=(0, 0, length),
        velocity=(0.2 * length, 0.1 * length, 0),
    )
    for k in range(5):
        foot = (np.cos(k), np.sin(k), 0.0)
        turn = 0.6 * (-1) ** k
        end = spread * np.array((np.cos(k + turn), np.sin(k + turn), 0.2 * k))
        system.add_joint(Rod(system.ground, top, at_a=np.multiply(foot, length), at_b=end * length))
    return system


@pytest.mark.parametrize("length", [1e-8, 1e-9])
def test_rods_of_nanometres_are_not_redundant(length):
    """Rows of G differed by the arms of the rods alone, against a unit of 1 m."""
    problem = rbdae.formulate(_platform(length), "index-1", consistent="project")
    wanted = rbdae.formulate(_platform(1.0), "index-1", consistent="project")
    assert problem.redundant == ()
    assert worst(problem, Units(length), [*evaluations(wanted, SI)])[0] < SAME


def test_no_equation_is_lost_at_a_micrometre():
    """One was left out as redundant, and accelerations were wrong."""
    problem, wanted = (
        rbdae.formulate(_platform(length, 0.004), "index-1", redundant="minimum-norm", consistent="project")
        for length in (1e-6, 1.0)
    )
    assert problem.redundant == ()
    assert worst(problem, Units(1e-6), [*evaluations(wanted, SI)])[0] < SAME


def test_a_law_that_contradicts_its_derivative_is_refused_in_all_units():
    for u in EXTREMES:
        system = varied_system(18, u)
        hinge = system.joints[0]
        law = u.law(1.0, lambda t: np.sin(t), lambda t: 1.01 * np.cos(t), lambda t: -np.sin(t))
        system.add_joint(rbdae.drives.PrescribedAngle(hinge, law))  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="contradict the law"):
            rbdae.formulate(system, "index-1")


# ---------------------------------------------------------------- the law


@pytest.mark.plain
@pytest.mark.sampled
@pytest.mark.parametrize("units", EXTREMES, ids=IDS)
def test_evaluations_are_the_same_in_all_units(units):
    """Each formulation in one of the units, on either sort of systems; in all of them at night."""
    for seed, formulation in enumerate(FORMULATIONS):
        for make in (redundant_system, varied_system):
            if not NIGHTLY and (seed + EXTREMES.index(units) + 4 * (make is varied_system)) % len(EXTREMES):
                continue
            error, where = _differ(make, seed, formulation, units)
            assert error < SAME, f"{make.__name__}({seed}), {formulation}: {where}"


@pytest.mark.plain
@pytest.mark.sampled
def test_random_systems_are_the_same_in_random_units():
    names = list(FORMULATIONS)
    for seed in range(count(4, 1000)):
        e = np.random.default_rng((12, seed)).uniform(-1.0, 1.0, 3) * (6, 9, 6)
        for make in (redundant_system, varied_system):
            units = Units(*map(float, 10.0**e))
            formulation = names[seed // 12 % len(names)]
            error, where = _differ(make, seed, formulation, units)
            assert error < SAME, f"{make.__name__}({seed}) ({kind(seed)}), {formulation}, {units}: {where}"


@pytest.mark.parametrize("units", EXTREMES, ids=IDS)
def test_given_values_are_consistent_in_all_units_or_in_none(units):
    def platform(speed: float) -> rbdae.System:
        system = rbdae.System(gravity=(0, 0, -9.81 * units.of(1, 0, -2)))
        u = units.length
        inertia = np.array((0.1, 0.2, 0.25)) * units.of(2, 1)
        # rods stand upright: any speed along them is a violation
        velocity = (0.3 * units.speed, 0.0, speed * units.speed)
        top = system.add_body("top", mass=units.mass, inertia=inertia, position=(0, 0, u), velocity=velocity)
        for at in ((1, 0, 0), (0, 1, 0), (-1, -1, 0)):
            system.add_joint(Rod(system.ground, top, at_a=np.multiply(at, u), at_b=np.multiply(at, u)))
        return system

    for speed in (0.0, 1e-10):
        rbdae.formulate(platform(speed), "index-1", consistent="check")
    with pytest.raises(ValueError, match="inconsistent initial values"):
        rbdae.formulate(platform(1e-6), "index-1", consistent="check")


def _open_four_bar(units: Units, gap: float) -> rbdae.System:
    """Four hinges of which the last does not fit by a gap."""
    make = Maker(np.random.default_rng(4), units)
    points = np.array(((0.0, 0, 0), (0.2, 0.9, 0), (1.3, 1.2, 0), (1.6, 0, 0)))
    bodies = [make.body(0.5 * (p + q)) for p, q in itertools.pairwise(points)]
    for k, (a, b) in enumerate(itertools.pairwise([None, *bodies, None])):
        make.join(Revolute, a, b, points[k], end=points[k] + (gap if k == 3 else 0.0) * np.array((1.0, 0.3, 0.0)))
    return make.system


@pytest.mark.parametrize("units", EXTREMES, ids=IDS)
def test_assemblies_are_the_same_in_all_units(units):
    found, wanted = (rbdae.assemble(_open_four_bar(u, 0.1)) for u in (units, SI))
    assert found.steps == wanted.steps > 2
    assert found.redundant == wanted.redundant != ()
    assert np.abs(found.position / units.length - wanted.position).max() < SAME
    assert np.abs(found.orientation - wanted.orientation).max() < SAME
    assert found.gap / units.length == pytest.approx(wanted.gap, rel=SAME)
    with pytest.raises(ValueError, match="the joints cannot be closed"):
        rbdae.assemble(_open_four_bar(units, 3.0))


RUNS = [("index-0", "scipy:DOP853"), ("index-2", "sksundae:ida"), ("null-space", "scipy:Radau")]


@pytest.mark.parametrize("formulation, solver", RUNS)
@pytest.mark.parametrize("units", EXTREMES[-2:], ids=IDS[-2:])
def test_runs_are_the_same_in_all_units(units, formulation, solver):
    """With absolute tolerances in the units of the unknowns."""
    ends = []
    for u in (units, SI):
        problem = _problem(redundant_system, 1, formulation, u)
        atol = np.full(problem.n, 1e-8)
        known = sizes(problem, u)
        atol[: len(known)] *= np.where(np.isnan(known), 1.0 / u.time, known)
        atol[problem.layout.la] *= u.torque
        span = (0.0, 0.3 * u.time)
        run = rbdae.solve(problem, span, solver=solver, rtol=1e-8, atol=atol, projection=True, t_eval=span)
        assert run.success, run.message
        ends.append(natural(problem, run.t[-1], run.y[-1], u))
    assert np.abs(ends[0] - ends[1]).max() < 1e-5 * np.abs(ends[1]).max()
