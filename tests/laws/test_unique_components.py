"""Components of reactions that redundancy leaves undetermined, and those that it does not.

The reference takes the null space of G^T from the matrix alone, and the force of each joint on a body from its rows.
"""

from __future__ import annotations

from typing import Any

import cases
import inside
import numpy as np
import pytest
from redundant_systems import KINDS, Maker, Units, kind, redundant_system
from scipy.linalg import null_space

import rbdae
from rbdae import joints

PLANE = [True, True, False]
ABOUT_THE_AXIS = [False, False, True]


def _formulated(system: rbdae.System, **options: Any) -> rbdae.Problem:
    return rbdae.formulate(system, "index-0", redundant="minimum-norm", consistent="project", **options)


def _sides(problem: rbdae.Problem, t: Any = 0.0, y: Any = None) -> dict[tuple[str, str], Any]:
    found = problem.reactions(t, problem.y0 if y is None else y)
    return {(joint, body): side for joint, sides in found.items() for body, side in sides.items()}


def _loop(kinds: Any, seed: int = 3) -> rbdae.System:
    """A four-bar of these joints in a random plane of space, with forces across it, too."""
    make = Maker(np.random.default_rng(seed), Units())
    r = make.rng.uniform(-0.15, 0.15, (4, 3)) * (1, 1, 0)
    points = np.array(((0.0, 0, 0), (0.2, 0.9, 0), (1.3, 1.2, 0), (1.6, 0, 0))) + r
    bodies = [None, *(make.body(0.5 * (points[k] + points[k + 1]), (0, 0, 1.5 * (k == 0))) for k in range(3)), None]
    for k, of in enumerate(kinds):
        make.join(of, bodies[k], bodies[k + 1], points[k], name=f"pin{k}")
    make.rng = np.random.default_rng(seed + 1)  # a universal joint draws a direction, and the forces are to be the same
    make.push()
    return make.system


HINGES = [joints.Revolute] * 4


def test_they_are_those_of_the_loop_without_redundancy():
    """A spherical and a universal joint in place of two hinges leave the same motion and determine everything."""
    problem = _formulated(_loop(HINGES))
    others = [joints.Revolute, joints.Spherical, joints.Universal, joints.Revolute]
    exact = rbdae.formulate(_loop(others), "index-0", consistent="project")
    assert problem.redundant and not exact.redundant
    found, wanted = _sides(problem), _sides(exact)
    for key, side in wanted.items():
        assert side.unique and side.unique_force.all() and side.unique_torque.all()
        mine = found[key]
        own, other = mine.frame.T @ mine.force, mine.frame.T @ side.force
        size = np.abs(other).max()
        assert np.abs(own - other)[mine.unique_force].max() < 1e-9 * size
        turn, about = mine.frame.T @ mine.torque, mine.frame.T @ side.torque
        assert np.abs(turn - about)[mine.unique_torque].max() < 1e-9 * size
    apart = [np.abs(found[key].force - side.force).max() for key, side in wanted.items()]
    assert max(apart) > 1e-2  # what is shared is shared in another way


