"""Every joint in every formulation, chart and kind of velocity: derivatives, one mechanics, statics by hand."""

from __future__ import annotations

import math
from typing import Any

import cases
import numpy as np
import pytest
import test_derivatives as derivatives
import test_equivalence as equivalence
from cases import JOINT_IDS, JOINT_PAIRS, JOINTS, NIGHTLY, Pairing, along
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae.joints import (
    AbstractJoint,
    Coincidence,
    Combination,
    Cylindrical,
    Distance,
    Dot1,
    Dot2,
    Fixed,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Rod,
    Screw,
    Spherical,
    Universal,
)

ODE_PAIRS = [(s, p) for s, p in JOINT_PAIRS if FORMULATIONS[p.formulation].kind == "ode"]
WITH_AXES = (Revolute, Prismatic, Cylindrical, Planar, Universal, Fixed, PointOnLine, PointOnPlane, Screw)


def test_no_case_is_left_out():
    """Every pairing on some joint, every joint in every formulation; at night all of them."""
    assert {p for _, p in JOINT_PAIRS} == set(cases.ALL_PAIRINGS)
    met = {(s, p.formulation) for s, p in JOINT_PAIRS}
    assert met == {(s, f) for s in cases.JOINT_SYSTEMS for f in FORMULATIONS}


# ---------------------------------------------------------------- tables


def pair() -> tuple[rbdae.System, Any, Any]:
    system = rbdae.System()
    a, b = (
        system.add_body(name, mass=1.0, inertia=(1.0, 1.1, 1.2), position=at, orientation=Rotation.from_rotvec(turn))
        for name, at, turn in (("a", (0.1, 0.2, 0.3), (0.3, -0.5, 0.2)), ("b", (1.0, -0.4, 0.5), (-0.8, 0.1, 0.9)))
    )
    return system, a, b


TABLE = {
    Spherical: (Coincidence,),
    Revolute: (Coincidence, Dot1, Dot1),
    Prismatic: (Dot1, Dot1, Dot1, Dot2, Dot2),
    Cylindrical: (Dot1, Dot1, Dot2, Dot2),
    Planar: (Dot1, Dot1, Dot2),
    Universal: (Coincidence, Dot1),
    Fixed: (Coincidence, Dot1, Dot1, Dot1),
    Rod: (Distance,),
    PointOnLine: (Dot2, Dot2),
    PointOnPlane: (Dot2,),
    Screw: (Dot1, Dot1, Dot2, Dot2, Combination),
}
# [NS], Table 2: external constraints, degrees of freedom of two free bodies with the joint, and the number
# of all constraints without rotations (24 coordinates) and with quaternions (14)
TABLE2 = {
    Planar: (3, 9, 15, 5),
    Spherical: (3, 9, 15, 5),
    Cylindrical: (4, 8, 16, 6),
    Prismatic: (5, 7, 17, 7),
    Revolute: (5, 7, 17, 7),
}


@pytest.mark.parametrize("kind", TABLE, ids=lambda kind: kind.__name__)
def test_what_a_joint_is_made_of(kind: type[AbstractJoint]) -> None:
    assert set(TABLE) == {joint for joint, _ in JOINTS.values()}
    _, a, b = pair()
    joint = kind(a, b, **cases.further(kind))
    assert tuple(type(p) for p in joint.primitives()) == TABLE[kind]
    assert joint.n_constraints == sum(p.rows for p in joint.primitives())


@pytest.mark.parametrize("kind", TABLE2, ids=lambda kind: kind.__name__)
def test_lower_pairs_have_the_numbers_of_table_2(kind: type[AbstractJoint]) -> None:
    external, free, directors, quaternions = TABLE2[kind]
    system, a, b = pair()
    joint = system.add_joint(kind(a, b))  # type: ignore[call-arg]
    assert joint.n_constraints == external
    assert 12 - joint.n_constraints == free
    for rotation, coordinates, constraints in (("directors", 24, directors), ("quaternion", 14, quaternions)):
        problem = rbdae.formulate(system, "index-3", rotation=rotation, velocity="coordinate", consistent="project")
        q, la = problem.layout.q, problem.layout.la
        assert (q.stop - q.start, la.stop - la.start) == (coordinates, constraints)
        assert coordinates - constraints == free


