"""Laws that are recorded when code of a model is made, and that are seen to be the same when it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.laws.law import Filling, Law, NotRecorded, recorded_law, values_of

Points: TypeAlias = Sequence[tuple[float, Vec]]
"""Times and arguments at which a law is compared with what was recorded of it."""

_CLOSE = 1e-12
_TIMES = (0.0, 0.31, 1.7, 5.3)


def points_at(Z: Vec, n: int, state: Vec | None = None) -> Points:
    """Points near the position Z with n further numbers, velocities and states, or at the values of `state`."""
    rng = np.random.default_rng(3)
    out = []
    for t in _TIMES:
        near = Z + 0.05 * rng.standard_normal(len(Z)) * max(1.0, float(np.abs(Z).max(initial=0.0)))
        further = rng.standard_normal(n)
        if state is not None:
            further[n - len(state) :] = state + 0.1 * rng.standard_normal(len(state))
        out.append((t, np.concatenate([near, further])))
    return out


def of_time(n: int, users: Sequence[Callable[..., Any]]) -> Filling:
    """Functions of the time as one f(t, x, out): n numbers of each, one after another."""

    def fill(t: float, x: Vec, out: Vec) -> None:
        for k, function in enumerate(users):
            value = function(t)
            if isinstance(value, (bool, str, np.bool_)):
                raise TypeError(f"a law of the time gives {value!r}")  # refused by name where it is called
            out[n * k : n * (k + 1)] = np.reshape(value, (n,)) if isinstance(value, np.ndarray) else value

    return fill


@final
class CalledBack:
    """A law that is not recorded: for one that has a state, or reads what changes between runs.

        rbdae.forces.Force(body, at=(0, 0, 0), force=rbdae.forces.CalledBack(f))

    Parameters
    ----------
    function : as without it; it is called in every evaluation, one or two microseconds a call
    derivatives : callable, optional
        Of a law (t, s, sdot) of the motion, such as (t, angle, rate): a function of the same that returns the two
        derivatives by s and by sdot; of a law (t, s, sdot, u) those by the inputs follow, in their order.
    difference_step : float, optional
        Instead of `derivatives`: central differences with this step in s, in sdot and in each input, two calls for each
        of them, with an error of the order of the step squared.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        derivatives: Callable[..., Any] | None = None,
        difference_step: float | None = None,
    ) -> None:
        if not callable(function):
            raise TypeError(
                f"CalledBack: function must be a function, got {_check.show(function)}; give the law itself"
            )
        if derivatives is not None and not callable(derivatives):
            raise TypeError(f"CalledBack: derivatives must be a function, got {_check.show(derivatives)}; give one")
        if derivatives is not None and difference_step is not None:
            raise ValueError("CalledBack: it has derivatives and a difference_step; leave one out")
        if difference_step is not None:
            difference_step = _check.positive("CalledBack", "difference_step", difference_step, "give e.g. 1e-6")
        self.function, self.derivatives, self.difference_step = function, derivatives, difference_step
        self.__name__ = getattr(function, "__name__", repr(function))

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def slopes(self, n_inputs: int, others: Callable[[Vec], tuple[Any, ...]]) -> Filling | None:
        """f(t, x, out) of the derivatives of a law of the motion by x = (s, sdot, u); None if there are none. `others`
        makes of u what follows s and sdot among the arguments. Raises TypeError for derivatives of other arguments."""
        if self.derivatives is None and self.difference_step is None:
            return None
        if self.derivatives is not None:
            further = ("u",) if n_inputs else ()
            _check.takes("CalledBack", "derivatives", self.derivatives, "t", "s", "rate", *further)
        return partial(self._given if self.derivatives is not None else self._differences, others)

    def _given(self, others: Callable[[Vec], tuple[Any, ...]], t: float, x: Vec, out: Vec) -> None:
        assert self.derivatives is not None
        given = self.derivatives(t, x[0], x[1], *others(x[2:]))
        remedy = f"return {len(x)} numbers"
        out[:] = _check.array("CalledBack", f"derivatives at t = {t:g}", given, (len(x),), remedy=remedy)

    def _differences(self, others: Callable[[Vec], tuple[Any, ...]], t: float, x: Vec, out: Vec) -> None:
        assert self.difference_step is not None
        h = self.difference_step
        for k in range(len(x)):
            after, before = x.copy(), x.copy()
            after[k] += h
            before[k] -= h
            rise = self.function(t, *after[:2], *others(after[2:])) - self.function(t, *before[:2], *others(before[2:]))
            out[k] = rise / (2.0 * h)


