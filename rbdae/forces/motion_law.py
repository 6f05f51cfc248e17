"""Loads that are laws of the motion: f(t, s, sdot, u) along the displacements s of an element, with inputs u; recorded
or called back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.inputs import Input, Sources, named_numbers, read_inputs, under_sources
from rbdae.kernels.records import MOST_INPUTS
from rbdae.laws.law import Filling, Law, Maker
from rbdae.laws.recorded import CalledBack, Derived, Recorded, as_it_is

_REMEDY = "give rbdae.forces.CalledBack(law, derivatives=...) or CalledBack(law, difference_step=1e-6)"


@final
@dataclass(frozen=True, slots=True, eq=False)
class MotionLaw:
    """The load f(t, s, sdot, p, u) along n displacements s, with constants p of the force and inputs u.

    Attributes
    ----------
    what : its name in messages
    users : the user's functions
    fill : makes f(t, x, out) of them, x = (s, sdot, p, u)
    near : (n,) displacements near the start
    parameters : (k,) p; code of a model loads them, so that laws with other constants need no other code
    slopes : f(t, x, out) of its derivatives by x, row after row, of a law that is called back; None for those of the
        recording
    inputs : (m,) u
    """

    what: str
    users: tuple[Callable[..., Any], ...]
    fill: Maker
    near: Vec
    parameters: Vec = field(default_factory=lambda: np.zeros(0))
    slopes: Filling | None = None
    inputs: tuple[Input, ...] = ()

    @property
    def n_arguments(self) -> int:
        """The length of x."""
        return 2 * self.n + len(self.parameters) + len(self.inputs)

    @property
    def n(self) -> int:
        """Number of displacements."""
        return len(self.near)

    @property
    def by_position(self) -> bool:
        """Whether it depends on s, by a recording that is made now; one that is called back may."""
        law = self.recorded(self.what)[0].law
        return law is None or law.reads(range(self.n))

    def under(self, sources: Sources) -> MotionLaw:
        """The law with functions of the time in the places of some inputs."""
        if not any(each in sources for each in self.inputs):
            return self
        n, first, slopes = self.n_arguments, self.n_arguments - len(self.inputs), self.slopes
        users, fill, inputs = under_sources(self.users, self.fill, self.inputs, sources, first)
        if slopes is not None:
            functions, make, _ = under_sources((slopes,), as_it_is, self.inputs, sources, first)
            whole, gone = make(functions), [first + k for k, each in enumerate(self.inputs) if each in sources]

            def left(t: float, x: Vec, out: Vec) -> None:
                of_all = np.empty(n)
                whole(t, x, of_all)
                out[:] = np.delete(of_all, gone)

            slopes = left
        return replace(self, users=users, fill=fill, slopes=slopes, inputs=inputs)

    def check(self, owner: str, t: float, inputs: Sequence[float] = ()) -> None:
        """Call it near the start, under these inputs. Raises TypeError or ValueError unless it gives finite numbers."""
        out = np.full(self.n, np.nan)
        x = np.concatenate([self.near, np.zeros(self.n), self.parameters.real, inputs])
        self.fill(self.users)(t, x, out)
        _check.array(owner, f"{self.what} at t = {t:g}", out, (self.n,), remedy="correct the function")

    def recorded(self, owner: str) -> tuple[Recorded, Derived | Filling]:
        """The law and its derivatives; those without functions of users are recorded once for all forces."""
        key = self.fill, self.n_arguments
        known = None if self.users else _KNOWN.get(key)
        recorded = Recorded(owner, self.users, self.fill, self.n_arguments, self.n, _REMEDY, known)
        derived = Derived(recorded, known=known)
        if not self.users and recorded.law is not None and derived.law is not None:
            _KNOWN[key] = recorded.law, derived.law
        return recorded, self.slopes or derived


_KNOWN: dict[tuple[Maker, int], tuple[Law, Law]] = {}
"""Laws without functions of users and their derivatives, by their makers and the numbers of x."""


def of_one_displacement(
    name: str, others: Callable[[Vec], tuple[Any, ...]], users: Sequence[Callable[..., Any]]
) -> Filling:
    """A user's law(t, s, sdot), or law(t, s, sdot, u), as f(t, x, out); its name is for messages."""
    (law,) = users

    def fill(t: float, x: Vec, out: Vec) -> None:
        x = x.tolist() if type(x) is np.ndarray else x
        value = law(t, x[0], x[1], *others(x[2:]))
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.reshape(1)[0]
        if isinstance(value, (bool, str, complex, np.bool_, np.ndarray, tuple, list)) or value is None:
            raise TypeError(f"{name} must give one number, got {_check.show(value)}; correct the function")
        out[0] = value

    return fill


