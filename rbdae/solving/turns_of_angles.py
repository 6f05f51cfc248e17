"""Quantities of joints and forces along a run: angles count full turns, by their rates at the accepted steps.

Between two steps an angle changes by about the mean of its rates times the step; of the angles that the position
allows, 2 pi apart, the one next to that is taken. So steps may be longer than a turn.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec, sense
from rbdae._show import ByName
from rbdae.adapter import Steps
from rbdae.problem.measured import Measured
from rbdae.problem.owners import Owner
from rbdae.problem.problem import Problem
from rbdae.quantities.quantity import Quantity

_TURN = 2.0 * np.pi


def along_run(problem: Problem, kind: str, t: Vec, y: Mat, steps: Steps) -> dict[str, Measured]:
    """The "joints" or "forces" at times t (m,) of a run and states y (m, n), in its order; `steps` are its accepted
    ones. Without any, turns are counted from row to row."""
    here = getattr(problem, kind)(t, y)

    @cache
    def at_steps() -> Any:
        return getattr(problem, kind)(steps.t, steps.y)

    def reader(name: str, owner: Owner) -> Callable[[str], Any]:
        def read(quantity: str) -> Any:
            found = owner.quantities[quantity]
            if not (found.aspect == "value" and found.unit == "rad"):
                return getattr(here[name], quantity)
            rate = next(
                q.name for q in owner.quantities.values() if q.aspect == "rate" and q.coordinate == found.coordinate
            )
            s, w = getattr(here[name], quantity), getattr(here[name], rate)
            if not len(steps.t):
                return _unwound(t, s, w)
            known = at_steps()[name]
            at, rates = getattr(known, quantity), getattr(known, rate)
            return _beside(t, s, w, steps.t, _unwound(steps.t, at, rates), rates)

        return read

    owners = getattr(problem.interpretation.owners, kind)
    every = ((name, Measured(owner.units, reader(name, owner))) for name, owner in owners.items())
    return ByName(kind.removesuffix("s"), every)


def quantity_along(run: Any, quantity: Quantity | str, t: ArrayLike | None) -> Any:
    """A quantity at the times of a run, or at times t within it."""
    owner, found = run.problem_at(run.t[0] if len(run.t) else 0.0).interpretation.owners.find(quantity)
    if t is None:
        return getattr(getattr(run, owner.kind)[owner.name], found.name)
    times = np.atleast_1d(_check.times(t))
    steps = run.dense.recorded
    order = np.argsort(times if sense(steps.t, run.t) > 0 else -times, kind="stable")
    measured = along_run(run.problem, owner.kind, times[order], run(times[order]), steps)
    values = getattr(measured[owner.name], found.name)[np.argsort(order, kind="stable")]
    return values if np.ndim(t) else values[0]


def _unwound(t: Vec, s: Vec, w: Vec) -> Vec:
    """Angles s (m,) with rates w at times t, without jumps."""
    change = np.diff(s)
    expected = 0.5 * (w[1:] + w[:-1]) * np.diff(t)
    turns = np.cumsum(np.round((expected - change) / _TURN))
    return np.concatenate([s[:1], s[1:] + _TURN * turns])


def _beside(t: Vec, s: Vec, w: Vec, t_known: Vec, known: Vec, rates: Vec) -> Vec:
    """Angles s (m,) with rates w at times t, next to those that follow from the known ones before them in the run."""
    sense = -1.0 if t_known[-1] < t_known[0] else 1.0
    k = np.clip(np.searchsorted(sense * t_known, sense * t, side="right") - 1, 0, None)
    expected = known[k] + 0.5 * (rates[k] + w) * (t - t_known[k])
    return np.asarray(s + _TURN * np.round((expected - s) / _TURN))


__all__ = ["along_run", "quantity_along"]
