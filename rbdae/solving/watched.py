"""One run of an adapter, watched from its callbacks: exceptions, interrupts, and values that are not finite.

Packages swallow exceptions of callbacks, or replace them; with values that are not numbers some run for ever, others
raise. Therefore an adapter gets the problem with other callbacks (`WatchedProblem`), and

- the first exception of a callback, an event or the progress function is raised by the run, whatever became of it;
- what a signal has left (`rbdae._signals`) is raised by the next call, and the run is handed back as far as it went;
- a run that ends otherwise than it should, and had evaluations that were not finite since its last accepted step or
  within `NEAR` of its end, ends with `Reason.NOT_FINITE`, whatever its package says or raises; so does one that
  evaluates `PATIENCE` times without a number or a step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae._signals import Pending
from rbdae.adapter import AbstractAdapter, Method, Outcome, Request
from rbdae.problem.contract import Solvable
from rbdae.solving.backward import MirroredProblem, mirrored_outcome, mirrored_request
from rbdae.solving.monitor import Monitor
from rbdae.solving.turns import turn


@final
class _WatchedCallbacks:
    """The callbacks of a problem; each is asked for when the adapter asks."""

    def __init__(self, problem: Solvable, monitor: Monitor) -> None:
        self._inner = problem.callbacks
        self._monitor = monitor
        self._had: set[str] = set()

    @property
    def machine(self) -> Callable[[str], Any]:
        """Machine functions are not watched: their loops see by themselves what a watched callback would."""
        return self._noted(self._inner.machine)  # type: ignore[attr-defined]  # not every problem has it

    @property
    def _steps(self) -> Callable[[str], Any]:
        """The machine functions of integration schemes, as `machine`."""
        return self._noted(self._inner._steps)  # type: ignore[attr-defined]

    @property
    def factors(self) -> Callable[..., Any]:
        """Factors for loops in machine code, as `machine`."""
        found: Callable[..., Any] = self._inner.factors  # type: ignore[attr-defined]
        self._had.add("jacobian_data")
        return found

    def _noted(self, make: Callable[[str], Any]) -> Callable[[str], Any]:
        def made(name: str) -> Any:
            found = make(name)
            self._had.add(name)
            return found

        return made

    @cached_property
    def residual(self) -> Callable[..., None]:
        found = self._inner.residual
        self._had.add("residual")
        return self._monitor.residual(found)

    @cached_property
    def jacobian(self) -> Callable[..., None]:
        found = self._inner.jacobian
        self._had.add("jacobian")
        return self._monitor.jacobian("jacobian", found)

    @cached_property
    def jacobian_data(self) -> Callable[..., None]:
        found = self._inner.jacobian_data
        self._had.add("jacobian_data")
        return self._monitor.jacobian("jacobian_data", found)

    @cached_property
    def rhs(self) -> Callable[..., None]:
        found = self._inner.rhs
        self._had.add("rhs")
        return self._monitor.rates(found)

    @cached_property
    def rhs_jacobian(self) -> Callable[..., None]:
        found = self._inner.rhs_jacobian
        self._had.add("rhs_jacobian")
        return self._monitor.jacobian("rhs_jacobian", found)

    @property
    def code(self) -> str:
        """The code of the callbacks that the adapter has got, so that none is made here; empty for problems that do not
        say."""
        of: Callable[[set[str]], str] | None = getattr(self._inner, "_code_of", None)
        return of(self._had) if of is not None and self._had else ""


@final
class WatchedProblem:
    """A problem with watched callbacks; all else is that of the problem."""

    def __init__(self, problem: Solvable, monitor: Monitor) -> None:
        self.callbacks = _WatchedCallbacks(problem, monitor)
        self._inner = problem

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def run_once(
    adapter: AbstractAdapter, solver: str, method: Method, problem: Solvable, request: Request, pending: Pending
) -> Outcome:
    """Run an adapter, in its turn."""
    if not method.shared_state:
        return _run(adapter, method, problem, request, pending)
    with turn(solver, method.shared_state, pending):
        return _run(adapter, method, problem, request, pending)


def _run(adapter: AbstractAdapter, method: Method, problem: Solvable, request: Request, pending: Pending) -> Outcome:
    monitor = Monitor(problem, pending)
    watched: Any = WatchedProblem(problem, monitor)
    try:
        try:
            asked = monitor.request(request)
            with np.errstate(over="ignore"):  # sums of squares, by which values are asked whether they are finite
                if request.t_end < request.t0:
                    mirrored: Any = MirroredProblem(watched)
                    outcome = mirrored_outcome(adapter.run(mirrored, method, mirrored_request(asked)))
                else:
                    outcome = adapter.run(watched, method, asked)
        except BaseException as error:
            outcome = monitor.failed(error)
        else:
            outcome = monitor.ended(outcome)
        outcome.stats.code = watched.callbacks.code
        return outcome
    finally:
        monitor.forget()


__all__ = ["WatchedProblem", "run_once"]
