"""Rotations as a group: laws of composition, changes of frame and round trips over the whole ball, nasty values too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rbdae.rotations import quaternions as Q
from rbdae_papers import kinematics

EPS = np.finfo(float).eps
NASTY = [0.0, -0.0, 5e-324, 1e-308, 1e-160, 1e-16, 1e-8, 0.5, 1.0, np.pi / 2, 3.0, np.pi - EPS, np.pi, -1e-8, -np.pi]

cheap = settings(max_examples=60, deadline=None, derandomize=True, database=None)
numbers = st.one_of(st.sampled_from(NASTY), st.floats(-np.pi, np.pi))
vectors = st.tuples(numbers, numbers, numbers).map(np.array)
small = st.integers(-300, 0).map(lambda k: 10.0**k)


def in_ball(v):
    """The vector itself, or shortened to half a turn."""
    size = np.hypot.reduce(v)
    return v if size <= np.pi else v * (np.pi / size)


rotation_vectors = st.tuples(vectors, st.one_of(st.just(1.0), small)).map(lambda pair: in_ball(pair[0]) * pair[1])
rotations = rotation_vectors.map(kinematics.exponential)


def distance(A, B):
    return (A * B.inv()).magnitude()


@cheap
@given(rotation_vectors)
def test_round_trips(psi):
    size = np.hypot.reduce(psi)
    R = kinematics.exponential(psi)
    back = kinematics.logarithm(R)
    # at half a turn the two ends of the axis are one; the smallest numbers have few digits
    near = min(np.abs(back - psi).max(), np.abs(back + psi).max() if size > 3.0 else np.inf)
    assert near <= 4 * EPS * size + 1e-322
    n, phi = kinematics.to_axis_angle(R)
    assert distance(kinematics.from_axis_angle(n, phi), R) <= 4 * EPS * phi + 1e-322
    assert abs(np.linalg.norm(n) - 1.0) <= 3 * EPS
    q = Q.from_rotation_vector(psi)
    assert abs(Q.norm(q) - 1.0) <= 3 * EPS
    assert np.abs(Q.from_matrix(R.as_matrix()) - q).max() <= 4 * EPS or np.abs(Q.from_matrix(R) + q).max() <= 8 * EPS
    assert np.abs(R.as_matrix() - Rotation.from_rotvec(psi).as_matrix()).max() <= 8 * EPS


@cheap
@given(rotations, rotations, rotations)
def test_the_group(A, B, C):
    left = kinematics.composed(kinematics.composed(A, B), C)
    assert distance(left, kinematics.composed(A, kinematics.composed(B, C))) <= 16 * EPS
    assert distance(kinematics.composed(A, B), A * B) <= 8 * EPS
    assert distance(kinematics.relative_rotation(A, kinematics.composed(A, B)), B) <= 16 * EPS
    assert distance(kinematics.composed(A, A.inv()), Rotation.identity()) <= 8 * EPS
    a, b = Q.from_matrix(A), Q.from_matrix(B)
    assert np.abs(Q.to_matrix(Q.product(a, b)) - A.as_matrix() @ B.as_matrix()).max() <= 16 * EPS
    F = kinematics.half_rotation(A)
    assert distance(F * F, A) <= 8 * EPS
    assert F.magnitude() <= np.pi / 2 + 4 * EPS
    assert distance(kinematics.incremented(A, kinematics.increment(A, B)), B) <= 16 * EPS


@cheap
@given(rotations, rotations, vectors, vectors)
def test_another_frame(S, R, u0, x):
    """In a frame that is turned by S, vectors are turned by S and rotations are S R S^T."""
    T = kinematics.composed(kinematics.composed(S, R), S.inv())
    here, there = kinematics.invariants(R), kinematics.invariants(T)
    assert abs(here.trace - there.trace) <= 32 * EPS
    assert np.abs(S.apply(here.vector) - there.vector).max() <= 32 * EPS
    assert abs(R.magnitude() - T.magnitude()) <= 16 * EPS
    size = max(1.0, np.abs(u0).max(), np.abs(x).max())
    moved = kinematics.displacement_of(R, u0, x)
    assert np.abs(S.apply(moved) - kinematics.displacement_of(T, S.apply(u0), S.apply(x))).max() <= 64 * EPS * size
    if 1e-3 < R.magnitude() < 3.1:
        one, two = kinematics.screw(R, u0), kinematics.screw(T, S.apply(u0))
        condition = size / R.magnitude() ** 2
        assert abs(one.translation - two.translation) <= 64 * EPS * condition
        assert np.abs(S.apply(one.pose) - two.pose).max() <= 64 * EPS * condition


@cheap
@given(vectors, vectors, rotations)
def test_the_screw_axis_in_another_frame(x0, v0, S):
    omega = np.array((0.3, -0.4, 1.2))
    one = kinematics.instantaneous_screw(x0, v0, omega)
    two = kinematics.instantaneous_screw(S.apply(x0), S.apply(v0), S.apply(omega))
    assert np.abs(S.apply(one.point) - two.point).max() <= 1e-14 * 10
    assert abs(one.sliding - two.sliding) <= 1e-14
    # any other point of the body tells the same axis
    X = np.array((1.0, -2.0, 0.5))
    other = kinematics.instantaneous_screw(x0 + X, v0 + np.cross(omega, X), omega)
    assert np.abs(other.point - one.point).max() <= 1e-14 * 10


# ---------------------------------------------------------------- wrong input

REFLECTION = np.diag((1.0, 1.0, -1.0))
WRONG = {
    "stretched": (lambda: kinematics.logarithm(2.0 * np.eye(3)), "rotation must be a rotation, but its columns"),
    "reflection": (lambda: kinematics.half_rotation(REFLECTION), "rotation must be .* improper"),
    "one of many": (lambda: kinematics.invariants(np.stack((np.eye(3), REFLECTION))), "rotation must be .* improper"),
    "text": (lambda: kinematics.to_axis_angle("x"), "rotation must be a Rotation or .* got 'x'"),
    "nan": (lambda: kinematics.to_axis_angle(np.full((3, 3), np.nan)), "rotation must be finite"),
    "two numbers": (lambda: kinematics.exponential((0, 0)), r"vector must be three real numbers, .* of shape \(2,\)"),
    "zero axis": (lambda: kinematics.from_axis_angle((0, 0, 0), 1.0), "axis must not be the zero vector"),
    "rate of no axis": (lambda: kinematics.axis_angle_rates(np.eye(3), (0, 0, 1)), "rotation must not be the identity"),
    "not unit": (
        lambda: kinematics.angular_acceleration_of_axis_angle((0, 0, 2), 1.0, (0, 0, 0), 0.0, (0, 0, 0), 0.0),
        "axis must have unit length, got 2;",
    ),
    "stacks": (lambda: kinematics.from_axis_angle(np.ones((2, 3)), np.ones(5)), "leading axes must go together"),
    "zero quaternion": (lambda: Q.to_rotation_vector((0, 0, 0, 0)), "q must not be the zero quaternion"),
    "no logarithm": (lambda: Q.logarithm((-2, 0, 0, 0)), "q must not be a negative real number"),
    "overflow": (lambda: Q.exponential((710, 0, 0, 0)), "scalar part below 709"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_refused(name):
    call, message = WRONG[name]
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        call()
    assert ";" in str(caught.value)
