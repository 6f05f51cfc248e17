"""What a problem gives, as numbers without units, for the law that no unit of length, mass or time decides anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from inside import Vec
from redundant_systems import Units

import rbdae


def sizes(problem: rbdae.Problem, units: Units) -> Vec:
    """The units of (q, v) by their labels, as far as v has labels with units; nan elsewhere."""
    layout, turns = problem.layout, units.of(0, 0, -1)
    out = []
    for k, label in enumerate(problem.labels[: layout.v.stop]):
        name = label.rpartition(".")[2]
        if k < layout.q.stop:
            out.append(units.length if name in ("x", "y", "z") else 1.0)
        elif name in ("vx", "vy", "vz"):
            out.append(units.speed)
        elif name in ("px", "py", "pz"):
            out.append(units.mass * units.speed)
        elif name.startswith("pi_"):
            out.append(units.of(2, 1, -1))
        elif name.startswith("nu"):
            out.append(np.nan)
        else:
            out.append(turns)
    return np.array(out)


def natural(problem: rbdae.Problem, t: float, y: Vec, units: Units) -> Vec:
    """(x, d, xdot, ddot) of all bodies."""
    rate = units.of(0, 0, -1)
    row = np.repeat((units.length, 1.0, units.speed, rate), (3, 9, 3, 9))
    return np.asarray(problem.natural(t, y) / row)


def evaluations(problem: rbdae.Problem, units: Units) -> Iterator[tuple[str, Any]]:
    """Names and numbers, which are the same in all units."""
    t, y = problem.t0, problem.y0
    yield "redundant", problem.redundant
    yield "start", natural(problem, t, y, units)
    rates = problem.rates(t, y)[0][: problem.layout.v.stop] / sizes(problem, units) * units.time
    yield "rates", rates[np.isfinite(rates)]
    found = problem.reactions(t, y)
    yield "forces", np.array([r.force for joint in found.values() for r in joint.values()]) / units.force
    yield "torques", np.array([r.torque for joint in found.values() for r in joint.values()]) / units.torque
    yield "unique", [bool(np.all(r.unique)) for joint in found.values() for r in joint.values()]
    energy = problem.energy(t, y)
    yield "energy", np.array((energy.kinetic, energy.potential)) / units.torque
    step = np.where(np.isnan(sizes(problem, units)), 0.0, sizes(problem, units))
    near = y.copy()
    near[: len(step)] += 1e-3 * step * np.sin(np.arange(len(step)))
    yield "projected", natural(problem, t, problem.project(t, near, rbdae.Projection(max_iterations=30)), units)


def worst(found: rbdae.Problem, units: Units, wanted: list[tuple[str, Any]]) -> tuple[float, str]:
    """The largest difference from evaluations, over the largest number of its kind, and its name; infinite where words
    differ."""
    most, where = 0.0, ""
    for (name, a), (_, b) in zip(evaluations(found, units), wanted, strict=True):
        if isinstance(a, np.ndarray):
            size = 1.0 + float(np.max(np.abs(b), initial=0.0))
            error = float(np.max(np.abs(a - b), initial=0.0)) / size if a.shape == b.shape else np.inf
        else:
            error = 0.0 if a == b else np.inf
        if not error <= most:
            most, where = error, name
    return most, where
