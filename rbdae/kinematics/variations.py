"""Infinitesimal rotations, and the variations of angular velocities and accelerations that they cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Vec
from rbdae.kinematics.angular_velocity import rotation_and_rate
from rbdae.kinematics.components import Components, vector_part
from rbdae.rotations.quaternions.algebra import conjugated, rotated

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


@_stacks.finite
def infinitesimal_rotation(rotation: Rotation | ArrayLike, variation: ArrayLike) -> Components:
    """dtheta = vect(dR R^T) and dTheta = vect(R^T dR) = R^T dtheta, [GR95] (142)-(145).

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    variation : (..., 3, 3) array_like
        dR.
    """
    R, dR = rotation_and_rate("infinitesimal_rotation", rotation, "variation", variation)
    Rt = np.swapaxes(R, -1, -2)
    return Components(vector_part(Rt @ dR), vector_part(dR @ Rt))


@_stacks.finite
def virtual_displacement(rotation: Rotation | ArrayLike, dTheta: ArrayLike, point: ArrayLike) -> Vec:
    """dx = R (dTheta x X) = dtheta x x, (..., 3), of a point X in a spherical motion, [GR95] (140), (141).

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    dTheta : (..., 3) array_like
        The material infinitesimal rotation, rad.
    point : (..., 3) array_like
        X, material components.
    """
    owner = "virtual_displacement"
    q = _stacks.rotation_quaternions(owner, "rotation", rotation)
    turned, X = _stacks.vectors(owner, "dTheta", dTheta), _stacks.vectors(owner, "point", point)
    _stacks.together(owner, rotation=(q, 1), dTheta=(turned, 1), point=(X, 1))
    return rotated(q, np.cross(turned, X))


@_stacks.finite
def material_velocity_variation(Omega: ArrayLike, dTheta: ArrayLike, dTheta_rate: ArrayLike) -> Vec:
    """dOmega = d(dTheta)/dt + Omega x dTheta, (..., 3), [GR95] (150).

    Parameters
    ----------
    Omega : (..., 3) array_like
        The material angular velocity, rad/s.
    dTheta, dTheta_rate : (..., 3) array_like
        The material infinitesimal rotation and its time derivative, rad and rad/s.
    """
    owner = "material_velocity_variation"
    given, turned, rate = _vectors(owner, Omega=Omega, dTheta=dTheta, dTheta_rate=dTheta_rate)
    out: Vec = rate + np.cross(given, turned)
    return out


@_stacks.finite
def spatial_velocity_variation(omega: ArrayLike, dtheta: ArrayLike, dtheta_rate: ArrayLike) -> Vec:
    """domega = d(dtheta)/dt - omega x dtheta, (..., 3), [GR95] (150).

    Parameters
    ----------
    omega : (..., 3) array_like
        The spatial angular velocity, rad/s.
    dtheta, dtheta_rate : (..., 3) array_like
        The spatial infinitesimal rotation and its time derivative, rad and rad/s.
    """
    owner = "spatial_velocity_variation"
    given, turned, rate = _vectors(owner, omega=omega, dtheta=dtheta, dtheta_rate=dtheta_rate)
    out: Vec = rate - np.cross(given, turned)
    return out


@_stacks.finite
def crossed_variations(rotation: Rotation | ArrayLike, dTheta_rate: ArrayLike, dtheta_rate: ArrayLike) -> Components:
    """domega = R d(dTheta)/dt and dOmega = R^T d(dtheta)/dt, [GR95] (153).

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    dTheta_rate, dtheta_rate : (..., 3) array_like
        Time derivatives of the material and the spatial infinitesimal rotation, rad/s.

    Returns
    -------
    Components
        The variations of the material and the spatial angular velocity.
    """
    owner = "crossed_variations"
    q = _stacks.rotation_quaternions(owner, "rotation", rotation)
    material, spatial = _vectors(owner, dTheta_rate=dTheta_rate, dtheta_rate=dtheta_rate)
    _stacks.together(owner, rotation=(q, 1), dTheta_rate=(material, 1), dtheta_rate=(spatial, 1))
    return Components(rotated(conjugated(q), spatial), rotated(q, material))


@_stacks.finite
def material_acceleration_variation(
    Omega: ArrayLike, Omega_rate: ArrayLike, dTheta: ArrayLike, dTheta_rate: ArrayLike, dTheta_second_rate: ArrayLike
) -> Vec:
    """d(Omegadot) = d2(dTheta)/dt2 + Omega x d(dTheta)/dt + Omegadot x dTheta, (..., 3), [GR95] (154).

    Parameters
    ----------
    Omega, Omega_rate : (..., 3) array_like
        The material angular velocity and its rate, rad/s and rad/s^2.
    dTheta, dTheta_rate, dTheta_second_rate : (..., 3) array_like
        The material infinitesimal rotation and its time derivatives.
    """
    owner = "material_acceleration_variation"
    given, change, turned, rate, second = _vectors(
        owner,
        Omega=Omega,
        Omega_rate=Omega_rate,
        dTheta=dTheta,
        dTheta_rate=dTheta_rate,
        dTheta_second_rate=dTheta_second_rate,
    )
    out: Vec = second + np.cross(given, rate) + np.cross(change, turned)
    return out


@_stacks.finite
def spatial_acceleration_variation(
    omega: ArrayLike, omega_rate: ArrayLike, dtheta: ArrayLike, dtheta_rate: ArrayLike, dtheta_second_rate: ArrayLike
) -> Vec:
    """d(omegadot) = d2(dtheta)/dt2 - omega x d(dtheta)/dt - omegadot x dtheta, (..., 3), [GR95] (154).

    Parameters
    ----------
    omega, omega_rate : (..., 3) array_like
        The spatial angular velocity and its rate, rad/s and rad/s^2.
    dtheta, dtheta_rate, dtheta_second_rate : (..., 3) array_like
        The spatial infinitesimal rotation and its time derivatives.
    """
    owner = "spatial_acceleration_variation"
    given, change, turned, rate, second = _vectors(
        owner,
        omega=omega,
        omega_rate=omega_rate,
        dtheta=dtheta,
        dtheta_rate=dtheta_rate,
        dtheta_second_rate=dtheta_second_rate,
    )
    out: Vec = second - np.cross(given, rate) - np.cross(change, turned)
    return out


def _vectors(owner: str, **given: ArrayLike) -> list[Vec]:
    """Checked vectors whose leading axes go together."""
    checked = {what: _stacks.vectors(owner, what, value) for what, value in given.items()}
    _stacks.together(owner, **{what: (value, 1) for what, value in checked.items()})
    return list(checked.values())


__all__ = [
    "crossed_variations",
    "infinitesimal_rotation",
    "material_acceleration_variation",
    "material_velocity_variation",
    "spatial_acceleration_variation",
    "spatial_velocity_variation",
    "virtual_displacement",
]
