"""Absolute tolerances, first steps, and what a multistep code cannot test at higher index."""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Bools, Vec
from rbdae.adapter import Request, Solvable


def atol_vector(problem: Solvable, request: Request) -> Vec:
    """Absolute tolerances of all unknowns, shape (n,)."""
    return np.array(np.broadcast_to(request.atol, (problem.n,)), dtype=float)


def leaves_error_test(problem: Solvable) -> Bools:
    """Unknowns that a BDF code cannot test: index-2 multipliers, index-3 velocities and multipliers.

    Their error estimates do not vanish with the step size ([HW96] section VII.3).
    """
    return np.asarray(problem.variable_index >= 2)


def relaxed_atol(problem: Solvable, request: Request, *, loose: float) -> Vec:
    """`atol_vector` with `loose` for unknowns that leave the error test, for packages without a switch."""
    atol = atol_vector(problem, request)
    atol[leaves_error_test(problem)] = loose
    return atol


def first_step(problem: Solvable, rtol: float) -> float:
    """A first step of order 1: changes the tested unknowns by about ``0.1 sqrt(rtol)``, relative to 1.

    With constraints it does not become smaller below rtol = 1e-10: the multipliers would be noise. The error test
    shortens it if it must.
    """
    if problem.kind == "dae":
        rtol = max(rtol, 1e-10)
    tested = ~leaves_error_test(problem) & np.asarray(problem.differential)
    y, yd = np.asarray(problem.y0)[tested], np.asarray(problem.yd0)[tested]
    rate = float(np.max(np.abs(yd) / (1.0 + np.abs(y)), initial=0.0))
    return float(0.1 * np.sqrt(rtol) / max(rate, 1.0))


__all__ = ["atol_vector", "first_step", "leaves_error_test", "relaxed_atol"]
