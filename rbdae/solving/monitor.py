"""The knowledge of one run of an adapter from its callbacks: exceptions, interrupts, and values that are not finite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae._check import NoSolution
from rbdae._frozen import changed
from rbdae._signals import Pending
from rbdae.adapter import Outcome, Reason, Request, Stats
from rbdae.problem.contract import Solvable
from rbdae.solving.event import passed_on

PATIENCE = 1000
"""Evaluations without a number after which a run ends, counted since the last accepted step. A code that shortens its
step by a factor of five needs some 25 tries to come to rounding, each of a dozen evaluations."""

NEAR = 1e-8
"""Relative distance of times: codes creep up to where the equations end, by steps that still succeed."""

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


def _finite(values: Any) -> bool:
    """Whether all values are numbers. A sum of squares is the quickest way to ask; that of large numbers overflows."""
    flat = values.ravel("K")
    return bool(flat.dot(flat) < np.inf) or bool(np.isfinite(flat).all())


@final
class Monitor:
    """The knowledge of one run from its callbacks.

    Attributes
    ----------
    pending : what signals leave
    error : the first exception of a callback
    """

    def __init__(self, problem: Solvable, pending: Pending) -> None:
        self.pending = pending
        self.error: BaseException | None = None
        self._n = problem.n
        self._bad: dict[str, str] = {}  # callbacks whose values were not finite since the last accepted step
        self._last = (-np.inf, "")  # when something was not finite, and what
        self._count = 0
        self._collected: Callable[[], Outcome] | None = None

    # ------------------------------------------------------------ what the adapter gets

    def request(self, request: Request) -> Request:
        """The request with functions that are watched."""
        return changed(
            request,
            events=[passed_on(event, self.function(event)) for event in request.events],
            advance=self._advance(request.advance),
            each_step=request.advance is not None and not getattr(request.advance, "now_and_then", False),
            begun=self._begun,
        )

    def rates(self, fill: Callable[[float, Vec, Vec], None]) -> Callable[[float, Vec, Vec], None]:
        """fill(t, y, out), watched."""
        pending = self.pending

        def watched(t: float, y: Vec, out: Vec) -> None:
            if pending.error is not None or self.error is not None:
                self._again()
            try:
                fill(t, y, out)
            except BaseException as error:
                self._failed("rhs", error, (t, y, out))
                return
            if not out.dot(out) < _INF and not np.isfinite(out).all():
                self._not_finite("rhs", t)

        return watched

    def residual(self, fill: Callable[[float, Vec, Vec, Vec], None]) -> Callable[[float, Vec, Vec, Vec], None]:
        """fill(t, y, yd, out), watched."""
        pending = self.pending

        def watched(t: float, y: Vec, yd: Vec, out: Vec) -> None:
            if pending.error is not None or self.error is not None:
                self._again()
            try:
                fill(t, y, yd, out)
            except BaseException as error:
                self._failed("residual", error, (t, y, yd, out))
                return
            if not out.dot(out) < _INF and not np.isfinite(out).all():
                self._not_finite("residual", t)

        return watched

    def jacobian(self, name: str, fill: Callable[..., None]) -> Callable[..., None]:
        """fill(t, ..., out) with any output, watched."""

        def watched(*arguments: Any) -> None:
            self._again()
            try:
                fill(*arguments)
            except BaseException as error:
                self._failed(name, error, arguments)
                return
            if not _finite(arguments[-1]):
                self._not_finite(name, arguments[0])

        return watched

    def function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Another function of the user, whose exceptions are the run's."""

        def watched(*arguments: Any) -> Any:
            self.pending.check()
            try:
                return function(*arguments)
            except BaseException as error:
                self._keep(error)
                raise

        return watched

    def _again(self) -> None:
        """Raise what has ended the run: packages that swallow exceptions try again."""
        self.pending.check()
        if self.error is not None:
            raise self.error

    def _keep(self, error: BaseException) -> None:
        if self.error is None:
            self.error = error

    def _advance(self, user: Callable[[float], None] | None) -> Callable[[float], None]:
        """Called after each accepted step."""
        told = None if user is None else self.function(user)
        pending, bad = self.pending, self._bad

        def advance(t: float) -> None:
            if bad:
                self._count = 0
                bad.clear()
            if pending.error is not None:
                pending.check()
            if told is not None:
                told(t)

        return advance

    def forget(self) -> None:
        """Let go of the adapter's memory, which knows this object: together they would wait for the collector."""
        self._collected = None

    def _begun(self, collected: Callable[[], Outcome]) -> None:
        self._collected = collected

    # ------------------------------------------------------------ what happens in callbacks

    def _failed(self, name: str, error: BaseException, arguments: Sequence[Any]) -> None:
        """An exception: the user's affair, unless a solver has asked for values at no number."""
        if isinstance(error, Exception) and not all(np.isfinite(a).all() for a in arguments[:-1]):
            arguments[-1].fill(np.nan)
            self._not_finite(name, arguments[0])
            return
        self._keep(error)
        raise error

    def _not_finite(self, name: str, t: float) -> None:
        self._bad[name] = f"{_WORDS[name]} is not finite at t = {t:.9g}"
        self._last = (float(t), self._bad[name])
        self._count += 1
        if self._count >= PATIENCE:
            raise _NotFinite(self._bad[name])

    # ------------------------------------------------------------ how the run ended

    def ended(self, outcome: Outcome) -> Outcome:
        """The outcome, if nothing was lost on the way."""
        if self.pending.error is not None:
            return self._partial(Reason.KEYBOARD)
        if self.error is not None:
            return self.failed(self.error)
        if outcome.reason not in _AS_ASKED and (causes := self._causes(outcome.stopped)):
            outcome.reason = Reason.NOT_FINITE
            outcome.detail = "; ".join(dict.fromkeys([*causes, *filter(None, [outcome.said()])]))
            outcome.detail_time = None
        return outcome

    def _causes(self, stopped: float | None) -> list[str]:
        """The values that were not finite when the run ended."""
        t, what = self._last
        if not self._bad and stopped is not None and abs(t - stopped) <= NEAR * max(1.0, abs(stopped)):
            return [what]
        return list(self._bad.values())

    def failed(self, error: BaseException) -> Outcome:
        """The outcome of a run that has raised, or the exception that the user gets."""
        if isinstance(error, KeyboardInterrupt) and self.pending.error is None:
            self.pending.error = error
        if self.pending.error is not None:
            return self._partial(Reason.KEYBOARD)
        if self.error is not None:
            error = self.error
        if isinstance(error, NoSolution):
            return self._partial(Reason.NOT_CONVERGED, str(error))
        if self.error is not None:
            raise error
        if not isinstance(error, Exception) or not self._bad:
            raise error
        own = [] if isinstance(error, _NotFinite) else [f"{type(error).__name__}: {error}"]
        return self._partial(Reason.NOT_FINITE, "; ".join([*self._bad.values(), *own]))

    def _partial(self, reason: Reason, detail: str = "") -> Outcome:
        """The outcome that was collected; counts of the package are not known."""
        if self._collected is None:
            outcome = Outcome(np.empty(0), np.empty((0, self._n)), reason, Stats())
        else:
            outcome = self._collected()
        stats = outcome.stats
        stats.rejected = stats.evaluations = stats.jacobians = stats.factorisations = -1
        outcome.reason, outcome.detail, outcome.detail_time = reason, detail, None
        return outcome


__all__ = ["NEAR", "PATIENCE", "Monitor"]
