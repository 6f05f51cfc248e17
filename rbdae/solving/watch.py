"""One run of an adapter, watched from its callbacks: exceptions, Ctrl-C, values that are not finite; and its turn.

Packages swallow exceptions of callbacks, or replace them; with values that are not numbers some run for ever, others
raise. Therefore an adapter gets the problem with other callbacks (`WatchedProblem`), and

- the first exception of a callback, an event or the progress function is raised by the run, whatever became of it;
- what Ctrl-C has left (`rbdae._process`) is raised by the next call, and the run is handed back as far as it went;
- a run that ends otherwise than it should, and had evaluations that were not finite since its last accepted step, ends
  with `Reason.NOT_FINITE`, whatever its package says or raises; so does one that evaluates `PATIENCE` times without a
  number or a step.

Solvers integrate forward. In a run back in time, of direction -1, adapters see tau = -t and z = dy/dtau = -yd:
F(t, y, yd) = 0 is F(-tau, y, -z) = 0, with the Jacobian dF/dy + c d/dz of F at -c, and a right-hand side becomes
-f(-tau, y). Index, classes of the unknowns and sparsity stay. Machine functions and steps of schemes stay in the
problem's time: their loops mirror it (`Request.direction`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae._check import NoSolution
from rbdae._frozen import changed
from rbdae._process import Pending
from rbdae.adapter import AbstractAdapter, Method, Outcome, Reason, Request, Stats, Steps
from rbdae.problem.contract import Solvable

PATIENCE = 1000
"""Evaluations without a number after which a run ends, counted since the last accepted step. A code that shortens its
step by a factor of five needs some 25 tries to come to rounding, each of a dozen evaluations."""

_WORDS = {
    "rhs": "the right-hand side",
    "residual": "the residual",
    "jacobian": "the Jacobian",
    "jacobian_data": "the Jacobian",
    "rhs_jacobian": "the Jacobian of the right-hand side",
}
_INF = float(np.inf)
_AS_ASKED = (Reason.FINISHED, Reason.EVENT, Reason.INTERRUPTED)


@final
class _NotFinite(Exception):
    """Leaves a solver that would evaluate for ever; the user never sees it."""


@final
class Watch:
    """The knowledge of one run of an adapter, in this direction, from its callbacks: `pending` is what Ctrl-C leaves,
    `error` the first exception of a callback, `told` is called with the time of each accepted step."""

    def __init__(
        self, problem: Solvable, pending: Pending, direction: float = 1.0, told: Callable[[float], None] | None = None
    ) -> None:
        self.pending, self.direction, self.told = pending, direction, told
        self.error: BaseException | None = None
        self._problem = problem
        self._bad: dict[str, str] = {}  # callbacks whose values were not finite since the last accepted step
        self._count = 0
        self._collected: Callable[[], Outcome] | None = None
        self._errors: Any = None  # numpy's treatment of errors before the first callback was made

    # ------------------------------------------------------------ the adapter's view

    def request(self, request: Request, **more: Any) -> Request:
        """The request with functions that are watched, and with `more` fields, in the solver's time."""
        each_step = self.told is not None and not getattr(self.told, "now_and_then", False)
        advance = self._advance()
        if self.direction < 0.0:
            more |= {
                "t0": -request.t0,
                "t_end": -request.t_end,
                "t_eval": None if request.t_eval is None else -request.t_eval,
                "direction": -1.0,
                "projector": None if request.projector is None else _MirroredProjector(request.projector),
            }
        told = advance if self.direction > 0.0 else lambda tau: advance(0.0 - tau)
        return changed(request, **more, advance=told, each_step=each_step, begun=self._begun)

    def _begun(self, collected: Callable[[], Outcome]) -> None:
        self._collected = collected

    def callback(self, name: str, fill: Callable[..., None]) -> Callable[..., None]:
        """A callback ``fill(t, ..., out)``, watched."""
        pending, matrix = self.pending, "jacobian" in name
        self._errors = self._errors or np.seterr(over="ignore")  # squares of large numbers overflow

        def watched(*arguments: Any) -> None:
            if (before := pending.error) is not None or (before := self.error) is not None:
                raise before  # packages that swallow exceptions try again
            try:
                fill(*arguments)
            except BaseException as error:
                self._failed(name, error, arguments)
                return
            out = arguments[-1].ravel("K") if matrix else arguments[-1]
            if not out.dot(out) < _INF and not np.isfinite(out).all():  # the quickest way to ask
                self._not_finite(name, arguments[0])

        return watched

    def event(self, value: Callable[[float, Vec], Any]) -> Callable[[float, Vec], Any]:
        """The function of an event, watched, in the solver's time."""
        return lambda t, y: self._ask(value, self.direction * t, y)

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The value of another function of the user, whose exceptions are the run's."""
        self.pending.check()
        try:
            return function(*arguments)
        except BaseException as error:
            if self.error is None:
                self.error = error
            raise

    def _advance(self) -> Callable[[float], None]:
        """A function to call with the problem's time after each accepted step."""
        pending, bad, told = self.pending, self._bad, self.told

        def advance(t: float) -> None:
            if bad:
                self._count = 0
                bad.clear()
            if pending.error is not None:
                raise pending.error
            if told is not None:
                self._ask(told, t)

        return advance

    # ------------------------------------------------------------ in callbacks

    def _failed(self, name: str, error: BaseException, arguments: Sequence[Any]) -> None:
        """An exception: the user's affair, unless a solver has asked for values at no number."""
        if isinstance(error, Exception) and not all(np.isfinite(a).all() for a in arguments[:-1]):
            arguments[-1].fill(np.nan)
            self._not_finite(name, arguments[0])
            return
        self.error = error
        raise error

    def _not_finite(self, name: str, t: float) -> None:
        self._bad[name] = f"{_WORDS[name]} is not finite at t = {t:.9g}"
        self._count += 1
        if self._count >= PATIENCE:
            raise _NotFinite(self._bad[name])

    # ------------------------------------------------------------ how the run ended

    def ended(self, outcome: Outcome) -> Outcome:
        """The outcome in the problem's time, if nothing was lost on the way."""
        if self.pending.error is not None:
            return self._partial(Reason.KEYBOARD)
        if self.error is not None:
            return self.failed(self.error)
        outcome = self._in_own_time(outcome)
        if outcome.reason not in _AS_ASKED and self._bad:
            outcome.reason = Reason.NOT_FINITE
            outcome.detail = "; ".join(dict.fromkeys([*self._bad.values(), *filter(None, [outcome.said()])]))
            outcome.detail_time = None
        return outcome

    def _in_own_time(self, outcome: Outcome) -> Outcome:
        if self.direction > 0.0:
            return outcome
        return replace(
            outcome,
            t=0.0 - outcome.t,
            detail_time=None if outcome.detail_time is None else 0.0 - outcome.detail_time,
            t_events=[0.0 - t for t in outcome.t_events],
            stopped=None if outcome.stopped is None else 0.0 - outcome.stopped,
            steps=None if outcome.steps is None else Steps(0.0 - outcome.steps.t, outcome.steps.y),
        )

    def failed(self, error: BaseException) -> Outcome:
        """The outcome of a run that has raised, or the exception that the user gets."""
        if isinstance(error, KeyboardInterrupt) and self.pending.error is None:
            self.pending.error = error
        if self.pending.error is not None:
            return self._partial(Reason.KEYBOARD)
        error = error if self.error is None else self.error
        if isinstance(error, NoSolution):
            return self._partial(Reason.NOT_CONVERGED, str(error))
        if self.error is not None or not isinstance(error, Exception) or not self._bad:
            raise error
        own = [] if isinstance(error, _NotFinite) else [f"{type(error).__name__}: {error}"]
        return self._partial(Reason.NOT_FINITE, "; ".join([*self._bad.values(), *own]))

    def _partial(self, reason: Reason, detail: str = "") -> Outcome:
        """The outcome that was collected; counts of the package are not known."""
        if self._collected is None:
            outcome = Outcome(np.empty(0), np.empty((0, self._problem.n)), reason, Stats())
        else:
            outcome = self._in_own_time(self._collected())
        stats = outcome.stats
        stats.rejected = stats.evaluations = stats.jacobians = stats.factorisations = -1
        outcome.reason, outcome.detail, outcome.detail_time = reason, detail, None
        return outcome


