"""Maps between quaternions and rotation vectors, axes and angles, matrices and scipy's `Rotation`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations import checks
from rbdae.rotations.quaternions.matrices import left, right

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


def exponential(q: ArrayLike) -> Vec:
    """exp(q) = e^q0 (cos |q|, q sin |q| / |q|), (..., 4), of any quaternion q (..., 4).

    With q0 = 0 this is the exponential map of the unit sphere, [BS09] (5), (6): exp((0, w / 2)) is the rotation by the
    vector w.

    Raises
    ------
    ValueError
        if the result overflows
    """
    given = checks.vectors("exponential", "q", q, 4)
    with np.errstate(over="ignore", invalid="ignore"):
        out = np.exp(given[..., :1]) * _turned(given[..., 1:])
    if not np.isfinite(out).all():
        raise ValueError(f"exponential: q must have a scalar part below 709, got {_check.show(q)}; exp(q) overflows")
    return out


def logarithm(q: ArrayLike) -> Vec:
    """log q = (log |q|, angle q / |q|) with the angle of the plane (q0, |q|) in [0, pi), the inverse of `exponential`.

    Parameters
    ----------
    q : (..., 4) array_like
        Neither zero nor a negative real number, whose logarithm has no direction. q and -q have different logarithms;
        for the rotation vector, where both are equivalent, use `to_rotation_vector`.

    Returns
    -------
    (..., 4) array

    Raises
    ------
    ValueError
        if there is no logarithm
    """
    unit = checks.nonzero_quaternions("logarithm", "q", q)
    size = checks.norm(unit[..., 1:])
    if ((size == 0.0) & (unit[..., 0] < 0.0)).any():
        raise ValueError(
            f"logarithm: q must not be a negative real number, got {_check.show(q)}; its logarithm has no direction"
        )
    length = np.log(checks.norm(np.asarray(q, dtype=float)))
    # beyond a right angle the quotient of angle and sine may overflow, while the direction keeps all digits
    near = _angle_over_sine(size, np.abs(unit[..., 0])) * unit[..., 1:]
    far = np.arctan2(size, unit[..., 0])[..., None] * _directions(unit[..., 1:])
    return np.concatenate((length[..., None], np.where(unit[..., :1] < 0.0, far, near)), axis=-1)


def from_rotation_vector(w: ArrayLike) -> Vec:
    """The unit quaternion exp((0, w / 2)), (..., 4), of the rotation by |w| rad about w (..., 3), [BS09] (6)."""
    return of_rotation_vector(checks.vectors("from_rotation_vector", "w", w))


def of_rotation_vector(w: Vec) -> Vec:
    """The unit quaternions of checked rotation vectors."""
    return _turned(0.5 * w)


def to_rotation_vector(q: ArrayLike) -> Vec:
    """The rotation vector (..., 3), no longer than pi, of nonzero quaternions (..., 4), [GR95] (164), (194).

    At half a turn both signs are correct; q0 = +0 gives the direction of q.

    Raises
    ------
    ValueError
        for the zero quaternion
    """
    return rotation_vector(checks.nonzero_quaternions("to_rotation_vector", "q", q))


def rotation_vector(q: Vec) -> Vec:
    """The rotation vectors, no longer than pi, of checked unit quaternions."""
    q = _shorter(q)
    return 2.0 * _angle_over_sine(checks.norm(q[..., 1:]), q[..., 0]) * q[..., 1:]


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Vec:
    """(cos(phi / 2), n sin(phi / 2)), (..., 4), [GR95] (194), (223).

    Parameters
    ----------
    axis : (..., 3) array_like
        Nonzero; only its direction counts.
    angle : (...) array_like
        rad, any real number.

    Raises
    ------
    ValueError
        for a zero axis
    """
    owner = "from_axis_angle"
    n, phi = checks.axes(owner, "axis", axis), checks.numbers(owner, "angle", angle)
    checks.together(owner, axis=(n, 1), angle=(phi, 0))
    return of_axis_angle(n, phi)


def of_axis_angle(n: Vec, phi: Vec) -> Vec:
    """The unit quaternions of checked axes and angles."""
    n, half_angle = np.broadcast_arrays(n, 0.5 * phi[..., None])
    return np.concatenate((np.cos(half_angle[..., :1]), np.sin(half_angle) * n), axis=-1)


def to_axis_angle(q: ArrayLike) -> tuple[Vec, Vec]:
    """The unit axis (..., 3) and the angle (...) in [0, pi] of nonzero quaternions (..., 4), [GR95] (194).

    The axis of the identity is (1, 0, 0) by convention.

    Raises
    ------
    ValueError
        for the zero quaternion
    """
    return axis_angle_of(checks.nonzero_quaternions("to_axis_angle", "q", q))


def axis_angle_of(q: Vec) -> tuple[Vec, Vec]:
    """Axes and angles of checked unit quaternions."""
    q = _shorter(q)
    e = q[..., 1:]
    return _directions(e), 2.0 * np.arctan2(checks.norm(e), q[..., 0])


def to_matrix(q: ArrayLike) -> Mat:
    """The Euler map R(q) = (q0^2 - q . q) I + 2 q q^T + 2 q0 q^ = E(q) G(q)^T, (..., 3, 3), of q (..., 4).

    [NS] (26), [BS09] (8), (12), [GR95] (199), (200), (246): a rotation for unit quaternions, homogeneous of degree two.
    """
    return matrix(checks.vectors("to_matrix", "q", q, 4))


def matrix(q: Vec) -> Mat:
    """R(q) of checked quaternions: the block of Q_l(q) Q_r(q)^T, [GR95] (245)."""
    out: Mat = (left(q) @ np.swapaxes(right(q), -1, -2))[..., 1:, 1:]
    return out


def from_matrix(R: Rotation | ArrayLike) -> Vec:
    """The unit quaternion (..., 4) of a rotation, with q0 >= 0, after Spurrier and Klumpp.

    [GR95] (203)-(205), [NS] section 6, [Klu76], [Spu78]: the largest component comes from a square root.

    Parameters
    ----------
    R : Rotation or (..., 3, 3) array_like

    Raises
    ------
    ValueError
        unless the columns are orthonormal and right-handed
    """
    return checks.rotation_quaternions("from_matrix", "R", R)


def to_rotation(q: ArrayLike) -> Rotation:
    """A `scipy.spatial.transform.Rotation` of nonzero quaternions (..., 4).

    More than one leading axis needs scipy 1.17.

    Raises
    ------
    ValueError
        for the zero quaternion
    """
    return checks.to_rotation(checks.nonzero_quaternions("to_rotation", "q", q))


def from_rotation(rotation: Rotation | ArrayLike) -> Vec:
    """The unit quaternion (..., 4), scalar first and nonnegative, of a `Rotation` or of matrices (..., 3, 3)."""
    return checks.rotation_quaternions("from_rotation", "rotation", rotation)


def half(q: ArrayLike) -> Vec:
    """The unit quaternion (..., 4) of half the rotation of q (..., 4): (1 + q) / |1 + q|, half(q) half(q) = +-q.

    It is (1, c / 4) of the conformal rotation vector c, normalised, [GR95] (252), (257), from q or -q, whichever has
    the smaller angle.

    Raises
    ------
    ValueError
        for the zero quaternion
    """
    return halved(checks.nonzero_quaternions("half", "q", q))


def halved(q: Vec) -> Vec:
    """The half of checked unit quaternions."""
    q = _shorter(q) + np.array((1.0, 0.0, 0.0, 0.0))
    return q / checks.norm(q)[..., None]


def _directions(v: Vec) -> Vec:
    """Unit vectors along v, however short; (1, 0, 0) along zero."""
    largest = np.abs(v).max(axis=-1, keepdims=True, initial=0.0)
    with np.errstate(invalid="ignore"):
        n = np.where(largest > 0.0, v / largest, (1.0, 0.0, 0.0))
    return n / checks.norm(n)[..., None]


def _shorter(q: Vec) -> Vec:
    """q or -q, with q0 >= 0."""
    return np.where(q[..., :1] < 0.0, -q, q)


def _turned(v: Vec) -> Vec:
    """(cos |v|, v sin |v| / |v|). The quotient is accurate down to the smallest numbers: it needs no series."""
    size = checks.norm(v)[..., None]
    with np.errstate(invalid="ignore"):
        factor = np.where(size > 0.0, np.sin(size) / size, 1.0)
    return np.concatenate((np.cos(size), factor * v), axis=-1)


def _angle_over_sine(size: Vec, scalar: Vec) -> Vec:
    """The angle of (scalar, size), divided by size, (..., 1); one at the identity."""
    with np.errstate(invalid="ignore"):
        out = np.where(size > 0.0, np.arctan2(size, scalar) / size, 1.0)
    return out[..., None]