def _nothing(_: Vec) -> tuple[Any, ...]:
    """No further argument."""
    return ()


def _by_name(names: tuple[str, ...], values: Vec) -> tuple[Any, ...]:
    """Inputs as one argument."""
    return (named_numbers(names)(*values),)


def law_of(
    owner: str,
    what: str,
    value: Callable[..., Any],
    near: Vec,
    names: tuple[str, str],
    inputs: Mapping[str, Input] | None = None,
) -> MotionLaw | None:
    """The law of a function (t, s, sdot), or with inputs (t, s, sdot, u); None of a function of the time. Raises
    TypeError if it is none of them.

    Parameters
    ----------
    names : of s and sdot in messages
    """
    function = value.function if isinstance(value, CalledBack) else value
    function = getattr(function, "py_func", function)  # of numba's functions
    wanted = f"(t) or (t, {', '.join(names)})" if inputs is None else f"(t, {', '.join(names)}, u) of its inputs"
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # functions written in C have none
        signature = None
    if inputs is None and (signature is None or _binds(signature, 1)):
        return None
    if signature is not None and not _binds(signature, 3 if inputs is None else 4):
        raise TypeError(f"{owner}: {what} must be a number or a function {wanted}, got {_check.show(value)}")
    read = tuple((inputs or {}).values())
    others = _nothing if inputs is None else partial(_by_name, tuple(inputs))
    slopes = _slopes_of(value, len(read), others) if isinstance(value, CalledBack) else None
    fill = partial(of_one_displacement, f"{owner}: {what}", others)
    return MotionLaw(what, (value,), fill, near, slopes=slopes, inputs=read)


def _slopes_of(law: CalledBack, n_inputs: int, others: Callable[[Vec], tuple[Any, ...]]) -> Filling | None:
    """f(t, x, out) for the given derivatives of a law by x = (s, sdot, u); `others` makes the arguments after s and
    sdot from u. Raises TypeError for derivatives with other arguments."""
    function, derivatives, h = law.function, law.derivatives, law.difference_step

    def differences(t: float, x: Vec, out: Vec) -> None:
        assert h is not None
        for k, step in enumerate(h * np.eye(len(x))):
            after, before = x + step, x - step
            rise = function(t, *after[:2], *others(after[2:])) - function(t, *before[:2], *others(before[2:]))
            out[k] = rise / (2.0 * h)

    def exact(t: float, x: Vec, out: Vec) -> None:
        assert derivatives is not None
        values, remedy = derivatives(t, x[0], x[1], *others(x[2:])), f"return {len(x)} numbers"
        out[:] = _check.array("CalledBack", f"derivatives at t = {t:g}", values, (len(x),), remedy=remedy)

    if derivatives is None:
        return None if h is None else differences
    _check.takes("CalledBack", "derivatives", derivatives, "t", "s", "rate", *(("u",) if n_inputs else ()))
    return exact


def inputs_of_law(owner: str, what: str, value: object, inputs: object) -> dict[str, Input] | None:
    """The inputs that a law of the motion reads, by their names in it; None if there are none. Raises TypeError and
    ValueError for what is no mapping from names to inputs."""
    if inputs is None:
        return None
    if isinstance(value, Input) or not callable(value):
        raise TypeError(
            f"{owner}: inputs= belong to a law, and {what} is {_check.show(value)}; leave them out, or give a function "
            "whose last argument is u"
        )
    return read_inputs(owner, inputs, MOST_INPUTS, "; rbdae.Actuator reads any number of inputs, and quantities")


def _binds(signature: inspect.Signature, n: int) -> bool:
    try:
        signature.bind(*range(n))
    except TypeError:
        return False
    return True
