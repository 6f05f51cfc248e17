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

from rbdae.graph.functions import Array, Memory, maximum, select
from rbdae.kernels.bodies.dynamics import collect_pulled_back
from rbdae.kernels.bodies.gather import clear_forces
from rbdae.kernels.bodies.natural import weigh
from rbdae.kernels.forces.elements import element_force
from rbdae.kernels.forces.reaction_friction import normal_force, reaction_load
from rbdae.kernels.linear import unit_quaternions
from rbdae.kernels.linear.saddle import add_joints, solve_saddle
from rbdae.kernels.memory import (
    constraint_side,
    friction_columns,
    friction_factors,
    friction_loads,
    friction_solution,
    frictions,
    head,
    multipliers,
    normals,
    right_hand_side,
    solution,
)

STEPS = 8

_SMALL = 1e-8
_NONE = 1e200
"""A factor, taken twice, of normal forces that do not exist: they become infinite."""


def _if_above(x: Any, y: Any) -> Any:
    """1 if x > y, else `_NONE`."""
    if hasattr(x, "recorder") or hasattr(y, "recorder"):
        return select(x > y, 1.0, _NONE)
    return 1.0 if x.real > y.real else _NONE


def make_columns(m: Memory) -> None:
    """`friction_columns`: (vdot_k, la_k) of a unit of each friction. Reads P, Q and the factors; changes the right-hand
    sides, `solution` and `multipliers`; the natural forces become the weight."""
    for k in range(head(m).n_frictions):
        _make_column(m, k)
    weigh(m)


def _make_column(m: Memory, k: int) -> None:
    h = head(m)
    clear_forces(m)
    normals(m)[k] = 1.0
    element_force(m, frictions(m)[k].element)
    collect_pulled_back(m, right_hand_side(m))
    side = constraint_side(m)
    for i in range(h.n_la):
        side[i] = 0.0
    if h.unit_norm == 1:
        unit_quaternions.pushed(m)
        add_joints(m)
    else:
        solve_saddle(m)
    column = friction_columns(m)[k]
    for i in range(h.n_v):
        column[i] = solution(m)[i]
    for i in range(h.n_la):
        column[h.n_v + i] = multipliers(m)[i]


def superpose_friction(m: Memory) -> None:
    """The normal forces, and what friction does to `solution` and `multipliers`, which are those without it. Reads
    `friction_columns`; leaves the factors of 1 - K."""
    h = head(m)
    vd = solution(m)
    la = multipliers(m)
    n = h.n_frictions
    N = normals(m)
    loads = friction_loads(m)
    for k in range(n):
        for l in range(n + 1):
            of = la if l == n else friction_columns(m)[l, h.n_v :]
            loads[k, 6 * l : 6 * l + 6] = reaction_load(m, k, of)
        N[k], _ = normal_force(m, k, loads[k, 6 * n : 6 * n + 6])
    for _ in range(STEPS):
        _newton_step(m)
    z = friction_solution(m)
    valid = 1.0 + 0.0 * vd[0]
    for k in range(n):
        valid *= _if_above(friction_factors(m)[k, k], 0.0)
        valid *= _if_above(_SMALL * N[k], abs(z[k]))
    for k in range(n):
        N[k] *= valid * valid
        column = friction_columns(m)[k]
        for i in range(h.n_v):
            vd[i] += N[k] * column[i]
        for i in range(h.n_la):
            la[i] += N[k] * column[h.n_v + i]


def _newton_step(m: Memory) -> None:
    """One step of Newton's method for `normals`, which is left in `friction_solution`."""
    n = head(m).n_frictions
    N = normals(m)
    z = friction_solution(m)
    F = friction_factors(m)
    for k in range(n):
        of = friction_loads(m)[k, : 6 * (n + 1)].reshape(n + 1, 6)
        normal, g = normal_force(m, k, of[n] + N[:n] @ of[:n])
        z[k] = N[k] - normal
        F[k, :n] = -(of[:n] @ g)
        F[k, k] += 1.0
        friction_loads(m)[k, 6 * (n + 1) :] = g
    for k in range(n):
        for i in range(k + 1, n):
            t = F[i, k] / F[k, k]
            F[i, k] = t
            for j in range(k + 1, n):
                F[i, j] -= t * F[k, j]
    solve_friction(m)
    for k in range(n):
        N[k] -= z[k]


def solve_friction(m: Memory) -> None:
    """`friction_solution` = (1 - K)^-1 times itself, by the factors."""
    n = head(m).n_frictions
    F = friction_factors(m)
    z = friction_solution(m)
    for i in range(1, n):
        for k in range(i):
            z[i] -= F[i, k] * z[k]
    for k in range(n - 1, -1, -1):
        for j in range(k + 1, n):
            z[k] -= F[k, j] * z[j]
        z[k] = z[k] / F[k, k]


def margins(m: Memory, out: Array) -> None:
    """out[k] = the smaller one of the pivot of friction k in 1 - K and of 1 - |R_k(la_k)|; out[n + k] = N. Follows
    `superpose_friction`."""
    n = head(m).n_frictions
    for k in range(n):
        out[n + k] = normals(m)[k]
    for k in range(n):
        alone, _ = normal_force(m, k, friction_loads(m)[k, 6 * k : 6 * k + 6])
        out[k] = -maximum(-friction_factors(m)[k, k], alone - 1.0)
