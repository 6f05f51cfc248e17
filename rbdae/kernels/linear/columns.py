"""The saddle-point system for many right-hand sides at once, on symbols: derivatives of its solution are made of it.

`solve_columns` has the factors that `rbdae.kernels.linear.saddle` has left, with w = N beta + Pi s of each body,

    beta = Ri f - Zi s,    Ri = Ji N^T,    Zi = Ri M Pi,

where Pi s is the particular part. These matrices belong to no column, so they are made once: the solution for one
vector in every column would have up to 1.8 times the operations. Arrays are NumPy's, since only symbols come here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rbdae.graph.functions import Memory
from rbdae.kernels.bodies.dynamics import apply_mass, apply_mass_matrix
from rbdae.kernels.bodies.spatial import inverse_transposed
from rbdae.kernels.forces.reaction_friction import reaction_load
from rbdae.kernels.linear.friction_columns import solve_friction
from rbdae.kernels.linear.saddle import particular
from rbdae.kernels.linear.schur import solve_schur
from rbdae.kernels.memory import (
    bodies,
    factor_column,
    friction_columns,
    friction_loads,
    friction_solution,
    head,
    primitives,
    rows,
    states,
)
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE, SPATIAL_VELOCITIES


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
    for b in range(h.n_bodies):
        x, beta, w, s, N, P = parts[b]
        if h.momenta == 1:
            W[x] = W[x] * bodies(m)[b].mass
            N, P = _times_mass(m, b, N), _times_mass(m, b, P)
        if h.kind != ANGULAR:
            W[w] = N @ W[beta] + P @ W[s]
    _add_friction(m, W)
    if h.spatial == SPATIAL_VELOCITIES:
        for b in range(h.n_bodies):
            C = states(m)[b].C
            inverse_transposed(states(m)[b].d, C)
            W[parts[b].w] = C @ W[parts[b].w]


def _body(m: Memory, W: Any, b: int) -> _Body:
    """Solve for one body without joints, up to beta."""
    h = head(m)
    o = bodies(m)[b]
    turning = o.iv + o.nt
    x = slice(o.iv, turning)
    beta = slice(turning, turning + 3)
    w = slice(turning, turning + o.nr)
    s = slice(h.n_v + o.il, h.n_v + o.il + o.ni)
    W[x] = W[x] * (1.0 / o.mass)
    N, R, P, Z = _maps(m, b)
    W[beta] = R @ W[w] - Z @ W[s]
    return _Body(x, beta, w, s, N, P)


def _maps(m: Memory, b: int) -> Any:
    """N, Ri, Pi and Zi of one body."""
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    P = np.zeros((o.nr, o.ni), dtype=object)
    Z = np.zeros((3, o.ni), dtype=object)
    if h.kind == ANGULAR:
        return None, s.Ji, P, Z
    N = s.N[: o.nr]
    if h.unit_norm == 1:
        P[:, 0] = s.a[:4]
        return N, np.c_[s.Ji, np.zeros(3)], P, Z
    for c in range(o.ni):
        unit = np.zeros(o.ni)
        unit[c] = 1.0
        particular(m, b, unit, 0, P[:, c])
    R = s.Ji @ N.T
    if h.kind != QUATERNION_RATE:  # there M p is a multiple of p
        Z = _times_mass(m, b, R.T).T @ P
    return N, R, P, Z


def _times_mass(m: Memory, b: int, A: Any) -> Any:
    """M A for the rotational velocities of one body."""
    out = np.zeros(A.shape, dtype=object)
    for c in range(A.shape[1]):
        apply_mass(m, b, A[:, c], out[:, c])
    return out


def _solve_joints(m: Memory, W: Any, parts: Any) -> None:
    """Multipliers of the joints in their rows, and what they do to xdot and beta."""
    h = head(m)
    sides = []
    for n in range(h.n_primitives):
        p = primitives(m)[n]
        r = rows(m)[n]
        la = slice(h.n_v + p.row, h.n_v + p.row + p.n)
        W[la] = -W[la]
        for side in range(2):
            b = p.body[side]
            o = bodies(m)[b]
            if o.fixed == 1:
                continue
            part = parts[b]
            G = r.Gx[side, : p.n, : o.nt]
            W[la] = W[la] + G @ W[part.x] + r.H[side, : p.n] @ W[part.beta]
            W[la] = W[la] + r.Gw[side, : p.n, : o.nr] @ part.P @ W[part.s]
            sides.append((la, part, G.T * (1.0 / o.mass), r.HJ[side, : p.n].T))
    in_order = h.n_v + h.n_internal + factor_column(m)[h.n_factor :]
    x = W[in_order]
    for c in range(W.shape[1]):
        solve_schur(m, x[:, c])
    W[in_order] = x
    for la, part, of_x, of_beta in sides:
        W[part.x] = W[part.x] - of_x @ W[la]
        W[part.beta] = W[part.beta] - of_beta @ W[la]


def _add_friction(m: Memory, W: Any) -> None:
    """Solutions without friction become those with it. Follows `superpose_friction`."""
    h = head(m)
    n = h.n_frictions
    if n == 0:
        return
    F = friction_columns(m)
    if h.momenta == 1:
        for k in range(n):
            apply_mass_matrix(m, F[k], F[k], 1.0)
    of_joints = h.n_v + h.n_internal
    z = friction_solution(m)
    for c in range(W.shape[1]):
        for k in range(n):
            z[k] = friction_loads(m)[k, 6 * n + 6 :] @ reaction_load(m, k, W[h.n_v :, c])
        solve_friction(m)
        for k in range(n):
            W[: h.n_v, c] += F[k, : h.n_v] * z[k]
            W[of_joints:, c] += F[k, of_joints : h.n_v + h.n_la] * z[k]
