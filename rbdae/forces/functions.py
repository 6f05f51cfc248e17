"""The user's functions of elements as kernels call them, with their recorded laws and Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.compiler.user_functions import UserFunction, is_compiled
from rbdae.forces.differences import Differences
from rbdae.forces.element import StateElement, TimeFunction
from rbdae.inputs import Input
from rbdae.laws.eliminated import Eliminated, Unknowns
from rbdae.laws.law import Filling
from rbdae.laws.recorded import Derived, NotTried, Points, Recorded, points_at

Sources: TypeAlias = Mapping[Input, Callable[[float], Any]]
"""Inputs that are functions of the time."""

BY_RATES = [(24 * k + j + (j >= 24) * 552, 48 * k + j) for k in range(24) for j in range(48)]
"""Where the entries of dF/dZ and dF/dZdot are, one after the other, and in dF/d(Z, Zdot)."""


def pack_functions(
    owner: str, row: Any, function: Any, jacobian: Any, points: Points, n_out: int, places: Any = None
) -> list[UserFunction]:
    """An element by functions of the numbers x of `points`, with n_out results. Without a Jacobian it is the derivative
    of the recorded function, its entries at `places`."""
    force, recorded = user_function(owner, "law", function, points, n_out)
    n_in = len(points[0][1])
    if jacobian is None:
        found = _derived(owner, function, recorded, n_in, places)
        tangent = UserFunction(found, n_in, n_in * n_out, found)
    else:
        tangent = user_function(owner, "jacobian", jacobian, points, n_in * n_out)[0]
    if force.slope is not None and force.slope[0] is not tangent:  # one of numba's, with another Jacobian elsewhere
        force = UserFunction(function, n_in, n_out)
    return _packed(row, force, tangent, places is not None)


def _packed(row: Any, force: UserFunction, tangent: UserFunction, by_rates: bool) -> list[UserFunction]:
    """A function and its Jacobian, in the record of their element."""
    force.slope = tangent, by_rates
    row["force"], row["jacobian"] = force.address, tangent.address
    row["tangent"] = row["damped"] = 1
    return [force, tangent]


def _derived(owner: str, function: Any, recorded: Recorded | None, n_in: int, places: Any) -> Derived:
    if recorded is None:  # numba's functions have their Python source
        raise ValueError(f"{owner}: a function compiled by numba needs jacobian=, or difference_step=1e-6")
    if recorded.law is None:
        raise ValueError(
            f"{owner}: it has no jacobian, and its law cannot be differentiated: {recorded.why}; give jacobian=, or "
            "difference_step=1e-6 for central differences with that step"
        )
    return Derived(recorded, [("x", i) for i in range(n_in)], places)


def pack_states(
    owner: str, row: Any, element: StateElement, begin: Vec, Z: Vec, sources: Sources, *, explicit: bool
) -> tuple[list[UserFunction], Unknowns | None]:
    """An element by functions with states, whose bodies begin at Z, and its algebraic unknowns, if it has any; they are
    eliminated for `explicit` forms. A law that cannot be recorded with its constants as symbols has them as numbers."""
    p = np.array([*element.constants.values()])
    if not len(p):
        return _pack_states(owner, row, element, begin, Z, sources, p, explicit=explicit)
    try:
        out = _pack_states(owner, row, element, begin, Z, sources, p.real, explicit=explicit)
    except ValueError as error:
        if np.iscomplexobj(p) and p.imag.any():
            raise ValueError(f"{owner}: no derivative by the constants of its law: {error}") from None
        return _pack_states(owner, row, element, begin, Z, sources, p[:0].real, explicit=explicit)
    row["n_parameters"] = len(p)
    return out


def _pack_states(
    owner: str, row: Any, element: StateElement, begin: Vec, Z: Vec, sources: Sources, p: Vec, *, explicit: bool
) -> tuple[list[UserFunction], Unknowns | None]:
    numbers = [each for each in element.inputs if each not in sources]
    further = np.concatenate([begin, [each.value for each in numbers]])
    points = [(t, np.concatenate([x, p])) for t, x in points_at(Z, len(Z) + len(further), further)]
    n_out = len(Z) + len(begin)
    if not element.algebraic and len(numbers) == len(element.inputs):
        return pack_functions(owner, row, element.function, element.jacobian, points, n_out), None
    recorded = _with_sources(owner, element, sources, len(Z), points)
    if recorded.law is None:
        raise ValueError(
            f"{owner}: its law cannot be recorded: {recorded.why}; algebraic unknowns and inputs by functions need that"
        )
    n_in = len(points[0][1])
    if not element.algebraic:
        return _by_law(row, recorded.law, recorded, n_in, n_out), None
    names = element.names[len(element.names) - element.algebraic :]
    at = 2 * len(Z) + len(begin) - len(names)
    unknowns = Unknowns(owner, recorded, n_in, n_out, names, at, begin[len(begin) - len(names) :], p)
    if not explicit:
        return _by_law(row, recorded.law, recorded, n_in, n_out), unknowns
    eliminated = Eliminated(unknowns)
    return _by_law(row, eliminated, eliminated, n_in - len(names), n_out - len(names)), unknowns


def _by_law(row: Any, call: Any, recorded: Any, n_in: int, n_out: int) -> list[UserFunction]:
    """A function and its Jacobian, by what has been recorded."""
    force = UserFunction(call, n_in, n_out, recorded)
    derived = Derived(recorded, [("x", i) for i in range(n_in)])
    return _packed(row, force, UserFunction(derived, n_in, n_in * n_out, derived), False)


def _with_sources(owner: str, element: StateElement, sources: Sources, n: int, points: Points) -> Recorded:
    """The law of an element, recorded with functions of the time in the places of some inputs."""
    first = 2 * n + len(element.names)
    given = [k for k, each in enumerate(element.inputs) if each in sources]
    users: list[Callable[..., Any]] = [element.function, *(sources[element.inputs[k]] for k in given)]
    others = [k for k in range(len(element.inputs)) if k not in given]

    def fill(users: Sequence[Callable[..., Any]]) -> Filling:
        def law(t: float, x: Vec, out: Vec) -> None:
            n = len(element.inputs)
            whole = np.empty(len(x) + len(given), dtype=x.dtype).view(type(x))
            whole[:first] = x[:first]
            whole[first + n :] = x[first + len(others) :]  # its constants
            for k, value in zip(others, x[first : first + len(others)], strict=True):
                whole[first + k] = value
            for k, function in zip(given, users[1:], strict=True):
                whole[first + k] = function(t)
            users[0](t, whole, out)

        return law if given else users[0]

    return Recorded(f"{owner}: law", users, fill, len(points[0][1]), n + len(element.names), points)


def of_sources(law: TimeFunction, sources: Sources) -> TimeFunction:
    """A law of inputs as a law of time, if one of them is a function of it; the others keep their first value."""
    if not any(each in sources for each in law.inputs):
        return law
    functions = [sources.get(each) for each in law.inputs]
    values = [each.value for each in law.inputs]

    def of_time(t: float) -> Any:
        found = [value if f is None else f(t) for f, value in zip(functions, values, strict=True)]
        return found[0] if len(found) == 1 else np.array(found)

    only = functions[0] if len(functions) == 1 else of_time
    return replace(law, function=only, inputs=())


def user_function(
    owner: str, what: str, function: Any, points: Points, n_out: int
) -> tuple[UserFunction, Recorded | None]:
    """A user's function f(t, x, out). One in Python that returns something has not understood: it is told so."""
    n_in = len(points[0][1])
    if is_compiled(function):
        return compiled_function(function, n_in, n_out), None

    def call(t: float, x: Vec, out: Vec) -> None:
        given = function(t, x, out)
        if given is not None:
            raise TypeError(
                f"{owner}: a function (t, x, out) must fill out and return nothing, got {_check.show(given)}; write "
                "out[:] = ..."
            )

    if isinstance(function, Differences):
        return UserFunction(call, n_in, n_out, NotTried(f"{owner}: {what}", "it is made by differences")), None
    recorded = Recorded(f"{owner}: {what}", [function], itemgetter(0), n_in, n_out, points)
    return UserFunction(call, n_in, n_out, recorded), recorded


# compiling a function of numba takes some tenths of a second; a problem keeps its own when the cache drops them
@lru_cache(maxsize=64)
def compiled_function(function: Any, n_in: int, n_out: int) -> UserFunction:
    return UserFunction(function, n_in, n_out)


__all__ = [
    "BY_RATES",
    "Sources",
    "compiled_function",
    "of_sources",
    "pack_functions",
    "pack_states",
    "user_function",
]
