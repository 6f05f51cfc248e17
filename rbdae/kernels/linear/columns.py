"""The saddle-point system for many right-hand sides at once, on symbols: derivatives of its solution are made of it.

`solve_columns` has the factors that `rbdae.kernels.linear.saddle` has left, with w = N beta + Pi s of each body,

    beta = R f - Z s,    R = Ji N^T,    Z = R M Pi.

These matrices belong to no column, so they are made once: the solution for one vector in every column would have up to
1.8 times the operations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rbdae.graph.functions import Memory
from rbdae.kernels.bodies.dynamics import apply_mass_matrix
from rbdae.kernels.constraints.gradients import moving_sides
from rbdae.kernels.forces.reaction_friction import reaction_load
from rbdae.kernels.linear.friction_columns import solve_friction
from rbdae.kernels.linear.reductions import mass_times, particular
from rbdae.kernels.linear.schur import solve_schur
from rbdae.kernels.memory import (
    bodies,
    factor_column,
    friction_columns,
    friction_loads,
    head,
    primitives,
    rows,
    states,
)
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE, SPATIAL_VELOCITIES
from rbdae.rotations.vectors import frame, reciprocal


class _Body(NamedTuple):
    """Matrices of a body, and its rows in the columns: of xdot, of beta, which is what comes of w first, of w, of s."""

    x: slice
    beta: slice
    w: slice
    s: slice
    N: Any
    P: Any


def solve_columns(m: Memory, W: Any) -> None:
    """The rows [0, nv) of W become vdot, or pdot with momenta, in all its columns, those of the joints in the last n_la
    their multipliers; before, they hold f (nv) and s (nla)."""
    h = head(m)
    parts = [_body(m, W, b) for b in range(h.n_bodies)]
    _solve_joints(m, W, parts)
    for b, (x, beta, w, s, N, P) in enumerate(parts):
        if h.momenta == 1:
            W[x] = W[x] * bodies(m)[b].mass
            N, P = mass_times(m, b, N), mass_times(m, b, P)
        W[w] = N @ W[beta] + P @ W[s]
    _add_friction(m, W)
    if h.spatial == SPATIAL_VELOCITIES:
        for part, state in zip(parts, states(m), strict=False):
            W[part.w] = reciprocal(frame(state.d)) @ W[part.w]


def _body(m: Memory, W: Any, b: int) -> _Body:
    """Solve for one body without joints, up to beta."""
    h, o, s = head(m), bodies(m)[b], states(m)[b]
    i, at = o.iv + o.nt, h.n_v + o.il
    part = _Body(
        slice(o.iv, i),
        slice(i, i + 3),
        slice(i, i + o.nr),
        slice(at, at + o.ni),
        s.N[: o.nr],
        np.zeros((o.nr, o.ni), dtype=object),
    )
    W[part.x] = W[part.x] * (1.0 / o.mass)
    if h.unit_norm == 1:
        part.P[:, 0] = s.a[:4]
        W[part.beta] = s.Ji @ W[part.beta]
        return part
    for c, unit in enumerate(np.eye(o.ni)):
        part.P[:, c] = particular(m, b, unit)
    R = s.Ji @ part.N.T
    of_w = R @ W[part.w]
    if h.kind not in (ANGULAR, QUATERNION_RATE):  # for a quaternion M p is a multiple of p
        of_w = of_w - (mass_times(m, b, R.T).T @ part.P) @ W[part.s]
    W[part.beta] = of_w
    return part


def _solve_joints(m: Memory, W: Any, parts: list[_Body]) -> None:
    """Multipliers of the joints in their rows, and what they do to xdot and beta."""
    h, changes = head(m), []
    for p, r in zip(primitives(m), rows(m), strict=True):
        la = slice(h.n_v + p.row, h.n_v + p.row + p.n)
        W[la] = -W[la]
        for side, b, o in moving_sides(m, p):
            part = parts[b]
            Gx, Gw, H, HJ = r.Gx[side, : p.n, : o.nt], r.Gw[side, : p.n, : o.nr], r.H[side, : p.n], r.HJ[side, : p.n]
            W[la] = W[la] + Gx @ W[part.x] + H @ W[part.beta] + Gw @ part.P @ W[part.s]
            changes.append((part.x, Gx.T * (1.0 / o.mass), la))
            changes.append((part.beta, HJ.T, la))
    in_order = h.n_v + h.n_internal + factor_column(m)[h.n_factor :]
    x = W[in_order]
    solve_schur(m, x)
    W[in_order] = x
    for rows_of, change, la in changes:
        W[rows_of] = W[rows_of] - change @ W[la]


def _add_friction(m: Memory, W: Any) -> None:
    """Solutions without friction become those with it. Follows `superpose_friction`."""
    h = head(m)
    n = h.n_frictions
    if n == 0:
        return
    F = friction_columns(m)[:, : h.n_v + h.n_la]
    if h.momenta == 1:
        for k in range(n):
            apply_mass_matrix(m, F[k], F[k], 1.0)
    of_loads = friction_loads(m)[:, 6 * n + 6 :]
    for c in range(W.shape[1]):
        z = np.zeros(n, dtype=object)
        for k in range(n):
            z[k] = of_loads[k] @ reaction_load(m, k, W[h.n_v :, c])
        change = solve_friction(m, z) @ F
        change[h.n_v : h.n_v + h.n_internal] = 0.0  # internal multipliers are of no use here
        W[:, c] += change
