"""Primitive constraints of all joints; most are at most quadratic in natural coordinates.

A primitive is a law on ``Z = (x_1, d1_1, d2_1, d3_1, x_2, d1_2, d2_2, d3_2)``, eight 3-vectors of two bodies,
through two coefficient vectors A, B in R^8::

    P = sum_k A_k Z_k,    Q = sum_k B_k Z_k

    linear:       g = P - offset                    (3 rows)
    bilinear:     g = scale P . Q - offset[0]       (1 row)
    combination:  g = function(q_1, ..., q_m)       (1 row) of the values q of at most three bilinear ones

Points are given in body frames, from the frame's origin. About another point c of body 1 the coefficients
become ``A[1:4] - A[0] c``; the same holds for body 2 and for B.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeAlias, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Varied, Vec

Kind: TypeAlias = Literal["linear", "bilinear", "combination"]


def _coefficients(first: float, r1: Vec, second: float, r2: Vec) -> Vec:
    return _check.frozen(np.concatenate([[first], r1, [second], r2]))


def _offset(value: float) -> Vec:
    return _check.frozen(np.array((value, 0.0, 0.0)))


@attrs.frozen(eq=False)
class _Primitive:
    """Coefficients of one law."""

    rows: ClassVar[int] = 1
    kind: ClassVar[Kind] = "bilinear"
    scale: ClassVar[float] = 1.0
    A: Vec
    B: Vec
    offset: Vec


@final
class Coincidence(_Primitive):
    """(x1 + R1 r1) - (x2 + R2 r2) = offset: two points stay together, or a constant vector apart."""

    __slots__ = ()

    rows: ClassVar[int] = 3
    kind: ClassVar[Kind] = "linear"

    def __init__(self, r1: ArrayLike, r2: ArrayLike, offset: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        point1 = _check.vector("Coincidence", "r1", r1)
        point2 = _check.vector("Coincidence", "r2", r2)
        apart = _check.vector("Coincidence", "offset", offset)
        super().__init__(_coefficients(1.0, point1, -1.0, -point2), _check.frozen(np.zeros(8)), apart)


@final
class Dot1(_Primitive):
    """(R1 a) . (R2 b) = value: two directions keep their angle (not normalised)."""

    __slots__ = ()

    def __init__(self, a: ArrayLike, b: ArrayLike, value: float = 0.0) -> None:
        A = _coefficients(0.0, _check.axis("Dot1", "axis a", a), 0.0, _check.ORIGIN)
        B = _coefficients(0.0, _check.ORIGIN, 0.0, _check.axis("Dot1", "axis b", b))
        super().__init__(A, B, _offset(_check.number("Dot1", "value", value)))


@final
class Dot2(_Primitive):
    """(R1 a) . ((x2 + R2 r2) - (x1 + R1 r1)) = value: a point stays in a plane of body 1."""

    __slots__ = ()

    def __init__(self, a: ArrayLike, r1: ArrayLike, r2: ArrayLike, value: float = 0.0) -> None:
        point1 = _check.vector("Dot2", "r1", r1)
        point2 = _check.vector("Dot2", "r2", r2)
        A = _coefficients(0.0, _check.axis("Dot2", "axis a", a), 0.0, _check.ORIGIN)
        arm = _coefficients(-1.0, -point1, 1.0, point2)
        super().__init__(A, arm, _offset(_check.number("Dot2", "value", value)))


@final
class Distance(_Primitive):
    """(|(x2 + R2 r2) - (x1 + R1 r1)|^2 - length^2) / 2 = 0: two points keep their distance."""

    __slots__ = ()

    scale: ClassVar[float] = 0.5

    def __init__(self, r1: ArrayLike, r2: ArrayLike, length: float) -> None:
        point1 = _check.vector("Distance", "r1", r1)
        point2 = _check.vector("Distance", "r2", r2)
        remedy = "use Coincidence for points that stay together"
        l = length if isinstance(length, Varied) else _check.positive("Distance", "length", length, remedy)
        # At length 0 the gradient vanishes and the constraint is lost, as with a square that underflows.
        if not 0.0 < 0.5 * l * l < np.inf:
            raise ValueError(f"Distance: length {l:g} has no square among the floats; use SI units")
        arm = _coefficients(-1.0, -point1, 1.0, point2)
        super().__init__(arm, arm, _offset(0.5 * l * l))


@final
class Combination(_Primitive):
    """function(q) = 0 of the values q of one to three bilinear primitives, of any shape.

    The function takes an array of numbers or symbols and returns one number by plain arithmetic, such as
    ``lambda q: q[0] * np.cos(q[1])``. It is recorded, and its derivatives follow. If parts contain points, the first
    does. As its arguments do not change when both bodies move as one, the schemes that keep momenta keep them here.
    """

    __slots__ = ("function", "parts")

    kind: ClassVar[Kind] = "combination"

    def __init__(self, function: Callable[[Any], Any], *parts: Dot1 | Dot2 | Distance) -> None:
        if not 1 <= len(parts) <= 3 or any(part.kind != "bilinear" for part in parts):
            raise ValueError(f"Combination: give one to three of Dot1, Dot2 and Distance, got {len(parts)} parts")
        offsets = np.array([*(part.offset[0] for part in parts), 0.0, 0.0])[:3]
        super().__init__(parts[0].A, parts[0].B, _check.frozen(offsets))
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "parts", parts)


Primitive: TypeAlias = Coincidence | Dot1 | Dot2 | Distance | Combination
