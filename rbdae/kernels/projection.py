"""Projection onto the constraint manifold; [NS], section 6.

Rotations first, explicitly: (63, P) for quaternions, [Klu76] and [Spu78] for directors. Then the joints by Newton's
method (steps are halved where a whole one does not reduce the violation) for (62, P),

    M (q - q*) + G^T chi = 0,  g(q) = 0,

in displacements of the velocity space (x, rotation), and (62, V), which is linear:

    M (v - v*) + G^T eta = 0,  G v + g_I = 0.

Equations that are left out for the moment, near a singular position, pull at neither: a violation delta would move
the state by delta/sigma. They are taken up again beyond.
"""

from __future__ import annotations

import numpy as np

from rbdae.compiler.access import address, vector_at
from rbdae.compiler.jit import entry, jit, stage
from rbdae.kernels.bodies.dynamics import apply_mass
from rbdae.kernels.bodies.natural import move, place, velocity_basis
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitives import primitive_residual, primitive_vectors, subtract_moving_rates
from rbdae.kernels.constraints.redundant_rows import clear_dropped
from rbdae.kernels.linear.saddle import factorise, solve_saddle
from rbdae.kernels.linear.schur import SUSPENDED
from rbdae.kernels.memory import bodies, factor, head, primitives, states
from rbdae.kernels.outputs import locate, violations
from rbdae.kernels.records import ANGULAR
from rbdae.kernels.scratch import (
    constraint_side,
    constraint_values,
    displacement,
    kept_positions,
    right_hand_side,
    solution,
    work,
)
from rbdae.rotations.chart import normalise, rate

# of a Newton step that does not reduce the violation
HALVINGS = 10


@stage("i")
def _normalise(m):
    """The rotation parameters of all bodies onto the chart's internal constraints."""
    h = head(m)
    S = states(m)
    if h.chart_internal > 0:
        for b in range(h.n_bodies):
            normalise(h.chart, S[b].a, S[b].s)


@jit
def _largest(x, first, n):
    t = 0.0
    for i in range(first, first + n):
        t = max(t, abs(x[i]))
        if np.isnan(x[i]):
            t = x[i]
            break
    return t


@jit
def _largest_that_counts(m, x):
    """Largest joint row of x without those that the last factorisation has left out."""
    C = primitives(m)
    D = factor(m)[1]
    t = 0.0
    for n in range(head(m).n_primitives):
        for k in range(C[n].n):
            if abs(D[C[n].slot[k]]) < SUSPENDED:
                t = max(t, abs(x[C[n].row + k]))
                if np.isnan(x[C[n].row + k]):
                    return x[C[n].row + k]
    return t


@stage("i")
def _displace(m):
    """q += the displacement in the scratch vector 3."""
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


@stage("iiif")
def _mass_times(m, v_at, out_at, scale):
    """out = scale M v for the velocities of all bodies."""
    v = vector_at(v_at)
    out = vector_at(out_at)
    B = bodies(m)
    S = states(m)
    for b in range(head(m).n_bodies):
        o = B[b]
        s = S[b]
        i = o.iv
        if o.nt == 3:
            for k in range(3):
                out[i + k] = scale * o.mass * v[i + k]
            i += 3
        for k in range(o.nr):
            s.ad[k] = v[i + k]
        apply_mass(m, b, s.ad, s.t)
        for k in range(o.nr):
            out[i + k] = scale * s.t[k]


@stage("ifii", "joints")
def _close_joints(m, tolerance, limit, count_at):
    """Newton's method for the joints from the gathered states; count[0] becomes the number of iterations, or -1: not
    converged."""
    count = vector_at(count_at)
    count[0] = _newton(m, tolerance, limit)


@jit
def _keep(m, back):
    """Positions from the states to the scratch vector 5, or back."""
    S = states(m)
    B = bodies(m)
    kept = kept_positions(m)
    i = 0
    for b in range(head(m).n_bodies):
        s = S[b]
        for k in range(3):
            if back:
                s.x[k] = kept[i + k]
            else:
                kept[i + k] = s.x[k]
        i += 3
        n = B[b].na
        for k in range(n):
            if back:
                s.a[k] = kept[i + k]
            else:
                kept[i + k] = s.a[k]
        i += n


