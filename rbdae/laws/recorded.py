"""Users' laws as models have them: recorded if they are arithmetic, else called; with exact derivatives both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.laws.arrays import number_among
from rbdae.laws.law import Filling, Law, Maker, NotRecorded, Users, recorded_law, traced_law


def of_time(n: int, checked: Callable[[int, float, Any], Vec], users: Users) -> Filling:
    """Functions of the time as one f(t, x, out): n numbers of each, one after another. `checked` makes them, or refuses
    by name, of what function k gives at t."""

    def fill(t: float, x: Vec, out: Vec) -> None:
        for k, function in enumerate(users):
            value = function(t)
            known = (type(value) is float and n == 1) or number_among([value]) is not None
            out[n * k : n * (k + 1)] = value if known else checked(k, t, value)

    return fill


def as_it_is(users: Users) -> Filling:
    """A user's function f(t, x, out)."""
    law: Filling = users[0]
    return law


@final
class CalledBack:
    """A law that is called in every evaluation, whatever it is.

        rbdae.forces.Force(body, at=(0, 0, 0), force=rbdae.forces.CalledBack(f))

    Parameters
    ----------
    function : as without it
    derivatives : callable, optional
        Of a law (t, s, sdot) of the motion, such as (t, angle, rate): a function of the same that returns the two
        derivatives by s and by sdot; of a law (t, s, sdot, u) those by the inputs follow, in their order. A law without
        them has exact ones, unless it makes floats of its arguments.
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
        law, given, h = self.function, self.derivatives, self.difference_step

        def differences(t: float, x: Vec, out: Vec) -> None:
            assert h is not None
            for k, step in enumerate(h * np.eye(len(x))):
                after, before = x + step, x - step
                rise = law(t, *after[:2], *others(after[2:])) - law(t, *before[:2], *others(before[2:]))
                out[k] = rise / (2.0 * h)

        def exact(t: float, x: Vec, out: Vec) -> None:
            assert given is not None
            values, remedy = given(t, x[0], x[1], *others(x[2:])), f"return {len(x)} numbers"
            out[:] = _check.array("CalledBack", f"derivatives at t = {t:g}", values, (len(x),), remedy=remedy)

        if given is None:
            return None if h is None else differences
        _check.takes("CalledBack", "derivatives", given, "t", "s", "rate", *(("u",) if n_inputs else ()))
        return exact


@final
class Recorded:
    """A law f(t, x, out) by functions of users, recorded now, if it can be.

    Parameters
    ----------
    owner : whose law it is, for messages
    users, fill, n_in, n_out : see `recorded_law`
    remedy : what to give where a law that is called has no derivatives
    known : the law, if it has been recorded before

    Attributes
    ----------
    law : None of a law that is called
    why : why it is called
    """

    def __init__(
        self,
        owner: str,
        users: Users,
        fill: Maker,
        n_in: int,
        n_out: int,
        remedy: str = "write it as arithmetic",
        known: tuple[Law, ...] | None = None,
    ) -> None:
        self.owner, self.n_in, self.n_out = owner, n_in, n_out
        self.users = [user.function if isinstance(user, CalledBack) else user for user in users]
        self._fill, self._remedy, self._call = fill, remedy, fill(self.users)
        self.law: Law | None = known[0] if known else None
        self.why = "" if known else "it is to be called back"
        if known is None and not any(isinstance(user, CalledBack) for user in users):
            try:
                self.law, self.why = recorded_law(users, fill, n_in, n_out), ""
            except (NotRecorded, RecursionError) as error:
                self.why = str(error)

    def __call__(self, t: float, x: Vec, out: Vec) -> Any:
        """Its values; those of the function itself if it is called, or where it raises an exception."""
        if self.law is not None and type(x) is np.ndarray and x.dtype == np.float64:
            values, regular = self.law.at(t, x)
            if regular:
                out[:] = values
                return None
        return self._call(t, x, out)

    def at(self, t: float, x: Vec, *, by_time: bool = False) -> Law:
        """The law near a point (`traced_law`). Raises ValueError if it cannot be differentiated there."""
        try:
            with np.errstate(all="ignore"):
                return traced_law(self.users, self._fill, t, x, self.n_out, by_time=by_time)
        except Exception as error:
            self._call(t, x.copy(), np.zeros(self.n_out))  # where it raises an exception of its own, that one
            raise ValueError(
                f"{self.owner}: its law is called, as {self.why or 'it raises an exception here'}, and cannot be "
                f"differentiated at t = {t:g}: {error}; {self._remedy}"
            ) from error


@final
class Derived:
    """The derivatives of a law by all x: those of what has been recorded, or at each point those of a call.

    Parameters
    ----------
    base : the law
    places : where the entries are: (place, number of the entry by rows); None for rows one after another
    """

    def __init__(
        self, base: Any, places: Sequence[tuple[int, int]] | None = None, known: tuple[Law, Law] | None = None
    ) -> None:
        self._base, self._places = base, places
        if known:
            self.__dict__["law"] = known[1]

    def _of(self, law: Law) -> Law:
        entries = law.by_x()
        return entries if self._places is None else entries.ordered(self._places, len(entries.outputs))

    @cached_property
    def law(self) -> Law | None:
        """The derivatives; None of a law that is called."""
        return None if self._base.law is None else self._of(self._base.law)

    @property
    def owner(self) -> str:
        """Whose derivatives they are."""
        return f"{self._base.owner}, derivatives"

    @property
    def why(self) -> str:
        """Why the law is called."""
        return str(self._base.why)

    def __call__(self, t: float, x: Vec, out: Vec) -> None:
        """Their values."""
        values, regular = (None, False) if self.law is None else self.law.at(t, x)
        out[:] = values if regular else self._of(self._base.at(t, x)).at(t, x)[0]
