"""A run in parts: a solver is interrupted where the problem has to be put into other terms, and started anew there.

Positions and velocities go on; what changes is how they are written (the gauge of the null-space form) or which
equations carry them (those that are kept of redundant ones).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Outcome, Reason, Request, Stats

if TYPE_CHECKING:
    from rbdae.problem.problem import Problem


def run(
    problem: Problem,
    once: Callable[[Problem, Request], Outcome],
    request: Request,
    worn: Callable[[float, Vec], bool],
    resumed: Callable[[float, Vec], Problem],
) -> Outcome:
    """Run a solver, and anew from every accepted state that is `worn`, with the problem that `resumed` makes there.

    Rows at the time of a change are in the new terms.
    """
    state: list[tuple[float, Vec]] = []

    def watch(t: float, y: Vec) -> bool:
        if not worn(t, y):
            return False
        state[:] = [(t, y.copy())]
        return True

    parts: list[Outcome] = []
    part, here = request, problem
    while True:
        outcome = once(here, replace(part, watch=watch))
        parts.append(outcome)
        if outcome.reason is not Reason.INTERRUPTED:
            return _joined(parts)
        t, y = state[0]
        here = resumed(t, y)
        _carry_over(outcome, t, here.y0)
        counts = [sum(len(p.t_events[k]) for p in parts) for k in range(len(request.events))]
        part = replace(
            request,
            t0=t,
            t_eval=None if request.t_eval is None else request.t_eval[request.t_eval >= t],
            events=[_left(event, n) for event, n in zip(request.events, counts, strict=True)],
        )


@final
class _Remaining:
    """An event of which some occurrences have been counted."""

    def __init__(self, event: Callable[[float, Vec], float], terminal: int) -> None:
        self._event = event
        self.terminal = terminal
        self.direction = getattr(event, "direction", 0.0)

    def __call__(self, t: float, y: Vec) -> float:
        return self._event(t, y)


def _left(event: Callable[[float, Vec], float], counted: int) -> Callable[[float, Vec], float]:
    """An event of which some occurrences have been counted."""
    terminal = int(getattr(event, "terminal", 0) or 0)
    return _Remaining(event, terminal - counted) if terminal and counted else event


def _carry_over(outcome: Outcome, t: float, y: Vec) -> None:
    """Leave the state at the change to the next part; events there are in its unknowns."""
    keep = outcome.t < t
    outcome.t, outcome.y = outcome.t[keep], outcome.y[keep]
    for times, states in zip(outcome.t_events, outcome.y_events, strict=True):
        states[times == t] = y


def _joined(parts: list[Outcome]) -> Outcome:
    """The outcome of a run in parts."""
    last = parts[-1]
    if len(parts) == 1:
        return last
    stats = Stats(projections=last.stats.projections, restarts=len(parts) - 1)
    for name in ("steps", "rejected", "evaluations", "jacobians", "factorisations"):
        counts = [getattr(p.stats, name) for p in parts]
        setattr(stats, name, -1 if min(counts) < 0 else sum(counts))
    stats.restarts += sum(p.stats.restarts for p in parts)
    return Outcome(
        t=np.concatenate([p.t for p in parts]),
        y=np.concatenate([p.y for p in parts]),
        reason=last.reason,
        stats=stats,
        detail=last.detail,
        t_events=[np.concatenate(ts) for ts in zip(*(p.t_events for p in parts), strict=True)],
        y_events=[np.concatenate(ys) for ys in zip(*(p.y_events for p in parts), strict=True)],
        stopped=last.stopped,
    )


__all__ = ["run"]
