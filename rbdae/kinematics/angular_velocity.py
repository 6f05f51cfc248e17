"""Angular velocities of a rotation that changes, and the rates of its axis and angle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.kinematics.axis_angle import AxisAngle
from rbdae.kinematics.components import Components, vector_part
from rbdae.rotations.quaternions.maps import axis_angle_of

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


@_stacks.finite
def angular_velocity(rotation: Rotation | ArrayLike, rate: ArrayLike) -> Components:
    """omega = vect(Rdot R^T) and Omega = vect(R^T Rdot), [GR95] (75), (78), (80), (81).

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    rate : (..., 3, 3) array_like
        Rdot, 1/s; a part of R^T Rdot that is not skew is left out.
    """
    R, A = rotation_and_rate("angular_velocity", rotation, "rate", rate)
    Rt = np.swapaxes(R, -1, -2)
    return Components(vector_part(Rt @ A), vector_part(A @ Rt))


def rotation_and_rate(owner: str, rotation: Rotation | ArrayLike, what: str, rate: ArrayLike) -> tuple[Mat, Mat]:
    """A rotation as a matrix, and a derivative or variation of it, checked."""
    R, A = _stacks.rotation_matrices(owner, "rotation", rotation), _stacks.matrices(owner, what, rate)
    _stacks.together(owner, **{"rotation": (R, 2), what: (A, 2)})
    return R, A


@_stacks.finite
def angular_velocity_of_axis_angle(
    axis: ArrayLike, angle: ArrayLike, axis_rate: ArrayLike, angle_rate: ArrayLike
) -> Components:
    """Omega = M ndot + n phidot and omega = M^T ndot + n phidot, M = sin phi I - (1 - cos phi) n~, [GR95] (104), (105).

    Parameters
    ----------
    axis : (..., 3) array_like
        n, not zero; only its direction counts.
    angle : (...) array_like
        phi, rad.
    axis_rate : (..., 3) array_like
        ndot of the unit vector, 1/s; its part along n is left out, because n . ndot = 0.
    angle_rate : (...) array_like
        phidot, rad/s.
    """
    owner = "angular_velocity_of_axis_angle"
    n, phi = _stacks.axes(owner, "axis", axis), _stacks.numbers(owner, "angle", angle)
    dn, dphi = _stacks.vectors(owner, "axis_rate", axis_rate), _stacks.numbers(owner, "angle_rate", angle_rate)
    _stacks.together(owner, axis=(n, 1), angle=(phi, 0), axis_rate=(dn, 1), angle_rate=(dphi, 0))
    dn = dn - (dn * n).sum(-1, keepdims=True) * n
    along, across = sine_terms(n, phi, dn)
    along = along + dphi[..., None] * n
    return Components(along - across, along + across)


def sine_terms(n: Vec, phi: Vec, x: Vec) -> tuple[Vec, Vec]:
    """sin phi x and (1 - cos phi) n x x, whose difference is M x; accurate for small angles."""
    half = np.sin(0.5 * phi)
    return np.sin(phi)[..., None] * x, (2.0 * half * half)[..., None] * np.cross(n, x)


@_stacks.finite
def axis_angle_rates(rotation: Rotation | ArrayLike, Omega: ArrayLike) -> AxisAngle:
    """ndot = B Omega and phidot = n . Omega, [GR95] (91), (92), (97); the inverse of (104).

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
        Not the identity, where the axis is not defined; its angle is in [0, pi].
    Omega : (..., 3) array_like
        The material angular velocity, rad/s.

    Returns
    -------
    AxisAngle
        The rates ndot (1/s) and phidot (rad/s) of `to_axis_angle`.

    Raises
    ------
    ValueError
        for the identity
    """
    owner = "axis_angle_rates"
    q, given = _stacks.rotation_quaternions(owner, "rotation", rotation), _stacks.vectors(owner, "Omega", Omega)
    _stacks.together(owner, rotation=(q, 1), Omega=(given, 1))
    n, phi = axis_angle_of(q)
    if not phi.all():
        raise ValueError(f"{owner}: rotation must not be the identity, got an angle of zero; its axis has no rate")
    dphi = (n * given).sum(-1)
    across = given - dphi[..., None] * n
    cotangent = q[..., :1] / _stacks.norm(q[..., 1:])[..., None]
    return AxisAngle(0.5 * (np.cross(n, across) + cotangent * across), dphi)


__all__ = ["angular_velocity", "angular_velocity_of_axis_angle", "axis_angle_rates"]
