"""Infinitesimal rotations, and the resulting variations of angular velocities and accelerations.

A dot is a time derivative. Infinitesimal rotations are in rad, their rates in rad/s and rad/s^2.
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import ArrayLike, Vec
from rbdae.rotations.quaternions import conjugated, rotated
from rbdae_papers.kinematics.components import Components, Rotations, checked, of_rate


def infinitesimal_rotation(rotation: Rotations, variation: ArrayLike) -> Components:
    """dtheta = vect(dR R^T) and dTheta = vect(R^T dR) = R^T dtheta, [GR95] (142)-(145), of a variation dR."""
    return of_rate("infinitesimal_rotation", rotation, "variation", variation)


def virtual_displacement(rotation: Rotations, dTheta: ArrayLike, point: ArrayLike) -> Vec:
    """dx = R (dTheta x X) = dtheta x x, (..., 3), of a material point X in a spherical motion, [GR95] (140), (141)."""
    q, turned, X = checked("virtual_displacement", {"rotation": rotation}, dTheta=dTheta, point=point)
    return rotated(q, np.cross(turned, X))


def crossed_variations(rotation: Rotations, dTheta_rate: ArrayLike, dtheta_rate: ArrayLike) -> Components:
    """domega = R d(dTheta)/dt and dOmega = R^T d(dtheta)/dt, [GR95] (153)."""
    q, material, spatial = checked(
        "crossed_variations", {"rotation": rotation}, dTheta_rate=dTheta_rate, dtheta_rate=dtheta_rate
    )
    return Components(rotated(conjugated(q), spatial), rotated(q, material))


def material_velocity_variation(Omega: ArrayLike, dTheta: ArrayLike, dTheta_rate: ArrayLike) -> Vec:
    """dOmega = d(dTheta)/dt + Omega x dTheta, (..., 3), [GR95] (150); all material."""
    turning, turned, rate = checked(
        "material_velocity_variation", {}, Omega=Omega, dTheta=dTheta, dTheta_rate=dTheta_rate
    )
    out: Vec = rate + np.cross(turning, turned)
    return out


def spatial_velocity_variation(omega: ArrayLike, dtheta: ArrayLike, dtheta_rate: ArrayLike) -> Vec:
    """domega = d(dtheta)/dt - omega x dtheta, (..., 3), [GR95] (150); all spatial."""
    turning, turned, rate = checked(
        "spatial_velocity_variation", {}, omega=omega, dtheta=dtheta, dtheta_rate=dtheta_rate
    )
    out: Vec = rate - np.cross(turning, turned)
    return out


def material_acceleration_variation(
    Omega: ArrayLike, Omega_rate: ArrayLike, dTheta: ArrayLike, dTheta_rate: ArrayLike, dTheta_second_rate: ArrayLike
) -> Vec:
    """d(Omegadot) = d2(dTheta)/dt2 + Omega x d(dTheta)/dt + Omegadot x dTheta, (..., 3), [GR95] (154); all material."""
    turning, change, turned, rate, second = checked(
        "material_acceleration_variation", {}, Omega=Omega, Omega_rate=Omega_rate, dTheta=dTheta,
        dTheta_rate=dTheta_rate, dTheta_second_rate=dTheta_second_rate,
    )  # fmt: skip
    out: Vec = second + np.cross(turning, rate) + np.cross(change, turned)
    return out


def spatial_acceleration_variation(
    omega: ArrayLike, omega_rate: ArrayLike, dtheta: ArrayLike, dtheta_rate: ArrayLike, dtheta_second_rate: ArrayLike
) -> Vec:
    """d(omegadot) = d2(dtheta)/dt2 - omega x d(dtheta)/dt - omegadot x dtheta, (..., 3), [GR95] (154); all spatial."""
    turning, change, turned, rate, second = checked(
        "spatial_acceleration_variation", {}, omega=omega, omega_rate=omega_rate, dtheta=dtheta,
        dtheta_rate=dtheta_rate, dtheta_second_rate=dtheta_second_rate,
    )  # fmt: skip
    out: Vec = second - np.cross(turning, rate) - np.cross(change, turned)
    return out
