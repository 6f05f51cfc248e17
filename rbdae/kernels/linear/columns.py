"""The saddle-point system for many right-hand sides at once, on symbols: derivatives of its solution are made of it.

`solve_columns` has the factors that `rbdae.kernels.linear.saddle` has left, with w = N beta + Pi s of each body and
forces N^T f - Z s along beta, Z = N^T M Pi. These matrices belong to no column, so they are made once: the solution for
one vector in every column would make them again each time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Memory
from rbdae.kernels.bodies.dynamics import apply_mass_matrix
from rbdae.kernels.constraints.gradients import moving_sides
from rbdae.kernels.forces.reaction_friction import reaction_load
from rbdae.kernels.linear.friction_columns import solve_friction
from rbdae.kernels.linear.reductions import mass_times, particular
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE, SPATIAL_VELOCITIES
from rbdae.rotations.vectors import frame, reciprocal


def solve_columns(m: Memory, W: Any) -> None:
    """The rows [0, nv) of W become vdot, or pdot with momenta, in all its columns, those of the joints in the last n_la
    their multipliers; before, they hold f (nv) and s (nla)."""
    h, S, kept = m.head, m.saddle, []
    b = np.zeros((S.first + h.n_rows, W.shape[1]), dtype=object)
    for k, o in enumerate(m.bodies[:-1]):
        N, P, Z = _matrices(m, k)
        i = o.iv + o.nt
        w, internal = slice(i, i + o.nr), h.n_v + o.il + np.arange(o.ni)
        x, beta = S.body(k)
        f = W[i : i + 3] if h.unit_norm == 1 else N.T @ W[w]
        b[x], b[beta] = W[o.iv : i], (f - Z @ W[internal]) / S.shares[k]
        kept.append((slice(o.iv, i), w, N, P, W[internal]))
    for p, r in S.joints:
        at = S.places(p)
        b[at] = W[h.n_v + p.row :][: p.n]
        for side, k, o in moving_sides(m, p):
            b[at] -= (r.Gw[side, : p.n, : o.nr] @ kept[k][3]) @ kept[k][4]
    found = S.factors.solved(b)
    for p, _ in S.joints:
        W[h.n_v + p.row :][: p.n] = found[S.places(p)]
    for k, (at, w, N, P, internal) in enumerate(kept):
        x, beta = S.body(k)
        W[at] = found[x]
        if h.momenta == 1:
            W[at] *= m.bodies[k].mass
            N, P = mass_times(m, k, N), mass_times(m, k, P)
        W[w] = N @ found[beta] + P @ internal
    _add_friction(m, W)
    if h.spatial == SPATIAL_VELOCITIES:
        for (_, w, *_), state in zip(kept, m.states, strict=False):
            W[w] = reciprocal(frame(state.d)) @ W[w]


def _matrices(m: Memory, b: int) -> tuple[Any, Any, Any]:
    """N, Pi and N^T M Pi of a body."""
    h, o, s = m.head, m.bodies[b], m.states[b]
    N, P = s.N[: o.nr], np.zeros((o.nr, o.ni), dtype=object)
    Z = np.zeros((3, o.ni), dtype=object)  # for a quaternion M p is a multiple of p
    if h.unit_norm == 1:
        P[:, 0] = s.a[:4]
        return N, P, Z
    for c, unit in enumerate(np.eye(o.ni)):
        P[:, c] = particular(m, b, unit)
    return N, P, Z if h.kind in (ANGULAR, QUATERNION_RATE) else N.T @ mass_times(m, b, P)


def _add_friction(m: Memory, W: Any) -> None:
    """Solutions without friction become those with it. Follows `superpose_friction`."""
    h = m.head
    n = h.n_frictions
    if n == 0:
        return
    F = m.friction_columns[:, : h.n_v + h.n_la]
    if h.momenta == 1:
        for k in range(n):
            apply_mass_matrix(m, F[k], F[k], 1.0)
    of_loads = m.friction_loads[:, 6 * n + 6 :]
    for c in range(W.shape[1]):
        z = np.zeros(n, dtype=object)
        for k in range(n):
            z[k] = of_loads[k] @ reaction_load(m, k, W[h.n_v :, c])
        change = solve_friction(m, z) @ F
        change[h.n_v : h.n_v + h.n_internal] = 0.0  # internal multipliers are of no use here
        W[:, c] += change
