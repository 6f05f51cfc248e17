"""Energy along a run: kinetic, potential and total, the work of drives and of forces without potential; balance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae._frozen import brief
from rbdae.adapter import Steps
from rbdae.kernels.records import ANGLE, USER
from rbdae.multibody.joint_values import potentials
from rbdae.multibody.model import Model
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.quantities import Energy
from rbdae.solving.dense import DenseOutput
from rbdae.solving.registry import find_method
from rbdae.solving.segments import Segments

_SHARE = 0.03
"""The error of the work, in tolerances of the energy."""

_HALVINGS = 6

_TOGETHER = 256
"""Intervals whose powers are evaluated at once."""

# Gauss's rule of three points and Kronrod's extension to seven, on (-1, 1)
_POINTS = np.array([0.9604912687080202834, 0.7745966692414833770, 0.4342437493468025580])
_POINTS = np.concatenate([-_POINTS, [0.0], _POINTS[::-1]])
_KRONROD = np.array([0.1046562260264672652, 0.2684880898683334407, 0.4013974147759622229])
_KRONROD = np.concatenate([_KRONROD, [0.4509165386584741423], _KRONROD[::-1]])
_GAUSS = np.array([0.0, 5.0 / 9.0, 0.0, 8.0 / 9.0, 0.0, 5.0 / 9.0, 0.0])


@final
@dataclass(frozen=True, eq=False, repr=False)
class EnergyOfRun:
    """Energies at the times of a run, shape (m,), J.

    Attributes
    ----------
    kinetic, potential, total : as of `Problem.energy`
    work : done since the first time by drives, motors, dampers and loads, which have no potential; in a run of fixed
        steps, the work in these steps
    balance : change of the total energy since the first time, minus `work`: zero in the exact motion
    """

    kinetic: Vec
    potential: Vec
    total: Vec
    _work: Callable[[], Vec] = field(repr=False)

    def __repr__(self) -> str:
        names = ("kinetic", "potential", "total")
        return f"EnergyOfRun({', '.join(f'{name}={brief(getattr(self, name))}' for name in names)})"

    @cached_property
    def work(self) -> Vec:
        """Work since the first time of all that has no potential: the integral of its power along the run, between the
        steps with ``solution(t)``, to a small part of the tolerance. In a run of fixed steps the sum of the works in
        them, forces times increments and multipliers times what drives prescribe: `balance` is then what the scheme
        itself gains or loses, round-off for one that keeps energy; between the ends of steps of order two both have
        the errors of states there."""
        return self._work()

    def __reduce__(self) -> tuple[Any, tuple[Vec, Vec, Vec, Vec]]:
        return _with_work, (self.kinetic, self.potential, self.total, self.work)

    @cached_property
    def balance(self) -> Vec:
        """``total - total[0] - work``: by how much a run has gained or lost energy."""
        if not len(self.total):
            return np.empty(0)
        out: Vec = self.total - self.total[0] - self.work
        return out


def _with_work(kinetic: Vec, potential: Vec, total: Vec, work: Vec) -> EnergyOfRun:
    """The energies of a pickle or a copy."""
    return EnergyOfRun(kinetic, potential, total, lambda: work)


def is_conservative(model: Model) -> bool:
    """Whether nothing in a model can do work but the weight and forces that have a potential. Not of a user's force:
    its other part is seen only along the run."""
    elements = model.forces.elements
    constant_torque = (elements["shaping"] == ANGLE) & np.any(elements["constant"] != 0.0, axis=-1)
    driven = (elements["law"] != 0) | (elements["n_inputs"] != 0) | constant_torque
    conservative = (elements["holonomic"] == 1) & (elements["damped"] == 0) & ~driven
    return not len(model.drives) and not np.any(model.bushings["damping"]) and bool(np.all(conservative))


def energy_of_run(run: Any) -> EnergyOfRun:
    """Energies of the rows of a `rbdae.Solution`. The work is summed over the solver's own steps, if it counts it; else
    the power that comes from no potential is integrated."""
    reader, t, y = run._problem, run.t, run.y
    energy = reader.energy(t, y)

    def work() -> Vec:
        if not isinstance(reader, Problem):
            raise TypeError(f"only a rbdae.Problem knows the work of its forces and drives, not {reader!r}")
        if not len(t) or is_conservative(reader.model):
            return np.zeros(len(t))
        counted = _counted(run, run.dense.recorded, t) if "step" in run.options else None
        if counted is not None:
            return np.asarray(counted - counted[0])
        users = _of_time(reader, t, y)
        out = _integral(run._segments, run.dense, t, _tolerance(energy, run.rtol), users is not None)
        return out if users is None else out + users - users[0]

    return EnergyOfRun(energy.kinetic, energy.potential, energy.total, work)


def _counted(run: Any, steps: Steps, t: Vec) -> Vec | None:
    """The work at times t, as a method of fixed steps counts it, segment after segment; None if it does not."""
    segments: Segments = run._segments
    adapter, method = find_method(run.solver)
    out, total = np.zeros(len(t)), 0.0
    numbers = segments.numbers(steps.t[:-1])
    places = np.searchsorted(segments.direction * steps.t, segments.direction * t, side="right")
    at = np.clip(places - 1, 0, max(len(numbers) - 1, 0))
    for number in np.unique(numbers):
        here = np.flatnonzero(numbers == number)
        first, last = int(here[0]), int(here[-1]) + 1
        rows = (at >= first) & (at < last)
        taken = Steps(steps.t[first : last + 1], steps.y[first : last + 1])
        times = np.append(t[rows], taken.t[-1])
        works = adapter.work(segments.problems[number], method.name, run.options, taken, times)
        if works is None:
            return None
        out[rows] = total + works[:-1]
        total += float(works[-1])
    return out


def _of_time(reader: Problem, t: Vec, y: Mat) -> Vec | None:
    """The sum of the users' potentials that change with time at rest, (m,): no force has their power. None
    if there are none, as far as their values at neighbouring times tell."""
    elements = reader.model.forces.elements
    users = (elements["shaping"] == USER) & (elements["potential"] != 0)
    if not users.any():
        return None
    Z, s = reader.natural(t, y), y[:, reader.layout.s]
    columns = len(reader.model.bushings) + np.flatnonzero(users)
    here, after = (potentials(reader.workspace, times, Z, s)[:, columns] for times in (t, np.append(t[1:], t[0])))
    out: Vec = here.sum(axis=-1)
    return None if np.array_equal(here, after) else out


def _tolerance(energy: Energy, rtol: float) -> float:
    """The tolerance of the energy along a run."""
    size = float(np.max(energy.kinetic) + np.ptp(energy.potential))
    return _SHARE * rtol * (size if size > 0.0 else 1.0)


def _integral(segments: Segments, dense: DenseOutput, t: Vec, tolerance: float, users: bool) -> Vec:
    """Integrals from t[0] to all t of the power that comes from no potential; of users' forces with one, too, if asked
    for."""
    steps = dense.steps
    first, last = min(t[0], t[-1]), max(t[0], t[-1])
    ends = np.union1d(t, steps[(steps > first) & (steps < last)])
    work = np.zeros(len(ends))
    length = max(float(ends[-1] - ends[0]), 1e-300)
    powers = [_power(Interpretation(problem.workspace), users) for problem in segments.problems]
    numbers = np.array([segments.number(0.5 * float(a + b)) for a, b in pairwise(ends)], dtype=np.int64)
    for number in np.unique(numbers):
        mine = np.flatnonzero(numbers == number)
        for first in range(0, len(mine), _TOGETHER):
            some = mine[first : first + _TOGETHER]
            work[some + 1] = _over(powers[number], dense, ends[some], ends[some + 1], tolerance / length, _HALVINGS)
    since = np.cumsum(work)[np.searchsorted(ends, t)]
    return np.asarray(since - since[0])


def _power(interpretation: Interpretation, users: bool) -> Callable[[Vec, Mat], Vec]:
    def power(t: Vec, y: Mat) -> Vec:
        found = interpretation.power(t, y)
        return np.asarray(found.sum(axis=-1) if users else found[..., 0])

    return power


def _over(power: Callable[[Vec, Mat], Vec], dense: DenseOutput, a: Vec, b: Vec, tolerance: float, halvings: int) -> Vec:
    """The integrals from a (m,) to b (m,), with errors of about `tolerance` in each unit of time."""
    half = 0.5 * (b - a)
    times = (0.5 * (a + b)[:, None] + half[:, None] * _POINTS).ravel()
    values = power(times, dense(times)).reshape(len(a), len(_POINTS))
    fine, coarse = half * (values @ _KRONROD), half * (values @ _GAUSS)
    size = half * (np.abs(values) @ _KRONROD)
    error = np.abs(fine - coarse)
    doubtful = (error > 0.0) & (error < size)
    ratio = 200.0 * error[doubtful] / size[doubtful]
    error[doubtful] = np.minimum(error[doubtful], size[doubtful] * ratio**1.5)
    left = np.flatnonzero(~(error <= np.maximum(tolerance * (b - a), 1e-15 * size)))
    if halvings and len(left):
        middle = 0.5 * (a + b)[left]
        ends = np.concatenate([a[left], middle]), np.concatenate([middle, b[left]])
        halves = _over(power, dense, *ends, tolerance, halvings - 1)
        fine[left] = halves[: len(left)] + halves[len(left) :]
    return np.asarray(fine)
