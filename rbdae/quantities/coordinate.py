"""`Coordinate`: a number determined by the position of one body relative to another.

With forms q_a = Z . H_a Z / 2 of the natural coordinates Z in R^24, H_a symmetric, their gradients g_a = H_a Z and
rates r_a = g_a . Zdot, a coordinate s is q_1 itself ("identity"), the root of q_1 (a length, "root"), or the angle
whose sine and cosine are q_1 and q_2 up to a common factor ("angle"):

    identity   sdot = r_1,                                  sddot = b_1
    root       sdot = r_1 / (2 s),                          sddot = (b_1 / 2 - sdot^2) / s
    angle      sdot = (q_2 r_1 - q_1 r_2) / d,              sddot = (q_2 b_1 - q_1 b_2 - 2 sdot (q_1 r_1 + q_2 r_2)) / d

with d = q_1^2 + q_2^2 and b_a = g_a . Zddot + Zdot . H_a Zdot. On the constraints of its joint sdot of an angle is the
relative angular velocity about the axis, and -ds/dZ are the natural forces of a torque of one on the first body.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae._arrays import Mat, Vec, cross
from rbdae.quantities.forms import direction, moved, point, product

Shape: TypeAlias = Literal["identity", "root", "angle"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Coordinate:
    """A coordinate by its forms.

    Attributes
    ----------
    name, unit : "angle", "rad"
    shape : "identity", "root" or "angle"
    forms : (p, 24, 24) array
        H_a, symmetric; two for an angle, otherwise one.
    axis : (3,) array or None
        The direction of its torque or force in the frame of one body; None for a length, which acts along the line
        between its points.
    side : int
        0 if this is the frame of the first body, 1 for the second.
    at_a, at_b : (3,) array
        Reference points of the bodies for torques.
    """

    name: str
    unit: str
    shape: Shape
    forms: Any
    axis: Vec | None = None
    side: int = 0
    at_a: Vec = field(default_factory=lambda: np.zeros(3))
    at_b: Vec = field(default_factory=lambda: np.zeros(3))

    @property
    def rate_unit(self) -> str:
        return f"{self.unit}/s"

    @property
    def effort_unit(self) -> str:
        """The unit of the torque or force along it."""
        return "N m" if self.unit == "rad" else "N"

    def at(self, x: Any) -> tuple[Any, Any, Any]:
        """s, sdot and ds/dZ (24,) at x = (Z, Zdot), 48 numbers of any kind: floats, or symbols of a recorded law.

        An angle is in (-pi, pi]; a length of zero has no gradient.
        """
        Z, rates = x[:24], x[24:48]
        q, r, g = [], [], []
        for H in self.forms:
            gradient = _times(H, Z)
            q.append(0.5 * _dot(gradient, Z))
            r.append(_dot(gradient, rates))
            g.append(gradient)
        if self.shape == "identity":
            return q[0], r[0], g[0]
        if self.shape == "root":
            s = np.sqrt(q[0])
            return s, 0.5 * r[0] / s, [0.5 * a / s for a in g[0]]
        d = q[0] * q[0] + q[1] * q[1]
        along, across = q[1] / d, q[0] / d
        gradient = [along * a - across * b for a, b in zip(*g, strict=True)]
        return np.arctan2(q[0], q[1]), along * r[0] - across * r[1], gradient

    def acceleration(self, x: Any, second: Any) -> Any:
        """sddot at x = (Z, Zdot) and Zddot (24,), numbers of any kind."""
        Z, rates = x[:24], x[24:48]
        g = [_times(H, Z) for H in self.forms]
        q, r = [0.5 * _dot(each, Z) for each in g], [_dot(each, rates) for each in g]
        b = [_dot(each, second) + _dot(_times(H, rates), rates) for each, H in zip(g, self.forms, strict=True)]
        if self.shape == "identity":
            return b[0]
        if self.shape == "root":
            return (0.5 * b[0] - 0.25 * r[0] * r[0] / q[0]) / np.sqrt(q[0])
        d = q[0] * q[0] + q[1] * q[1]
        rate = (q[1] * r[0] - q[0] * r[1]) / d
        return (q[1] * b[0] - q[0] * b[1] - 2.0 * rate * (q[0] * r[0] + q[1] * r[1])) / d

    def referred(self, first: Vec, second: Vec) -> Coordinate:
        """The same coordinate for natural coordinates that refer to other points of the bodies than their origins."""
        S = moved(first, second)
        return replace(self, forms=np.einsum("ji,ajk,kl->ail", S, self.forms, S))

    def values(self, Z: Mat, rates: Mat) -> tuple[Vec, Vec]:
        """s and sdot (...,) at Z and Zdot (..., 24)."""
        q, r = self._forms(Z, Z) / 2.0, self._forms(Z, rates)
        if self.shape == "identity":
            return q[0], r[0]
        if self.shape == "root":
            s = np.sqrt(q[0])
            return s, 0.5 * r[0] / s
        return np.arctan2(q[0], q[1]), (q[1] * r[0] - q[0] * r[1]) / (q[0] ** 2 + q[1] ** 2)

    def _forms(self, left: Mat, right: Mat) -> Any:
        """left . H_a right, (p, ...)."""
        return np.einsum("...i,aij,...j->a...", left, self.forms, right)


def _times(H: Mat, Z: Any) -> list[Any]:
    """H Z without products with zero; entries are 0.0 where a row of H is empty."""
    out: list[Any] = [0.0] * 24
    for i, j in np.argwhere(H):
        out[i] = out[i] + float(H[i, j]) * Z[j]
    return out


def _dot(u: Any, v: Any) -> Any:
    return sum(a * b for a, b in zip(u, v, strict=True) if not _is_zero(a))


def _is_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0.0


def angle(name: str, axis_a: Vec, normal_a: Vec, other: Vec) -> Coordinate:
    """The angle about an axis of the first body, from its normal there to a direction of the second body."""
    b = direction(other, 1)
    sine = product(direction(cross(axis_a, normal_a), 0), b)
    return Coordinate(name, "rad", "angle", np.array([sine, product(direction(normal_a, 0), b)]), axis_a)


def turned(name: str, other: Vec, axis_b: Vec, normal_b: Vec) -> Coordinate:
    """The angle about an axis of the second body, from a direction of the first body to its normal there."""
    a = direction(other, 0)
    sine = product(direction(cross(normal_b, axis_b), 1), a)
    return Coordinate(name, "rad", "angle", np.array([sine, product(direction(normal_b, 1), a)]), axis_b, 1)


def displacement(name: str, axis_a: Vec, at_a: Vec, at_b: Vec) -> Coordinate:
    """The displacement from a point of the first body to a point of the second, along an axis of the first."""
    P = point(at_b, 1.0, 1) + point(at_a, -1.0, 0)
    forms = np.array([product(direction(axis_a, 0), P)])
    return Coordinate(name, "m", "identity", forms, axis_a, at_a=at_a, at_b=at_b)


def distance(name: str, at_a: Vec, at_b: Vec) -> Coordinate:
    P = point(at_a, 1.0, 0) + point(at_b, -1.0, 1)
    return Coordinate(name, "m", "root", np.array([product(P, P)]), at_a=at_a, at_b=at_b)
