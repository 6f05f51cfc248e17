"""A rotation by axis and angle, and its invariants: what does not depend on the frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rbdae import _stacks
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.kinematics.components import skew
from rbdae.rotations.quaternions import maps
from rbdae.rotations.quaternions.maps import axis_angle_of

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


class AxisAngle(NamedTuple):
    """Axis and angle of a rotation.

    Attributes
    ----------
    axis : (..., 3) array, of unit length
    angle : (...) array, rad
    """

    axis: Vec
    angle: Vec


class Invariants(NamedTuple):
    """The linear invariants of a rotation, and its eigenvalues.

    Attributes
    ----------
    trace : (...) array, 1 + 2 cos phi
    vector : (..., 3) array, vect(R) = n sin phi
    eigenvalues : (..., 3) complex array, 1, exp(i phi), exp(-i phi)
    """

    trace: Vec
    vector: Vec
    eigenvalues: Mat


@_stacks.finite
def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Rotation:
    """R = cos phi I + (1 - cos phi) n n^T + sin phi n~, [GR95] (46).

    Parameters
    ----------
    axis : (..., 3) array_like
        Not zero; only its direction counts.
    angle : (...) array_like
        rad, any real number.

    Raises
    ------
    ValueError
        for a zero axis
    """
    return _stacks.to_rotation(maps.from_axis_angle(axis, angle))


@_stacks.finite
def to_axis_angle(rotation: Rotation | ArrayLike) -> AxisAngle:
    """The axis n, R n = n, and the angle in [0, pi], [GR95] (22), (47); accurate at both ends.

    The axis of no rotation is (1, 0, 0) by convention, and half a turn has two axes, of which one is given.

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    """
    return AxisAngle(*axis_angle_of(_stacks.rotation_quaternions("to_axis_angle", "rotation", rotation)))


@_stacks.finite
def invariants(rotation: Rotation | ArrayLike) -> Invariants:
    """tr(R) = 1 + 2 cos phi and vect(R) = n sin phi, [GR95] (47), and the eigenvalues (21).

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    """
    q = _stacks.rotation_quaternions("invariants", "rotation", rotation)
    e0, e = q[..., 0], q[..., 1:]
    cosine, sine = 2.0 * e0 * e0 - 1.0, 2.0 * e0 * _stacks.norm(e)
    turning = cosine + 1j * sine
    values = np.stack((np.ones_like(turning), turning, turning.conj()), -1)
    return Invariants(1.0 + 2.0 * cosine, 2.0 * e0[..., None] * e, values)


@_stacks.finite
def displacement_matrix(rotation: Rotation | ArrayLike) -> Mat:
    """D = R - I, (..., 3, 3), [GR95] (57), with no loss of digits for small rotations; D n = D^T n = 0, (58).

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    """
    q = _stacks.rotation_quaternions("displacement_matrix", "rotation", rotation)
    S = skew(q[..., 1:])
    out: Mat = 2.0 * (q[..., :1, None] * S + S @ S)
    return out


__all__ = ["AxisAngle", "Invariants", "displacement_matrix", "from_axis_angle", "invariants", "to_axis_angle"]
