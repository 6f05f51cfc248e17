"""Elements, of which forces consist: data that one set of kernels works on (`rbdae.kernels.forces.elements`).

Natural coordinates of a pair of bodies: Z = (x, d1, d2, d3) of the first, then of the second, in R^24. The ground has
x = 0 and the axes of space. In `Element` x is the origin of the body frame; functions get the
reference points, to which the kernels refer.

Loads are numbers, inputs, functions of time, and laws of the motion f(t, s, sdot, u) along the displacements s of an
element, with inputs u; recorded or called back.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial, wraps
from operator import itemgetter
from typing import Any, Literal, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.body import Body
from rbdae.inputs import Input, Sources, named_numbers, read_inputs, under_sources
from rbdae.joints.base import AbstractJoint
from rbdae.kernels.user_functions import of_time
from rbdae.laws.law import CalledBack, Filling, Maker, Recorded, Users
from rbdae.quantities.coordinate import Coordinate, Shape

_REMEDY = "give rbdae.forces.CalledBack(law, difference_step=1e-6)"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """A load u along n displacements s: a number or vector, inputs, a function of the time, or a law of the motion
    f(t, s, sdot, p, i) with constants p of the force and inputs i.

    Attributes
    ----------
    constant : (n,) u, if nothing else is given
    what : its name in messages
    users : the user's functions; without `fill` one function of the time alone
    fill : makes f(t, x, out) of them, x = (s, sdot, p, i)
    inputs : i; without `fill` they are u
    parameters : (k,) p; code of a model loads them, so that laws with other constants need no other code
    """

    constant: Vec
    what: str = "the law"
    users: tuple[Callable[..., Any], ...] = ()
    fill: Maker | None = None
    inputs: tuple[Input, ...] = ()
    parameters: Vec = field(default_factory=lambda: np.zeros(0))

    @property
    def n_arguments(self) -> int:
        """The length of x."""
        return 0 if self.fill is None else 2 * len(self.constant) + len(self.parameters) + len(self.inputs)

    def under(self, sources: Sources) -> Load:
        """The load with functions of the time in the places of some inputs. Of those that are u itself the others keep
        their first value."""
        if not any(each in sources for each in self.inputs):
            return self
        if self.fill is not None:
            first = self.n_arguments - len(self.inputs)
            users, fill, inputs = under_sources(self.users, self.fill, self.inputs, sources, first)
            return replace(self, users=users, fill=fill, inputs=inputs)
        if len(self.inputs) == 1:
            return replace(self, users=(sources[self.inputs[0]],), inputs=())
        functions = [(sources.get(each), each.value) for each in self.inputs]

        def vector(t: float) -> Any:
            return np.array([value if f is None else f(t) for f, value in functions])

        return replace(self, users=(vector,), inputs=())

    def _checked(self, owner: str, t: float, value: object) -> Vec:
        """A value at t: (n,) finite real numbers."""
        n = len(self.constant)
        remedy = "the function has to return " + ("one number" if n == 1 else f"{n} numbers")
        what, shape = f"{self.what} at t = {t:g}", () if n == 1 else (n,)
        return _check.array(owner, what, value, shape, remedy=remedy).reshape(n)

    def at(self, owner: str, t: float, s: Sequence[float] | Vec = (), inputs: Sequence[float] = ()) -> Vec:
        """u at t, of a law of the user at rest at s, under these inputs; u that is inputs counts as zero. Raises
        TypeError or ValueError unless it is finite numbers."""
        if not self.users:
            return self.constant
        if self.fill is None:
            return self._checked(owner, t, self.users[0](t))
        n = len(self.constant)
        x, out = np.array([*s, *np.zeros(n), *self.parameters.real, *inputs]), np.full(n, np.nan)
        self.fill(self.users)(t, x, out)
        return _check.array(owner, f"{self.what} at t = {t:g}", out, (n,), remedy="correct the function")

    def recorded(self, owner: str) -> Recorded:
        """The law, or function of the time, with a name in messages; one without functions of users is recorded once
        for all forces."""
        n = len(self.constant)
        if self.fill is None:  # its values are checked at every call
            fill = partial(of_time, n, lambda _, t, value: self._checked(owner, t, value))
            return Recorded(f"{owner}: {self.what}", self.users, fill, 0, n)
        if self.users:
            return Recorded(f"{owner}: {self.what}", self.users, self.fill, self.n_arguments, n, _REMEDY)
        out = copy.copy(_of_library(self.fill, self.n_arguments, n))
        out.owner = f"{owner}: {self.what}"
        return out


NONE = Load(_check.frozen(np.zeros(1)))


def law_of(n: int, what: str, fill: Maker, *parameters: float) -> Load:
    """A law of the library along n displacements, with constants."""
    return Load(np.zeros(n), what, fill=fill, parameters=np.array(parameters))


@cache
def _of_library(fill: Maker, n_in: int, n_out: int) -> Recorded:
    return Recorded("", (), fill, n_in, n_out, _REMEDY)


def of_numbers(law: Callable[..., Sequence[Any]]) -> Maker:
    """The maker of a law of the library: law(s, sdot, *p, *u) gives n numbers for arrays s and sdot (n,), constants,
    and inputs or the values of the user's functions of time."""

    @wraps(law)
    def maker(users: Users) -> Filling:
        def fill(t: float, x: Vec, out: Vec) -> None:
            n = len(out)
            values = law(x[:n], x[n : 2 * n], *x[2 * n :], *(user(t) for user in users))
            for k in range(n):
                out[k] = values[k]

        return fill

    return maker


