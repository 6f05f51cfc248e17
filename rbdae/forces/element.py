"""What forces are made of: data that one set of kernels works on (`rbdae.kernels.forces.elements`).

Natural coordinates of a pair of bodies: Z = (x, d1, d2, d3) of the first, then of the second, in R^24; x is the origin
of the body frame. The ground has x = 0 and the axes of space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec

Shape: TypeAlias = Literal["identity", "root", "angle"]

# e[i, j, k]: the sign of the permutation
_SIGNS = np.array([np.cross(axis, np.eye(3)) for axis in np.eye(3)])


@final
@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A number or vector (n,), constant or a function of the time alone: u = `constant`, or `function`(t)."""

    constant: Vec
    function: Callable[[float], Any] | None = None


@final
@dataclass(frozen=True, slots=True, eq=False)
class PointSpring:
    """Force -K P - D Pdot over P = sum A_k Z_k (`rbdae.forces.Bushing`): the first and fastest kind of kernel."""

    A: Vec
    stiffness: Mat
    damping: Mat


@final
@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """Force along displacements s of two bodies: f = K (s - rest) + D sdot - sign u(t), natural forces -(ds/dZ)^T f.

    Attributes
    ----------
    forms : (p, 24, 24) array
        H_a of the forms, whose rates are g_a . Zdot with g_a = rows_a + H_a Z.
    rows : (p, 24) array
    stiffness, damping : (n, n) arrays
    rest : (n,) array
    law : Law
        u(t), n numbers.
    sign : float
    shape : "identity", "root" or "angle"
        How s comes from the forms: n = p of them; the root of one; the angle of which two are sine and cosine.
    holonomic : bool
        Whether s exists (then every H is symmetric) or only its rate: no stiffness without it.
    level : float
        A constant in the potential.
    """

    forms: Any
    rows: Mat
    stiffness: Mat
    damping: Mat
    rest: Vec
    law: Law
    sign: float = 1.0
    shape: Shape = "identity"
    holonomic: bool = True
    level: float = 0.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class UserElement:
    """Natural forces by the user's functions (`rbdae.forces.User`)."""

    force: Callable[[float, Vec, Vec], None]
    jacobian: Callable[[float, Vec, Vec], None]


Piece: TypeAlias = PointSpring | Element | UserElement


def law(owner: str, what: str, value: object, n: int = 1) -> Law:
    """A constant, or a function of time."""
    if callable(value):
        return Law(_check.frozen(np.zeros(n)), value)
    if n == 1:
        return Law(_check.frozen(np.array([_check.number(owner, what, value)])))
    return Law(_check.vector(owner, what, value))


def point(at: Vec, sign: float, side: int) -> Vec:
    """Coefficients (8,) of a point of one body."""
    return _side(np.array([1.0, *at]) * sign, side)


def direction(vector: Vec, side: int) -> Vec:
    """Coefficients (8,) of a direction of one body."""
    return _side(np.array([0.0, *vector]), side)


def _side(c: Vec, side: int) -> Vec:
    out = np.zeros(8)
    out[4 * side : 4 * side + 4] = c
    return out


def product(A: Vec, B: Vec) -> Mat:
    """H of the scalar product (sum A_k Z_k) . (sum B_k Z_k)."""
    return np.asarray(np.kron(np.outer(A, B) + np.outer(B, A), np.eye(3)), dtype=np.float64)


def scalar(
    forms: Any, stiffness: float, damping: float, rest: float, u: Law, shape: Shape = "identity", sign: float = 1.0
) -> Element:
    """An element with one displacement."""
    H = np.array(forms)
    K, D = np.array([[stiffness]]), np.array([[damping]])
    return Element(H, np.zeros((len(H), 24)), K, D, np.array([rest]), u, sign, shape)


NONE = Law(_check.frozen(np.zeros(1)))


def follower(at: Vec, u: Law, moving: bool) -> Element:
    """Force u at a point of the first body, in space or in the body frame."""
    H, rows = np.zeros((3, 24, 24)), np.zeros((3, 24))
    c = np.array([1.0, *at])
    for k in range(3):
        for i in range(4):
            for n in range(3):
                if moving:
                    H[k, 3 * i + n, 3 + 3 * k + n] = c[i]
                elif n == k:
                    rows[k, 3 * i + n] = c[i]
    return Element(H, rows, *_nothing(3), u, holonomic=not moving)


def turner(u: Law, moving: bool) -> Element:
    """Torque u on the first body, in space or in the body frame: half the sum of the arms d_i with forces u x d_i."""
    H = 0.5 * _body_turn() if moving else 0.5 * _space_turn(0)
    return Element(H, np.zeros((3, 24)), *_nothing(3), u, holonomic=False)


def _nothing(n: int) -> tuple[Mat, Mat, Vec]:
    return np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)


