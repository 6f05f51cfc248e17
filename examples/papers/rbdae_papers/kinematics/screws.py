"""Displacements of a rigid body as screw motions, after Chasles, and the instantaneous screw axis of a motion."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rbdae._arrays import ArrayLike, Vec
from rbdae.rotations import checks
from rbdae.rotations.quaternions import from_axis_angle, rotated, to_axis_angle
from rbdae_papers.kinematics.components import Rotations, checked


class Screw(NamedTuple):
    """A displacement as a rotation about a line and a translation along it.

    Attributes
    ----------
    axis : (..., 3) array, the unit vector n along the line
    angle : (...) array, rad, in [0, pi]
    translation : (...) array, k, along n
    pose : (..., 3) array, X_M, the point of the line nearest to the origin of the body in its reference position
    pitch : (...) array, the translation per turn, 2 pi k / phi; infinite without rotation, zero without displacement
    """

    axis: Vec
    angle: Vec
    translation: Vec
    pose: Vec
    pitch: Vec


def displaced(rotation: Rotations, displacement: ArrayLike, point: ArrayLike) -> Vec:
    """x_P = x_0 + R X_P, (..., 3), [GR95] (55), (106), with the displacement x_0 of the origin and X_P material."""
    q, x0, X = checked("displaced", {"rotation": rotation}, displacement=displacement, point=point)
    return x0 + rotated(q, X)


def displacement_of(rotation: Rotations, displacement: ArrayLike, point: ArrayLike) -> Vec:
    """u_P = u_0 + (R - I) X_P, (..., 3), [GR95] (56), with no loss of digits for small rotations."""
    q, u0, X = checked("displacement_of", {"rotation": rotation}, displacement=displacement, point=point)
    return u0 + _turned_by(q, X)


def screw(rotation: Rotations, displacement: ArrayLike) -> Screw:
    """The screw motion of x = x_0 + R X: axis, translation [GR95] (63), pose (69), pitch (71).

    k = n . u_0 and X_M = -D^T u_0 / (2 (1 - cos phi)) = (P_n u_0 + cot(phi / 2) n x u_0) / 2; the pitch is per turn,
    not per radian as in the paper. The pose of a small rotation is as ill-conditioned as 1 / phi. A pure translation
    has its direction as axis and the pose zero by convention. u_0 = x_0 is the displacement of the body's origin.
    """
    q, u0 = checked("screw", {"rotation": rotation}, displacement=displacement)
    leading = np.broadcast_shapes(q.shape[:-1], u0.shape[:-1])
    q, u0 = np.broadcast_to(q, (*leading, 4)), np.broadcast_to(u0, (*leading, 3))
    n, phi = to_axis_angle(q)
    turns, length = phi > 0.0, checks.norm(u0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        n = np.where((turns | (length == 0.0))[..., None], n, u0 / length[..., None])
        k = (n * u0).sum(-1)
        cotangent = q[..., 0] / checks.norm(q[..., 1:])
        pose = 0.5 * (u0 - k[..., None] * n + cotangent[..., None] * np.cross(n, u0))
        turning = 2.0 * math.pi * k / phi
        turning = np.where(np.isfinite(turning), turning, np.nan)  # infinite only without rotation
        pitch = np.where(turns, turning, np.where(length > 0.0, np.inf, 0.0))
    return Screw(n, phi, k, np.where(turns[..., None], pose, 0.0), pitch)


def screw_displacement(motion: Screw, point: ArrayLike) -> Vec:
    """u_P = k n + (R - I) (X_P - X_M), (..., 3), [GR95] (65), (70), of a material point X_P."""
    X = checks.vectors("screw_displacement", "point", point)
    checks.together("screw_displacement", motion=(motion.axis, 1), point=(X, 1))
    q = from_axis_angle(motion.axis, motion.angle)
    return motion.translation[..., None] * motion.axis + _turned_by(q, X - motion.pose)


def _turned_by(q: Vec, X: Vec) -> Vec:
    """(R - I) X."""
    turned = 2.0 * np.cross(q[..., 1:], X)
    out: Vec = q[..., :1] * turned + np.cross(q[..., 1:], turned)
    return out


class InstantaneousScrew(NamedTuple):
    """The velocities of a body as a rotation about a line and a translation along it.

    Attributes
    ----------
    point : (..., 3) array, x_M, the point of the line nearest to the origin of space
    omega : (..., 3) array, the spatial angular velocity, along the line, rad/s
    sliding : (...) array, u, the velocity along the line
    pitch : (...) array, the translation per turn, 2 pi u / |omega|; infinite without rotation, zero at rest
    direction : (..., 3) array, the unit vector along the line
    """

    point: Vec
    omega: Vec
    sliding: Vec
    pitch: Vec
    direction: Vec


def instantaneous_screw(position: ArrayLike, velocity: ArrayLike, omega: ArrayLike) -> InstantaneousScrew:
    """x_M = omega x v_0 / |omega|^2 + (I - f f^T) x_0, f = omega / |omega|, u = f . v_0, [GR95] (113), (119), (120).

    The line is x_M + s omega, (115). A translating body has the direction of v_0, sliding |v_0| and, by
    convention, the point of the line through x_0; at rest the direction is (1, 0, 0). All arguments are spatial; x_0
    and v_0 belong to one point of the body.
    """
    x0, v0, given = np.broadcast_arrays(
        *checked("instantaneous_screw", {}, position=position, velocity=velocity, omega=omega)
    )
    speed, rate = checks.norm(v0), checks.norm(given)
    turns = (rate > 0.0)[..., None]
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        moving = np.where((speed > 0.0)[..., None], v0 / speed[..., None], (1.0, 0.0, 0.0))
        f = np.where(turns, given / rate[..., None], moving)
        u = (f * v0).sum(-1)
        arm = np.where(turns, np.cross(f, v0) / rate[..., None], 0.0)
        turning = 2.0 * math.pi * u / rate
        turning = np.where(np.isfinite(turning), turning, np.nan)  # infinite only without rotation
        pitch = np.where(rate > 0.0, turning, np.where(speed > 0.0, np.inf, 0.0))
    return InstantaneousScrew(arm + x0 - (f * x0).sum(-1, keepdims=True) * f, given.copy(), u, pitch, f)


def screw_velocity(motion: InstantaneousScrew, point: ArrayLike) -> Vec:
    """v_P = u f + omega x (x_P - x_M), (..., 3), [GR95] (112), (121), of a spatial point x_P."""
    x = checks.vectors("screw_velocity", "point", point)
    checks.together("screw_velocity", motion=(motion.omega, 1), point=(x, 1))
    out: Vec = motion.sliding[..., None] * motion.direction + np.cross(motion.omega, x - motion.point)
    return out
