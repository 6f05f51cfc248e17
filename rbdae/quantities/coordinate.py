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
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae._arrays import Mat, Vec, cross
from rbdae.kernels.forces.elements import displacements, forms, pulled
from rbdae.kernels.records import SHAPES

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
        """s, sdot and ds/dZ (24,) at x = (Z, Zdot, ...), whose first 48 numbers are of any kind: floats, or symbols.

        An angle is in (-pi, pi]; a length of zero has no gradient.
        """
        z, zd = np.array([*x[:48]], dtype=object).reshape(2, 8, 3)
        e = SimpleNamespace(shaping=SHAPES[self.shape], forms=len(self.products), holonomic=1)
        products = [SimpleNamespace(form=k, A=A, B=B) for k, (A, B) in enumerate(self.products)]
        q, r = forms(e, products, z, zd)
        (s,), J = displacements(e.shaping, q)
        return s, J[0] @ r, pulled(e, products, z, J[0]).ravel()

    def referred(self, first: Vec, second: Vec) -> Coordinate:
        """The same coordinate for natural coordinates that refer to other points of the bodies than their origins."""
        products = tuple((referred(A, first, second), referred(B, first, second)) for A, B in self.products)
        return replace(self, products=products)


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


# ---------------------------------------------------------------- coefficients (8,) over Z


def point(at: Vec, sign: float, side: int) -> Vec:
    """Coefficients (8,) of a point of one body."""
    return _side(np.array([1.0, *at]) * sign, side)


def direction(vector: Vec, side: int) -> Vec:
    """Coefficients (8,) of a direction of one body."""
    return _side(np.array([0.0, *vector]), side)


def axes(side: int, frame: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))) -> Mat:
    """Those of the axes of a frame in one body, by rows (3, 8)."""
    return np.array([direction(axis, side) for axis in frame])


def _side(c: Vec, side: int) -> Vec:
    out = np.zeros(8, dtype=c.dtype)
    out[4 * side : 4 * side + 4] = c
    return out


def referred(c: Vec, first: Vec, second: Vec) -> Vec:
    """The coefficients where Z refers to the points `first` and `second` of the bodies, not to the origins of their
    frames."""
    out = c.astype(np.result_type(c, first, second))
    for at, of in ((0, first), (4, second)):
        if c[at]:
            out[at + 1 : at + 4] -= c[at] * of
    return out
