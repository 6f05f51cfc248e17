"""Quaternions (..., 4), scalar first, for users, with any leading axes, such as time.

Algebra ([GR95] (209)-(217), [NS] (30), [BS09] section 2.1): `product`, `conjugate`, `norm`, `inverse`, `pure`.
Matrices ([GR95] (239)-(251), [BS09] (9)-(12) and appendix A): `left_matrix` Q_l, `right_matrix` Q_r, `E`, `G`.
Maps ([BS09] (5)-(8), [GR95] (193)-(205)): `exponential`, `logarithm`, rotation vectors, matrices, scipy's `Rotation`.
Rates ([BS09] (3), (4), (14), (45), [NS] lemma 4.1): angular velocities of qdot and back, angular momentum.
The Euler map of [NS], sections 4 and 5, with mass matrices is `rbdae_papers.null_space.euler_map`.

The product is Hamilton's: R(p q) = R(p) R(q), and R(q) x = q x conj(q) maps material to spatial components. Functions
that read a rotation from a quaternion use only its direction: q, -q and all multiples are the same rotation. They raise
ValueError for the zero quaternion, like all that do not take what they are given. Leading axes are broadcast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations import checks, vectors

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

__all__ = [
    "E", "G", "conjugate", "exponential", "from_axis_angle", "from_matrix", "from_rotation_vector",
    "half", "inverse", "left_matrix", "logarithm", "material_angular_velocity", "momentum_map", "norm", "product",
    "pure", "rate_from_material", "rate_from_spatial", "right_matrix", "rotate", "rotate_back", "second_rate",
    "spatial_angular_velocity", "to_axis_angle", "to_matrix", "to_rotation", "to_rotation_vector",
]  # fmt: skip

# ---------------------------------------------------------------- algebra


def product(p: ArrayLike, q: ArrayLike) -> Vec:
    """p q = (p0 q0 - p . q, p0 q + q0 p + p x q), [GR95] (212), [NS] (30), [BS09] (1).

    The rotation e1 followed by e2 is the product e2 e1, [GR95] (226).
    """
    return multiplied(*_checked("product", p=(p, 4), q=(q, 4)))


def multiplied(p: Vec, q: Vec) -> Vec:
    """The product of checked quaternions."""
    p, q = np.broadcast_arrays(p, q)
    out: Vec = np.moveaxis(vectors.product(np.moveaxis(p, -1, 0), np.moveaxis(q, -1, 0)), 0, -1)
    return out


def conjugate(q: ArrayLike) -> Vec:
    """(q0, -q) of q (..., 4), [GR95] (213), [BS09] section 2.1."""
    return conjugated(checks.vectors("conjugate", "q", q, 4))


def conjugated(q: Vec) -> Vec:
    """The conjugate of checked quaternions."""
    out: Vec = q * np.array((1.0, -1.0, -1.0, -1.0))
    return out


def norm(q: ArrayLike) -> Vec:
    """|q| = sqrt(q conj(q)), (...), of q (..., 4), [GR95] (214); without overflow and underflow."""
    return checks.norm(checks.vectors("norm", "q", q, 4))


def inverse(q: ArrayLike) -> Vec:
    """conj(q) / |q|^2 of q (..., 4), [BS09] section 2.1."""
    given = checks.vectors("inverse", "q", q, 4)
    size = checks.norm(given)[..., None]
    if not size.all():
        raise ValueError(f"inverse: q must not be the zero quaternion, got {_check.show(q)}; it has no inverse")
    # in this order |q|^2 neither overflows nor underflows
    out: Vec = conjugated(given / size) / size
    return out


def pure(v: ArrayLike) -> Vec:
    """The vector quaternion (0, v), (..., 4), of v (..., 3), [GR95] (216)."""
    return purely(checks.vectors("pure", "v", v))


def purely(v: Vec) -> Vec:
    """(0, v) of checked vectors."""
    return np.concatenate((np.zeros((*v.shape[:-1], 1)), v), axis=-1)


def rotate(q: ArrayLike, x: ArrayLike) -> Vec:
    """R(q) x = q x conj(q) / |q|^2: material components to spatial ones, [GR95] (219), [NS] (29), [BS09] (7).

    q (..., 4), x (..., 3).
    """
    return rotated(*_directed("rotate", q, x))


def rotate_back(q: ArrayLike, x: ArrayLike) -> Vec:
    """R(q)^T x = conj(q) x q / |q|^2: spatial components to material ones, [GR95] (222), [NS] (29).

    q (..., 4), x (..., 3).
    """
    q, x = _directed("rotate_back", q, x)
    return rotated(conjugated(q), x)


def rotated(q: Vec, x: Vec) -> Vec:
    """R(q) x of checked unit quaternions: x + 2 q0 (q x x) + 2 q x (q x x), exact in x for small rotations."""
    turned = 2.0 * np.cross(q[..., 1:], x)
    out: Vec = x + q[..., :1] * turned + np.cross(q[..., 1:], turned)
    return out


# ---------------------------------------------------------------- matrices


def left_matrix(p: ArrayLike) -> Mat:
    """Q_l(p) = [p, G(p)^T], (..., 4, 4), of p (..., 4): Q_l(p) q = p q.

    [BS09] (9), (10); Q(p) of [NS] (30); A of [GR95] (242).
    """
    return left(checks.vectors("left_matrix", "p", p, 4))


def right_matrix(q: ArrayLike) -> Mat:
    """Q_r(q) = [q, E(q)^T], (..., 4, 4), of q (..., 4): Q_r(q) p = p q.

    [BS09] (9), (10); B of [GR95] (242).
    """
    return right(checks.vectors("right_matrix", "q", q, 4))


def E(q: ArrayLike) -> Mat:
    """E = [-q, q0 I + q^], (..., 3, 4), of q (..., 4), with omega = 2 E(q) qdot (spatial).

    E of [BS09] (10), H of [GR95] (201) and (248), G of [SNS15] (8). E(q) q = 0, E E^T = |q|^2 I, R(q) = E(q) G(q)^T.
    """
    return np.ascontiguousarray(np.swapaxes(right(checks.vectors("E", "q", q, 4))[..., 1:], -1, -2))


def G(q: ArrayLike) -> Mat:
    """G = [-q, q0 I - q^], (..., 3, 4), of q (..., 4), with Omega = 2 G(q) qdot (material).

    G of [BS09] (10) and [GR95] (201), L of [SNS15] (9), and T_p = G^T / 2 of [NS] (41). G(q) q = 0, G G^T = |q|^2 I.
    """
    return np.ascontiguousarray(np.swapaxes(left(checks.vectors("G", "q", q, 4))[..., 1:], -1, -2))


def left(p: Vec) -> Mat:
    """Q_l of checked quaternions."""
    return _bordered(p, 1.0)


def right(q: Vec) -> Mat:
    """Q_r of checked quaternions."""
    return _bordered(q, -1.0)


def _bordered(q: Vec, sign: float) -> Mat:
    """[[q0, -q^T], [q, q0 I + sign q^]]."""
    a, b, c, d = np.moveaxis(q, -1, 0)
    x, y, z = sign * b, sign * c, sign * d
    Q = np.array([[a, -b, -c, -d], [b, a, -z, y], [c, z, a, -x], [d, -y, x, a]])
    return np.ascontiguousarray(np.moveaxis(Q, (0, 1), (-2, -1)))


# ---------------------------------------------------------------- maps


def exponential(q: ArrayLike) -> Vec:
    """exp(q) = e^q0 (cos |q|, q sin |q| / |q|), (..., 4), of any quaternion q (..., 4).

    With q0 = 0 this is the exponential map of the unit sphere, [BS09] (5), (6): exp((0, w / 2)) is the rotation by the
    vector w. ValueError if the result overflows.
    """
    given = checks.vectors("exponential", "q", q, 4)
    with np.errstate(over="ignore", invalid="ignore"):
        out = np.exp(given[..., :1]) * _turned(given[..., 1:])
    if not np.isfinite(out).all():
        raise ValueError(f"exponential: q must have a scalar part below 709, got {_check.show(q)}; exp(q) overflows")
    return out


def logarithm(q: ArrayLike) -> Vec:
    """log q = (log |q|, angle q / |q|) with the angle of the plane (q0, |q|) in [0, pi), the inverse of `exponential`.

    ValueError if q (..., 4) is zero or a negative real number, whose logarithm has no direction. q and -q have
    different logarithms; for the rotation vector, where both are equivalent, use `to_rotation_vector`.
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
    return _turned(0.5 * checks.vectors("from_rotation_vector", "w", w))


