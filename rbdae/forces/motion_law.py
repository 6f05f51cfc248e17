"""Loads: numbers, inputs, functions of time, and laws of the motion f(t, s, sdot, u) along the displacements s of an
element, with inputs u; recorded or called back."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial, wraps
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.inputs import Input, Sources, named_numbers, read_inputs, under_sources
from rbdae.kernels.user_functions import of_time
from rbdae.laws.law import CalledBack, Filling, Maker, Recorded, Users
from rbdae.quantities.coordinate import Coordinate

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
    """Whether a function takes n arguments, as far as its signature says."""
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
