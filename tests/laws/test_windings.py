"""Windings: a torsional spring counts full turns by an unknown of its own, not by what was evaluated before.

The wheel: J = 1, k = 1, Omega(0) = 30, so Omega(t) = 30 cos(t), and five turns in the first second.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import cases
import numpy as np
import pytest
import test_derivatives as derivatives
from cases import Pairing, close
from force_cases import axial
from inside import Vec
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.drives import PrescribedAngle
from rbdae.forces import Bushing, TorsionalSpringDamper
from rbdae.joints import Revolute

OMEGA = 30.0
SOLVERS = {"ode": "scipy:DOP853", "dae": "sksundae:ida", "overdetermined": "assimulo:ODASSL"}


def wheel(angle: float = 0.0) -> rbdae.System:
    """A wheel on an axle that does not move, and a spring between them; it is placed with this angle."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    values: dict[str, Any] = {"orientation": Rotation.from_rotvec((0.0, 0.0, angle)), "angular_velocity": (0, 0, OMEGA)}
    body = system.add_body("wheel", mass=1.0, inertia=(0.7, 0.7, 1.0), **values)
    axes: dict[str, Any] = {"axis_b": (0, 0, 1), "normal_a": (1, 0, 0), "normal_b": (1, 0, 0)}
    joint = system.add_joint(Revolute(system.ground, body, **axes))
    system.add_force(TorsionalSpringDamper(joint, stiffness=1.0))
    return system


@cache
def explicit() -> rbdae.Problem:
    return rbdae.formulate(wheel(), "index-0")


def spin(problem: rbdae.Problem, t: Any, y: Any) -> Any:
    """Omega."""
    return problem.states(t, y)["wheel"].angular_velocity[..., 2]


def run(problem: rbdae.Problem, t_end: float = 1.0, tolerance: float = 1e-9, **options: Any) -> rbdae.Solution:
    solver = SOLVERS[problem.kind]
    cases.need(solver)
    span = (problem.t0, problem.t0 + t_end)
    return rbdae.solve(problem, span, solver=solver, rtol=tolerance, atol=tolerance, **options)


EACH = cases.covering([p for p in cases.PAIRINGS if p.rotation in cases.REGULAR])
"""The wheel turns about the third axis through all angles, where charts of three parameters are singular."""

# ODASSL finds the matrix of overdetermined-1 singular at the start of the wheel
RUNS = [pairing for pairing in EACH if pairing.formulation != "overdetermined-1"]
RUNS = RUNS[:: 1 if cases.NIGHTLY else 2]


@pytest.mark.parametrize("pairing", RUNS, ids=str)
def test_the_wheel_turns_twice_the_same_in_all_formulations(pairing: Pairing):
    problem = cases.formulate(wheel(), pairing)
    first, second = run(problem), run(problem)
    assert first.success
    assert first.y.tobytes() == second.y.tobytes()
    assert abs(spin(problem, 1.0, first.y[-1]) - OMEGA * np.cos(1.0)) < 3e-5
    # five turns later, the spring still knows its energy, of one state as of all
    energy = first.energy.total
    assert np.ptp(energy) < 1e-5 * energy[0]
    assert problem.energy(first.t[-1], first.y[-1]).total == energy[-1]
    assert abs(first.y[-1, problem.layout.s][0] - OMEGA * np.sin(1.0)) < 3e-5


@pytest.mark.parametrize("span", [(0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (0.6, 1.3)], ids=str)
def test_forwards_backwards_and_from_the_middle(span: tuple[float, float]):
    """In somebody's own loop, with evaluations at other times and turns, and at no numbers, between its steps."""
    problem = explicit()
    far = problem.y0 + 3.0
    begin = run(problem, span[0]).y[-1] if span[0] else problem.y0

    def rhs(t: float, y: Vec) -> Vec:
        problem.rhs(t, far)
        problem.rhs(t, far * np.nan)
        return problem.rhs(t, y)

    found = solve_ivp(rhs, span, begin, rtol=1e-9, atol=1e-9, method="DOP853")
    assert abs(spin(problem, span[1], found.y[:, -1]) - OMEGA * np.cos(span[1])) < 1e-6


def test_no_number_stays_none():
    problem = explicit()
    for k in (3, problem.layout.s.start):
        y = problem.y0.copy()
        y[k] = np.nan
        assert np.isnan(problem.rhs(0.0, y)[problem.layout.v]).any()


def test_the_winding_is_an_unknown_with_a_name_and_starts_with_the_angle():
    for angle in (0.0, 3.0, -3.0):
        system = wheel(angle)
        problem = rbdae.formulate(system, "index-2")
        assert problem.labels[problem.layout.s] == ["torsion-1.phi"]
        assert problem.y0[problem.layout.s] == pytest.approx(angle, abs=1e-15)
        assert problem.yd0[problem.layout.s] == pytest.approx(OMEGA)
    free = rbdae.formulate(cases.built("joint-revolute"), "index-2", consistent="project")
    assert free.layout.n_states == 0


def test_a_start_that_is_projected_over_half_a_turn_keeps_counting():
    """The drive moves the wheel from 3.0 to 3.3, which is no turn less."""
    system = wheel(3.0)
    law = (lambda t: 3.3 + OMEGA * t, lambda t: OMEGA, lambda t: 0.0)
    system.add_joint(PrescribedAngle(system.joints[0], law))
    problem = rbdae.formulate(system, "index-2", consistent="project")
    assert problem.y0[problem.layout.s] == pytest.approx(3.3, abs=1e-12)


# ---------------------------------------------------------------- Jacobians


def _wound(build: Callable[[], rbdae.System]) -> rbdae.System:
    """A mechanism with springs about axes of its bodies and of the ground, in no special position."""
    system = build()
    first, last = system.bodies[0], system.bodies[-1]
    system.add_force(TorsionalSpringDamper(axial(first, last, "revolute"), stiffness=20.0, damping=2.0, angle=0.4))
    system.add_force(Bushing(last, stiffness=2.0))
    system.add_force(TorsionalSpringDamper(axial(system.ground, last, "cylindrical"), stiffness=5.0))
    return system


WOUND: dict[str, Callable[[], rbdae.System]] = {
    # problems are kept by the names of their systems: these are no others'
    "wound tree of spheres": lambda: _wound(cases.hinged_pair),
    "wound tree": lambda: _wound(lambda: cases.built("joint-revolute")),
    "wound loop": lambda: _wound(cases.loop),
}
PAIRS = [("wound tree", p) for p in EACH[:: 1 if cases.NIGHTLY else 4] if not p.formulation.startswith("null")]
PAIRS += [
    (name, pairing)
    for name in WOUND
    for pairing in EACH
    if pairing.formulation.startswith("null") and (cases.NIGHTLY or name != "wound loop")
]


@pytest.mark.parametrize("name, pairing", PAIRS, ids=[f"{name}-{pairing}" for name, pairing in PAIRS])
def test_derivatives_with_windings(name: str, pairing: Pairing, rng, monkeypatch):
    monkeypatch.setitem(cases.SYSTEMS, name, WOUND[name])
    derivatives.check(name, pairing, rng)
    # the rates are those of the angles
    problem = cases.problem(name, pairing)
    s = problem.layout.s
    assert s.stop - s.start == 2
    y = problem.y0
    reference = cases.problem(name, Pairing("index-0", "quaternion", "angular"))
    assert close(problem.yd0[s], reference.yd0[reference.layout.s], 1e-12)
    assert close(problem.natural(0.0, y), reference.natural(0.0, reference.y0), 1e-12)