# ------------------------------------------------------------ the problem as an adapter sees it


def _watched(name: str) -> Any:
    """A callback of `_Callbacks`, made when it is asked for."""
    return cached_property(lambda callbacks: callbacks._made(name))


@final
class _Callbacks:
    """Watched callbacks in the solver's time; each is made when the adapter asks."""

    def __init__(self, problem: Solvable, watch: Watch) -> None:
        self._inner: Any = problem.callbacks
        self._problem, self._watch = problem, watch
        self._had: set[str] = set()

    def __getattr__(self, kind: str) -> Any:
        """Machine functions, of callbacks and of schemes, are not watched: their loops see what a watched callback
        would."""
        if kind not in ("machine", "steps", "factors"):
            raise AttributeError(kind)
        make = getattr(self._inner, kind)

        def noted(*which: str) -> Any:
            found = make(*which)
            self._had.add("jacobian_data" if kind == "factors" else which[0])
            return found

        return noted

    residual, jacobian, jacobian_data = _watched("residual"), _watched("jacobian"), _watched("jacobian_data")
    rhs, rhs_jacobian = _watched("rhs"), _watched("rhs_jacobian")

    def _made(self, name: str) -> Callable[..., None]:
        fill = self._watch.callback(name, getattr(self._inner, name))
        self._had.add(name)
        if self._watch.direction > 0.0:
            return fill
        yd = np.empty(self._problem.n)

        def implicit(tau: float, y: Vec, z: Vec, *c_and_out: Any) -> None:
            np.negative(z, out=yd)
            *c, out = c_and_out
            fill(-tau, y, yd, *(-each for each in c), out)

        def explicit(tau: float, y: Vec, out: Any) -> None:
            fill(-tau, y, out)
            np.negative(out, out=out)

        return explicit if name.startswith("rhs") else implicit

    @property
    def code(self) -> str:
        """The code of the callbacks that the adapter has got, so that none is made here; empty for problems that do not
        say."""
        of: Callable[[set[str]], str] | None = getattr(self._inner, "_code_of", None)
        return of(self._had) if of is not None and self._had else ""


