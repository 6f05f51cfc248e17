"""Primitive constraints of all joints; most are at most quadratic in natural coordinates.

A primitive is a law on ``Z = (x_1, d1_1, d2_1, d3_1, x_2, d1_2, d2_2, d3_2)``, eight 3-vectors of two bodies,
through two coefficient vectors A, B in R^8 (`rbdae.quantities.coordinate`)::

    P = sum_k A_k Z_k,    Q = sum_k B_k Z_k

    linear:       g = P - offset                    (3 rows)
    bilinear:     g = scale P . Q - offset[0]       (1 row)
    combination:  g = function(q_1, ..., q_m)       (1 row) of the values q of at most three bilinear ones

Points are given in body frames, from the frame's origin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeAlias, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec, is_varied
from rbdae.kernels.user_functions import UserFunction
from rbdae.laws.law import Derived, Filling, Recorded, Users
from rbdae.quantities.coordinate import direction, point

Kind: TypeAlias = Literal["linear", "bilinear", "combination"]


def _offset(value: Any) -> Vec:
    return _check.frozen(np.array((value, 0.0, 0.0)) if np.ndim(value) == 0 else value)


@attrs.frozen(eq=False)
class _Primitive:
    """Coefficients of one law; the offset of a bilinear one is a number."""

    rows: ClassVar[int] = 1
    kind: ClassVar[Kind] = "bilinear"
    scale: ClassVar[float] = 1.0
    A: Vec = attrs.field(converter=_check.frozen)
    B: Vec = attrs.field(converter=_check.frozen)
    offset: Vec = attrs.field(converter=_offset)


@final
class Coincidence(_Primitive):
    """(x1 + R1 r1) - (x2 + R2 r2) = offset: two points stay together, or a constant vector apart."""

    __slots__ = ()

    rows: ClassVar[int] = 3
    kind: ClassVar[Kind] = "linear"

    def __init__(self, r1: ArrayLike, r2: ArrayLike, offset: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        apart = _check.vector("Coincidence", "offset", offset)
        super().__init__(-_between("Coincidence", r1, r2), np.zeros(8), apart)


@final
class Dot1(_Primitive):
    """(R1 a) . (R2 b) = value: two directions keep their angle (not normalised)."""

    __slots__ = ()

    def __init__(self, a: ArrayLike, b: ArrayLike, value: float = 0.0) -> None:
        A, B = direction(_check.axis("Dot1", "axis a", a), 0), direction(_check.axis("Dot1", "axis b", b), 1)
        super().__init__(A, B, _check.number("Dot1", "value", value))


@final
class Dot2(_Primitive):
    """(R1 a) . ((x2 + R2 r2) - (x1 + R1 r1)) = value: a point stays in a plane of body 1."""

    __slots__ = ()

    def __init__(self, a: ArrayLike, r1: ArrayLike, r2: ArrayLike, value: float = 0.0) -> None:
        A = direction(_check.axis("Dot2", "axis a", a), 0)
        super().__init__(A, _between("Dot2", r1, r2), _check.number("Dot2", "value", value))


@final
class Distance(_Primitive):
    """(|(x2 + R2 r2) - (x1 + R1 r1)|^2 - length^2) / 2 = 0: two points keep their distance."""

    __slots__ = ()

    scale: ClassVar[float] = 0.5

    def __init__(self, r1: ArrayLike, r2: ArrayLike, length: float) -> None:
        arm, remedy = _between("Distance", r1, r2), "use Coincidence for points that stay together"
        l = length if is_varied(length) else _check.positive("Distance", "length", length, remedy)
        # At length 0 the gradient vanishes and the constraint is lost, as with a square that underflows.
        if not 0.0 < 0.5 * l.real * l.real < np.inf:
            raise ValueError(f"Distance: length {l:g} has no square among the floats; use SI units")
        super().__init__(arm, arm, 0.5 * l * l)


@final
@attrs.frozen(eq=False, init=False)
class Combination(_Primitive):
    """function(q) = 0 of the values q of one to three bilinear primitives, of any shape.

    The function takes an array of numbers or symbols and returns one number by plain arithmetic, such as
    ``lambda q: q[0] * np.cos(q[1])``. It is recorded, and its derivatives follow. If parts contain points, the first
    does. As its arguments do not change when both bodies move as one, the schemes that keep momenta keep them here.
    """

    kind: ClassVar[Kind] = "combination"

    function: Callable[[Any], Any]
    parts: tuple[Dot1 | Dot2 | Distance, ...]

    def __init__(self, function: Callable[[Any], Any], *parts: Dot1 | Dot2 | Distance) -> None:
        if not 1 <= len(parts) <= 3 or any(part.kind != "bilinear" for part in parts):
            raise ValueError(f"Combination: give one to three of Dot1, Dot2 and Distance, got {len(parts)} parts")
        offsets = np.array([*(part.offset[0] for part in parts), 0.0, 0.0])[:3]
        self.__attrs_init__(parts[0].A, parts[0].B, offsets, function, parts)

    def law(self, owner: str) -> UserFunction:
        """The function, with its first and second derivatives. Raises ValueError if it cannot be recorded."""

        def filling(users: Users) -> Filling:
            def fill(t: float, x: Vec, out: Vec) -> None:
                out[0] = users[0](x)

            return fill

        n = len(self.parts)
        law = Recorded(owner, [self.function], filling, n, 1)
        if law.law is None:
            raise ValueError(f"{owner}: the function of its Combination cannot be recorded: {law.why}; use arithmetic")

        def refused(t: float, q: Vec) -> Vec:
            raise _check.NoSolution(
                f"{owner}: the function of its Combination has no second derivatives at {_check.show(q)}"
            )

        curvature = Derived(law.slopes, f"{owner}, second derivatives", lambda slopes: slopes.by_x, refused)
        out, slope = UserFunction(law, n, 1), UserFunction(law.slopes, n, n)
        out.slope, slope.slope = slope, UserFunction(curvature, n, n * n)
        return out


def _between(owner: str, r1: ArrayLike, r2: ArrayLike) -> Vec:
    """The vector from a point of the first body to a point of the second."""
    return point(_check.vector(owner, "r2", r2), 1.0, 1) + point(_check.vector(owner, "r1", r1), -1.0, 0)


Primitive: TypeAlias = Coincidence | Dot1 | Dot2 | Distance | Combination
"""Primitive constraints that a joint may consist of."""
