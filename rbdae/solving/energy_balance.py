"""Energy along a run: kinetic, potential and total, the work of what has no potential, and their balance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Self, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.kernels.records import ANGLE
from rbdae.multibody.joint_values import potentials
from rbdae.multibody.model import Model
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.quantities import Energy
from rbdae.solving.dense import DenseOutput
from rbdae.solving.segments import Segments

_SHARE = 0.03
"""The error of the work, in tolerances of the energy."""

_HALVINGS = 6

# Gauss's rule of three points and Kronrod's extension to seven, on (-1, 1)
_POINTS = np.array([0.9604912687080202834, 0.7745966692414833770, 0.4342437493468025580])
_POINTS = np.concatenate([-_POINTS, [0.0], _POINTS[::-1]])
_KRONROD = np.array([0.1046562260264672652, 0.2684880898683334407, 0.4013974147759622229])
_KRONROD = np.concatenate([_KRONROD, [0.4509165386584741423], _KRONROD[::-1]])
_GAUSS = np.array([0.0, 5.0 / 9.0, 0.0, 8.0 / 9.0, 0.0, 5.0 / 9.0, 0.0])


@final
@dataclass(frozen=True, eq=False)
class EnergyOfRun:
    """Energies at the times of a run, shape (m,), J.

    Attributes
    ----------
    kinetic, potential, total : as of `Problem.energy`
    work : what has no potential, drives, motors, dampers, applied loads, has done since the first time
    balance : change of the total energy since the first time, minus `work`: zero in the exact motion
    """

    kinetic: Vec
    potential: Vec
    total: Vec
    _work: Callable[[], Vec] = field(repr=False)

    @cached_property
    def work(self) -> Vec:
        """Work since the first time of all that has no potential: the integral of its power along the run, between the
        steps with ``solution(t)``, to a small part of the tolerance."""
        return self._work()

    def __reduce__(self) -> tuple[type[Self], tuple[Vec, Vec, Vec, Callable[[], Vec]]]:
        return type(self), (self.kinetic, self.potential, self.total, _Known(self.work))

    @cached_property
    def balance(self) -> Vec:
        """``total - total[0] - work``: by how much a run has gained or lost energy."""
        if not len(self.total):
            return np.empty(0)
        out: Vec = self.total - self.total[0] - self.work
        return out


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """Work that has been integrated, for a pickle or a copy of the energies alone."""

    work: Vec

    def __call__(self) -> Vec:
        return self.work


def is_conservative(model: Model) -> bool:
    """Whether nothing in a model does work but the weight and forces that have a potential."""
    elements = model.forces.elements
    constant_torque = (elements["shaping"] == ANGLE) & np.any(elements["constant"] != 0.0, axis=-1)
    conservative = (elements["holonomic"] == 1) & (elements["damped"] == 0) & (elements["law"] == 0) & ~constant_torque
    return not len(model.drives) and not np.any(model.bushings["damping"]) and bool(np.all(conservative))


def energy_of_run(
    segments: Segments, reader: Problem, dense: Callable[[], DenseOutput], t: Vec, y: Mat, rtol: float
) -> EnergyOfRun:
    """Energies of the rows (t, y) of a run; `reader` reads them by their times."""
    energy = reader.energy(t, y)

    def work() -> Vec:
        if not isinstance(reader, Problem):
            raise TypeError(f"only a rbdae.Problem knows the work of its forces and drives, not {reader!r}")
        if not len(t) or is_conservative(reader.model):
            return np.zeros(len(t))
        Z = reader.natural(t, y)
        stored = potentials(reader.workspace, t, Z, y[:, reader.layout.s]).sum(axis=-1)
        out: Vec = _integral(segments, dense(), t, _tolerance(energy, rtol)) + stored - stored[0]
        return out

    return EnergyOfRun(energy.kinetic, energy.potential, energy.total, work)


def _tolerance(energy: Energy, rtol: float) -> float:
    """Of the energy along a run."""
    size = float(np.max(energy.kinetic) + np.ptp(energy.potential))
    return _SHARE * rtol * (size if size > 0.0 else 1.0)


def _integral(segments: Segments, dense: DenseOutput, t: Vec, tolerance: float) -> Vec:
    """Integrals of the power of applied forces and drives from t[0] to all t."""
    steps = dense.steps
    ends = np.union1d(t, steps[(steps > t[0]) & (steps < t[-1])])
    work = np.zeros(len(ends))
    length = max(float(ends[-1] - ends[0]), 1e-300)
    interpretations = [Interpretation(problem.workspace) for problem in segments.problems]
    for k, (a, b) in enumerate(pairwise(ends)):
        interpretation = interpretations[segments.number(float(a))]
        work[k + 1] = _over(interpretation, dense, float(a), float(b), tolerance / length, _HALVINGS)
    return np.asarray(np.cumsum(work)[np.searchsorted(ends, t)])


def _over(
    interpretation: Interpretation, dense: DenseOutput, a: float, b: float, tolerance: float, halvings: int
) -> float:
    """The integral from a to b, with an error of about `tolerance` in each unit of time."""
    half = 0.5 * (b - a)
    times = 0.5 * (a + b) + half * _POINTS
    values = interpretation.power(times, dense(times))
    fine, coarse = half * float(_KRONROD @ values), half * float(_GAUSS @ values)
    size = half * float(_KRONROD @ np.abs(values))
    error = abs(fine - coarse)
    if 0.0 < error < size:
        error = min(error, size * (200.0 * error / size) ** 1.5)
    if halvings == 0 or error <= max(tolerance * (b - a), 1e-15 * size):
        return fine
    middle = 0.5 * (a + b)
    return sum(_over(interpretation, dense, *ends, tolerance, halvings - 1) for ends in ((a, middle), (middle, b)))


__all__ = ["EnergyOfRun", "energy_of_run", "is_conservative"]