def _passed(name: str) -> Any:
    return property(lambda watched: getattr(watched._inner, name))


@final
class WatchedProblem:
    """A `Solvable` with watched callbacks, in the solver's time."""

    formulation, kind, index, n, n_equations = map(_passed, ("formulation", "kind", "index", "n", "n_equations"))
    labels, sparsity, differential = map(_passed, ("labels", "sparsity", "differential"))
    variable_index = _passed("variable_index")
    algebraic = property(lambda watched: getattr(watched._inner, "algebraic", None))

    def __init__(self, problem: Solvable, watch: Watch) -> None:
        self._inner = problem
        self.callbacks = _Callbacks(problem, watch)
        self.t0, self.y0 = watch.direction * problem.t0, problem.y0
        self.yd0 = problem.yd0 if watch.direction > 0.0 else -np.asarray(problem.yd0)


@final
class _MirroredProjector:
    """A projector that is asked in tau; its machine function stays in the problem's own time."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.restart_tolerance, self.reach = inner.restart_tolerance, inner.reach
        self.machine = getattr(inner, "machine", lambda: None)

    @property
    def count(self) -> int:
        return int(self._inner.count)

    def __call__(self, tau: float, y: Vec) -> bool:
        return bool(self._inner(-tau, y))

    def drift(self, tau: float, y: Vec) -> float:
        return float(self._inner.drift(-tau, y))


# ------------------------------------------------------------ runs, and turns of solvers with static memory

_turns: dict[str, threading.Lock] = {}
"""A lock for each static memory, held during a run."""
_LOOK = 0.1
"""Seconds after which a thread that waits looks whether it was interrupted."""


_mine = threading.local()
"""`states`: the static memories in which this thread runs."""


def _in_child() -> None:
    """Other threads are not there to end their runs."""
    for state in _turns.keys() - getattr(_mine, "states", frozenset()):
        del _turns[state]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)  # after `rbdae._process`, with the locks free


def run_once(
    adapter: AbstractAdapter, solver: str, method: Method, problem: Solvable, request: Request, watch: Watch
) -> Outcome:
    """Run an adapter, in its turn: methods that keep their state in static memory run one at a time."""
    watched: Any = WatchedProblem(problem, watch)
    with _turn(solver, method.shared_state, watch.pending) if method.shared_state else nullcontext():
        try:
            outcome = watch.ended(adapter.run(watched, method, request))
        except BaseException as error:
            outcome = watch.failed(error)
        finally:
            watch._collected = None  # the adapter's memory, which knows the watch: they would wait for the collector
            if watch._errors:
                np.seterr(**watch._errors)
    outcome.stats.code = watched.callbacks.code
    return outcome


@contextmanager
def _turn(solver: str, state: str, pending: Pending) -> Iterator[None]:
    """Wait until no other thread runs with this static memory, and keep others waiting.

    Raises RuntimeError for a run inside of a run that cannot begin at once: if it waited, two of them could wait for
    each other for ever. Raises what `pending` has.
    """
    lock = _turns.setdefault(state, threading.Lock())
    around: frozenset[str] = getattr(_mine, "states", frozenset())
    while not lock.acquire(timeout=0.0 if around else _LOOK):
        if around:
            raise RuntimeError(
                f"{solver} keeps its state in static memory ({state}), which is in use, and cannot run inside of a "
                "function that a solver of this kind calls; take another solver for the inner run, such as "
                "sksundae:ida or scipy:RK45"
            )
        pending.check()
    try:
        _mine.states = around | {state}
        yield
    finally:
        _mine.states = around
        lock.release()
