"""Velocities and accelerations of the points of a rigid body."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Vec
from rbdae.kinematics.components import Components
from rbdae.rotations.quaternions.algebra import conjugated, rotated

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


@_stacks.finite
def point_velocity(
    rotation: Rotation | ArrayLike, velocity: ArrayLike, Omega: ArrayLike, point: ArrayLike
) -> Components:
    """v_P = v_0 + R (Omega x X_P) = v_0 + omega x (x_P - x_0), and V_P = R^T v_P.

    [GR95] (73), (76)-(79), (107), (109), and (237).

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
        From body to space.
    velocity : (..., 3) array_like
        v_0 of the origin of the body, spatial components; zero in a spherical motion.
    Omega : (..., 3) array_like
        The material angular velocity, rad/s; `to_material` makes it of a spatial one.
    point : (..., 3) array_like
        X_P, material components.
    """
    owner = "point_velocity"
    q = _stacks.rotation_quaternions(owner, "rotation", rotation)
    v0, given, X = (
        _stacks.vectors(owner, what, value)
        for what, value in (("velocity", velocity), ("Omega", Omega), ("point", point))
    )
    _stacks.together(owner, rotation=(q, 1), velocity=(v0, 1), Omega=(given, 1), point=(X, 1))
    return _moved(q, v0, np.cross(given, X))


@_stacks.finite
def point_acceleration(
    rotation: Rotation | ArrayLike, acceleration: ArrayLike, Omega: ArrayLike, Omega_rate: ArrayLike, point: ArrayLike
) -> Components:
    """a_P = a_0 + R (Omegadot x X_P + Omega x (Omega x X_P)), and A_P = R^T a_P, [GR95] (122), (123), (125), (126).

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
        From body to space.
    acceleration : (..., 3) array_like
        a_0 of the origin of the body, spatial components; zero in a spherical motion.
    Omega, Omega_rate : (..., 3) array_like
        The material angular velocity and its rate, rad/s and rad/s^2.
    point : (..., 3) array_like
        X_P, material components.
    """
    owner = "point_acceleration"
    q = _stacks.rotation_quaternions(owner, "rotation", rotation)
    named = (("acceleration", acceleration), ("Omega", Omega), ("Omega_rate", Omega_rate), ("point", point))
    a0, given, change, X = (_stacks.vectors(owner, what, value) for what, value in named)
    _stacks.together(
        owner, rotation=(q, 1), acceleration=(a0, 1), Omega=(given, 1), Omega_rate=(change, 1), point=(X, 1)
    )
    return _moved(q, a0, np.cross(change, X) + np.cross(given, np.cross(given, X)))


def _moved(q: Vec, origin: Vec, relative: Vec) -> Components:
    """The spatial vector of the origin and the material one relative to it, added in both frames."""
    return Components(rotated(conjugated(q), origin) + relative, origin + rotated(q, relative))


__all__ = ["point_acceleration", "point_velocity"]
