"""Random systems against a solver of its own (`maximal`): trees and loops of every joint with every force and drive.

Each system is formulated in one pairing, all pairings in turn. The solver starts from what `Problem.states` says of y0,
so that charts and velocities are judged, too.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import cases
import numpy as np
import pytest
from along_motion import accelerations, along
from cases import count
from maximal import Solved, State, solve_maximal
from random_systems import DRIVES, FORCES, random_system
from redundant_systems import Units
from textbook import EQUATIONS

import rbdae

FORCE_KINDS = [
    kind
    for kind in vars(rbdae.forces).values()
    if isinstance(kind, type)
    and issubclass(kind, rbdae.forces.AbstractForce)
    and "__final__" in vars(kind)
    and kind not in (rbdae.forces.Limit, rbdae.forces.Coulomb, rbdae.forces.Contact)  # see test_random_actuated
]


def _size(*arrays: Any) -> float:
    return max([1.0, *(float(np.max(np.abs(a), initial=0.0)) for a in arrays)])


def _compare(problem: rbdae.Problem) -> dict[str, float]:
    """Differences, relative to the largest of their kind in the system."""
    state = State.read(problem, problem.t0, problem.y0)
    own: Solved = solve_maximal(problem.system, state, problem.t0)
    found_accelerations = accelerations(problem)
    wanted = own.acceleration, own.angular_acceleration
    forces = {j: {b: np.concatenate(own.reactions[j][b]) for b in own.reactions[j]} for j in own.reactions}
    found = problem.reactions(problem.t0, problem.y0)
    largest = _size(*(w for pair in forces.values() for w in pair.values()))
    power = _size(own.kinetic_rate, own.potential_power)
    energy = problem.energy(problem.t0, problem.y0)
    momentum = problem.momentum(problem.t0, problem.y0)
    residual = problem.residual(problem.t0, problem.y0, problem.yd0)
    out: dict[str, float] = {
        "acceleration": max(
            float(np.max(np.abs(a - b))) / _size(*wanted) for a, b in zip(found_accelerations, wanted, strict=True)
        ),
        "kinetic energy": abs(float(energy.kinetic) - own.kinetic) / _size(own.kinetic),
        "kinetic rate": abs(along(problem, lambda t, y: problem.energy(t, y).kinetic) - own.kinetic_rate) / power,
        "potential rate": abs(along(problem, lambda t, y: problem.energy(t, y).potential) + own.potential_power)
        / power,
        "momentum": max(
            float(np.max(np.abs(a - b))) / _size(b)
            for a, b in zip((momentum.linear, momentum.angular), _momentum(problem.system, state), strict=True)
        ),
        "residual": float(np.max(np.abs(residual))) / _size(largest, problem.yd0),
    }
    assert {j: set(found[j]) for j in found} == {j: set(forces[j]) for j in forces}
    for joint, pair in forces.items():
        for body, wrench in pair.items():
            r = found[joint][body]
            error = float(np.max(np.abs(np.concatenate([r.force, r.torque]) - wrench))) / largest
            out["reaction"] = max(out.get("reaction", 0.0), error)
            assert r.unique
    return out


def _momentum(system: rbdae.System, s: State) -> tuple[Any, Any]:
    """Linear, and angular about the origin of space."""
    p = np.array([body.mass * v for body, v in zip(system.bodies, s.v, strict=False)])
    spins = [R @ np.array(b.central_inertia) @ w for b, R, w in zip(system.bodies, s.R, s.Omega, strict=False)]
    return p.sum(axis=0), (np.cross(s.c[: len(p)], p) + spins).sum(axis=0)


# three times the worst of 2,000 systems or more; those with a rate are bounded by the differences
LEVELS = {
    "acceleration": 1e-6,
    "kinetic energy": 1e-14,
    "kinetic rate": 1e-5,
    "momentum": 1e-12,
    "potential rate": 1e-7,
    "reaction": 1e-10,
    "residual": 1e-10,
}


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(count(100, 2000)))
def test_a_random_system_moves_as_the_solver_in_maximal_coordinates_says(seed):
    pairing = cases.PAIRINGS[seed % len(cases.PAIRINGS)]
    found = _compare(cases.formulate(random_system(seed), pairing))
    assert {kind: error for kind, error in found.items() if not error < LEVELS[kind]} == {}, pairing


def test_random_systems_have_every_joint_drive_and_force():
    seen = Counter(type(part) for seed in range(60) for part in _parts(random_system(seed)))
    assert {kind.__name__ for kind in seen} == {kind.__name__ for kind in (*EQUATIONS, *FORCE_KINDS)}
    assert {kind for kind, _ in cases.JOINTS.values()} | set(DRIVES) == set(EQUATIONS)
    assert {kind.__name__ for kind in FORCE_KINDS} == set(FORCES)


def _parts(system: rbdae.System) -> list[Any]:
    return [*system.joints, *system.forces]


def test_other_units_give_the_same_random_system():
    one, other = random_system(3), random_system(3, Units(1e3, 1e-2, 10.0))
    assert [type(part) for part in _parts(one)] == [type(part) for part in _parts(other)]
    assert len(_parts(one)) > 3
    first, second = (solve_maximal(s, State.at_start(s), 0.0, scale) for s, scale in ((one, 1.0), (other, 10.0)))
    assert cases.close(second.acceleration / 10.0, first.acceleration, 1e-9)
    assert cases.close(second.angular_acceleration * 100.0, first.angular_acceleration, 1e-9)
