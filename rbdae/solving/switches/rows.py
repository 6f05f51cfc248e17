"""Runs of systems with redundant joint equations: which equations are left out is chosen anew where the choice wears.

A set of equations that carries the others at the start need not do so along the whole motion. After accepted steps the
smallest singular value of the equations that are kept is compared with that of all of them; where it has fallen to a
quarter of what it was when they were chosen, the run is interrupted and goes on from there with others. The motion does
not notice: positions and velocities stay, but for what they have drifted, the multipliers are distributed anew.

Where a mechanism of several loops passes a singular position, equations follow from the others for the moment alone.
Let sigma be the sine between the gradient of such an equation and those of the others; it passes zero linearly in time.
The motion is smooth, but the multiplier has a pole, la = F/sigma, with F the force that the mechanism cannot resist
there. A violation delta of the constraints makes an error delta/sigma in the acceleration, and velocities across the
motion grow as delta/sigma^2 on the way. Leaving the equation out makes an error F while sigma is small, so that of the
velocity is in proportion to sigma. Both are equal at sigma = (delta/F)^(1/3), which for the rounding to which states
are projected is about 1e-4, the root of `SINGULAR`; what is left is projected away beyond. ([BL96] regularises by
penalties, which act everywhere.)

That is done in the factorisation that the forms without multipliers and the projection share (`rbdae.kernels.linear.saddle`).
Without projection a passage leaves a drift that has grown some thousandfold by the next. Forms with multipliers as
unknowns have to follow them into the pole, and the null-space form, whose T has one too, is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Outcome, Request
from rbdae.multibody.constraint_matrix import SINGULAR, gradient, redundant_rows
from rbdae.solving import segments as relay
from rbdae.solving.singular import closeness, spans

if TYPE_CHECKING:
    from rbdae.problem.problem import Problem

LIMIT = 0.25
APART = 0.03
"""Of the motion from one look to the next, see `rbdae.solving.singular.spans`."""

CHANGE = 0.1
"""Of the logarithm of the product of singular values of the kept equations, below which nothing has worn."""

NEAR = 0.1
"""Other rows are not chosen where the joints are so many times nearer to a singular position than at the start."""


def strength(G: Mat, dropped: tuple[int, ...]) -> float:
    """Smallest singular value of the kept rows over the smallest that counts of all rows, rows scaled to one."""
    scale = np.linalg.norm(G, axis=1, keepdims=True)
    scale[scale == 0.0] = 1.0
    A = G / scale
    rank = len(A) - len(dropped)
    kept = np.linalg.svd(np.delete(A, dropped, axis=0), compute_uv=False)[rank - 1]
    return float(kept / np.linalg.svd(A, compute_uv=False)[rank - 1])


def run(problem: Problem, once: Callable[[Problem, Request], Outcome], request: Request) -> Outcome:
    """Run a solver, and anew with other equations wherever the present ones are worn."""
    model = problem.model
    first = problem.dropped
    better = first
    start = closeness(problem, np.asarray(problem.t0), problem.y0)
    fresh = strength(gradient(model, np.asarray(problem.t0), problem.natural(problem.t0, problem.y0)), first)
    # the joints move slowly against the steps of a fine tolerance
    span = spans(problem)
    seen = problem.y0[problem.layout.q] / span
    volume = problem.joint_volumes(problem.t0, problem.y0)

    def worn(t: float, y: Vec) -> bool:
        nonlocal better, fresh, seen, volume
        here = y[problem.layout.q] / span
        # not a number is not far
        if not np.max(np.abs(here - seen)) > APART:
            return False
        seen = here
        present = problem.joint_volumes(t, y)
        if abs(present - volume) < CHANGE:
            return False
        volume = present
        G = gradient(model, np.asarray(t), problem.natural(t, y))
        if strength(G, problem.dropped) > LIMIT * fresh:
            return False
        if closeness(problem, np.asarray(t), y) < NEAR * start:
            return False
        rows = redundant_rows(model, G, prefer_trees=False, at_least=len(first))
        if len(rows) != len(first) or set(rows) == set(problem.dropped):
            return False  # a singular position, which no choice mends
        better, fresh, volume = rows, strength(G, rows), np.asarray(np.inf)
        return True

    try:
        return relay.run(problem, once, request, worn, lambda t, y: problem.with_dropped(better, t, y))
    finally:
        problem.drop(first)
        if problem.guarded:
            problem.guard(SINGULAR, problem.t0, problem.y0)


__all__ = ["run", "strength"]