@jit
def _newton(m, tolerance, limit):
    h = head(m)
    f = right_hand_side(m)
    rhs = constraint_side(m)
    step = solution(m)
    total = displacement(m)
    for i in range(h.n_v):
        total[i] = 0.0
    best = -1.0
    iteration = 0
    halvings = 0
    while True:
        place(m)
        primitive_vectors(m, 0)
        primitive_residual(m, address(rhs), 0, 0)
        if iteration == 0:
            error = _largest(rhs, h.n_internal, h.n_rows)
        else:
            error = _largest_that_counts(m, rhs)
        if error <= tolerance:
            return iteration
        if best >= 0.0:
            # at the rounding level the violation stops falling: that is convergence too
            if error >= 0.5 * best and error <= 1e3 * tolerance:
                return iteration
            # G step = -g: a step that is short enough does reduce the violation
            if not error < best and halvings < HALVINGS:
                halvings += 1
                _keep(m, True)
                for i in range(h.n_v):
                    step[i] *= 0.5
                    total[i] -= step[i]
                _displace(m)
                _normalise(m)
                continue
        if iteration == limit or np.isnan(error):
            return -1
        iteration += 1
        halvings = 0
        best = error
        velocity_basis(m)
        gradients(m)
        factorise(m)
        if h.singular != 0:
            return -1
        # nearest to the start as long as there is time; this converges linearly, Newton's method alone quadratically
        _mass_times(m, address(total), address(f), -1.0 if 2 * iteration <= limit + 1 else 0.0)
        for i in range(h.n_la):
            rhs[i] = 0.0 if i < h.n_internal else -rhs[i]
        clear_dropped(m, address(rhs), 0)
        solve_saddle(m)
        for i in range(h.n_v):
            total[i] += step[i]
        _keep(m, False)
        _displace(m)
        _normalise(m)


@stage("i")
def _velocities(m):
    """Velocity projection of the placed and moved states, to xd, w (and p, px)."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    velocity_basis(m)
    primitive_vectors(m, 1)
    gradients(m)
    factorise(m)
    if h.singular != 0:
        return
    v = work(m)
    for b in range(h.n_bodies):
        o = B[b]
        i = o.iv
        if o.nt == 3:
            for k in range(3):
                v[i + k] = S[b].xd[k]
            i += 3
        for k in range(o.nr):
            v[i + k] = S[b].w[k]
    _mass_times(m, address(v), address(right_hand_side(m)), 1.0)
    rhs = constraint_side(m)
    for i in range(h.n_internal):
        rhs[i] = 0.0
    C = primitives(m)
    for n in range(h.n_primitives):
        for k in range(C[n].n):
            rhs[C[n].row + k] = C[n].offset_rate[k]
    subtract_moving_rates(m, address(rhs))
    clear_dropped(m, address(rhs), 0)
    solve_saddle(m)
    v = solution(m)
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = o.iv
        if o.nt == 3:
            for k in range(3):
                s.xd[k] = v[i + k]
                s.px[k] = o.mass * v[i + k]
            i += 3
        for k in range(o.nr):
            s.w[k] = v[i + k]
        if h.momenta == 1:
            apply_mass(m, b, s.w, s.p)


@stage("ii")
def _scatter(m, y_at):
    """Positions and velocities of the states to y."""
    y = vector_at(y_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = o.iq
        if o.nt == 3:
            for k in range(3):
                y[i + k] = s.x[k]
            i += 3
        for k in range(o.na):
            y[i + k] = s.a[k]
        if h.structure != 0:
            continue
        i = h.n_q + o.iv
        if o.nt == 3:
            for k in range(3):
                y[i + k] = s.px[k] if h.momenta == 1 else s.xd[k]
            i += 3
        for k in range(o.nr):
            y[i + k] = s.p[k] if h.momenta == 1 else s.w[k]


@entry("itoo")
def project(m, t, y, info):
    """Project y in place.

    info: [0] position tolerance, [1] velocity tolerance, [2] iteration limit, [3] project positions, [4] project
    velocities; on return [5], [6] the violations found, [7] the Newton iterations (-1: not converged, -2: singular),
    [8] whether y changed.
    """
    h = head(m)
    set_time(m, t)
    locate(m, address(y))
    half = h.chart_internal * h.n_bodies + h.n_rows
    g = constraint_values(m)
    violations(m, address(g))
    info[5] = _largest(g, 0, half)
    info[6] = _largest(g, half, half)
    info[7] = 0.0
    info[8] = 0.0
    positions = info[3] != 0.0 and not info[5] <= info[0]
    velocities = info[4] != 0.0 and h.structure == 0 and (positions or not info[6] <= info[1])
    if positions:
        _normalise(m)
        if h.n_rows > 0:
            _close_joints(m, info[0], int(info[2]), address(info[7:8]))
        if info[7] < 0.0:
            if h.singular != 0:
                info[7] = -2.0
            return
        info[8] = 1.0
    if velocities:
        place(m)
        move(m)
        _velocities(m)
        if h.singular != 0:
            info[7] = -2.0
            return
        info[8] = 1.0
    if info[8] != 0.0:
        _scatter(m, address(y))