# ---------------------------------------------------------------- frames


@pytest.mark.parametrize("kind", WITH_AXES, ids=lambda kind: kind.__name__)
def test_frames_follow_from_the_placement(kind: Any) -> None:
    _, a, b = pair()
    ra, rb = (Rotation.from_quat(body.orientation[[1, 2, 3, 0]]).as_matrix() for body in (a, b))
    more = {} if kind in (PointOnLine, PointOnPlane, Universal) else {"axis_b": None}
    more |= {"pitch": 1e9} if kind is Screw else {}  # the normals of another one differ by the turn to its point
    joint = kind(a, b, axis_a=(3.0, -1.0, 2.0), **more)
    for vector in (joint.axis_a, joint.axis_b, joint.normal_a, joint.normal_b):
        assert np.linalg.norm(vector) == pytest.approx(1.0, rel=1e-14)
        assert not vector.flags.writeable
    assert abs(joint.axis_a @ joint.normal_a) < 1e-15
    assert abs(joint.axis_b @ joint.normal_b) < 1e-15
    np.testing.assert_allclose(joint.axis_a, np.array((3.0, -1.0, 2.0)) / math.sqrt(14), atol=1e-15)
    np.testing.assert_allclose(ra @ joint.normal_a, rb @ joint.normal_b, atol=1e-14)
    if kind is Universal:
        np.testing.assert_allclose((ra @ joint.normal_a) @ (rb @ joint.axis_b), 0.0, atol=1e-14)
    else:
        np.testing.assert_allclose(ra @ joint.axis_a, rb @ joint.axis_b, atol=1e-14)


def test_given_normals_are_made_perpendicular():
    _, a, b = pair()
    joint = Revolute(a, b, axis_a=(0, 0, 2), axis_b=(0, 5, 0), normal_a=(1, 0, 7), normal_b=(0, -3, 1e-3))
    np.testing.assert_allclose(joint.normal_a, (1, 0, 0), atol=1e-15)
    np.testing.assert_allclose(joint.normal_b, (0, 0, 1), atol=1e-12)
    huge = Revolute(a, b, axis_a=(1e200, 0, 0), normal_a=(0, 1e-11, 0))
    assert np.array_equal(huge.axis_a, (1, 0, 0))
    assert np.array_equal(huge.normal_a, (0, 1, 0))


@pytest.mark.parametrize("kind", [Prismatic, Fixed])
def test_the_rotation_is_kept_as_placed(kind: Any) -> None:
    """Whatever the bodies' frames are: the primitives vanish, and they do not after a turn."""
    _, a, b = pair()
    Z = _naturals(a, b)
    for part in kind(a, b).primitives():
        if isinstance(part, Dot1):
            assert abs(part.A @ Z @ (part.B @ Z)) < 1e-15
    turned = kind(a, b, axis_a=(0, 0, 1), axis_b=None, normal_a=(1, 0, 0), normal_b=(1, 0, 0))
    assert max(abs(p.A @ Z @ (p.B @ Z)) for p in turned.primitives() if isinstance(p, Dot1)) > 0.1


def _naturals(a: Any, b: Any) -> Any:
    return np.array(
        [
            v
            for body in (a, b)
            for v in (body.position, *Rotation.from_quat(body.orientation[[1, 2, 3, 0]]).as_matrix().T)
        ]
    )


# ---------------------------------------------------------------- wrong data


