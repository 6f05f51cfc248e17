"""The examples of [NS] and [GR95] have the published numbers."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rbdae import models
from rbdae.joints import Spherical
from rbdae.models import MODELS, heavy_top, linked_bodies, tennis_racket
from rbdae.system import Body, System


def matrix(body: Body) -> Any:
    return Rotation.from_quat(np.roll(body.orientation, -1)).as_matrix()


def euler_tensor(body: Body, inertia: Any) -> Any:
    """[NS] (18)."""
    return np.trace(inertia) / 2 * np.eye(3) - inertia


@pytest.mark.parametrize("name", MODELS)
def test_registry(name: str) -> None:
    entry = MODELS[name]
    system = entry()
    assert isinstance(system, System)
    assert system.bodies
    assert getattr(models, name) is entry.build
    assert 0.0 < entry.t_end <= 5.0
    assert entry.summary
    assert "\n" not in entry.summary
    for parameter in inspect.signature(entry.build).parameters.values():
        assert parameter.default is not inspect.Parameter.empty
    assert entry() is not entry()
    pickle.dumps(system)  # studies send it to their processes


def test_every_model_is_registered() -> None:
    functions = {name for name in models.__all__ if inspect.isfunction(getattr(models, name))}
    assert functions == {*MODELS, "reference"}


def test_heavy_top_is_example_a() -> None:
    system = heavy_top()
    (top,) = system.bodies
    assert top.name == "top"
    assert top.pivot is not None
    assert not top.pivot.any()
    assert np.array_equal(np.diag(top.inertia), (50.0, 42.0, 10.0))
    assert np.allclose(euler_tensor(top, top.inertia), np.diag((1.0, 9.0, 41.0)), atol=1e-14)
    assert top.mass * top.center_of_mass[2] == pytest.approx(11.09, rel=1e-15)
    assert not top.center_of_mass[:2].any()
    assert np.array_equal(system.gravity, (0.0, 0.0, -9.81))
    assert np.array_equal(top.angular_velocity, (0.0, 0.0, 20.0))
    half = np.sqrt(3) / 2
    assert np.allclose(top.orientation, (half, 0.5, 0.0, 0.0), atol=1e-15)
    assert np.allclose(matrix(top), [[1, 0, 0], [0, 0.5, -half], [0, half, 0.5]], atol=1e-15)
    assert np.allclose(matrix(top), Rotation.from_euler("ZXZ", (0, np.pi / 3, 0)).as_matrix(), atol=1e-15)
    # A short arm keeps the body physical about its centre of mass.
    assert np.diag(euler_tensor(top, top.central_inertia)).min() > 0.9


@pytest.mark.parametrize("disturbance", [1.0, 0.1, 1e-3, 1e-5])
def test_tennis_racket_is_example_b(disturbance: float) -> None:
    system = tennis_racket(disturbance)
    (racket,) = system.bodies
    assert racket.name == "racket"
    assert np.array_equal(np.diag(racket.inertia), (41.6, 11.6, 50.0))
    assert np.allclose(np.diag(euler_tensor(racket, racket.inertia)), (10.0, 40.0, 1.6), atol=1e-13)
    assert np.array_equal(racket.angular_velocity, (50.0, disturbance, disturbance))
    expected = Rotation.from_euler("ZXZ", (np.pi / 3, np.pi / 4, np.pi / 2))
    assert np.allclose(matrix(racket), expected.as_matrix(), atol=1e-15)
    # No torque whatsoever.
    assert not system.gravity.any()
    assert not racket.center_of_mass.any()
    assert np.array_equal(racket.central_inertia, racket.inertia)
    assert system.joints == system.forces == ()


def test_linked_bodies_is_example_c() -> None:
    system = linked_bodies()
    first, second = system.bodies
    (joint,) = system.joints
    (bushing,) = system.forces
    assert not system.gravity.any()
    assert [body.name for body in system.bodies] == ["first", "second"]
    assert [body.mass for body in system.bodies] == [10.0, 20.0]
    top = heavy_top().bodies[0]
    for body in system.bodies:
        assert body.pivot is None
        assert not body.center_of_mass.any()
        assert np.array_equal(np.diag(body.inertia), (41.6, 11.6, 50.0))
        assert np.allclose(matrix(body), matrix(top), atol=1e-15)
    assert np.array_equal(first.position, (0, 0, 0))
    assert np.array_equal(first.velocity, (0, 0, 0))
    assert np.array_equal(first.angular_velocity, (3, 2, 1))
    assert np.array_equal(second.angular_velocity, (24, 15, 12))
    assert isinstance(joint, Spherical)
    assert joint.bodies == (first, second)
    assert np.array_equal(joint.at_a, (1, 2, -3))
    assert np.array_equal(joint.at_b, (5, -6, -7))
    assert bushing.bodies == (first, system.ground)
    assert np.array_equal(bushing.stiffness, 1e4 * np.eye(3))
    assert not bushing.damping.any()
    assert not bushing.at_a.any() and not bushing.at_b.any()
