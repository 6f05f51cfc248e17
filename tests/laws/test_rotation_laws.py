"""Round trips of rotations over the whole ball, nasty values too, and wrong input. Other functions have their values
against 60 digits: tests/laws/test_kinematics.py."""

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
