"""Loads: numbers, inputs, functions of time, and laws of the motion f(t, s, sdot, u) along the displacements s of an
element, with inputs u; recorded or called back."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial, wraps
from typing import Any, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.body import Body
from rbdae.inputs import Input, Sources, named_numbers, read_inputs, under_sources
from rbdae.laws.law import CalledBack, Filling, Maker, Recorded, Users
from rbdae.quantities.coordinate import Coordinate

_REMEDY = "give rbdae.forces.CalledBack(law, difference_step=1e-6)"


@final
@dataclass(frozen=True, slots=True, eq=False)
class TimeFunction:
    """u(t), a number or vector (n,): `constant`, or `function`(t) if there is one, or the values of `inputs`. `what` it
    is called in messages."""

    constant: Vec
    function: Callable[[float], Any] | None = None
    what: str = "the law"
    inputs: tuple[Input, ...] = ()

    def under(self, sources: Sources) -> TimeFunction:
        """As a law of time, if one of its inputs is a function of it; the others keep their first value."""
        if not any(each in sources for each in self.inputs):
            return self
        functions = [sources.get(each) for each in self.inputs]
        values = [each.value for each in self.inputs]

        def of_time(t: float) -> Any:
            return np.array([value if f is None else f(t) for f, value in zip(functions, values, strict=True)])

        return replace(self, function=functions[0] if len(functions) == 1 else of_time, inputs=())

    def checked(self, owner: str, t: float, value: object) -> Vec:
        """A value at t: (n,) finite real numbers."""
        n = len(self.constant)
        remedy = "the function has to return " + ("one number" if n == 1 else f"{n} numbers")
        what, shape = f"{self.what} at t = {t:g}", () if n == 1 else (n,)
        return _check.array(owner, what, value, shape, remedy=remedy).reshape(n)

    def at(self, owner: str, t: float) -> Vec:
        """u(t), checked; inputs count as zero."""
        return self.constant if self.function is None else self.checked(owner, t, self.function(t))


NONE = TimeFunction(_check.frozen(np.zeros(1)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class MotionLaw:
    """The load f(t, s, sdot, p, u) along n displacements s, with constants p of the force and inputs u.

    Attributes
    ----------
    what : its name in messages
    users : the user's functions
    fill : makes f(t, x, out) of them, x = (s, sdot, p, u)
    n : number of displacements
    parameters : (k,) p; code of a model loads them, so that laws with other constants need no other code
    inputs : (m,) u
    near : displacements near the start, at which laws of users are tried
    """

    what: str
    users: tuple[Callable[..., Any], ...]
    fill: Maker
    n: int
    parameters: Vec = field(default_factory=lambda: np.zeros(0))
    inputs: tuple[Input, ...] = ()
    near: float = 0.0

    @property
    def n_arguments(self) -> int:
        """The length of x."""
        return 2 * self.n + len(self.parameters) + len(self.inputs)

    @property
    def by_position(self) -> bool:
        """Whether it depends on s, by a recording that is made now; one that is called back may."""
        law = self.recorded(self.what).law
        return law is None or law.reads(range(self.n))

    def under(self, sources: Sources) -> MotionLaw:
        """The law with functions of the time in the places of some inputs."""
        if not any(each in sources for each in self.inputs):
            return self
        first = self.n_arguments - len(self.inputs)
        users, fill, inputs = under_sources(self.users, self.fill, self.inputs, sources, first)
        return replace(self, users=users, fill=fill, inputs=inputs)

    def check(self, owner: str, t: float, inputs: Sequence[float] = ()) -> None:
        """Call one with users' functions near the start, under these inputs. Raises TypeError or ValueError unless it
        gives finite numbers."""
        if not self.users:
            return
        out = np.full(self.n, np.nan)
        x = np.concatenate([np.full(self.n, self.near), np.zeros(self.n), self.parameters.real, inputs])
        self.fill(self.users)(t, x, out)
        _check.array(owner, f"{self.what} at t = {t:g}", out, (self.n,), remedy="correct the function")

    def recorded(self, owner: str) -> Recorded:
        """The law; one without functions of users is recorded once for all forces."""
        if self.users:
            return Recorded(owner, self.users, self.fill, self.n_arguments, self.n, _REMEDY)
        out = copy.copy(_of_library(self.fill, self.n_arguments, self.n))
        out.owner = owner
        return out


@cache
def _of_library(fill: Maker, n_in: int, n_out: int) -> Recorded:
    """A law of the library."""
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


Load: TypeAlias = TimeFunction | MotionLaw
"""A load along one displacement; users give a number, an input, a function of the time, or a law of the motion."""


def time_function(owner: str, what: str, value: object, n: int = 1) -> TimeFunction:
    """A constant, an input, or a function of time; of vectors a sequence of inputs, too."""
    given = value if isinstance(value, (tuple, list)) else (value,)
    if given and all(isinstance(each, Input) for each in given):
        if len(given) != n:
            raise ValueError(f"{owner}: {what} has {n} component{'s' * (n > 1)}, got {len(given)} inputs; give {n}")
        return TimeFunction(_check.frozen(np.zeros(n)), None, what, tuple(given))
    if callable(value):
        _check.takes(owner, what, value, "t")
        return TimeFunction(_check.frozen(np.zeros(n)), value, what)
    remedy = f"pass {'1.0' if n == 1 else '(1.0, 2.0, 3.0)'}, or a function of the time"
    return TimeFunction(
        _check.frozen(_check.array(owner, what, value, () if n == 1 else (n,), remedy=remedy).reshape(n))
    )


def placed(bodies: tuple[Body, ...]) -> Vec:
    """Z (24,) of one body and the ground, or of two, at the origins of their frames, where the user placed them."""
    parts = [np.concatenate([body.position, body.rotation.T.reshape(9)]) for body in bodies]
    ground = np.concatenate([np.zeros(3), np.eye(3).reshape(9)])
    return np.concatenate([*parts, ground])[:24]


def near(coordinate: Coordinate, bodies: tuple[Body, ...]) -> float:
    """Its value where the bodies were placed."""
    with np.errstate(divide="ignore", invalid="ignore"):  # a length of zero has no rate
        return float(coordinate.values(placed(bodies).real, np.zeros(24))[0].real)


def load(owner: str, what: str, value: object, of: Coordinate, bodies: tuple[Body, ...], inputs: Any) -> Load:
    """A number, an input, a function of time, or a law (t, s, rate) of a coordinate of bodies, which with `inputs` is
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
    try:
        signature = inspect.signature(getattr(function, "py_func", function))  # of numba's functions
    except (TypeError, ValueError):  # functions written in C have none
        signature = None
    if read is None and (signature is None or _binds(signature, 1)):
        return time_function(owner, what, value)
    if signature is not None and not _binds(signature, 3 if read is None else 4):
        names = f"t, {of.name}, rate"
        wanted = f"(t) or ({names})" if read is None else f"({names}, u) of its inputs"
        raise TypeError(f"{owner}: {what} must be a number or a function {wanted}, got {_check.show(value)}")
    fill = partial(of_one_displacement, f"{owner}: {what}", None if read is None else tuple(read))
    return MotionLaw(what, (value,), fill, 1, inputs=tuple((read or {}).values()), near=near(of, bodies))


def _binds(signature: inspect.Signature, n: int) -> bool:
    try:
        signature.bind(*range(n))
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
