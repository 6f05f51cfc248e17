"""Runs of the toy pendulum by the BDF codes, as several test modules make them."""

from __future__ import annotations

from typing import Any

import numpy as np
import toy

import rbdae

FINAL = {"index-0": 1e-7, "index-1": 2e-7, "index-2": 2e-7, "index-3": 5e-6}
"""Error at t = 2 with rtol = atol = 1e-10. At index 3 the velocities are differences of positions: of 25 first steps
that differ by a thousandth, 24 end at 3e-8 to 1e-7, and one at 1e-6, with any linear solver."""


def solve(
    problem: toy.Pendulum, solver: str, t_end: float = 2.0, tol: float = 1e-10, **arguments: Any
) -> rbdae.Solution:
    """A run from 0 to `t_end` with both tolerances `tol`."""
    return rbdae.solve(problem, (0.0, t_end), solver=solver, rtol=tol, atol=tol, **arguments)


def error(solution: rbdae.Solution) -> float:
    """Largest error in positions and velocities."""
    return float(np.abs(solution.y - toy.exact(solution.t)[:, : solution.y.shape[1]])[:, :6].max())
