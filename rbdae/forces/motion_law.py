"""Loads that are laws of the motion: u(t, s, sdot) along the displacements s of an element, recorded or called back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.compiler.user_functions import UserFunction
from rbdae.laws.law import Filling, Law
from rbdae.laws.recorded import CalledBack, Derived, NotTried, Points, Recorded, points_at

Maker: TypeAlias = Callable[[Sequence[Callable[..., Any]]], Filling]


@final
@dataclass(frozen=True, slots=True, eq=False)
class MotionLaw:
    """The load u(t, s, sdot, p) along n displacements s, with constants p of the force.

    Attributes
    ----------
    what : its name in messages
    users : the user's functions
    fill : makes f(t, x, out) of them, x = (s, sdot, p), out = u
    near : (n,) displacements near which it is compared with its recording
    parameters : (k,) p; code of a model loads them, so that laws with other constants need no other code
    slopes : f(t, x, out) of du/d(s, sdot, p) by rows, of a law that is called back; None for those of the recording
    """

    what: str
    users: tuple[Callable[..., Any], ...]
    fill: Maker
    near: Vec
    parameters: Vec = field(default_factory=lambda: np.zeros(0))
    slopes: Filling | None = None

    @property
    def n(self) -> int:
        """Number of displacements."""
        return len(self.near)

    @property
    def by_position(self) -> bool:
        """Whether it depends on s, by a recording that is made now; one that is called back may."""
        law = self._recorded(self.what)[0].law
        if law is None:
            return True
        needed = law.graph.needed([*law.outputs, law.regular])
        return any(law.graph.nodes[k][:2] == ("input", "x") and law.graph.nodes[k][2] < self.n for k in needed)

    def pack(self, owner: str, row: Any) -> list[UserFunction]:
        """Write it to the record of its element, with its derivatives, and return both. Raises ValueError if it has
        none."""
        recorded, derived = self._recorded(f"{owner}: {self.what}")
        n, n_in = self.n, 2 * self.n + len(self.parameters)
        load = UserFunction(self.fill(self.users), n_in, n, recorded)
        if self.slopes is not None:
            why = NotTried(f"{owner}: {self.what}, derivatives", "it is called back")
            tangent = UserFunction(self.slopes, n_in, n_in * n, why)
        elif recorded.law is None:
            raise ValueError(
                f"{owner}: {self.what} cannot be differentiated: {recorded.why}; give "
                "rbdae.forces.CalledBack(law, derivatives=...) or CalledBack(law, difference_step=1e-6)"
            )
        else:
            tangent = UserFunction(derived, n_in, n_in * n, derived)
        load.slope = tangent, False
        row["force"], row["jacobian"], row["n_parameters"] = load.address, tangent.address, len(self.parameters)
        row["parameters"][: len(self.parameters)] = self.parameters
        row["tangent"] = row["damped"] = 1
        return [load, tangent]

    def check(self, owner: str, t: float) -> None:
        """Call it near the start. Raises TypeError or ValueError unless it gives finite numbers."""
        out = np.full(self.n, np.nan)
        x = np.concatenate([self.near, np.zeros(self.n), self.parameters.real])
        self.fill(self.users)(t, x, out)
        _check.array(owner, f"{self.what} at t = {t:g}", out, (self.n,), remedy="correct the function")

    def _recorded(self, owner: str) -> tuple[Recorded | _OfLibrary, Derived | _OfLibrary]:
        """The law and its derivatives."""
        n_in = 2 * self.n + len(self.parameters)
        key = self.fill, n_in
        if not self.users and key in _KNOWN:
            recorded, derived = _KNOWN[key]
            return _OfLibrary(owner, recorded), _OfLibrary(f"{owner}, derivatives", derived)
        recorded = Recorded(owner, self.users, self.fill, n_in, self.n, self._points())
        derived = Derived(recorded, [("x", i) for i in range(n_in)])
        maker = getattr(self.fill, "func", self.fill)  # of a partial function
        if not self.users and maker.__module__.startswith("rbdae.") and recorded.law is not None:
            _KNOWN[key] = recorded, derived
        return recorded, derived

    def _points(self) -> Points:
        """Points near the start: s, rates, and the constants as they are."""
        p = self.parameters.real
        return [(t, np.concatenate([x, p])) for t, x in points_at(self.near, self.n)]


@final
class _OfLibrary:
    """A law without functions of users, or its derivatives: what is recorded once for all forces."""

    why = ""

    def __init__(self, owner: str, of: Recorded | Derived) -> None:
        self.owner, self._of = owner, of

    @property
    def law(self) -> Law | None:
        """The law."""
        return self._of.law

    def check(self) -> None:
        """It stays what it is."""

    def __call__(self, t: float, x: Vec, out: Vec) -> None:
        """Its values, in Python."""
        assert self.law is not None
        self.law(t, x, out)


_KNOWN: dict[tuple[Maker, int], tuple[Recorded, Derived]] = {}
"""Laws without functions of users, by their makers and the numbers of x."""


def of_one_displacement(name: str, users: Sequence[Callable[..., Any]]) -> Filling:
    """A user's law(t, s, sdot) as f(t, x, out); its name is for messages."""
    (law,) = users

    def fill(t: float, x: Vec, out: Vec) -> None:
        value = law(t, x[0], x[1])
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.reshape(1)[0]
        if isinstance(value, (bool, str, np.bool_, np.ndarray, tuple, list)) or value is None:
            raise TypeError(f"{name} must give one number, got {_check.show(value)}; correct the function")
        out[0] = value

    return fill


def law_of(owner: str, what: str, value: Callable[..., Any], near: Vec, names: tuple[str, str]) -> MotionLaw | None:
    """The law of a function (t, s, sdot); None of a function of the time. Raises TypeError if it is neither.

    Parameters
    ----------
    names : of s and sdot in messages
    """
    function = value.function if isinstance(value, CalledBack) else value
    function = getattr(function, "py_func", function)  # of numba's functions
    wanted = f"(t) or (t, {', '.join(names)})"
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # functions written in C have none
        return None
    if _binds(signature, 1):
        return None
    if not _binds(signature, 3):
        raise TypeError(f"{owner}: {what} must be a number or a function {wanted}, got {_check.show(value)}")
    slopes = value.slopes() if isinstance(value, CalledBack) else None
    return MotionLaw(what, (value,), partial(of_one_displacement, f"{owner}: {what}"), near, slopes=slopes)


def _binds(signature: inspect.Signature, n: int) -> bool:
    try:
        signature.bind(*range(n))
    except TypeError:
        return False
    return True


__all__ = ["MotionLaw", "law_of"]
