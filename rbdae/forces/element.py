"""Elements, of which forces consist: data that one set of kernels works on (`rbdae.kernels.forces.elements`).

Natural coordinates of a pair of bodies: Z = (x, d1, d2, d3) of the first, then of the second, in R^24. The ground has
x = 0 and the axes of space. In `Element` x is the origin of the body frame; functions get the
reference points, to which the kernels refer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.body import Body
from rbdae.forces.motion_law import NONE, MotionLaw, TimeFunction, time_function
from rbdae.inputs import Input, Sources, under_sources
from rbdae.joints.base import AbstractJoint
from rbdae.laws.law import Filling, Maker, Users
from rbdae.quantities.coordinate import Coordinate, Shape
from rbdae.quantities.forms import combined, direction, point


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


def values_of_forms(products: Sequence[Sequence[tuple[Vec, Vec]]], Z: Vec) -> Vec:
    """The forms at Z (24,)."""
    return np.array([sum(np.dot(combined(A, Z), combined(B, Z)) for A, B in form) for form in products])


@final
@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """Force along displacements s of two bodies: f = K (s - rest) + D sdot - sign u(t), natural forces -(ds/dZ)^T f.

    Attributes
    ----------
    products : for each of p forms q = sum P . Q the pairs A, B (8,) of its products
        Points and directions P = sum A_k Z_k, Q = sum B_k Z_k (`rbdae.quantities.forms`); of a rate, r = sum Pdot . Q.
    law : TimeFunction
        u(t), n numbers.
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
    force : MotionLaw or None
        A load that depends on the motion, u(t, s, sdot); then there is no other one.
    reaction : UnderReaction or None
        The load `force` is that of a unit of this normal force.
    """

    products: tuple[Form, ...]
    law: TimeFunction = NONE
    stiffness: Mat | float = 0.0
    damping: Mat | float = 0.0
    rest: Vec | float = 0.0
    sign: float = 1.0
    shape: Shape | Literal["point", "turn"] = "identity"
    holonomic: bool = True
    level: float = 0.0
    force: MotionLaw | None = None
    reaction: UnderReaction | None = None

    @property
    def n(self) -> int:
        """Number of displacements."""
        return {"identity": len(self.products), "point": 3, "turn": 3}.get(self.shape, 1)

    @property
    def winding(self) -> bool:
        """Whether full turns count: an angle with a stiffness, or with a load that depends on it. Then it has an
        internal state phi, whose rate is that of the angle, and the angle is the one next to it."""
        if self.shape != "angle":
            return False
        return bool(np.any(np.asarray(self.stiffness).real)) or (self.force is not None and self.force.by_position)

    def under(self, sources: Sources) -> Element:
        """The element with functions of the time in the places of some inputs."""
        force = None if self.force is None else self.force.under(sources)
        return replace(self, law=self.law.under(sources), force=force)


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
    jacobian : callable, float or None
        Of a function that is called and makes floats of its arguments; all others have their own derivatives. Fills
        d(F, sdot)/d(Z, Zdot, s, u) by rows, out.reshape(12 n + k, 24 n + k + m), or the step of central differences.
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
    jacobian: Callable[[float, Vec, Vec], None] | float | None = None
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

Frame: TypeAlias = Literal["space", "body"]


def winding_name(number: int) -> str:
    """The name of an internal state that counts full turns in one force: "phi", then "phi2" and so on."""
    return "phi" if number == 0 else f"phi{number + 1}"


def vector_law(value: ArrayLike | Callable[[float], Any], force: Any = None, field: Any = None) -> TimeFunction:
    """A field with three components as a constant, as inputs or as a function of the time."""
    return time_function(force._owner, field.name, value, 3)


def frame_of(value: Frame, force: Any = None, field: Any = None) -> Frame:
    """A field with the frame of the components of a vector."""
    if not isinstance(value, str) or value not in ("space", "body"):
        raise ValueError(f"{force._owner}: frame must be 'space' or 'body', got {_check.show(value)}")
    return value


# ---------------------------------------------------------------- elements by what they act on


def along(
    coordinate: Coordinate,
    stiffness: float = 0.0,
    damping: float = 0.0,
    rest: float = 0.0,
    u: TimeFunction | MotionLaw = NONE,
    sign: float = 1.0,
) -> Element:
    """An element on a coordinate of its two bodies."""
    forms = tuple((each,) for each in coordinate.products)
    law, force = (NONE, u) if isinstance(u, MotionLaw) else (u, None)
    return Element(forms, law, stiffness, damping, rest, sign, coordinate.shape, force=force)


def together(coordinates: Sequence[Coordinate], u: MotionLaw) -> Element:
    """An element on several displacements of its two bodies, with one law for all of them."""
    return Element(tuple(each.products for each in coordinates), force=u)


def point_force(at: Vec, u: TimeFunction, in_body: bool) -> Element:
    """Force u at a point of the first body, in space, that is along the axes of the ground, or in the body frame."""
    P = point(at, 1.0, 0)
    return Element(tuple(((P, axis),) for axis in _axes(0 if in_body else 1)), u, holonomic=not in_body)


def torque(u: TimeFunction, in_body: bool) -> Element:
    """Torque u on the first body, in space or in the body frame: half the sum of the arms d_i with forces u x d_i."""
    if not in_body:
        return Element((), u, sign=-1.0, shape="turn", holonomic=False)  # of the ground relative to the body
    d = _axes(0)
    return Element(tuple(((0.5 * d[i], d[j]), (-0.5 * d[j], d[i])) for i, j in _NEXT), u, holonomic=False)


def rotational_damping(damping: float) -> Element:
    """Torque -damping times the angular velocity of the second body relative to the first, on the second."""
    return Element((), damping=damping * np.eye(3), shape="turn", holonomic=False)


_NEXT = ((1, 2), (2, 0), (0, 1))


def _axes(side: int, frame: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))) -> Mat:
    """The axes of a frame in one body, by rows (3, 8)."""
    return np.array([direction(axis, side) for axis in frame])


def alignment(stiffness: Mat, rest: Mat) -> Element:
    """Potential tr(E (I - R)) of R = R_b^T R_a rest^T with E = tr(K) I / 2 - K: (1 - cos phi) n . K n for a turn by phi
    about n. With R_ij = d_i . e_j of axes of the second body b and the first a it is a constant force along one form.
    """
    E = 0.5 * np.trace(stiffness) * np.eye(3) - stiffness
    one = TimeFunction(_check.frozen(np.ones(1)))
    return Element((tuple(zip(_axes(1), E @ _axes(0, rest), strict=True)),), one, level=np.trace(E))


def alignment_damping(damping: Mat, rest: Mat) -> Element:
    """Damping on the rate of theta = axial vector of R_b^T R_a rest^T."""
    d, e = _axes(1), _axes(0, rest)
    return Element(tuple(((0.5 * d[j], e[i]), (-0.5 * d[i], e[j])) for i, j in _NEXT), damping=damping)