def _space_turn(side: int) -> Any:
    """H of sum_i (e_k x d_i) . ddot_i = 2 omega_k."""
    H = np.zeros((3, 24, 24))
    for k in range(3):
        for i in range(3):
            n = 12 * side + 3 + 3 * i
            H[k, n : n + 3, n : n + 3] = _SIGNS[:, k, :]  # (e_k x d)_c = sum sign(c, k, e) d_e
    return H


def _body_turn() -> Any:
    """H of sum_i (d_k x d_i) . ddot_i, with d_l for the product."""
    H = np.zeros((3, 24, 24))
    for k in range(3):
        for i in range(3):
            for l in range(3):
                H[k, 3 + 3 * i : 6 + 3 * i, 3 + 3 * l : 6 + 3 * l] = _SIGNS[k, i, l] * np.eye(3)
    return H


def relative_turning(damping: float) -> Element:
    """Torque -damping times the angular velocity of the second body relative to the first, on the second."""
    H = 0.5 * (_space_turn(1) - _space_turn(0))
    K, _, rest = _nothing(3)
    return Element(H, np.zeros((3, 24)), K, damping * np.eye(3), rest, Law(np.zeros(3)), holonomic=False)


def _axes(rest: Mat) -> tuple[list[Vec], list[Vec]]:
    """d_i and e_j with (R_b^T R_a rest^T)_ij = d_i . e_j, from the second body b to the first a."""
    return [direction(axis, 1) for axis in np.eye(3)], [direction(axis, 0) for axis in rest]


def alignment(stiffness: Mat, rest: Mat) -> Element:
    """Potential tr(E (I - R)) of R = R_b^T R_a rest^T with E = tr(K) I / 2 - K: (1 - cos phi) n . K n for a turn by phi
    about n. It is linear in R, so a constant force along one form."""
    d, e = _axes(rest)
    E = 0.5 * np.trace(stiffness) * np.eye(3) - stiffness
    H = sum(E[i, j] * product(d[i], e[j]) for i in range(3) for j in range(3))
    one = Law(_check.frozen(np.ones(1)))
    return Element(np.array([H]), np.zeros((1, 24)), *_nothing(1), one, level=float(np.trace(E)))


def relative_turn(damping: Mat, rest: Mat) -> Element:
    """Damping on the rate of theta = axial vector of R_b^T R_a rest^T."""
    d, e = _axes(rest)
    H = np.zeros((3, 24, 24))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        H[k] = 0.5 * (product(d[j], e[i]) - product(d[i], e[j]))
    K, _, zero = _nothing(3)
    return Element(H, np.zeros((3, 24)), K, damping, zero, Law(np.zeros(3)))


def spring(at_a: Vec, at_b: Vec, stiffness: float, damping: float, rest: float, tension: Law) -> Element:
    """The distance of two points."""
    P = point(at_a, 1.0, 0) + point(at_b, -1.0, 1)
    return scalar([product(P, P)], stiffness, damping, rest, tension, "root", -1.0)


def slide(
    axis: Vec, at_a: Vec, at_b: Vec, stiffness: float = 0.0, damping: float = 0.0, rest: float = 0.0, u: Law = NONE
) -> Element:
    """The displacement of the point on b from that on a, along an axis of a."""
    P = point(at_b, 1.0, 1) + point(at_a, -1.0, 0)
    return scalar([product(direction(axis, 0), P)], stiffness, damping, rest, u)


def angle(
    axis: Vec,
    normal_a: Vec,
    normal_b: Vec,
    stiffness: float = 0.0,
    damping: float = 0.0,
    rest: float = 0.0,
    u: Law = NONE,
) -> Element:
    """The angle about an axis of a, from a normal on a to one on b."""
    b = direction(normal_b, 1)
    sine = product(direction(np.cross(axis, normal_a), 0), b)
    return scalar([sine, product(direction(normal_a, 0), b)], stiffness, damping, rest, u, "angle")


def frame_of(owner: str, value: object) -> str:
    """Where the components of a vector are."""
    if not isinstance(value, str) or value not in ("space", "body"):
        raise ValueError(f"{owner}: frame must be 'space' or 'body', got {_check.show(value)}")
    return value


def not_negative(owner: str, what: str, value: ArrayLike) -> float:
    """A finite number that is not negative."""
    out = _check.number(owner, what, value)
    if out < 0.0:
        raise ValueError(f"{owner}: {what} must not be negative, got {_check.show(value)}; check its sign")
    return out


__all__ = [
    "NONE",
    "Element",
    "Law",
    "Piece",
    "PointSpring",
    "UserElement",
    "alignment",
    "angle",
    "follower",
    "frame_of",
    "law",
    "not_negative",
    "point",
    "relative_turn",
    "relative_turning",
    "slide",
    "spring",
    "turner",
]