def to_rotation_vector(q: ArrayLike) -> Vec:
    """The rotation vector (..., 3), no longer than pi, of nonzero quaternions (..., 4), [GR95] (164), (194).

    At half a turn both signs are correct; q0 = +0 gives the direction of q.
    """
    unit = vectors.shorter(checks.nonzero_quaternions("to_rotation_vector", "q", q))
    return 2.0 * _angle_over_sine(checks.norm(unit[..., 1:]), unit[..., 0]) * unit[..., 1:]


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Vec:
    """(cos(phi / 2), n sin(phi / 2)), (..., 4), of an axis (..., 3) and an angle (...), rad; [GR95] (194), (223)."""
    owner = "from_axis_angle"
    n, phi = checks.axes(owner, "axis", axis), checks.numbers(owner, "angle", angle)
    checks.together(owner, axis=(n, 1), angle=(phi, 0))
    n, half_angle = np.broadcast_arrays(n, 0.5 * phi[..., None])
    return np.concatenate((np.cos(half_angle[..., :1]), np.sin(half_angle) * n), axis=-1)


def to_axis_angle(q: ArrayLike) -> tuple[Vec, Vec]:
    """The unit axis (..., 3) and the angle (...) in [0, pi] of nonzero quaternions (..., 4), [GR95] (194).

    The axis of the identity is (1, 0, 0) by convention.
    """
    unit = vectors.shorter(checks.nonzero_quaternions("to_axis_angle", "q", q))
    e = unit[..., 1:]
    return _directions(e), 2.0 * np.arctan2(checks.norm(e), unit[..., 0])


