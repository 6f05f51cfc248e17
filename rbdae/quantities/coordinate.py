"""`Coordinate`: a number determined by the position of one body relative to another.

With forms q_a = P_a . Q_a of points and directions P = sum A_k Z_k, Q = sum B_k Z_k of both bodies, their gradients g_a
and rates r_a = g_a . Zdot, a coordinate s is q_1 itself ("identity"), the root of q_1 (a length, "root"), or the angle
whose sine and cosine are q_1 and q_2 up to a common factor ("angle"):

    identity   sdot = r_1
    root       sdot = r_1 / (2 s)
    angle      sdot = (q_2 r_1 - q_1 r_2) / (q_1^2 + q_2^2)

On the constraints of its joint sdot of an angle is the relative angular velocity about the axis, and -ds/dZ are the
natural forces of a torque of one on the first body.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae._arrays import Mat, Vec, cross
from rbdae.quantities.forms import combined, direction, point, referred

Shape: TypeAlias = Literal["identity", "root", "angle"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Coordinate:
    """A coordinate by its forms.

    Attributes
    ----------
    name, unit : "angle", "rad"
    shape : "identity", "root" or "angle"
    products : tuple of pairs of (8,) arrays
        A and B of each form; two forms for an angle, otherwise one.
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
    products: tuple[tuple[Vec, Vec], ...]
    axis: Vec | None = None
    side: int = 0
    at_a: Vec = field(default_factory=lambda: np.zeros(3))
    at_b: Vec = field(default_factory=lambda: np.zeros(3))

    @property
    def effort_unit(self) -> str:
        """The unit of the torque or force along it."""
        return "N m" if self.unit == "rad" else "N"

    def at(self, x: Any) -> tuple[Any, Any, Any]:
        """s, sdot and ds/dZ (24,) at x = (Z, Zdot), 48 numbers of any kind: floats, or symbols of a recorded law.

        An angle is in (-pi, pi]; a length of zero has no gradient.
        """
        q, r = self._forms(x)
        s, slopes = self._shaped(q)
        g = zip(*(_gradient(A, B, x) for A, B in self.products), strict=True)
        return s, _dot(slopes, r), [_dot(slopes, each) for each in g]

    def _shaped(self, q: list[Any]) -> tuple[Any, tuple[Any, ...]]:
        """s and ds/dq."""
        if self.shape == "identity":
            return q[0], (1.0,)
        if self.shape == "root":
            s = np.sqrt(q[0])
            return s, (0.5 / s,)
        d = q[0] * q[0] + q[1] * q[1]
        return np.arctan2(q[0], q[1]), (q[1] / d, -q[0] / d)

    def _forms(self, x: Any) -> tuple[list[Any], list[Any]]:
        """q and r at x."""
        q, r = [], []
        for A, B in self.products:
            P, Q = combined(A, x[:24]), combined(B, x[:24])
            q.append(_dot(P, Q))
            r.append(_dot(combined(A, x[24:48]), Q) + _dot(P, combined(B, x[24:48])))
        return q, r

    def referred(self, first: Vec, second: Vec) -> Coordinate:
        """The same coordinate for natural coordinates that refer to other points of the bodies than their origins."""
        products = tuple((referred(A, first, second), referred(B, first, second)) for A, B in self.products)
        return replace(self, products=products)

    def values(self, Z: Mat, rates: Mat) -> tuple[Vec, Vec]:
        """s and sdot (...,) at Z and Zdot (..., 24)."""
        q, r = self._forms(np.moveaxis(np.concatenate([Z, rates], axis=-1), -1, 0))
        s, slopes = self._shaped(q)
        return s, _dot(slopes, r)


def _gradient(A: Vec, B: Vec, x: Any) -> list[Any]:
    """A Q + B P at x, (24,)."""
    P, Q = combined(A, x), combined(B, x)
    return [a * Q[i] + b * P[i] for a, b in zip(A.tolist(), B.tolist(), strict=True) for i in range(3)]


def _dot(u: Any, v: Any) -> Any:
    first, *others = (a * b for a, b in zip(u, v, strict=True))
    return sum(others, first)


def angle(name: str, axis_a: Vec, normal_a: Vec, other: Vec) -> Coordinate:
    """The angle about an axis of the first body, from its normal there to a direction of the second body."""
    b = direction(other, 1)
    sine = direction(cross(axis_a, normal_a), 0), b
    return Coordinate(name, "rad", "angle", (sine, (direction(normal_a, 0), b)), axis_a)


def turned(name: str, other: Vec, axis_b: Vec, normal_b: Vec) -> Coordinate:
    """The angle about an axis of the second body, from a direction of the first body to its normal there."""
    a = direction(other, 0)
    sine = direction(cross(normal_b, axis_b), 1), a
    return Coordinate(name, "rad", "angle", (sine, (direction(normal_b, 1), a)), axis_b, 1)


def displacement(name: str, axis_a: Vec, at_a: Vec, at_b: Vec) -> Coordinate:
    """The displacement from a point of the first body to a point of the second, along an axis of the first."""
    P = point(at_b, 1.0, 1) + point(at_a, -1.0, 0)
    return Coordinate(name, "m", "identity", ((direction(axis_a, 0), P),), axis_a, at_a=at_a, at_b=at_b)


def distance(name: str, at_a: Vec, at_b: Vec) -> Coordinate:
    P = point(at_a, 1.0, 0) + point(at_b, -1.0, 1)
    return Coordinate(name, "m", "root", ((P, P),), at_a=at_a, at_b=at_b)
