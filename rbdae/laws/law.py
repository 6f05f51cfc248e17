"""Users' laws f(t, x, out): recorded as graphs if they are arithmetic, else called, with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.graph.graph import Graph
from rbdae.graph.law import Law
from rbdae.laws.copies import Copies
from rbdae.laws.numbers import NotRecorded, Number, Tape, numbers

Filling = Callable[[float, Vec, Vec], Any]
"""f(t, x, out), which fills out and returns None."""

Users = Sequence[Callable[..., Any]]
Maker = Callable[[Users], Filling]
"""Makes f(t, x, out) from the user's functions or their replacements."""

MOST_WAYS = 64
"""Most branches of a recorded law; one with more is called."""


def recorded_law(users: Users, fill: Maker, n_in: int, n_out: int) -> Law:
    """Run a law of the user's functions on symbols, twice: if the results differ, it has a state. `fill` makes
    f(t, x, out) from them; n_in and n_out are the lengths of x and out. Raises `NotRecorded`."""
    copies = Copies(live=False)
    function = fill([copies.of(user, "a function") for user in users])
    law, again = (_along_all_branches(function, n_in, n_out) for _ in range(2))
    if law.digest != again.digest:
        raise NotRecorded("it does something else when called again: it has a state, or draws random numbers")
    return law


def _run(tape: Tape, function: Filling, n_in: int, n_out: int, t: Any = None) -> list[int]:
    """The results of a law on numbers, as nodes; t may be a float."""
    t = Number(tape, tape.graph.node("input", "t", 0)) if t is None else t
    x = numbers([Number(tape, tape.graph.node("input", "x", i)) for i in range(n_in)])
    out = numbers([0.0] * n_out)
    function(t, x, out)
    results = [tape.node(value) for value in out]
    if tape.refused:  # and swallowed, or a text
        raise NotRecorded(tape.refused)
    return results


def _along_all_branches(function: Filling, n_in: int, n_out: int) -> Law:
    """The law along all its branches, joined by choices between results."""
    graph = Graph()
    errors: list[BaseException | None] = []  # of all branches

    def way(answers: tuple[bool, ...]) -> list[Any]:
        """The results and the condition of a branch, joined with branches that leave it after its answers."""
        if len(errors) == MOST_WAYS:
            raise NotRecorded(f"it has more than {MOST_WAYS} ways")
        errors.append(None)
        tape, results = Tape(graph, answers), [*[None] * n_out, graph.const(0.0)]
        try:
            results = [*_run(tape, function, n_in, n_out), tape.regular]
        except (TypeError, AttributeError, RecursionError) as error:  # possibly caused by symbols only
            why = f"on symbols, with objects that it cannot change, it raises {type(error).__name__}: {error}"
            raise NotRecorded(why) from error
        except (Exception, SystemExit) as error:  # the user's own exception on this branch
            if "read-only" in str(error):  # NumPy says so of arrays
                raise NotRecorded("it changes objects outside of it") from error
            errors[-1] = error
        asked = [*tape.asked.items()]
        for k in reversed(range(len(answers), len(asked))):
            condition, answer = asked[k]
            branch = way((*(fell for _, fell in asked[:k]), not answer))
            pairs = zip(*((results, branch) if answer else (branch, results)), strict=True)
            # the results of a branch that raises an exception are arbitrary: those of the other one
            results = [graph.select(condition, b if a is None else a, a if b is None else b) for a, b in pairs]
        return results

    results = way(())
    if None in results:
        raise NotRecorded(f"{type(errors[0]).__name__}: {errors[0]}")
    return Law(graph, results[:-1], results[-1], n_in)


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
            got = _check.show(function)
            raise TypeError(f"CalledBack: function must be a function, got {got}; give the law itself")
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

    Attributes
    ----------
    law : the recording; None if the law is called
    why : why the law is called
    """

    def __init__(self, owner: str, users: Users, fill: Maker, n_in: int, n_out: int, remedy: str = "") -> None:
        self.owner, self.n_in, self.n_out = owner, n_in, n_out
        called = [user for user in users if isinstance(user, CalledBack)]
        self.users = [user.function if isinstance(user, CalledBack) else user for user in users]
        self._step = next((user.difference_step for user in called if user.difference_step), None)
        self._fill, self._call = fill, fill(self.users)
        self._remedy = remedy or "write it as arithmetic"
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
        """The law near a point, on the same branch, as a function of x, and of t with `by_time`: it runs on numbers
        with values. Raises ValueError if it cannot be differentiated there."""

        def near(raises: bool) -> Law:
            tape, copies = Tape(Graph(), point={"t": (t,), "x": x}, raises=raises), Copies(live=True)
            function = self._fill([copies.of(user) for user in self.users])
            outputs = _run(tape, function, self.n_in, self.n_out, None if by_time else float(t))
            return Law(tape.graph, outputs, tape.graph.const(1.0), self.n_in)

        try:
            with np.errstate(all="ignore"):
                try:
                    return near(raises=True)
                except ZeroDivisionError:
                    self._call(t, x.copy(), np.zeros(self.n_out))  # raises it, too, unless its floats are NumPy's
                    return near(raises=False)
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