@final
class Recorded:
    """A user's law, recorded when it is first asked for.

    Parameters
    ----------
    owner : whose law it is, for messages
    users, fill, n_in, n_out, points : see `recorded_law`
    """

    def __init__(
        self,
        owner: str,
        users: Sequence[Callable[..., Any]],
        fill: Callable[[Sequence[Callable[..., Any]]], Filling],
        n_in: int,
        n_out: int,
        points: Points,
    ) -> None:
        self.owner = owner
        self._users, self._fill, self._sizes, self._points = users, fill, (n_in, n_out), points

    @cached_property
    def _found(self) -> tuple[Law | None, str]:
        if any(isinstance(user, CalledBack) for user in self._users):
            return None, "it is to be called back"
        try:
            return recorded_law(self._users, self._fill, *self._sizes, self._points), ""
        except NotRecorded as error:
            return None, str(error)

    @property
    def law(self) -> Law | None:
        """The law; None if it cannot be recorded."""
        return self._found[0]

    @property
    def why(self) -> str:
        """Why it cannot be recorded."""
        return self._found[1]

    def check(self) -> None:
        """Raise ValueError if the law gives other numbers than where it was recorded; one that was not asked for yet is
        not recorded here."""
        law = self.__dict__.get("_found", (None,))[0]
        if law is None or not law.seen:
            return
        t, x, expected = law.seen[0]
        found = values_of(self._fill(self._users), t, x, len(expected))
        if not np.all(np.abs(found - expected) <= _CLOSE * np.abs(expected).max(initial=0.0)):
            k = int(np.argmax(np.abs(found - expected)))
            raise ValueError(
                f"{self.owner}: its law gives {found[k]:g} at t = {t:g} where it gave {expected[k]:g} when the code of "
                "the model was made: something that it reads has changed; formulate the system again, or give "
                "rbdae.forces.CalledBack(law)"
            )


@final
class NotTried:
    """A law that is not run on symbols, and why."""

    law = None

    def __init__(self, owner: str, why: str) -> None:
        self.owner, self.why = owner, why

    def check(self) -> None:
        """It is called anyway."""


@final
class Derived:
    """The derivatives of a recorded law as a law, made when it is first asked for.

    Parameters
    ----------
    base : the law
    columns : the inputs, ``("t", 0)`` or ``("x", i)``
    places : where the entries are: (place, number of the entry by rows); None for rows one after another
    """

    def __init__(
        self, base: Recorded, columns: Sequence[tuple[str, int]], places: Sequence[tuple[int, int]] | None = None
    ) -> None:
        self._base, self._columns, self._places = base, columns, places

    @cached_property
    def law(self) -> Law | None:
        """The derivatives; None if the law cannot be recorded."""
        law = self._base.law
        if law is None:
            return None
        entries = law.by(self._columns)
        return entries if self._places is None else entries.ordered(self._places, len(entries.outputs))

    @property
    def owner(self) -> str:
        """Whose derivatives they are."""
        return f"{self._base.owner}, derivatives"

    @property
    def why(self) -> str:
        """Why there are none."""
        return self._base.why

    def check(self) -> None:
        """The check of the law says it."""

    def __call__(self, t: float, x: Vec, out: Vec) -> None:
        """Their values, in Python."""
        assert self.law is not None
        self.law(t, x, out)


__all__ = ["CalledBack", "Derived", "NotTried", "Points", "Recorded", "of_time", "points_at"]
