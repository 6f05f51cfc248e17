"""Angular accelerations of a rotation that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Mat
from rbdae.kinematics.angular_velocity import rotation_and_rate, sine_terms
from rbdae.kinematics.components import Components, skew, vector_part

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


class AccelerationMatrices(NamedTuple):
    """The matrices of angular accelerations: a_P = alpha x_P and A_P = A X_P.

    Attributes
    ----------
    material : (..., 3, 3) array, A = R^T Rddot = Omegadot~ + Omega~ Omega~
    spatial : (..., 3, 3) array, alpha = Rddot R^T = omegadot~ + omega~ omega~
    """

    material: Mat
    spatial: Mat


@_stacks.finite
def angular_acceleration(rotation: Rotation | ArrayLike, second_rate: ArrayLike) -> Components:
    """omegadot = vect(Rddot R^T) and Omegadot = vect(R^T Rddot), [GR95] (124), (127).

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    second_rate : (..., 3, 3) array_like
        Rddot, 1/s^2.
    """
    R, A = rotation_and_rate("angular_acceleration", rotation, "second_rate", second_rate)
    Rt = np.swapaxes(R, -1, -2)
    return Components(vector_part(Rt @ A), vector_part(A @ Rt))


@_stacks.finite
def acceleration_matrices(
    rotation: Rotation | ArrayLike, Omega: ArrayLike, Omega_rate: ArrayLike
) -> AccelerationMatrices:
    """alpha = omegadot~ + omega~ omega~ and A = Omegadot~ + Omega~ Omega~, [GR95] (123), (126).

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    Omega, Omega_rate : (..., 3) array_like
        The material angular velocity and its rate, rad/s and rad/s^2.
    """
    owner = "acceleration_matrices"
    R = _stacks.rotation_matrices(owner, "rotation", rotation)
    given, change = _stacks.vectors(owner, "Omega", Omega), _stacks.vectors(owner, "Omega_rate", Omega_rate)
    _stacks.together(owner, rotation=(R, 2), Omega=(given, 1), Omega_rate=(change, 1))
    S = skew(given)
    A = skew(change) + S @ S
    return AccelerationMatrices(A, R @ A @ np.swapaxes(R, -1, -2))


@_stacks.finite
def angular_acceleration_of_axis_angle(
    axis: ArrayLike,
    angle: ArrayLike,
    axis_rate: ArrayLike,
    angle_rate: ArrayLike,
    axis_second_rate: ArrayLike,
    angle_second_rate: ArrayLike,
) -> Components:
    """Omegadot = M nddot + n phiddot + N ndot + ndot phidot, and omegadot with M^T, N^T, [GR95] (130), (131).

    M = sin phi I - (1 - cos phi) n~, N = phidot (cos phi I - sin phi n~).

    Parameters
    ----------
    axis, axis_rate, axis_second_rate : (..., 3) array_like
        The unit vector n, ndot (1/s) and nddot (1/s^2), with n . ndot = 0 and n . nddot = -|ndot|^2.
    angle, angle_rate, angle_second_rate : (...) array_like
        phi (rad), phidot (rad/s) and phiddot (rad/s^2).

    Raises
    ------
    ValueError
        unless n has unit length
    """
    owner = "angular_acceleration_of_axis_angle"
    n = _stacks.vectors(owner, "axis", axis)
    dn, ddn = (_stacks.vectors(owner, *a) for a in (("axis_rate", axis_rate), ("axis_second_rate", axis_second_rate)))
    phi, dphi, ddphi = (
        _stacks.numbers(owner, what, value)
        for what, value in (("angle", angle), ("angle_rate", angle_rate), ("angle_second_rate", angle_second_rate))
    )
    _stacks.together(
        owner,
        axis=(n, 1),
        axis_rate=(dn, 1),
        axis_second_rate=(ddn, 1),
        angle=(phi, 0),
        angle_rate=(dphi, 0),
        angle_second_rate=(ddphi, 0),
    )
    length = _stacks.norm(n)
    if (np.abs(length - 1.0) > _stacks.ORTHONORMAL).any():
        worst = length.flat[np.argmax(np.abs(length - 1.0))]
        raise ValueError(f"{owner}: axis must have unit length, got {worst:.9g}; divide n and its rates by |n|")
    even, odd = sine_terms(n, phi, ddn)
    half = np.sin(0.5 * phi)
    even = even + ddphi[..., None] * n + (dphi * (2.0 - 2.0 * half * half))[..., None] * dn  # 1 + cos phi
    odd = odd + (dphi * np.sin(phi))[..., None] * np.cross(n, dn)
    return Components(even - odd, even + odd)


__all__ = [
    "AccelerationMatrices",
    "acceleration_matrices",
    "angular_acceleration",
    "angular_acceleration_of_axis_angle",
]
