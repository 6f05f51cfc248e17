"""General displacements of a rigid body as screw motions, after Chasles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Vec
from rbdae.rotations.quaternions.algebra import rotated
from rbdae.rotations.quaternions.maps import axis_angle_of, of_axis_angle

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


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


@_stacks.finite
def displaced(rotation: Rotation | ArrayLike, displacement: ArrayLike, point: ArrayLike) -> Vec:
    """x_P = x_0 + R X_P, (..., 3), [GR95] (55), (106).

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    displacement : (..., 3) array_like
        x_0, the spatial position of the origin of the body.
    point : (..., 3) array_like
        X_P, material components.
    """
    q, x0, X = _motion("displaced", rotation, displacement, point)
    return x0 + rotated(q, X)


@_stacks.finite
def displacement_of(rotation: Rotation | ArrayLike, displacement: ArrayLike, point: ArrayLike) -> Vec:
    """u_P = u_0 + (R - I) X_P, (..., 3), [GR95] (56), with no loss of digits for small rotations.

    Parameters are those of `displaced`.
    """
    q, u0, X = _motion("displacement_of", rotation, displacement, point)
    return u0 + _turned_by(q, X)


@_stacks.finite
def screw(rotation: Rotation | ArrayLike, displacement: ArrayLike) -> Screw:
    """The screw motion of x = x_0 + R X: axis, translation [GR95] (63), pose (69), pitch (71).

    k = n . u_0 and X_M = -D^T u_0 / (2 (1 - cos phi)) = (P_n u_0 + cot(phi / 2) n x u_0) / 2; the pitch is per turn,
    where the paper says radian. The pose of a small rotation is as ill-conditioned as 1 / phi. A pure translation
    has its direction as axis and the pose zero by convention.

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    displacement : (..., 3) array_like
        u_0 = x_0, the displacement of the origin of the body.
    """
    owner = "screw"
    q = _stacks.rotation_quaternions(owner, "rotation", rotation)
    u0 = _stacks.vectors(owner, "displacement", displacement)
    _stacks.together(owner, rotation=(q, 1), displacement=(u0, 1))
    leading = np.broadcast_shapes(q.shape[:-1], u0.shape[:-1])
    q, u0 = np.broadcast_to(q, (*leading, 4)), np.broadcast_to(u0, (*leading, 3))
    n, phi = axis_angle_of(q)
    turns, length = phi > 0.0, _stacks.norm(u0)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        n = np.where((turns | (length == 0.0))[..., None], n, u0 / length[..., None])
        k = (n * u0).sum(-1)
        cotangent = q[..., 0] / _stacks.norm(q[..., 1:])
        pose = 0.5 * (u0 - k[..., None] * n + cotangent[..., None] * np.cross(n, u0))
        turning = 2.0 * math.pi * k / phi
        turning = np.where(np.isfinite(turning), turning, np.nan)  # infinite only without rotation
        pitch = np.where(turns, turning, np.where(length > 0.0, np.inf, 0.0))
    return Screw(n, phi, k, np.where(turns[..., None], pose, 0.0), pitch)


@_stacks.finite
def screw_displacement(motion: Screw, point: ArrayLike) -> Vec:
    """u_P = k n + (R - I) (X_P - X_M), (..., 3), [GR95] (65), (70).

    Parameters
    ----------
    motion : Screw
    point : (..., 3) array_like
        X_P, material components.
    """
    X = _stacks.vectors("screw_displacement", "point", point)
    _stacks.together("screw_displacement", motion=(motion.axis, 1), point=(X, 1))
    q = of_axis_angle(motion.axis, motion.angle)
    return motion.translation[..., None] * motion.axis + _turned_by(q, X - motion.pose)


def _turned_by(q: Vec, X: Vec) -> Vec:
    """(R - I) X."""
    turned = 2.0 * np.cross(q[..., 1:], X)
    out: Vec = q[..., :1] * turned + np.cross(q[..., 1:], turned)
    return out


def _motion(
    owner: str, rotation: Rotation | ArrayLike, displacement: ArrayLike, point: ArrayLike
) -> tuple[Vec, Vec, Vec]:
    q = _stacks.rotation_quaternions(owner, "rotation", rotation)
    u0, X = _stacks.vectors(owner, "displacement", displacement), _stacks.vectors(owner, "point", point)
    _stacks.together(owner, rotation=(q, 1), displacement=(u0, 1), point=(X, 1))
    return q, u0, X


__all__ = ["Screw", "displaced", "displacement_of", "screw", "screw_displacement"]
