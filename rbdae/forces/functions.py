"""The user's functions of elements as kernels call them, with their recorded laws and Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.compiler.user_functions import UserFunction, is_compiled
from rbdae.forces.differences import Differences
from rbdae.forces.element import StateElement, TimeFunction
from rbdae.inputs import Input
from rbdae.laws.eliminated import Eliminated, Unknowns
from rbdae.laws.law import Filling, Users
from rbdae.laws.recorded import Composed, Derived, Recorded

Sources: TypeAlias = Mapping[Input, Callable[[float], Any]]
"""Inputs that are functions of the time."""

BY_RATES = [(24 * k + j + (j >= 24) * 552, 48 * k + j) for k in range(24) for j in range(48)]
"""Where the entries of dF/dZ and dF/dZdot are, one after the other, and in dF/d(Z, Zdot)."""


_REMEDY = "give jacobian=, or difference_step=1e-6 for central differences with that step"


def pack_functions(
    owner: str, row: Any, function: Any, jacobian: Any, n_in: int, n_out: int, places: Any = None
) -> list[UserFunction]:
    """An element by functions of n_in numbers, with n_out results. A recorded function has its own Jacobian, whose
    entries are at `places`; so has one that is called, unless a Jacobian is given."""
    force, recorded = user_function(owner, "law", function, n_in, n_out)
    if recorded is not None and (jacobian is None or recorded.law is not None):
        tangent = UserFunction(Derived(recorded, places), n_in, n_in * n_out)
    elif jacobian is not None:
        tangent = user_function(owner, "jacobian", jacobian, n_in, n_in * n_out)[0]
    else:  # numba's functions have their Python source
        raise ValueError(f"{owner}: a function compiled by numba needs jacobian=, or difference_step=1e-6")
    if force.slope is not None and force.slope[0] is not tangent:  # one of numba's, with another Jacobian elsewhere
        force = UserFunction(function, n_in, n_out)
    return _packed(row, force, tangent, places is not None)


def _packed(row: Any, force: UserFunction, tangent: UserFunction, by_rates: bool) -> list[UserFunction]:
    """A function and its Jacobian, in the record of their element."""
    force.slope = tangent, by_rates
    row["force"], row["jacobian"] = force.address, tangent.address
    row["tangent"] = row["damped"] = 1
    return [force, tangent]


def pack_states(
    owner: str, row: Any, element: StateElement, begin: Vec, n: int, sources: Sources, *, explicit: bool
) -> tuple[list[UserFunction], Unknowns | None]:
    """An element by functions with states, whose bodies have n natural coordinates, and its algebraic unknowns, if it
    has any; they are eliminated for `explicit` forms. A law that cannot be recorded with its constants as symbols has
    them as numbers."""
    timed = [each for each in element.inputs if each in sources]
    n_in, n_out = 2 * n + len(begin) + len(element.inputs) - len(timed), n + len(begin)
    p = np.array([*element.constants.values()])
    if element.jacobian is not None and not element.algebraic and not timed:
        return pack_functions(owner, row, element.function, element.jacobian, n_in, n_out), None
    law = _with_sources(element, sources, 2 * n + len(begin)) if timed else _composed(owner, element.function)
    recorded = Recorded(f"{owner}: law", law.users, law.fill, n_in + len(p), n_out, _REMEDY)
    if len(p) and recorded.law is None:
        if np.iscomplexobj(p) and p.imag.any():
            raise ValueError(f"{owner}: no derivative by the constants of its law: {recorded.why}")
        p = p[:0]
        recorded = Recorded(f"{owner}: law", law.users, law.fill, n_in, n_out, _REMEDY)
    row["n_parameters"] = len(p)
    if not element.algebraic:
        return _by_law(row, recorded, n_in + len(p), n_out), None
    if recorded.law is None:
        raise ValueError(f"{owner}: its law cannot be recorded: {recorded.why}; algebraic unknowns need that")
    names = element.names[len(element.names) - element.algebraic :]
    at = 2 * n + len(begin) - len(names)
    unknowns = Unknowns(owner, recorded, n_in + len(p), n_out, names, at, begin[len(begin) - len(names) :], p.real)
    if not explicit:
        return _by_law(row, recorded, n_in + len(p), n_out), unknowns
    return _by_law(row, Eliminated(unknowns), n_in + len(p) - len(names), n_out - len(names)), unknowns


def _by_law(row: Any, law: Any, n_in: int, n_out: int) -> list[UserFunction]:
    """A law and its Jacobian."""
    return _packed(row, UserFunction(law, n_in, n_out), UserFunction(Derived(law), n_in, n_in * n_out), False)


def _with_sources(element: StateElement, sources: Sources, first: int) -> Composed:
    """The law of an element with functions of the time in the places of some inputs, which begin at `first` of x."""
    law = _composed("", element.function)
    given = [sources.get(each) for each in element.inputs]
    functions = [each for each in given if each is not None]

    def fill(users: Users) -> Filling:
        inner = law.fill(users[: len(law.users)])

        def completed(t: float, x: Vec, out: Vec) -> None:
            numbers, timed = iter(x[first:]), iter(users[len(law.users) :])
            inputs = [next(numbers) if each is None else next(timed)(t) for each in given]
            inner(t, np.array([*x[:first], *inputs, *numbers]).view(type(x)), out)  # its constants are the last

        return completed

    return Composed([*law.users, *functions], fill)


def _composed(owner: str, function: Any) -> Composed:
    """A function f(t, x, out). One in Python that returns something has not understood: it is told so."""
    if isinstance(function, Composed):
        return function

    def fill(users: Users) -> Filling:
        def call(t: float, x: Vec, out: Vec) -> None:
            given = users[0](t, x, out)
            if given is not None:
                raise TypeError(
                    f"{owner}: a function (t, x, out) must fill out and return nothing, got {_check.show(given)}; "
                    "write out[:] = ..."
                )

        return call

    return Composed([function], fill)


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


def user_function(owner: str, what: str, function: Any, n_in: int, n_out: int) -> tuple[UserFunction, Recorded | None]:
    """A user's function f(t, x, out), and its law."""
    if is_compiled(function):
        return compiled_function(function, n_in, n_out), None
    law = _composed(owner, function)
    if isinstance(function, Differences):
        return UserFunction(law.fill(law.users), n_in, n_out, f"{owner}: {what}"), None
    recorded = Recorded(f"{owner}: {what}", law.users, law.fill, n_in, n_out, _REMEDY)
    return UserFunction(recorded, n_in, n_out), recorded


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
