"""Building a system: what goes in comes out, checked, named, normalised and read-only."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import time
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rbdae.forces import Bushing
from rbdae.joints import Coincidence, Distance, Dot1, Dot2, Primitive, Spherical
from rbdae.models import linked_bodies
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


def test_defaults() -> None:
    system = System()
    a = system.add_body("a", **GOOD)
    assert np.array_equal(system.gravity, (0.0, 0.0, -9.81))
    assert system.bodies == (a,)
    assert system.joints == system.forces == ()
    assert system.ground.name == "ground"
    assert system.ground.fixed
    assert not a.fixed
    assert a.pivot is None
    assert np.array_equal(a.orientation, (1, 0, 0, 0))
    for zero in (a.center_of_mass, a.position, a.velocity, a.angular_velocity):
        assert np.array_equal(zero, (0, 0, 0))


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


def test_everything_is_read_only() -> None:
    system, a, b = two()
    joint = system.add_joint(Spherical(a, b))
    force = system.add_force(Bushing(a, stiffness=1.0))
    primitives = (
        Coincidence((1, 2, 3), (4, 5, 6)),
        Dot1((1, 0, 0), (0, 1, 0)),
        Dot2((1, 0, 0), (1, 2, 3), (4, 5, 6)),
        Distance((1, 2, 3), (4, 5, 6), 2.0),
    )
    arrays = [system.gravity, force.at_a, force.at_b, a.central_inertia]
    for value in (a, system.ground, joint, force, *primitives):
        names = [f.name for f in (attrs.fields if attrs.has(type(value)) else dataclasses.fields)(type(value))]
        arrays += [field for field in (getattr(value, name) for name in names) if isinstance(field, np.ndarray)]
        with pytest.raises(AttributeError):
            setattr(value, names[0], None)
    assert len(arrays) > 30
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


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


@pytest.mark.parametrize("axis", np.vstack([np.eye(3), -np.eye(3), [[0.6, 0.8, 0], [0, -0.6, 0.8]]]))
def test_half_turns_as_matrices(axis: Any) -> None:
    for angle in (np.pi, np.pi - 1e-9, np.pi + 1e-9):  # the trace vanishes from Spurrier's first choice
        matrix = Rotation.from_rotvec(angle * axis).as_matrix()
        stored = System().add_body("a", orientation=matrix, **GOOD).orientation
        assert np.abs(rotation(stored).as_matrix() - matrix).max() < 4e-15


def test_a_matrix_that_is_a_little_off_is_made_orthonormal() -> None:
    matrix = Rotation.from_rotvec((0.3, 0.4, 0.5)).as_matrix()
    stored = System().add_body("a", orientation=matrix + 1e-7, **GOOD).orientation
    assert np.abs(rotation(stored).as_matrix() - matrix).max() < 3e-7


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


@given(quaternions, st.floats(1e-12, 1e12))
@settings(max_examples=60, deadline=None)
def test_flat_bodies_are_physical_in_any_axes(quaternion: Any, scale: float) -> None:
    matrix = rotation(quaternion).as_matrix()
    inertia = scale * (matrix @ np.diag((1.0, 2.0, 3.0)) @ matrix.T)
    body = System().add_body("plate", mass=1.0, inertia=inertia)
    assert np.array_equal(body.inertia, body.inertia.T)
    assert np.abs(body.inertia - inertia).max() <= 1e-15 * np.abs(inertia).max()


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
    assert repr(system) == (
        "System(bodies=['a', 'b'], joints=['spherical-1', 'spherical-2', 'spherical-3'], forces=['bushing-1', 'mount'])"
    )


def test_bodies_of_the_same_name_live_in_different_systems() -> None:
    (first, a, _), (second, c, _) = two(), two()
    assert a != c
    first.add_joint(Spherical(first.ground, a))
    second.add_joint(Spherical(second.ground, c))
    assert first.joints[0].bodies[1] is a
    assert second.joints[0].bodies[1] is c


def test_bushing_data() -> None:
    system, a, b = two()
    matrix = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])  # semidefinite is enough
    force = system.add_force(Bushing(a, b, stiffness=matrix, damping=(1, 2, 3), at_a=(1, 2, 3), at_b=(4, 5, 6)))
    assert np.array_equal(force.stiffness, matrix)
    assert np.array_equal(force.damping, np.diag((1, 2, 3)))
    assert np.array_equal(force.at_a, (1, 2, 3))
    assert np.array_equal(force.at_b, (4, 5, 6))
    assert np.array_equal(Bushing(a, stiffness=3.0).stiffness, 3.0 * np.eye(3))
    assert not Bushing(a, stiffness=3.0).damping.any()


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


def test_spherical_is_a_coincidence_of_its_points() -> None:
    _, a, b = two()
    (primitive,) = Spherical(a, b, at_a=(1, 2, -3), at_b=(5, -6, -7)).primitives()
    assert isinstance(primitive, Coincidence)
    assert np.array_equal(primitive.A, (1, 1, 2, -3, -1, -5, 6, 7))
    assert not primitive.offset.any()


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda system: pickle.loads(pickle.dumps(system))])
def test_a_copied_system_is_whole(clone: Any) -> None:
    system = linked_bodies()
    twin = clone(system)
    first, second = twin.bodies
    assert twin.joints[0].bodies == (first, second)
    assert twin.forces[0].bodies == (first, twin.ground)
    assert first is not system.bodies[0]
    assert np.array_equal(second.position, system.bodies[1].position)
    assert twin.add_joint(Spherical(twin.ground, first)).name == "spherical-2"
    with pytest.raises(ValueError, match="does not belong to this system"):
        twin.add_joint(Spherical(system.ground, first))
    assert len(system.joints) == 1


def test_a_thousand_bodies_take_no_time() -> None:
    start = time.perf_counter()
    system = System()
    previous = system.ground
    for i in range(1000):
        body = system.add_body(f"link {i}", position=(i, 0, 0), orientation=(0.6, 0, 0, 0.8), **GOOD)
        system.add_joint(Spherical(previous, body, at_a=(1, 0, 0)))
        previous = body
    assert len(system.joints) == len(system.bodies) == 1000
    assert time.perf_counter() - start < 2.0  # a tenth of a second; the slack is for busy machines
