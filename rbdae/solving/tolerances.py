"""Absolute tolerances by the size of what they belong to."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.problem.problem import Problem
from rbdae.solving.checks import check_problem


def scaled_atol(problem: Problem, tolerance: float) -> Vec:
    """Absolute tolerances (n,) for `solve`: `tolerance` for positions and velocities, in proportion for the rest.

    One number for all unknowns is meant for positions. Momenta of a body of some grams are 1e-5 where its velocity is
    1: an absolute tolerance of 1e-6 leaves them untested, and with them the velocities.

    - positions, orientations, velocities, internal states of forces: `tolerance`
    - momenta p = M v: `tolerance` times the largest entry of their row of M at the start, so that velocities have it
    - multipliers and their integrals: `tolerance` times the largest multiplier at the start, or times one that holds a
      motion of the model's own size and rate, if that is larger: those at the start may be zero;
      `tolerance` if they belong to the kinematic correction only, which moves positions

    Parameters
    ----------
    problem : from `rbdae.formulate`
    tolerance : in the units of the positions and velocities of the model; ValueError unless positive and finite
    """
    check_problem("scaled_atol", problem)
    out = np.full(problem.n, _check.positive("scaled_atol", "tolerance", tolerance, "pass e.g. 1e-6"))
    layout = problem.layout
    if problem.velocity == "momentum":
        out[layout.v] *= _masses(problem)
    la = slice(layout.la.start, layout.mu.stop)
    values = problem.y0 if not problem.differential[la].any() else problem.yd0
    if layout.la.stop > layout.la.start:
        out[la] *= max(float(np.max(np.abs(values[la]))), _multiplier(problem))
    return out


def _multiplier(problem: Problem) -> float:
    """The smallest multiplier that accelerates its row of g by its size times the square of the model's rate:
    la_i = size_i rate^2 / (G M^-1 G^T)_ii, with the largest entry in each row of M in its place."""
    scales, n_internal = problem.model.scales, problem.layout.n_internal
    sizes = np.concatenate([np.ones(n_internal), scales.sizes(scales.length)])
    G: Any = problem.matrices(problem.t0, problem.y0, sparse=True).G
    masses = _masses(problem)
    lightness = np.divide(1.0, masses, out=np.zeros_like(masses), where=masses > 0.0)
    compliance = np.asarray(G.power(2) @ lightness).ravel()
    compliance[[n_internal + row for row in problem.selection.rows.dropped]] = 0.0
    moved = compliance > 0.0  # rows of flat bodies, and quaternions without radial inertia, have none
    return float(np.min(sizes[moved] / compliance[moved], initial=np.inf)) * scales.rate**2 if moved.any() else 0.0


def _masses(problem: Problem) -> Vec:
    """The change of each momentum with a velocity, (n_v,)."""
    M: Any = problem.matrices(problem.t0, problem.y0, sparse=True).M
    return np.asarray(abs(M).max(axis=1).toarray()).ravel()
