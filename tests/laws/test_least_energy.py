"""Unknown velocities have the least kinetic energy beside the given ones, wherever the origin of a body's frame is.

The reference is a pseudo-inverse: of all velocities u with G u = -g_t and the given values those of least u^T M u.
Where given values contradict the joints, first their change of least size in the mass metric, then the same.
"""

from __future__ import annotations

from typing import Any

import cases
import inside
import numpy as np
import pytest
from random_systems import random_system

import rbdae
from rbdae_papers.kinematics import spin

GIVEN = ("velocity", "angular_velocity")


def _formulated(system: rbdae.System, **options: Any) -> rbdae.Problem:
    return rbdae.formulate(system, "index-0", consistent="project", redundant="minimum-norm", **options)


def _reference(problem: rbdae.Problem) -> tuple[Any, float, bool]:
    """Velocities (xdot, Omega) of the origins, (6 n,), their energy, and whether the given ones stay."""
    bodies, n = problem.system.bodies, len(problem.system.bodies)
    Z = problem.natural(0.0, problem.y0)
    G = inside.constraint_gradient(problem, 0.0, problem.y0)
    still = problem.y0.copy()
    still[problem.layout.v] = 0.0
    g_t = problem.constraints(0.0, still).velocity[-len(G) :] if len(G) else np.zeros(0)
    T, M = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    known, values = np.zeros(6 * n, dtype=bool), np.zeros(6 * n)
    for k, body in enumerate(bodies):
        at = slice(6 * k, 6 * k + 6)
        R = Z[k, 3:12].reshape(3, 3).T
        arm = np.zeros(3) if body.pivot is not None else np.array(body.center_of_mass)
        T[at, at] = np.eye(6)
        T[6 * k : 6 * k + 3, 6 * k + 3 : 6 * k + 6] = -R @ spin(arm)
        M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = body.mass * np.eye(3)
        M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = body.inertia
        known[at] = np.repeat([body.pivot is not None or "velocity" in body.given, "angular_velocity" in body.given], 3)
        values[at] = np.r_[body.velocity, body.angular_velocity]
        if "velocity" in body.given and not any(body in joint.bodies for joint in problem.system.joints):
            known[at] = True  # a body without joints moves as it is told
    M, A = T.T @ M @ T, G @ T
    fixed = np.repeat([body.pivot is not None for body in bodies], 6) & (np.arange(6 * n) % 6 < 3)
    unknown, given = np.flatnonzero(~known), np.flatnonzero(known & ~fixed)
    v = np.where(known, values, 0.0)
    rest = -g_t - A @ v
    left = rest - A[:, unknown] @ (np.linalg.pinv(A[:, unknown], 1e-10) @ rest)
    fits = np.abs(left).max(initial=0.0) < 1e-9 * (1.0 + np.abs(rest).max(initial=0.0))
    if not fits and len(given):
        P = np.eye(len(A)) - A[:, unknown] @ np.linalg.pinv(A[:, unknown], 1e-10)
        W = np.linalg.inv(np.linalg.cholesky(M[np.ix_(given, given)])).T
        v[given] += W @ (np.linalg.pinv(P @ A[:, given] @ W, 1e-9) @ (P @ rest))
    # the energy of v + (unknown): complete the square, then the least step onto the constraints
    if len(unknown):
        L = np.linalg.cholesky(M[np.ix_(unknown, unknown)])
        W = np.linalg.inv(L).T
        v[unknown] = -W @ (W.T @ (M[np.ix_(unknown, np.flatnonzero(known))] @ v[known]))
        v[unknown] += W @ (np.linalg.pinv(A[:, unknown] @ W, 1e-10) @ (-g_t - A @ v))
    assert np.abs(A @ v + g_t).max(initial=0.0) < 1e-8
    return v, 0.5 * float(v @ M @ v), bool(fits)


def _velocities(problem: rbdae.Problem) -> Any:
    states = problem.states(0.0, problem.y0)
    return np.concatenate(
        [np.r_[states[b.name].velocity, states[b.name].angular_velocity] for b in problem.system.bodies]
    )