def to_matrix(q: ArrayLike) -> Mat:
    """The Euler map R(q) = (q0^2 - q . q) I + 2 q q^T + 2 q0 q^ = E(q) G(q)^T, (..., 3, 3), of q (..., 4).

    [NS] (26), [BS09] (8), (12), [GR95] (199), (200), (246): a rotation for unit quaternions, homogeneous of degree two.
    """
    return vectors.rotation_matrices(checks.vectors("to_matrix", "q", q, 4))


def from_matrix(R: Rotation | ArrayLike) -> Vec:
    """The unit quaternion (..., 4) of a rotation, with q0 >= 0, after Spurrier and Klumpp.

    [GR95] (203)-(205), [NS] section 6, [Klu76], [Spu78]. R is a `Rotation` or (..., 3, 3); ValueError unless its
    columns are orthonormal and right-handed.
    """
    return checks.rotation_quaternions("from_matrix", "R", R)


def to_rotation(q: ArrayLike) -> Rotation:
    """A `scipy.spatial.transform.Rotation` of nonzero quaternions (..., 4).

    More than one leading axis needs scipy 1.17.
    """
    return checks.to_rotation(checks.nonzero_quaternions("to_rotation", "q", q))


def half(q: ArrayLike) -> Vec:
    """The unit quaternion (..., 4) of half the rotation of q (..., 4): (1 + q) / |1 + q|, half(q) half(q) = +-q.

    It is (1, c / 4) of the conformal rotation vector c, normalised, [GR95] (252), (257), from q or -q, whichever has
    the smaller angle.
    """
    out: Vec = vectors.shorter(checks.nonzero_quaternions("half", "q", q)) + np.array((1.0, 0.0, 0.0, 0.0))
    out /= checks.norm(out)[..., None]
    return out


def _directions(v: Vec) -> Vec:
    """Unit vectors along v, however short; (1, 0, 0) along zero."""
    largest = np.abs(v).max(axis=-1, keepdims=True, initial=0.0)
    with np.errstate(invalid="ignore"):
        n = np.where(largest > 0.0, v / largest, (1.0, 0.0, 0.0))
    return n / checks.norm(n)[..., None]


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


# ---------------------------------------------------------------- rates


