"""The friction under reactions where the multipliers are eliminated.

The saddle-point system is linear in the friction forces N_k d_k of the joints k,

    (vdot, la) = (vdot_0, la_0) + sum_k N_k (vdot_k, la_k),

with a column (vdot_k, la_k) for d_k alone, by the same factors. So N solves N_j = |R_j(la_0) + sum_k R_j(la_k) N_k|, as
many equations as there are such joints, by Newton's method from |R_j(la_0)|: `STEPS` of them, of which the last has to
be small. With 1 - K the matrix of Newton's method, K_jk = d|R_j| / dla la_k, the Jacobian of the right-hand side
solves

    [M, G^T - sum_k d_k dN_k/dla; G, 0] x = r,    x = x_0 + sum_k z_k (vdot_k, la_k),    (1 - K) z = dN/dla x_0,

where x_0 is the solution without friction. The pivots of 1 - K are 1 without friction. Where one of them, or
1 - |R_k(la_k)| of one joint alone, is no longer positive, N and the accelerations do not exist or are not unique:
Painleve's paradox, [Pai95]. Friction by reactions is that of [HWY86]; here it is solved for, not iterated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Array, Memory, maximum, select
from rbdae.kernels.bodies.dynamics import collect_pulled_back
from rbdae.kernels.bodies.gather import clear_forces
from rbdae.kernels.bodies.natural import weigh
from rbdae.kernels.forces.elements import Along
from rbdae.kernels.forces.reaction_friction import normal_force, reaction_load
from rbdae.kernels.linear import unit_quaternions
from rbdae.kernels.linear.saddle import add_joints, solve_saddle

STEPS = 8

_SMALL = 1e-8
_NONE = 1e200
"""A factor, taken twice, of normal forces that do not exist: they become infinite."""


def _if_above(x: Any, y: Any) -> Any:
    if hasattr(x, "recorder") or hasattr(y, "recorder"):
        return select(x > y, 1.0, _NONE)
    return 1.0 if x.real > y.real else _NONE


def make_columns(m: Memory) -> None:
    """`friction_columns`: (vdot_k, la_k) of a unit of each friction. Reads P, Q and the factors; changes the right-hand
    sides, `solution` and `multipliers`; the natural forces become the weight."""
    h = m.head
    for k, friction in enumerate(m.frictions):
        clear_forces(m)
        m.normals[k] = 1.0
        Along(m, friction.element).act()
        collect_pulled_back(m, m.right_hand_side)
        m.constraint_side[:] = 0.0
        if h.unit_norm == 1:
            unit_quaternions.free_accelerations(m, moved=False)
            add_joints(m)
        else:
            solve_saddle(m)
        m.friction_columns[k, : h.n_v + h.n_la] = np.concatenate([m.solution[: h.n_v], m.multipliers[: h.n_la]])
    weigh(m)


def superpose_friction(m: Memory) -> None:
    """The normal forces, and what friction does to `solution` and `multipliers`, which are those without it. Reads
    `friction_columns`; leaves R_k(la_l), R_k(la_0) and dN/dR in `friction_loads`, and the factors of 1 - K."""
    h = m.head
    n = h.n_frictions
    if n == 0:
        return
    vd, la, columns = m.solution, m.multipliers, m.friction_columns
    loads, F = m.friction_loads.reshape(n, n + 2, 6), m.friction_factors
    for k in range(n):
        loads[k, : n + 1] = [reaction_load(m, k, x) for x in (*columns[:, h.n_v :], la)]
    N = np.array([normal_force(m, k, loads[k, n])[0] for k in range(n)])
    for _ in range(STEPS):
        found = [normal_force(m, k, loads[k, n] + N @ loads[k, :n]) for k in range(n)]
        for k, (_, g) in enumerate(found):
            loads[k, n + 1] = g
            F[k] = np.eye(n)[k] - loads[k, :n] @ g
        _factorise(F)
        z = solve_friction(m, N - np.array([size for size, _ in found]))
        N = N - z
    valid = 1.0
    for k in range(n):
        valid = valid * _if_above(F[k, k], 0.0) * _if_above(_SMALL * N[k], abs(z[k]))
    N = N * (valid * valid)
    m.normals[:] = N
    vd[: h.n_v] += N @ columns[:, : h.n_v]
    la[: h.n_la] += N @ columns[:, h.n_v : h.n_v + h.n_la]


def _factorise(F: Array) -> None:
    n = len(F)
    for k in range(n):
        for i in range(k + 1, n):
            F[i, k] = F[i, k] / F[k, k]
            F[i, k + 1 :] -= F[k, k + 1 :] * F[i, k]


def solve_friction(m: Memory, z: Array) -> Array:
    """(1 - K)^-1 z, by the factors."""
    F, z = m.friction_factors, z.copy()
    for k in range(len(z)):
        z[k] -= F[k, :k] @ z[:k] if k else 0.0
    for k in reversed(range(len(z))):
        z[k] = (z[k] - (F[k, k + 1 :] @ z[k + 1 :] if k + 1 < len(z) else 0.0)) / F[k, k]
    return z


def margins(m: Memory, out: Array) -> None:
    """out[k] = min(pivot of friction k in 1 - K, 1 - |R_k(la_k)|), out[n + k] = N. Follows `superpose_friction`."""
    n = m.head.n_frictions
    N = m.normals.copy()
    out[n : 2 * n] = N
    for k in range(n):
        alone, _ = normal_force(m, k, m.friction_loads[k, 6 * k : 6 * k + 6])
        out[k] = -maximum(-m.friction_factors[k, k], alone - 1.0)
    m.normals[:] = N