def test_a_rod_as_placed():
    system, a, b = pair()
    at_a, at_b = (0.3, 0.1, -0.2), (-0.4, 0.2, 0.6)
    ends = [
        body.position + Rotation.from_quat(body.orientation[[1, 2, 3, 0]]).apply(at)
        for body, at in ((a, at_a), (b, at_b))
    ]
    assert Rod(a, b, at_a, at_b).length == pytest.approx(np.linalg.norm(ends[1] - ends[0]), rel=1e-15)
    assert Rod(a, b, length=2.5).length == 2.5
    here = system.add_body("here", mass=1.0, inertia=(1, 1, 1), position=a.position)
    with pytest.raises(ValueError, match=r"Rod\('a', 'here'\): length .*as placed.* must be positive.*Spherical"):
        Rod(a, here)


def test_a_combination_takes_bilinear_parts_and_arithmetic():
    for parts in ((), (Coincidence((0, 0, 0), (0, 0, 0)),), (Dot1((1, 0, 0), (0, 1, 0)),) * 4):
        with pytest.raises(ValueError, match=f"Combination.*Dot1.*{len(parts)} parts"):
            Combination(sum, *parts)
    with pytest.raises(ValueError, match=r"Screw.*pitch.*zero"):
        Screw(*pair()[1:], pitch=0.0)
    system, a, b = pair()
    system.add_joint(
        cases.Tie(a, b, [Combination(lambda q: [0.0, 1.0][q[0]], Dot1((1, 0, 0), (0, 1, 0)))], X, Y, "cam")
    )
    with pytest.raises(ValueError, match=r"joint 'cam'.*Combination cannot be recorded"):
        rbdae.formulate(system, "index-0")


# ---------------------------------------------------------------- laws


@pytest.mark.parametrize("system, pairing", cases.covering(JOINT_PAIRS, 7), ids=str)
def test_jacobian_of_the_residual(system, pairing, rng):
    derivatives.check_residual(system, pairing, rng)


@pytest.mark.parametrize("system, pairing", cases.covering(ODE_PAIRS, 8), ids=str)
def test_jacobian_of_the_right_hand_side(system, pairing, rng):
    derivatives.check_rhs(system, pairing, rng)


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize(
    "system, pairing, seed",
    [(s, p, seed) for k, (s, p) in enumerate(JOINT_PAIRS) for seed in (0, 1) if NIGHTLY or seed == k % 2],
    ids=str,
)
def test_all_pairings_are_one_motion(system, pairing, seed):
    """Accelerations to 1e-8 by differences of the state of the bodies, multipliers and reactions to 1e-9."""
    equivalence.test_all_pairings_are_one_motion(system, pairing, seed)


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("system", cases.JOINT_SYSTEMS)
def test_newton_and_euler(system, seed):
    equivalence.test_newton_and_euler(system, seed)


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, pairing", JOINT_PAIRS, ids=JOINT_IDS)
def test_velocity_constraint_is_the_rate_of_the_position_constraint(system, pairing, rng):
    problem = cases.problem(system, pairing)
    n = problem.layout.v.stop
    for where, y in cases.manifold_states(problem, rng):
        rates = np.append(problem.rates(0.0, y)[0], np.zeros(problem.n - n))
        rates[problem.layout.v] = 0.0  # g does not depend on them, and they may be large
        wanted = along(lambda z, p=problem: p.constraints(0.0, z).position, y, rates)
        found = problem.constraints(0.0, y).velocity
        assert np.abs(found - wanted).max() < 1e-9 * max(1.0, np.abs(wanted).max()), where
    if (
        FORMULATIONS[pairing.formulation].unknowns != "quasi-velocities"
    ):  # whose velocities keep the joints by construction
        assert np.abs(wanted).max() > 1e-3  # the last state is off the manifold; of two rows both may be small


# ---------------------------------------------------------------- statics by hand

