"""Derivatives along the motion of a problem at its start, by differences of order four."""

from __future__ import annotations

from typing import Any

import numpy as np

import rbdae

STEP = 5e-4
"""Angle by which bodies may turn within a step, and by which no unknown changes more."""


def along(problem: rbdae.Problem, f: Any) -> Any:
    """d/dt of f(t, y) at the start, with yd0."""
    states = problem.states(problem.t0, problem.y0).values()
    fastest = max(float(np.max(np.abs(s.angular_velocity))) for s in states)
    step = STEP / (1.0 + max(fastest, float(np.max(np.abs(problem.yd0)))))

    def at(k: int) -> Any:
        return np.asarray(f(problem.t0 + k * step, problem.y0 + k * step * problem.yd0))

    return (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * step)


def accelerations(problem: rbdae.Problem) -> tuple[Any, Any]:
    """Of the centres of mass, and material angular accelerations, from rates of natural coordinates."""

    def motion(t: float, y: Any) -> Any:
        states = problem.states(t, y)
        Z = problem.natural(t, y)
        rows = []
        for z, body in zip(Z, problem.system.bodies, strict=True):
            arm = np.zeros(3) if body.pivot is None else z[15:24].reshape(3, 3).T @ body.center_of_mass
            rows.append([*(z[12:15] + arm), *states[body.name].angular_velocity])
        return rows

    rates = along(problem, motion)
    return rates[:, :3], rates[:, 3:]
