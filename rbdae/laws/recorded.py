"""Users' laws in models: recorded if they are arithmetic, else called, with exact derivatives in both cases."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.laws.arrays import number_among
from rbdae.laws.law import Filling, Law, Maker, Users, recorded_law, traced_law
from rbdae.laws.numbers import NotRecorded


def of_time(n: int, checked: Callable[[int, float, Any], Vec], users: Users) -> Filling:
    """Functions of time as one f(t, x, out) with n numbers from each in turn. `checked` validates the result of
    function k at t."""

    def fill(t: float, x: Vec, out: Vec) -> None:
        for k, function in enumerate(users):
            value = function(t)
            plain = (type(value) is float and n == 1) or number_among([value]) is not None
            when = t if isinstance(t, float) else np.nan  # a symbol has no text
            out[n * k : n * (k + 1)] = value if plain else checked(k, when, value)

    return fill


def as_it_is(users: Users) -> Filling:
    """The filling of a user's own f(t, x, out)."""
    law: Filling = users[0]
    return law


@final
class CalledBack:
    """A law that is called in every evaluation, never recorded.

        rbdae.forces.Force(body, at=(0, 0, 0), force=rbdae.forces.CalledBack(f))

    Parameters
    ----------
    function : the law
    difference_step : float, optional
        For a law that converts its arguments to floats: derivatives by central differences with this step in all
        arguments but the time, with two calls for each and an error of the order of the step squared. Derivatives of
        all other laws are exact without it.
    """

    def __init__(self, function: Callable[..., Any], *, difference_step: float | None = None) -> None:
        if not callable(function):
            raise TypeError(
                f"CalledBack: function must be a function, got {_check.show(function)}; give the law itself"
            )
        if difference_step is not None:
            difference_step = _check.positive("CalledBack", "difference_step", difference_step, "give e.g. 1e-6")
        self.function, self.difference_step = function, difference_step
        self.__name__ = getattr(function, "__name__", repr(function))

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


@final
class Recorded:
    """A law f(t, x, out) by users' functions, recorded at construction if possible.

    Parameters
    ----------
    owner : the owner of the law, for messages
    users, fill, n_in, n_out : see `recorded_law`
    remedy : the remedy in messages if a called law has no derivatives
    step : of central differences, by which a called law is differentiated; by default as a `CalledBack` among the users
        says

    Attributes
    ----------
    law : the recording; None if the law is called
    why : why the law is called
    """

    def __init__(
        self,
        owner: str,
        users: Users,
        fill: Maker,
        n_in: int,
        n_out: int,
        remedy: str = "write it as arithmetic",
        step: float | None = None,
    ) -> None:
        self.owner, self.n_in, self.n_out = owner, n_in, n_out
        called = [user for user in users if isinstance(user, CalledBack)]
        self.users = [user.function if isinstance(user, CalledBack) else user for user in users]
        self._step = next((user.difference_step for user in called if user.difference_step), step)
        self._fill, self._remedy, self._call = fill, remedy, fill(self.users)
        self.law: Law | None = None
        self.why = "it is to be called back"
        if not called:
            try:
                self.law, self.why = recorded_law(users, fill, n_in, n_out), ""
            except (NotRecorded, RecursionError) as error:
                self.why = str(error)

    @property
    def slopes(self) -> Derived:
        """Its derivatives by all x."""
        return Derived(self, f"{self.owner}, derivatives", lambda law: law.by_x, self._slopes_at)

    def __call__(self, t: float, x: Vec, out: Vec) -> Any:
        """Its values, by the function itself if it is called or raises an exception."""
        if self.law is not None and type(x) is np.ndarray and x.dtype == np.float64:
            values, regular = self.law.at(t, x)
            if regular:
                out[:] = values
                return None
        return self._call(t, x, out)

    def _slopes_at(self, t: float, x: Vec) -> Vec:
        """Its derivatives by all x at a point, argument after argument, (n_in n_out,). Raises as `at`."""
        if self._step is None:
            return self.at(t, x).by_x.at(t, x)[0]
        out = np.empty((self.n_in, self.n_out))
        for change, row in zip(self._step * np.eye(self.n_in), out, strict=True):
            after, before = np.zeros((2, self.n_out))
            self._call(t, x + change, after)
            self._call(t, x - change, before)
            row[:] = (after - before) / (2.0 * self._step)
        return out.T.ravel()

    def at(self, t: float, x: Vec, *, by_time: bool = False) -> Law:
        """The law near a point (`traced_law`). Raises ValueError if it cannot be differentiated there."""
        trace = partial(traced_law, self.users, self._fill, t, x, self.n_out, by_time=by_time)
        try:
            with np.errstate(all="ignore"):
                try:
                    return trace()
                except ZeroDivisionError:
                    self._call(t, x.copy(), np.zeros(self.n_out))  # raises it, too, unless its floats are NumPy's
                    return trace(as_numpy=True)
        except (Exception, NotRecorded) as error:
            self._call(t, x.copy(), np.zeros(self.n_out))  # raises the law's own exception, if any
            raise ValueError(
                f"{self.owner}: its law is called, as {self.why or 'it raises an exception here'}, and cannot be "
                f"differentiated at t = {t:g}: {error}; {self._remedy}"
            ) from error


@final
class Derived:
    """A law that follows from another one, such as its derivatives: from the recording, or from a call at each point.

    Parameters
    ----------
    base : the other law
    owner : its owner, for messages
    of : makes it from the recording
    call : its values at (t, x), if the other law is called or raises an exception
    """

    def __init__(self, base: Any, owner: str, of: Callable[[Law], Law], call: Callable[[float, Vec], Vec]) -> None:
        self._base, self._of, self._call = base, of, call
        self.owner, self.why = owner, base.why

    @cached_property
    def law(self) -> Law | None:
        """Its recording; None if the other law is called."""
        return None if self._base.law is None else self._of(self._base.law)

    def __call__(self, t: float, x: Vec, out: Vec) -> None:
        values, regular = (None, False) if self.law is None else self.law.at(t, x)
        out[:] = values if regular else self._call(t, x)