X, Y, Z3 = np.eye(3)
# for a joint with axis z and body axis x: direction of gravity, arm from the joint's point on the body to its centre
STATICS = {
    "spherical": (-Z3 + 0.5 * X, -0.7 * Z3 + 0.35 * X),
    "revolute": (Z3, np.array((0.5, -0.4, 0.3))),
    "prismatic": (0.6 * X - 0.8 * Y, np.array((0.5, -0.4, 0.3))),
    "cylindrical": (0.6 * X - 0.8 * Y, 0.3 * X - 0.4 * Y + 0.7 * Z3),
    "planar": (Z3, np.array((0.5, -0.4, 0.3))),
    "universal": (Z3, 0.8 * X),
    "fixed": (np.array((0.3, -0.5, 0.8)), np.array((0.5, -0.4, 0.3))),
    "rod": (Z3, 0.7 * Z3),
    "point-on-line": (X, 0.4 * X),
    "point-on-plane": (Z3, 0.4 * Z3),
    "screw": (0.6 * X - 0.8 * Y, 0.3 * X - 0.4 * Y + 0.7 * Z3),
}


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize(
    "kind, side, pairing",
    # sides in turn; both at night
    [
        (kind, side, p)
        for k, kind in enumerate(JOINTS)
        for i, p in enumerate(cases.turns(k))
        for side in ("ab" if NIGHTLY else "ab"[(i + k) % 2])
    ],
    ids=str,
)
def test_a_body_at_rest_on_a_joint(kind: str, side: str, pairing: Pairing) -> None:
    """The joint carries the weight, and its moment about the joint's point; the ground is its first or second body."""
    assert set(STATICS) == set(JOINTS)
    pull, arm = STATICS[kind]
    turn, own = Rotation.from_rotvec((0.4, -0.7, 0.3)), Rotation.from_rotvec((-0.5, 0.2, 1.1))
    cls, apart = JOINTS[kind]
    if kind == "point-on-line" and side == "b":
        arm = arm - apart * Z3  # the line is the body's, and carries it where the ground's point is
    place, at = np.array((1.0, 2.0, 3.0)), np.array((0.2, -0.1, 0.4))
    weight = 2.0 * 10.0 * turn.apply(pull / np.linalg.norm(pull))
    point = place + turn.apply(apart * Z3)
    held = turn * own  # the joint is at `at` in the body frame
    system = rbdae.System(gravity=weight / 2.0)
    body = system.add_body(
        "body",
        mass=2.0,
        inertia=cases.INERTIA,
        center_of_mass=at + own.inv().apply(arm),
        position=point - held.apply(at),
        orientation=held,
    )
    # of the ground and of the body: frame, point, axis
    sides = [
        (system.ground, turn, place, turn.apply(Z3)),
        (body, own.inv(), at, own.inv().apply(X if kind == "universal" else Z3)),
    ]
    (a, into_a, at_a, axis_a), (b, _, at_b, axis_b) = sides if side == "a" else sides[::-1]
    more: dict[str, Any] = {"axis_a": axis_a, "axis_b": axis_b}
    if kind in ("point-on-line", "point-on-plane"):
        del more["axis_b"]
    if kind in ("spherical", "rod"):
        more = {}
    if kind == "point-on-line":
        more["normal_a"] = into_a.apply(X + Y)
    more |= cases.further(cls)
    joint = system.add_joint(cls(a, b, at_a=at_a, at_b=at_b, name="hold", **more))
    problem = cases.formulate(system, pairing, consistent="check")
    assert np.abs(problem.yd0[: problem.layout.v.stop]).max() < 1e-11
    reactions = problem.reactions(problem.t0, problem.y0)["hold"]
    lever = turn.apply(arm)
    np.testing.assert_allclose(reactions["body"].force, -weight, atol=1e-11)
    np.testing.assert_allclose(reactions["ground"].force, weight, atol=1e-11)
    np.testing.assert_allclose(reactions["body"].torque, -np.cross(lever, weight), atol=1e-11)
    np.testing.assert_allclose(reactions["ground"].torque, np.cross(lever + point - place, weight), atol=1e-11)
    if kind in ("revolute", "fixed", "prismatic", "planar", "universal", "cylindrical", "screw"):
        assert np.abs(reactions["body"].torque).max() > 1.0  # the arm counts
    assert joint.name == "hold"
