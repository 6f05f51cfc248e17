"""Motion relative to a frame that moves: R = R_0 R_rel, with both factors changing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Vec
from rbdae.kinematics.components import Components
from rbdae.rotations.quaternions.algebra import conjugated, multiplied, rotated

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


@_stacks.finite
def composed(frame: Rotation | ArrayLike, relative: Rotation | ArrayLike) -> Rotation:
    """R = R_0 R_rel, [GR95] (155), (226).

    Parameters
    ----------
    frame, relative : Rotation or (..., 3, 3) array_like
        R_0 from the moving frame to space, R_rel from the body to the moving frame.
    """
    q0, q = _rotations("composed", frame, relative)
    return _stacks.to_rotation(multiplied(q0, q))


@_stacks.finite
def relative_rotation(frame: Rotation | ArrayLike, rotation: Rotation | ArrayLike) -> Rotation:
    """R_rel = R_0^T R, the solution of [GR95] (155)."""
    q0 = _stacks.rotation_quaternions("relative_rotation", "frame", frame)
    q = _stacks.rotation_quaternions("relative_rotation", "rotation", rotation)
    _stacks.together("relative_rotation", frame=(q0, 1), rotation=(q, 1))
    return _stacks.to_rotation(multiplied(conjugated(q0), q))


@_stacks.finite
def composed_angular_velocity(
    frame: Rotation | ArrayLike, relative: Rotation | ArrayLike, Omega_frame: ArrayLike, Omega_relative: ArrayLike
) -> Components:
    """Omega = R_rel^T Omega_0 + Omega_rel, [GR95] (158), and omega = R_0 (Omega_0 + R_rel Omega_rel).

    The same formula with infinitesimal rotations in place of angular velocities is (156), (157).

    Parameters
    ----------
    frame, relative : Rotation or (..., 3, 3) array_like
        R_0 from the moving frame to space, R_rel from the body to the moving frame.
    Omega_frame, Omega_relative : (..., 3) array_like
        Omega_0 in the moving frame and Omega_rel in the body, both material, rad/s (or rad).
    """
    owner = "composed_angular_velocity"
    q0, q = _rotations(owner, frame, relative)
    first, second = _vectors(owner, q, Omega_frame=Omega_frame, Omega_relative=Omega_relative)
    return Components(rotated(conjugated(q), first) + second, rotated(q0, first + rotated(q, second)))


@_stacks.finite
def composed_angular_acceleration(
    frame: Rotation | ArrayLike,
    relative: Rotation | ArrayLike,
    Omega_frame: ArrayLike,
    Omega_relative: ArrayLike,
    Omega_frame_rate: ArrayLike,
    Omega_relative_rate: ArrayLike,
) -> Components:
    """Omegadot = R_rel^T Omegadot_0 + Omegadot_rel - Omega_rel x R_rel^T Omega_0, the derivative of [GR95] (158).

    Parameters
    ----------
    frame, relative : Rotation or (..., 3, 3) array_like
        As for `composed_angular_velocity`.
    Omega_frame, Omega_relative, Omega_frame_rate, Omega_relative_rate : (..., 3) array_like
        Omega_0 and Omega_rel, each in its own frame, and their rates, rad/s and rad/s^2.

    Returns
    -------
    Components
        Omegadot, and omegadot = R Omegadot.
    """
    owner = "composed_angular_acceleration"
    q0, q = _rotations(owner, frame, relative)
    first, second = _vectors(owner, q, Omega_frame=Omega_frame, Omega_relative=Omega_relative)
    d_first, d_second = _vectors(owner, q, Omega_frame_rate=Omega_frame_rate, Omega_relative_rate=Omega_relative_rate)
    back = conjugated(q)
    out = rotated(back, d_first) + d_second - np.cross(second, rotated(back, first))
    return Components(out, rotated(multiplied(q0, q), out))


@_stacks.finite
def inertial_velocity(
    frame: Rotation | ArrayLike, velocity: ArrayLike, Omega_frame: ArrayLike, point: ArrayLike, rate: ArrayLike
) -> Vec:
    """v = v_0 + R_0 (Xdot + Omega_0 x X), (..., 3): of a point that is measured in a moving frame, [GR95] section 5.3.

    Parameters
    ----------
    frame : Rotation or (..., 3, 3) array_like
        R_0, from the moving frame to space.
    velocity : (..., 3) array_like
        v_0 of the frame's origin, spatial components.
    Omega_frame : (..., 3) array_like
        Omega_0, components in the moving frame, rad/s.
    point, rate : (..., 3) array_like
        X and Xdot, components in the moving frame.
    """
    owner = "inertial_velocity"
    q = _stacks.rotation_quaternions(owner, "frame", frame)
    v0, given, X, dX = _vectors(owner, q, velocity=velocity, Omega_frame=Omega_frame, point=point, rate=rate)
    return v0 + rotated(q, dX + np.cross(given, X))


@_stacks.finite
def inertial_acceleration(
    frame: Rotation | ArrayLike,
    acceleration: ArrayLike,
    Omega_frame: ArrayLike,
    Omega_frame_rate: ArrayLike,
    point: ArrayLike,
    rate: ArrayLike,
    second_rate: ArrayLike,
) -> Vec:
    """a = a_0 + R_0 (Xddot + 2 Omega_0 x Xdot + Omegadot_0 x X + Omega_0 x (Omega_0 x X)), (..., 3).

    [GR95] section 5.3: the terms are those relative to the frame, of Coriolis, of Euler, and the centrifugal one.

    Parameters
    ----------
    frame, Omega_frame, point, rate : as for `inertial_velocity`
    acceleration : (..., 3) array_like
        a_0 of the frame's origin, spatial components.
    Omega_frame_rate, second_rate : (..., 3) array_like
        Omegadot_0 and Xddot, components in the moving frame.
    """
    owner = "inertial_acceleration"
    q = _stacks.rotation_quaternions(owner, "frame", frame)
    a0, given, change = _vectors(
        owner, q, acceleration=acceleration, Omega_frame=Omega_frame, Omega_frame_rate=Omega_frame_rate
    )
    X, dX, ddX = _vectors(owner, q, point=point, rate=rate, second_rate=second_rate)
    inside = ddX + 2.0 * np.cross(given, dX) + np.cross(change, X) + np.cross(given, np.cross(given, X))
    return a0 + rotated(q, inside)


def _rotations(owner: str, frame: Rotation | ArrayLike, relative: Rotation | ArrayLike) -> tuple[Vec, Vec]:
    q0 = _stacks.rotation_quaternions(owner, "frame", frame)
    q = _stacks.rotation_quaternions(owner, "relative", relative)
    _stacks.together(owner, frame=(q0, 1), relative=(q, 1))
    return q0, q


def _vectors(owner: str, q: Vec, **given: ArrayLike) -> list[Vec]:
    """Checked vectors whose leading axes go with those of a rotation."""
    checked = {what: _stacks.vectors(owner, what, value) for what, value in given.items()}
    _stacks.together(owner, rotation=(q, 1), **{what: (value, 1) for what, value in checked.items()})
    return list(checked.values())


__all__ = [
    "composed",
    "composed_angular_acceleration",
    "composed_angular_velocity",
    "inertial_acceleration",
    "inertial_velocity",
    "relative_rotation",
]