def time_function(owner: str, what: str, value: object, n: int = 1) -> Load:
    """A constant, an input, or a function of time; of vectors a sequence of inputs, too."""
    given = value if isinstance(value, (tuple, list)) else (value,)
    if given and all(isinstance(each, Input) for each in given):
        if len(given) != n:
            raise ValueError(f"{owner}: {what} has {n} component{'s' * (n > 1)}, got {len(given)} inputs; give {n}")
        return Load(_check.frozen(np.zeros(n)), what, inputs=tuple(given))
    if callable(value):
        _check.takes(owner, what, value, "t")
        return Load(_check.frozen(np.zeros(n)), what, (value,))
    remedy = f"pass {'1.0' if n == 1 else '(1.0, 2.0, 3.0)'}, or a function of the time"
    return Load(_check.frozen(_check.array(owner, what, value, () if n == 1 else (n,), remedy=remedy).reshape(n)))


def load(owner: str, what: str, value: object, of: Coordinate, inputs: Any) -> Load:
    """A number, an input, a function of time, or a law (t, s, rate) of a coordinate, which with `inputs` is
    one of (t, s, rate, u).

    Raises
    ------
    TypeError, ValueError
        for anything else
    """
    if inputs is not None and (isinstance(value, Input) or not callable(value)):
        raise TypeError(
            f"{owner}: inputs= belong to a law, and {what} is {_check.show(value)}; leave them out, or give a function "
            "whose last argument is u"
        )
    if not callable(value):
        return time_function(owner, what, value)
    read = None if inputs is None else read_inputs(owner, inputs)
    function = value.function if isinstance(value, CalledBack) else value
    function = getattr(function, "py_func", function)  # of numba's functions
    if read is None and _takes(function, 1):
        return time_function(owner, what, value)
    if not _takes(function, 3 if read is None else 4):
        names = f"t, {of.name}, rate"
        wanted = f"(t) or ({names})" if read is None else f"({names}, u) of its inputs"
        raise TypeError(f"{owner}: {what} must be a number or a function {wanted}, got {_check.show(value)}")
    fill = partial(of_one_displacement, f"{owner}: {what}", None if read is None else tuple(read))
    return Load(np.zeros(1), what, (value,), fill, tuple((read or {}).values()))


def _takes(function: object, n: int) -> bool:
    try:
        _check.takes("", "", function, *"x" * n)
    except TypeError:
        return False
    return True


def of_one_displacement(name: str, inputs: tuple[str, ...] | None, users: Users) -> Filling:
    """A user's law(t, s, sdot), or law(t, s, sdot, u) with `inputs`, as f(t, x, out); its name is for messages."""
    (law,) = users

    def fill(t: float, x: Vec, out: Vec) -> None:
        x = x.tolist() if type(x) is np.ndarray else x
        value = law(t, x[0], x[1]) if inputs is None else law(t, x[0], x[1], named_numbers(inputs)(*x[2:]))
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.reshape(1)[0]
        if isinstance(value, (bool, str, complex, np.bool_, np.ndarray, tuple, list)) or value is None:
            raise TypeError(f"{name} must give one number, got {_check.show(value)}; correct the function")
        out[0] = value

    return fill


# ---------------------------------------------------------------- elements


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
        Points and directions P = sum A_k Z_k, Q = sum B_k Z_k (`point`, `direction`); of a rate, r = sum Pdot . Q.
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
