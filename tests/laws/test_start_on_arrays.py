"""The joints on arrays, by which starts are found, are those of the kernels: g, gdot, G and the nearest velocities."""

from __future__ import annotations

import cases
import inside
import numpy as np
import pytest
from cases import count
from random_systems import random_system

import rbdae
from rbdae.initial import joints

SYSTEMS = {
    **cases.SYSTEMS,
    **cases.JOINT_SYSTEMS,
    **cases.TOY_SYSTEMS,
    "driven": cases.driven,
    **{f"random {k}": lambda k=k: random_system(k) for k in range(count(8, 60))},
}
OPTIONS = {"redundant": "minimum-norm", "consistent": "project", "code": "auto"}


def _joints_on_arrays(problem, t, y):
    """g, gdot and G of all joint equations as a start computes them, at a state in quaternions."""
    start = joints.Joints(problem.model, t)
    motion = _motion_of(problem, t, y)
    return start.values(motion), start.rates(motion), start.matrix(motion)


def _motion_of(problem, t, y):
    states = problem.states(t, y).values()
    x, xd = problem.natural(t, y)[:, :3], problem.natural(t, y)[:, 12:15]
    p = np.array([np.roll(state.orientation.as_quat(), 1) for state in states])
    return inside.BodyMotion(x, p, xd, np.array([state.angular_velocity for state in states]))


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_joints_on_arrays_are_those_of_the_kernels(name):
    """Off the constraints, and later than the start; also of motions of other points of the bodies."""
    problem = rbdae.formulate(SYSTEMS[name](), "index-0", **OPTIONS)
    n, rng = problem.model.n, np.random.default_rng(4)
    y = problem.project(problem.t0, problem.y0)
    y[: problem.layout.s.start] += 0.1 * rng.standard_normal(problem.layout.s.start)
    q = y[problem.layout.q]
    for end in np.cumsum([4 if body.pivot is not None else 7 for body in problem.system.bodies]):
        q[end - 4 : end] /= np.linalg.norm(q[end - 4 : end])
    t = problem.t0 + 0.3
    g, rate, G = _joints_on_arrays(problem, t, y)
    violation = problem.constraints(t, y)
    for found, wanted in ((g, violation.position[n:]), (rate, violation.velocity[n:])):
        assert np.abs(found - wanted).max(initial=0.0) <= 1e-13 * (1.0 + np.abs(wanted).max(initial=0.0))
    wanted = inside.constraint_gradient(problem, t, y)
    assert np.abs(G - wanted).max(initial=0.0) <= 1e-13 * (1.0 + np.abs(wanted).max(initial=0.0))
    arms = np.array([rng.standard_normal(3) if body.pivot is None else np.zeros(3) for body in problem.system.bodies])
    motion, start = _motion_of(problem, t, y), joints.Joints(problem.model, t)
    origins, of_origins = motion.at(-arms), start.of_origins(arms)
    moved = of_origins.matrix(origins) @ np.hstack([origins.xd, origins.om]).ravel()
    for found, wanted in (
        (of_origins.values(origins), g),
        (of_origins.rates(origins), rate),
        (moved, G @ np.hstack([motion.xd, motion.om]).ravel()),
    ):
        assert np.abs(found - wanted).max(initial=0.0) <= 1e-12 * (1.0 + np.abs(wanted).max(initial=0.0))


@pytest.mark.parametrize("sparse", [False, True])
def test_a_chain_of_loose_links_closes_dense_or_sparse_alike(sparse, monkeypatch):
    if sparse:
        monkeypatch.setattr(joints, "_DENSE", 0)
    problem = rbdae.formulate(loose_chain(8), "index-2", consistent="project")
    position, velocity = problem.constraints(problem.t0, problem.y0).position, problem.assembly.velocity
    assert np.abs(position).max() < 1e-13
    monkeypatch.undo()
    other = rbdae.assemble(loose_chain(8))
    assert np.abs(problem.assembly.position - other.position).max() < 1e-13
    assert np.abs(velocity - other.velocity).max() < 1e-12


def test_a_large_tree_of_doubled_joints_says_which_equation_follows():
    system = loose_chain(300)
    a, b = system.bodies[100], system.bodies[101]
    system.add_joint(rbdae.joints.Spherical(a, b, at_a=(0.5, 0, 0), at_b=(-0.5, 0, 0), name="twice"))
    with pytest.raises(rbdae.ProjectionError, match=r"redundant or singular, first at joint '(twice|link-101)'"):
        rbdae.assemble(system)


def loose_chain(n: int) -> rbdae.System:
    """Links a little apart, with given velocities that contradict the joints."""
    system, rng = rbdae.System(), np.random.default_rng(3)
    before = system.ground
    for k in range(n):
        place = np.array((k + 0.5, 0.0, 0.0)) + 1e-3 * rng.standard_normal(3)
        v, w = 0.3 * rng.standard_normal((2, 3))
        body = system.add_body(
            f"b{k}", mass=1.0 + rng.random(), inertia=(0.1, 0.12, 0.15), position=place, velocity=v, angular_velocity=w
        )
        at = (0.5, 0.0, 0.0) if k else (0.0, 0.0, 0.0)
        system.add_joint(rbdae.joints.Spherical(before, body, at_a=at, at_b=(-0.5, 0.0, 0.0), name=f"link-{k}"))
        before = body
    return system