def _pulls(problem: rbdae.Problem, y: Any) -> dict[tuple[str, str], Any]:
    """Of each joint on each moving body the force and the torque about the joint's point, in the joint's frame and in
    space, by a basis of the null space of G^T: (2, 6, k). Forces count times the model's length."""
    model, system = problem.model, problem.system
    scale = problem.model.scales.length
    G = inside.constraint_gradient(problem, 0.0, y)
    A = G / np.linalg.norm(G, axis=1, keepdims=True)
    N = null_space(A.T, rcond=1e-9) / np.linalg.norm(G, axis=1, keepdims=True)
    N = N / np.abs(N).max(axis=0)
    Z = problem.natural(0.0, y)
    R = {body.name: Z[k, 3:12].reshape(3, 3).T for k, body in enumerate(system.bodies)} | {"ground": np.eye(3)}
    out, row = {}, 0
    for joint in system.joints:
        rows = slice(row, row + joint.n_constraints)
        row = rows.stop
        for body, at in ((joint.a, joint.at_a), (joint.b, joint.at_b)):
            if body.fixed:
                continue
            k = model.names.index(body.name)
            pull = -G[rows, 6 * k : 6 * k + 6].T @ N[rows]
            arm = R[body.name] @ (at - body.reference)
            force = pull[:3]
            torque = R[body.name] @ pull[3:] - np.cross(arm, force, axisb=0, axisc=0)
            u = np.asarray(getattr(joint, "axis_a", (0.0, 0.0, 1.0)))
            n = getattr(joint, "normal_a", np.array((1.0, 0, 0)))
            E = R[joint.a.name] @ np.column_stack([n, np.cross(u, n), u])
            own = np.concatenate([E.T @ force * scale, E.T @ torque])
            out[joint.name, body.name] = np.array([own, np.concatenate([force * scale, torque])])
    return out


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("seed", range(len(KINDS)), ids=kind)
def test_what_the_null_space_moves_is_not_unique_and_nothing_else(seed):
    problem = _formulated(redundant_system(seed))
    sides = _sides(problem)
    moved = _pulls(problem, problem.y0)
    assert moved
    for key, pulls in moved.items():
        size = np.linalg.norm(pulls, axis=-1)
        assert ((size < 1e-9) | (size > 1e-5)).all(), (key, size)
        side = sides[key]
        own, in_space = size < 1e-9
        np.testing.assert_array_equal(np.r_[side.unique_force, side.unique_torque], own, str(key))
        np.testing.assert_array_equal(np.r_[side.unique_force_in_space, side.unique_torque_in_space], in_space)
        assert side.unique == own.all()
    if problem.redundant:
        assert any(not side.unique for side in sides.values())


@pytest.mark.parametrize("drift", [1e-9, 1e-6, 1e-4])
def test_drift_changes_no_component(drift, rng):
    """Rows that follow from the others do so as far as the constraints hold."""
    problem = _formulated(cases.four_bar("redundant", pendulum=True))
    y = problem.y0 + drift * rng.standard_normal(problem.n)
    for (joint, body), side in _sides(problem, 0.0, y).items():
        wanted = ([True] * 3, [True] * 3) if joint == "hook" else (PLANE, ABOUT_THE_AXIS)
        assert (side.unique_force.tolist(), side.unique_torque.tolist()) == wanted, (joint, body)


def test_along_a_run_a_component_is_unique_if_it_always_is():
    problem = _formulated(cases.turning_four_bar("redundant", 1.5))
    run = rbdae.solve(problem, (0.0, 0.5), solver="rbdae:dopri5", rtol=1e-6, atol=1e-6)
    for sides in run.reactions.values():
        for side in sides.values():
            assert (side.unique_force.tolist(), side.unique_torque.tolist()) == (PLANE, ABOUT_THE_AXIS)
            # the plane is that of x and z
            assert side.unique_force_in_space.tolist() == [True, False, True]
            assert side.frame.shape == (len(run.t), 3, 3)
            np.testing.assert_allclose(side.frame[:, 1, 2], -1.0, atol=1e-6)
    # the rows of segments with selections of their own are put together, component by component
    again = problem.by_time([problem], [0.2]).reactions(run.t, run.y)
    for joint, sides in run.reactions.items():
        for body, side in sides.items():
            other = again[joint][body]
            np.testing.assert_array_equal(other.unique_force, side.unique_force)
            np.testing.assert_array_equal(other.unique_torque_in_space, side.unique_torque_in_space)
            np.testing.assert_array_equal(other.frame, side.frame)


def test_where_rods_are_in_line_their_pulls_are_not_unique():
    """Two rods that stretch a bob against each other: across them the forces are known."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    bob = system.add_body("bob", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.6, 0.0))
    for name, x in (("left", -0.8), ("right", 0.8)):
        system.add_joint(joints.Rod(system.ground, bob, at_a=(x, 0, 0), length=1.0, name=name))
    problem = rbdae.formulate(system, "index-0", redundant="minimum-norm")
    y = problem.y0.copy()
    y[problem.labels.index("bob.y")] = 0.0
    for side in _sides(problem, 0.0, y).values():
        assert side.unique_force.tolist() == [False, True, True]
        assert side.unique_torque.all()
    for side in _sides(rbdae.formulate(system, "index-0"), 0.0, y).values():  # no multipliers there at all
        assert not side.unique_force.any()