def _partial(seed: int, monkeypatch: pytest.MonkeyPatch, *, spoilt: bool = False) -> rbdae.System:
    """The random mechanism of a seed, of which some velocities are left out, and the others spoilt."""
    rng = np.random.default_rng((seed, 77))
    add = rbdae.System.add_body
    share = rng.uniform(0.2, 0.9)

    def partly(self: rbdae.System, name: str, **values: Any) -> Any:
        left_out = [what for what in GIVEN if rng.random() < share]
        kept = {what: value for what, value in values.items() if what not in left_out}
        if spoilt:
            kept |= {what: kept[what] + 0.3 * rng.standard_normal(3) for what in GIVEN if what in kept}
        return add(self, name, **kept)

    with monkeypatch.context() as patch:
        patch.setattr(rbdae.System, "add_body", partly)
        return random_system(seed)


@pytest.mark.plain  # many models for one law
@pytest.mark.sampled
@pytest.mark.parametrize("block", range(cases.count(1, 10)))
def test_random_partial_starts_have_the_least_energy(block, monkeypatch):
    fitting = 0
    for seed in range(24 * block, 24 * block + 24):
        problem = _formulated(_partial(seed, monkeypatch))
        v, energy, fits = _reference(problem)
        size = 1.0 + np.abs(v).max()
        assert np.abs(_velocities(problem) - v).max() < 1e-9 * size, seed
        assert abs(problem.energy(0.0, problem.y0).kinetic - energy) < 1e-9 * (1.0 + energy), seed
        fitting += fits
    assert fitting > 3


@pytest.mark.plain  # many models for one law
def test_other_masses_weigh_the_velocities_that_a_search_finds(monkeypatch):
    """Where given ones agree with the joints and where they do not."""
    changed = same = 0
    for seed in range(16):
        problem = _formulated(_partial(seed, monkeypatch, spoilt=seed % 2 == 1))
        masses = {f"{body.name}.mass": (1.1 + 0.1 * k) * body.mass for k, body in enumerate(problem.system.bodies)}
        other = problem.with_parameters(masses)
        found, alone = other.assembly, _formulated(other.system).assembly
        assert found.disagreement == alone.disagreement, seed
        for name in ("velocity", "angular_velocity", "velocity_change", "spin_change"):
            one, two = getattr(found, name), getattr(alone, name)
            assert np.abs(one - two).max() < 1e-12 * (1.0 + np.abs(two).max()), (seed, name)
        assert [str(each) for each in found.changes] == [str(each) for each in alone.changes], seed
        changed, same = changed + bool(found.changes), same + (not found.changes)
    assert changed > 5 and same > 2


def test_an_unknown_angular_velocity_belongs_to_a_given_velocity_of_another_point():
    """The origin has 1 m/s, the centre of mass is elsewhere: the bodies had 1.5 J in place of 0.82."""
    system = rbdae.System(gravity=(0, 0, 0))
    a = system.add_body(
        "a", mass=2, inertia=(0.1, 0.1, 0.1), center_of_mass=(0, 0.5, 0), position=(0, 0, 0), velocity=(1, 0, 0)
    )
    b = system.add_body("b", mass=1, inertia=(0.1, 0.2, 0.3), position=(1, 0, 0))
    system.add_joint(rbdae.joints.Spherical(a, b, at_a=(0.5, 0, 0), at_b=(-0.5, 0, 0)))
    problem = rbdae.formulate(system, "index-0")
    v, energy, fits = _reference(problem)
    assert fits
    assert abs(problem.energy(0.0, problem.y0).kinetic - energy) < 1e-12
    assert abs(energy - 0.821) < 1e-3
    np.testing.assert_allclose(problem.states(0.0, problem.y0)["a"].angular_velocity, (0, 0, 1.358), atol=1e-3)
    assert not problem.assembly.changes
    # what was not given is told from rest
    np.testing.assert_allclose(problem.assembly.spin_change[0], np.linalg.norm(v[3:6]), rtol=1e-12)


def _on_a_table(**options: Any) -> rbdae.Problem:
    """A body that slides and turns on a plane; its given velocity fits."""
    system = rbdae.System(gravity=(0, 0, 0))
    given = {"mass": 2.0, "inertia": (0.1, 0.12, 0.15), "center_of_mass": (0, 0.5, 0)}
    body = system.add_body("a", **given, position=(0, 0, 0), velocity=(1, 0, 0))
    system.add_joint(rbdae.joints.PointOnPlane(system.ground, body))
    return _formulated(system, **options)


def test_held_bodies_keep_still_where_the_joints_allow_it():
    """Though the least energy would have them turn."""
    np.testing.assert_allclose(_velocities(_on_a_table(hold=["a"])), (1, 0, 0, 0, 0, 0), atol=1e-14)
