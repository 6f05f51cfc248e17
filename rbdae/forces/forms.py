"""Elements by what they act on: a point, a rotation, a distance, a displacement, an angle.

Each acts along forms of the natural coordinates Z of its two bodies (`rbdae.forces.element.Element`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec, cross
from rbdae.forces.element import NONE, Element, TimeFunction
from rbdae.forces.motion_law import MotionLaw
from rbdae.quantities import coordinate as coordinates
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.forms import direction, product

# e[i, j, k]: the sign of the permutation
_SIGNS = np.array([cross(axis, np.eye(3)) for axis in np.eye(3)])


def along(
    coordinate: Coordinate,
    stiffness: float = 0.0,
    damping: float = 0.0,
    rest: float = 0.0,
    u: TimeFunction | MotionLaw = NONE,
    sign: float = 1.0,
) -> Element:
    """An element on a coordinate of its two bodies."""
    forms = coordinate.forms
    K, D = np.array([[stiffness]]), np.array([[damping]])
    rows, s0 = np.zeros((len(forms), 24)), np.array([rest])
    if isinstance(u, MotionLaw):
        return Element(forms, rows, K, D, s0, NONE, sign, coordinate.shape, force=u)
    return Element(forms, rows, K, D, s0, u, sign, coordinate.shape)


def together(coordinates: Sequence[Coordinate], u: MotionLaw) -> Element:
    """An element on several displacements of its two bodies, with one law for all of them."""
    forms, n = np.concatenate([each.forms for each in coordinates]), len(coordinates)
    return Element(forms, np.zeros((n, 24)), *_zeros(n), TimeFunction(_check.frozen(np.zeros(n))), force=u)


def point_force(at: Vec, u: TimeFunction, in_body: bool) -> Element:
    """Force u at a point of the first body, in space or in the body frame."""
    c = np.array([1.0, *at])
    H, rows = np.zeros((3, 24, 24), dtype=c.dtype), np.zeros((3, 24), dtype=c.dtype)
    for k in range(3):
        for i in range(4):
            for n in range(3):
                if in_body:
                    H[k, 3 * i + n, 3 + 3 * k + n] = c[i]
                elif n == k:
                    rows[k, 3 * i + n] = c[i]
    return Element(H, rows, *_zeros(3), u, holonomic=not in_body)


def torque(u: TimeFunction, in_body: bool) -> Element:
    """Torque u on the first body, in space or in the body frame: half the sum of the arms d_i with forces u x d_i."""
    H = 0.5 * _body_rotation() if in_body else 0.5 * _space_rotation(0)
    return Element(H, np.zeros((3, 24)), *_zeros(3), u, holonomic=False)


def _zeros(n: int) -> tuple[Mat, Mat, Vec]:
    return np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)


def _space_rotation(side: int) -> Any:
    """H of sum_i (e_k x d_i) . ddot_i = 2 omega_k."""
    H = np.zeros((3, 24, 24))
    for k in range(3):
        for i in range(3):
            n = 12 * side + 3 + 3 * i
            H[k, n : n + 3, n : n + 3] = _SIGNS[:, k, :]  # (e_k x d)_c = sum sign(c, k, e) d_e
    return H


def _body_rotation() -> Any:
    """H of sum_i (d_k x d_i) . ddot_i, with d_l for the product."""
    H = np.zeros((3, 24, 24))
    for k in range(3):
        for i in range(3):
            for l in range(3):
                H[k, 3 + 3 * i : 6 + 3 * i, 3 + 3 * l : 6 + 3 * l] = _SIGNS[k, i, l] * np.eye(3)
    return H


def rotational_damping(damping: float) -> Element:
    """Torque -damping times the angular velocity of the second body relative to the first, on the second."""
    H = 0.5 * (_space_rotation(1) - _space_rotation(0))
    K, _, rest = _zeros(3)
    return Element(H, np.zeros((3, 24)), K, damping * np.eye(3), rest, TimeFunction(np.zeros(3)), holonomic=False)


def _axes(rest: Mat) -> tuple[list[Vec], list[Vec]]:
    """d_i and e_j with (R_b^T R_a rest^T)_ij = d_i . e_j, from the second body b to the first a."""
    return [direction(axis, 1) for axis in np.eye(3)], [direction(axis, 0) for axis in rest]


def alignment(stiffness: Mat, rest: Mat) -> Element:
    """Potential tr(E (I - R)) of R = R_b^T R_a rest^T with E = tr(K) I / 2 - K: (1 - cos phi) n . K n for a turn by phi
    about n. It is linear in R, so a constant force along one form."""
    d, e = _axes(rest)
    E = 0.5 * np.trace(stiffness) * np.eye(3) - stiffness
    H = sum(E[i, j] * product(d[i], e[j]) for i in range(3) for j in range(3))
    one = TimeFunction(_check.frozen(np.ones(1)))
    return Element(np.array([H]), np.zeros((1, 24)), *_zeros(1), one, level=np.trace(E))


def alignment_damping(damping: Mat, rest: Mat) -> Element:
    """Damping on the rate of theta = axial vector of R_b^T R_a rest^T."""
    d, e = _axes(rest)
    H = np.zeros((3, 24, 24))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        H[k] = 0.5 * (product(d[j], e[i]) - product(d[i], e[j]))
    K, _, zero = _zeros(3)
    return Element(H, np.zeros((3, 24)), K, damping, zero, TimeFunction(np.zeros(3)))


def distance(
    at_a: Vec, at_b: Vec, stiffness: float, damping: float, rest: float, tension: TimeFunction | MotionLaw
) -> Element:
    """The distance of two points."""
    return along(coordinates.distance("length", at_a, at_b), stiffness, damping, rest, tension, -1.0)


def displacement(axis: Vec, at_a: Vec, at_b: Vec, damping: float) -> Element:
    """Damping of the displacement of the point on b from that on a, along an axis of a."""
    return along(coordinates.displacement("displacement", axis, at_a, at_b), damping=damping)


__all__ = [
    "alignment",
    "alignment_damping",
    "along",
    "displacement",
    "distance",
    "point_force",
    "rotational_damping",
    "together",
    "torque",
]