def rate_from_material(q: ArrayLike, Omega: ArrayLike) -> Vec:
    """qdot = q (0, Omega / 2) = G(q)^T Omega / 2, (..., 4).

    Omega (..., 3) is the angular velocity in material components, rad/s; [BS09] (3), [NS] (41), [GR95] (235).
    """
    q, Omega = _checked("rate_from_material", q=(q, 4), Omega=(Omega, 3))
    return multiplied(q, purely(0.5 * Omega))


def rate_from_spatial(q: ArrayLike, omega: ArrayLike) -> Vec:
    """qdot = (0, omega / 2) q = E(q)^T omega / 2, (..., 4), of omega (..., 3) in spatial components, rad/s.

    [BS09] (4), [GR95] (230).
    """
    q, omega = _checked("rate_from_spatial", q=(q, 4), omega=(omega, 3))
    return multiplied(purely(0.5 * omega), q)


def material_angular_velocity(q: ArrayLike, qdot: ArrayLike) -> Vec:
    """Omega = 2 conj(q) qdot = 2 G(q) qdot, (..., 3), of q (..., 4), |q| = 1, and qdot (..., 4).

    [NS] lemma 4.1, [BS09] (14), [GR95] (208), (238), (249), (250), [SNS15] (17). A part of qdot along q is ignored.
    """
    q, qdot = _checked("material_angular_velocity", q=(q, 4), qdot=(qdot, 4))
    return 2.0 * multiplied(conjugated(q), qdot)[..., 1:]


def spatial_angular_velocity(q: ArrayLike, qdot: ArrayLike) -> Vec:
    """omega = 2 qdot conj(q) = 2 E(q) qdot, (..., 3), of q (..., 4), |q| = 1, and qdot (..., 4).

    [NS] lemma 4.1, [BS09] (14), [GR95] (208), (233), (249), (250). A part of qdot along q is ignored.
    """
    q, qdot = _checked("spatial_angular_velocity", q=(q, 4), qdot=(qdot, 4))
    return 2.0 * multiplied(qdot, conjugated(q))[..., 1:]


def momentum_map(q: ArrayLike, p: ArrayLike) -> Vec:
    """L = E(q) p / 2, (..., 3), the angular momentum in spatial components, of q (..., 4) and its momentum p (..., 4).

    [BS09] (45) and above (46), (35): the momentum map of spatial rotations. With p = M4 qdot, for example ``pi_p0``,
    ... of the Hamiltonian forms, it is R J Omega, kg m^2/s, about the reference point of J (centre of mass or
    pivot). A part of p along q is ignored.
    """
    q, p = _checked("momentum_map", q=(q, 4), p=(p, 4))
    return 0.5 * multiplied(p, conjugated(q))[..., 1:]


def second_rate(q: ArrayLike, Omega: ArrayLike, Omega_rate: ArrayLike) -> Vec:
    """qddot = q (-|Omega|^2 / 4, Omegadot / 2), (..., 4): the derivative of [BS09] (3).

    Omega, Omega_rate (..., 3) are the angular velocity and its rate in material components, rad/s and rad/s^2.
    """
    q, Omega, change = _checked("second_rate", q=(q, 4), Omega=(Omega, 3), Omega_rate=(Omega_rate, 3))
    scalar = np.broadcast_to(-0.25 * (Omega * Omega).sum(-1, keepdims=True), (*change.shape[:-1], 1))
    return multiplied(q, np.concatenate((scalar, 0.5 * change), axis=-1))


def _checked(owner: str, **given: tuple[ArrayLike, int]) -> list[Vec]:
    """Vectors of these lengths, whose leading axes go together."""
    out = {what: checks.vectors(owner, what, value, n) for what, (value, n) in given.items()}
    checks.together(owner, **{what: (value, 1) for what, value in out.items()})
    return [*out.values()]


def _directed(owner: str, q: ArrayLike, x: ArrayLike) -> tuple[Vec, Vec]:
    unit, vector = checks.nonzero_quaternions(owner, "q", q), checks.vectors(owner, "x", x)
    checks.together(owner, q=(unit, 1), x=(vector, 1))
    return unit, vector
