"""Building a system: what goes in comes out, checked, named, normalised and read-only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rbdae.forces import Bushing
from rbdae.joints import Coincidence, Distance, Dot1, Dot2, Primitive, Spherical
from rbdae.system import Body, System

GOOD: dict[str, Any] = {"mass": 2.0, "inertia": (1.0, 1.0, 1.0)}
quaternions = (
    st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4)
    .map(np.array)
    .filter(lambda p: np.linalg.norm(p) > 0.1)
    .map(lambda p: p / np.linalg.norm(p))
)


def rotation(quaternion: Any) -> Rotation:
    return Rotation.from_quat(np.roll(quaternion, -1))


def two() -> tuple[System, Body, Body]:
    system = System()
    return system, system.add_body("a", **GOOD), system.add_body("b", **GOOD)


def test_what_goes_in_comes_out_as_a_copy() -> None:
    inertia = np.array([[3.0, 0.1, 0.2], [0.1, 4.0, 0.3], [0.2, 0.3, 5.0]])
    position = np.array([1.0, 2.0, 3.0])
    a = System().add_body(
        "a",
        mass=np.int64(7),
        inertia=inertia,
        center_of_mass=[1, 2, 3],
        position=position,
        velocity=(4, 5, 6),
        angular_velocity=(7, 8, 9),
    )
    position[0] = inertia[0, 0] = 99.0
    assert a.mass == 7.0
    assert np.array_equal(a.inertia, [[3.0, 0.1, 0.2], [0.1, 4.0, 0.3], [0.2, 0.3, 5.0]])
    assert np.array_equal(a.position, (1, 2, 3))
    assert np.array_equal(a.center_of_mass, (1, 2, 3))
    assert np.array_equal(a.velocity, (4, 5, 6))
    assert np.array_equal(a.angular_velocity, (7, 8, 9))


@given(quaternions)
@settings(max_examples=60, deadline=None)
def test_orientation_in_three_spellings(quaternion: Any) -> None:
    system = System()
    expected = rotation(quaternion).as_matrix()
    for name, spelling in {
        "quaternion": quaternion,
        "matrix": expected,
        "rotation": rotation(quaternion),
        "a little off": quaternion * (1 + 9e-7),
        "list": list(quaternion),
    }.items():
        stored = system.add_body(name, orientation=spelling, **GOOD).orientation
        assert abs(np.linalg.norm(stored) - 1.0) < 1e-15
        assert np.abs(rotation(stored).as_matrix() - expected).max() < 4e-15


def test_pivot() -> None:
    system = System()
    a = system.add_body("a", pivot=(1, 2, 3), center_of_mass=(0, 0, 0.2), **GOOD)
    b = system.add_body("b", pivot=(0.1 + 0.2, 0, 0), position=(0.3, 0, 0), velocity=(0, 0, 0), **GOOD)
    assert a.pivot is not None
    assert np.array_equal(a.position, a.pivot)
    assert np.array_equal(a.velocity, (0, 0, 0))
    assert np.allclose(a.central_inertia, np.diag((0.92, 0.92, 1.0)), rtol=1e-15)
    assert b.pivot is not None
    assert np.array_equal(b.position, b.pivot)  # equal but for rounding: one of the two is kept


def test_unphysical_inertia_on_request() -> None:
    system = System()
    system.add_body("free", mass=1.0, inertia=(1, 1, 3), allow_unphysical=True)
    # The top of [GR95], section 11.6: physical about the pivot, not about the centre of mass.
    top: dict[str, Any] = {"mass": 5.0, "inertia": (9.25, 9.25, 1.8), "center_of_mass": (0, 0, 1.3)}
    body = system.add_body("top", pivot=(0, 0, 0), allow_unphysical=True, **top)
    assert np.allclose(np.diag(body.central_inertia), (0.8, 0.8, 1.8))
    assert body.allow_unphysical
    with pytest.raises(ValueError, match="positive definite"):
        system.add_body("nothing", mass=1.0, inertia=(1, 1, -3), allow_unphysical=True)


def test_names_and_order() -> None:
    system, a, b = two()
    mine = system.add_joint(Spherical(a, b, name="spherical-1"))
    loose = Spherical(system.ground, a, at_a=(1, 2, 3), at_b=(4, 5, 6))
    kept = system.add_joint(loose)
    third = system.add_joint(Spherical(system.ground, b))
    assert [joint.name for joint in system.joints] == ["spherical-1", "spherical-2", "spherical-3"]
    assert system.joints == (mine, kept, third)
    assert loose.name is None
    assert kept.bodies == (system.ground, a)
    assert np.array_equal(kept.at_a, (1, 2, 3))
    assert np.array_equal(kept.at_b, (4, 5, 6))
    force = system.add_force(Bushing(a, stiffness=1.0))
    other = system.add_force(Bushing(a, b, stiffness=1.0, name="mount"))
    assert system.forces == (force, other)
    assert [force.name for force in system.forces] == ["bushing-1", "mount"]
    assert force.bodies == (a, system.ground)
    assert other.bodies == (a, b)


def evaluate(primitive: Primitive, state: Any) -> Any:
    """The law that kernels compute, from the coefficients alone."""
    p, q = primitive.A @ state, primitive.B @ state
    if primitive.kind == "linear":
        return p - primitive.offset
    return np.array([primitive.scale * p @ q - primitive.offset[0]])


def test_primitives_say_what_geometry_says() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        x1, x2, r1, r2, a, b, offset = rng.normal(size=(7, 3))
        rot1, rot2 = Rotation.from_quat(rng.normal(size=(2, 4))).as_matrix()
        state = np.vstack([x1, rot1.T, x2, rot2.T])  # rows x1, d1, d2, d3, ...
        p1, p2 = x1 + rot1 @ r1, x2 + rot2 @ r2
        cases = [
            (Coincidence(r1, r2), p1 - p2),
            (Coincidence(r1, r2, offset), p1 - p2 - offset),
            (Dot1(a, b), rot1 @ a @ (rot2 @ b)),
            (Dot1(a, b, 0.4), rot1 @ a @ (rot2 @ b) - 0.4),
            (Dot2(a, r1, r2), rot1 @ a @ (p2 - p1)),
            (Dot2(a, r1, r2, value=-0.4), rot1 @ a @ (p2 - p1) + 0.4),
            (Distance(r1, r2, 1.5), ((p2 - p1) @ (p2 - p1) - 1.5**2) / 2),
        ]
        for primitive, expected in cases:
            value = evaluate(primitive, state)
            assert isinstance(primitive, Primitive)
            assert value.shape == (primitive.rows,)
            assert primitive.A.shape == primitive.B.shape == (8,)
            assert primitive.offset.shape == (3,)
            assert np.abs(value - expected).max() < 1e-14


def test_points_shift_as_documented() -> None:
    rng = np.random.default_rng(2)
    x1, x2, r1, r2, c1, c2 = rng.normal(size=(6, 3))
    rot1, rot2 = Rotation.from_quat(rng.normal(size=(2, 4))).as_matrix()
    about_origin = np.vstack([x1, rot1.T, x2, rot2.T])
    about_center = np.vstack([x1 + rot1 @ c1, rot1.T, x2 + rot2 @ c2, rot2.T])
    for primitive in (Coincidence(r1, r2), Dot1(r1, r2), Dot2(r1, r1, r2), Distance(r1, r2, 1.0)):
        for row in (primitive.A, primitive.B):
            shifted = row.copy()
            shifted[1:4] -= row[0] * c1
            shifted[5:8] -= row[4] * c2
            assert np.abs(shifted @ about_center - row @ about_origin).max() < 1e-14
