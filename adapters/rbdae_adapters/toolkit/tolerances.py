"""Absolute tolerances, first steps, and what a multistep code cannot test at higher index."""

from __future__ import annotations

from dataclasses import replace

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


def multipliers(problem: Solvable) -> Bools:
    """Unknowns without a rate that are no algebraic unknowns of forces: no equation needs more of them than Newton's
    method of the others leaves, but those of forces are solutions of equations of their own."""
    own = getattr(problem, "algebraic", None)
    without_rate = ~np.asarray(problem.differential)
    return without_rate if own is None else without_rate & ~np.asarray(own)


def loosened(problem: Solvable, rtol: float, atol: float | Vec, least: float) -> tuple[float, float | Vec]:
    """The tolerances, none of them tighter than the tightest that a method can use.

    Absolute tolerances of single unknowns keep their proportions: `least` is for the largest among the unknowns that
    every method tests, because those of small momenta are small for a reason.
    """
    if rtol >= least and np.ndim(atol) == 0 and (atol >= least or atol == 0.0):
        return rtol, atol
    tested = np.asarray(problem.differential) & (np.asarray(problem.variable_index) <= 1)
    largest = float(np.max(np.broadcast_to(atol, (problem.n,)), where=tested, initial=0.0))
    factor = least / largest if 0.0 < largest < least else 1.0
    return max(rtol, least), atol if factor == 1.0 else least if np.ndim(atol) == 0 else factor * np.asarray(atol)


def usable(problem: Solvable, request: Request, least: float) -> Request:
    """The request with tolerances that are `loosened`: a `Recorder` made with it reports them."""
    rtol, atol = loosened(problem, request.rtol, request.atol, least)
    if rtol == request.rtol and atol is request.atol:
        return request
    return replace(request, rtol=rtol, atol=atol)


def first_step(problem: Solvable, rtol: float, order: int = 1) -> float:
    """A first step of an order: changes the tested unknowns by about ``0.1 rtol^(1 / (order + 1))``, relative to 1.

    With constraints it does not become smaller below rtol = 1e-10: the multipliers would be noise. The error test
    shortens it if it must.
    """
    if problem.kind == "dae":
        rtol = max(rtol, 1e-10)
    tested = ~leaves_error_test(problem) & np.asarray(problem.differential)
    y, yd = np.asarray(problem.y0)[tested], np.asarray(problem.yd0)[tested]
    rate = float(np.max(np.abs(yd) / (1.0 + np.abs(y)), initial=0.0))
    return float(0.1 * rtol ** (1.0 / (order + 1)) / max(rate, 1.0))
