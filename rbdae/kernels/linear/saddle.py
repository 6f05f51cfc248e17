"""The saddle-point system [M G^T; G 0] (vdot, la) = (f, s): structure, factorisation, solution.

Each body is eliminated locally, w = N beta + Pi s (`reductions`). What remains is the Schur complement S = G A G^T of
the joints (`schur`).

Where a mechanism passes a singular position, pivots of S fall to zero and rise again: d = sigma^2, the square of the
sine between the gradient of a joint equation and those before it, in the metric of M^-1. An equation is suspended, with
multiplier zero, while its pivot is below its floor: the pivot counts as infinite, and because S is positive
semidefinite, what is solved is the system without the equation. The Jacobians follow by the same factors.
"""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.constraints.gradients import force_directions, moving_sides, side_rows, velocities_at
from rbdae.kernels.linear import reductions
from rbdae.kernels.linear.reductions import mass_times, particular, reduction
from rbdae.kernels.linear.schur import factorise_schur, solve_schur
from rbdae.kernels.memory import (
    bodies,
    constraint_side,
    head,
    multipliers,
    primitives,
    right_hand_side,
    rows,
    solution,
    states,
)
from rbdae.kernels.records import ANGULAR


def reduce_bodies(m: Memory, pulled: int) -> None:
    """N and Ji of all bodies (`reductions`); where `pulled` is 1 as the formulation takes it."""
    unit = pulled == 1 and head(m).unit_norm == 1
    for b, (o, s) in enumerate(zip(bodies(m)[:-1], states(m)[:-1], strict=True)):
        s.N[: o.nr], s.Ji[:] = reduction(m, b)
        if unit:
            s.Ji[:] = o.inertia_inverse


def factorise(m: Memory, pulled: int) -> None:
    """Reduce the bodies and factorise the joint Schur complement. Reads the gradients; writes N, Ji and `factor`;
    head.singular becomes 0, or 1 + the place of the first vanishing pivot (redundant or singular constraints). The
    columns of the joints are G^T, or where `pulled` is 1 the directions W of the formulation's forces."""
    reduce_bodies(m, pulled)
    head(m).singular = 0
    if head(m).n_rows > 0:
        factorise_schur(m, pulled)


def solve_saddle(m: Memory) -> None:
    """vdot and la. Reads `right_hand_side` (f), `constraint_side` (s) and the factors; writes `solution` and
    `multipliers`."""
    f, side, vd = right_hand_side(m), constraint_side(m), solution(m)
    for b, (o, s) in enumerate(zip(bodies(m)[:-1], states(m)[:-1], strict=True)):
        i = o.iv + o.nt
        vd[o.iv : i] = f[o.iv : i] / o.mass
        load = f[i : i + o.nr]
        if head(m).kind == ANGULAR:
            vd[i : i + 3] = s.Ji @ load
        else:
            u, N = particular(m, b, side[o.il : o.il + o.ni]), s.N[: o.nr]
            vd[i : i + o.nr] = u + N @ (s.Ji @ (N.T @ (load - mass_times(m, b, u))))
    add_joints(m)


def add_joints(m: Memory) -> None:
    """The joints' multipliers and what they do to `solution`, which is that of bodies without joints; then the internal
    multipliers. Reads as `solve_saddle` does."""
    if head(m).n_rows > 0:
        _solve_joints(m, constraint_side(m), solution(m), multipliers(m))
    if head(m).kind != ANGULAR:
        internal_multipliers(m)


def _solve_joints(m: Memory, s: Array, vd: Array, la: Array) -> None:
    """S la = G vdot - s, and vdot -= A G^T la. Reads the gradients and factors."""
    x = np.zeros(head(m).n_rows, dtype=vd.dtype)
    for p, r in zip(primitives(m), rows(m), strict=True):
        of_sides = [side_rows(r, side, p.n, o) @ vd[velocities_at(o)] for side, _, o in moving_sides(m, p)]
        x[p.slot[: p.n]] = sum(of_sides, -s[p.row : p.row + p.n])
    solve_schur(m, x)
    for p, r in zip(primitives(m), rows(m), strict=True):
        of_joint = la[p.row : p.row + p.n] = x[p.slot[: p.n]]
        for side, b, o in moving_sides(m, p):
            i = o.iv + o.nt
            vd[o.iv : i] -= r.Gx[side, : p.n, : o.nt].T @ of_joint / o.mass
            vd[i : i + o.nr] -= states(m)[b].N[: o.nr] @ (r.HJ[side, : p.n].T @ of_joint)


def internal_multipliers(m: Memory) -> None:
    """la_int from G_int^T la_int = f - M vdot - W la of the joints (W = G^T, but for the forms of [SNS15]). Writes
    `multipliers`."""
    f, vd, la = right_hand_side(m), solution(m), multipliers(m)
    parts = [slice(o.iv + o.nt, o.iv + o.nt + o.nr) for o in bodies(m)[:-1]]
    F = [f[part] - mass_times(m, b, vd[part]) for b, part in enumerate(parts)]
    for i, (p, r) in enumerate(zip(primitives(m), rows(m), strict=True)):
        for side, b, o in moving_sides(m, p):
            W = force_directions(m, i, side, o.nr) if head(m).forms == 1 else r.Gw[side, : p.n, : o.nr]
            F[b] = F[b] - W.T @ la[p.row : p.row + p.n]
    for b, o in enumerate(bodies(m)[:-1]):
        la[o.il : o.il + o.ni] = reductions.internal_multipliers(m, b, F[b])
