"""Elements, of which forces consist: data that one set of kernels works on (`rbdae.kernels.forces.elements`).

Natural coordinates of a pair of bodies: Z = (x, d1, d2, d3) of the first, then of the second, in R^24. The ground has
x = 0 and the axes of space. In `Element` x is the origin of the body frame; functions get the
reference points, to which the kernels refer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.body import Body
from rbdae.forces.motion_law import NONE, Load
from rbdae.inputs import Input, Sources, under_sources
from rbdae.joints.base import AbstractJoint
from rbdae.laws.law import Filling, Maker, Users
from rbdae.quantities.coordinate import Coordinate, Shape


@final
@dataclass(frozen=True, slots=True, eq=False)
class UnderReaction:
    """The normal force of friction that is the reaction of a joint: `length` of its bearings if moments count, and
    `floor` below which it is smooth, N."""

    joint: AbstractJoint
    length: float | None
    floor: float


Form: TypeAlias = tuple[tuple[Vec, Vec], ...]
"""Coefficients A, B (8,) of each product of a form."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """Force along displacements s of two bodies: f = K (s - rest) + D sdot - sign u(t, s, sdot), natural forces
    -(ds/dZ)^T f.

    Of an angle with a stiffness, or with a load that depends on it, full turns count. It has an internal state phi,
    whose rate is that of the angle, and the angle is the one next to it.

    Attributes
    ----------
    products : for each of p forms q = sum P . Q the pairs A, B (8,) of its products
        Points and directions P = sum A_k Z_k, Q = sum B_k Z_k (`rbdae.quantities.forms`); of a rate, r = sum Pdot . Q.
    load : Load
        u, n numbers.
    stiffness, damping : float or (n, n) array
    rest : float or (n,) array
    sign : float
    shape : "identity", "root", "angle", "point" or "turn"
        How s follows from the forms: it is the p forms themselves, the root of one, or the angle of which two are sine
        and cosine. Of a "point" it is the vector P of the one product. Of a "turn" there is only the rate, half the sum
        of d x ddot of the second body less the first's.
    holonomic : bool
        True if s exists. False if only its rate exists; then there is no stiffness.
    level : float
        A constant in the potential.
    reaction : UnderReaction or None
        The load is that of a unit of this normal force.
    """

    products: tuple[Form, ...]
    load: Load = NONE
    stiffness: Mat | float = 0.0
    damping: Mat | float = 0.0
    rest: Vec | float = 0.0
    sign: float = 1.0
    shape: Shape | Literal["point", "turn"] = "identity"
    holonomic: bool = True
    level: float = 0.0
    reaction: UnderReaction | None = None


@final
@dataclass(frozen=True, slots=True, eq=False)
class StateElement:
    """Natural forces by functions, perhaps with internal states s in R^k: F(t, Z, Zdot, s) and sdot = f(t, Z, Zdot, s).

    Both functions are called as function(t, x, out) with x = (Z, Zdot, s), 48 + k numbers. They fill `out`, which is
    zero before, and leave x alone. They are pure: the same arguments always give the same numbers. Z has the reference
    points of the bodies (`rbdae.body.Body.reference`).

    With `bodies` there are n in place of two: Z and Zdot have 12 n numbers each, and so has F. With `inputs` their m
    values follow the states: x = (Z, Zdot, s, u). The last `algebraic` states are algebraic unknowns, for which
    0 = f(t, Z, Zdot, s, u) holds; df/ds of these rows and columns is regular (index 1). Forms without algebraic
    unknowns, the ODE forms, eliminate them.

    Attributes
    ----------
    function : callable
        Fills (F, sdot), 12 n + k numbers; F . Zdot is the power of the natural forces.
    jacobian : callable or None
        Of a function that is called and makes floats of its arguments; all others have their own derivatives. Fills
        d(F, sdot)/d(Z, Zdot, s, u) by rows, out.reshape(12 n + k, 24 n + k + m).
    names : tuple of str
        Of the states, k different ones; labels put the force's name before them: "damper-1.s".
    start : (k,) array
        s at the start; of algebraic unknowns where Newton's method begins.
    algebraic : int
        How many of the states are algebraic unknowns, the last ones.
    inputs : tuple of Input
    bodies : tuple of Body, or None for those of the force
    labelled : bool
        Whether names are labels already, those of states of several parts.
    constants : mapping
        Numbers of the law by the names of parameters: they are the last of x. If the law cannot be recorded with them
        it is called without them.
    potential : callable or None
        Function (t, Z, out): out[0] = V, whose -dV/dZ is F without rates. Of a force without states.
    """

    function: Callable[[float, Vec, Vec], None]
    jacobian: Callable[[float, Vec, Vec], None] | None = None
    names: tuple[str, ...] = ()
    start: Vec = field(default_factory=lambda: np.zeros(0))
    algebraic: int = 0
    inputs: tuple[Input, ...] = ()
    bodies: tuple[Body, ...] | None = None
    labelled: bool = False
    constants: Mapping[str, Any] = field(default_factory=dict)
    potential: Callable[[float, Vec, Vec], None] | None = None

    def __post_init__(self) -> None:
        for name in self.names:
            _check.name("internal state", name, ())

    def under(self, sources: Sources) -> StateElement:
        """The element with functions of the time in the places of some inputs."""
        if not any(each in sources for each in self.inputs):
            return self
        law, first = composed(self.function), 24 * len(self.bodies or (0, 1)) + len(self.names)
        users, fill, left = under_sources(law.users, law.fill, self.inputs, sources, first)
        return replace(self, function=Composed(users, fill), jacobian=None, inputs=left)


@final
@dataclass(frozen=True, eq=False)
class Composed:
    """A function f(t, x, out) of the library around functions of users; `fill` makes it of them, or of what takes their
    place."""

    users: Users
    fill: Maker

    @cached_property
    def _call(self) -> Filling:
        return self.fill(self.users)

    def __call__(self, t: float, x: Vec, out: Vec) -> Any:
        return self._call(t, x, out)


def composed(function: Any) -> Composed:
    """A user's function f(t, x, out)."""
    return function if isinstance(function, Composed) else Composed([function], itemgetter(0))


AnyElement: TypeAlias = Element | StateElement
"""What a force may consist of."""


def along(*coordinates: Coordinate, load: Load = NONE, **numbers: Any) -> Element:
    """An element on a coordinate of its two bodies, or on several displacements with one load for all of them."""
    forms = tuple((each,) for coordinate in coordinates for each in coordinate.products)
    return Element(forms, load, shape=coordinates[0].shape, **numbers)
