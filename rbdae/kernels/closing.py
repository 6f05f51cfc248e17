"""Newton's method for the positions of the joints, nearest to the start in the mass metric; see `projection`."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Array, Memory, is_nan, maximum, select
from rbdae.kernels.bodies.dynamics import apply_mass_matrix
from rbdae.kernels.bodies.natural import place, velocity_basis
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitives import primitive_residual, primitive_vectors
from rbdae.kernels.constraints.redundant_rows import clear_dropped
from rbdae.kernels.linear.saddle import factorise, solve_saddle
from rbdae.kernels.linear.schur import SUSPENDED
from rbdae.kernels.memory import (
    bodies,
    constraint_side,
    displacement,
    factor,
    head,
    kept_positions,
    primitives,
    right_hand_side,
    solution,
    states,
)
from rbdae.kernels.records import ANGULAR
from rbdae.rotations.chart import normalise, rate

# of a Newton step that does not reduce the violation
HALVINGS = 10


def normalise_rotations(m: Memory) -> None:
    """The rotation parameters of all bodies onto the chart's internal constraints."""
    h = head(m)
    S = states(m)
    if h.chart_internal > 0:
        for b in range(h.n_bodies):
            normalise(h.chart, S[b].a, S[b].s)


def largest(x: Array, first: int, n: int, weights: Array) -> Any:
    """The largest magnitude in weights[:n] x[first:first + n], or NaN."""
    t = 0.0
    for i in range(n):
        t = maximum(t, weights[i] * abs(x[first + i]))
        if is_nan(x[first + i]):
            t = x[first + i]
            break
    return t


def largest_kept(m: Memory, x: Array, weights: Array) -> Any:
    """The largest weighted magnitude in the joint rows of x that the last factorisation has not suspended, or NaN."""
    C = primitives(m)
    D = factor(m)[1]
    first = head(m).n_internal
    t = 0.0
    for n in range(head(m).n_primitives):
        for k in range(C[n].n):
            if abs(D[C[n].slot[k]]) < SUSPENDED:
                t = maximum(t, weights[C[n].row + k - first] * abs(x[C[n].row + k]))
                if is_nan(x[C[n].row + k]):
                    return x[C[n].row + k]
    return t


def violation_of_joints(m: Memory, weights: Array, suspending: bool) -> Any:
    """The largest violation of a joint."""
    h = head(m)
    g = constraint_side(m)
    place(m)
    primitive_vectors(m, 0)
    primitive_residual(m, g, 0, 0)
    return largest_kept(m, g, weights) if suspending else largest(g, h.n_internal, h.n_rows, weights)


def displace(m: Memory) -> None:
    """q += the displacement in `solution`; rotations return to their internal constraints."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    d = solution(m)
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = o.iv
        if o.nt == 3:
            for k in range(3):
                s.x[k] += d[i + k]
            i += 3
        if h.kind == ANGULAR:
            for k in range(3):
                s.t[k] = d[i + k]
            rate(h.chart, s.a, s.t, s.ad)
            for k in range(o.na):
                s.a[k] += s.ad[k]
        else:
            for k in range(o.na):
                s.a[k] += d[i + k]
    normalise_rotations(m)


def keep(m: Memory) -> None:
    """Positions of the bodies to `kept_positions`."""
    kept = kept_positions(m)
    i = 0
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        for k in range(3):
            kept[i + k] = s.x[k]
        for k in range(bodies(m)[b].na):
            kept[i + 3 + k] = s.a[k]
        i += 3 + bodies(m)[b].na


def go_back(m: Memory, where: Any) -> None:
    """The way back, if `where` is 1."""
    kept = kept_positions(m)
    i = 0
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        for k in range(3):
            s.x[k] = select(where > 0.5, kept[i + k], s.x[k])
        for k in range(bodies(m)[b].na):
            s.a[k] = select(where > 0.5, kept[i + 3 + k], s.a[k])
        i += 3 + bodies(m)[b].na


def _halve_step(m: Memory) -> None:
    """Back to half of the last step. Reads `kept_positions`; changes `solution` and `displacement`."""
    step = solution(m)
    total = displacement(m)
    go_back(m, 1.0)
    for i in range(head(m).n_v):
        step[i] *= 0.5
        total[i] -= step[i]
    displace(m)


def take_step(m: Memory, pull: float) -> None:
    """One step: G step = -g, and M step = -pull M (displacement so far) in the directions that G leaves. Reads g in
    `constraint_side`; writes `solution`, `displacement` and `kept_positions`; or only head.singular."""
    h = head(m)
    g = constraint_side(m)
    step = solution(m)
    total = displacement(m)
    velocity_basis(m)
    gradients(m)
    factorise(m, 0)
    if h.singular != 0:
        return
    apply_mass_matrix(m, total, right_hand_side(m), -pull)
    for i in range(h.n_la):
        g[i] = 0.0 if i < h.n_internal else -g[i]
    clear_dropped(m, g, 0)
    solve_saddle(m)
    for i in range(h.n_v):
        total[i] += step[i]
    keep(m)
    displace(m)


def close_joints(m: Memory, tolerance: float, steady: float, limit: int, count: Array, weights: Array) -> None:
    """g = 0 from the gathered positions on, up to a tolerance of g times the weights of the joint rows, or to where
    it stops falling, below `steady`; count[0] becomes the number of iterations, or -1: not converged."""
    h = head(m)
    total = displacement(m)
    for i in range(h.n_v):
        total[i] = 0.0
    best = -1.0
    iteration = 0
    halvings = 0
    count[0] = -1.0
    while True:
        error = violation_of_joints(m, weights, iteration > 0)
        # at the rounding level the violation stops falling: that is convergence, too
        stalled = best >= 0.0 and error >= 0.5 * best and error <= steady
        if error <= tolerance or stalled:
            count[0] = iteration
            return
        # a step that is short enough does reduce the violation
        if best >= 0.0 and not error < best and halvings < HALVINGS:
            halvings += 1
            _halve_step(m)
            continue
        if iteration == limit or np.isnan(error):
            return
        iteration += 1
        halvings = 0
        best = error
        # nearest to the start in the first half; this converges linearly, Newton's method alone quadratically
        take_step(m, 1.0 if 2 * iteration <= limit + 1 else 0.0)
        if h.singular != 0:
            return
