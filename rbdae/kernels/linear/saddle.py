"""The saddle-point system [M G^T; G 0] (vdot, la) = (f, s): structure, factorisation, solution.

Each body is eliminated locally. Its velocities are split into N alpha (three numbers), which respect the internal
constraints, and a particular part; both are closed forms:

* quaternion: N = T_p(p), reduced mass |p|^4 J, particular p s / |p|^2; [NS] (39), (40), here for every norm and radial
  inertia;
* directors: N = the rows omega^ D^-T, reduced mass tr(E') I - E' with E' = D^-T E D^-1, particular H D^-T with
  H D^T D^-T + ... = s, H symmetric; no 15 x 15 factorisation, [NS] (23), and exact off the manifold, too;
* angular: nothing to split.

What remains is the Schur complement S = G A G^T of the joints (`schur`).

Where a mechanism passes a singular position, pivots of S fall to zero and rise again: d = sigma^2, the square of the
sine between the gradient of a joint equation and those before it, in the metric of M^-1. An equation is suspended, with
multiplier zero, while its pivot is below its floor: the pivot counts as infinite, and because S is positive
semidefinite, what is solved is the system without the equation. The Jacobians follow by the same factors.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.dynamics import apply_mass
from rbdae.kernels.constraints.gradients import force_directions, plus_side
from rbdae.kernels.linear import (
    director_reduction,
    quaternion_reduction,
    unit_quaternions,
)
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
    tangent_memory,
    unbalanced,
    work,
)
from rbdae.kernels.records import ANGULAR, DIRECTOR_RATE, QUATERNION_RATE


def reduce_bodies(m: Memory, pulled: int) -> None:
    """N (the identity for angular velocities) and Ji, the inverse of the reduced rotational mass, of all bodies; where
    `pulled` is 1 as the formulation takes it. Directors leave C = D^-T, too."""
    h = head(m)
    for b in range(h.n_bodies):
        if h.kind == QUATERNION_RATE:
            quaternion_reduction.reduce(m, b)
        elif h.kind == DIRECTOR_RATE:
            director_reduction.reduce(m, b)
        else:
            o = bodies(m)[b]
            s = states(m)[b]
            for i in range(3):
                for j in range(3):
                    s.Ji[i, j] = o.inertia_inverse[i, j]
    if pulled == 1 and h.unit_norm == 1:
        unit_quaternions.reduce(m)


def factorise(m: Memory, pulled: int) -> None:
    """Reduce the bodies and factorise the joint Schur complement. Reads the gradients; writes N, Ji and `factor`;
    head.singular becomes 0, or 1 + the place of the first vanishing pivot (redundant or singular constraints). The
    columns of the joints are G^T, or where `pulled` is 1 the directions W of the formulation's forces."""
    reduce_bodies(m, pulled)
    h = head(m)
    h.singular = 0
    if h.n_rows > 0:
        factorise_schur(m, pulled)


def particular(m: Memory, b: int, s_int: Array, il: int, out: Array) -> None:
    """out = velocities of one body with G_int out = s[il:]."""
    if head(m).kind == QUATERNION_RATE:
        quaternion_reduction.particular(m, b, s_int, il, out)
    else:
        director_reduction.particular(m, b, s_int, il, out)


def solve_saddle(m: Memory) -> None:
    """vdot and la. Reads `right_hand_side` (f), `constraint_side` (s) and the factors; writes `solution` and
    `multipliers`."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    f = right_hand_side(m)
    vd = solution(m)
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = o.iv + o.nt
        for k in range(o.iv, i):
            vd[k] = f[k] / o.mass
        if h.kind == ANGULAR:
            for k in range(3):
                vd[i + k] = s.Ji[k, 0] * f[i] + s.Ji[k, 1] * f[i + 1] + s.Ji[k, 2] * f[i + 2]
        else:
            _solve_body(m, b)
    add_joints(m)


def add_joints(m: Memory) -> None:
    """The joints' multipliers and what they do to `solution`, which is that of bodies without joints; then the internal
    multipliers. Reads as `solve_saddle` does."""
    h = head(m)
    if h.n_rows > 0:
        _solve_joints(m)
    if h.kind != ANGULAR:
        internal_multipliers(m)


def _solve_body(m: Memory, b: int) -> None:
    """The rotational velocities of one body without joints: the particular part and N Ji N^T (f - M particular)."""
    o = bodies(m)[b]
    s = states(m)[b]
    f = right_hand_side(m)
    vd = solution(m)
    i = o.iv + o.nt
    particular(m, b, constraint_side(m), o.il, s.ad)
    apply_mass(m, b, s.ad, s.t)
    a0 = 0.0 * f[i]
    a1 = a0
    a2 = a0
    for k in range(o.nr):
        t = f[i + k] - s.t[k]
        a0 += s.N[k, 0] * t
        a1 += s.N[k, 1] * t
        a2 += s.N[k, 2] * t
    b0 = s.Ji[0, 0] * a0 + s.Ji[0, 1] * a1 + s.Ji[0, 2] * a2
    b1 = s.Ji[1, 0] * a0 + s.Ji[1, 1] * a1 + s.Ji[1, 2] * a2
    b2 = s.Ji[2, 0] * a0 + s.Ji[2, 1] * a1 + s.Ji[2, 2] * a2
    for k in range(o.nr):
        vd[i + k] = s.ad[k] + s.N[k, 0] * b0 + s.N[k, 1] * b1 + s.N[k, 2] * b2


def _solve_joints(m: Memory) -> None:
    """Multipliers of the joints, and what they do to `solution`. Reads the gradients and factors."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    C = primitives(m)
    R = rows(m)
    la = multipliers(m)
    rhs = constraint_side(m)
    vd = solution(m)
    x = work(m)
    for n in range(h.n_primitives):
        p = C[n]
        for k in range(p.n):
            t = -rhs[p.row + k]
            for side in range(2):
                if B[p.body[side]].fixed == 0:
                    t = plus_side(t, m, n, side, k, vd)
            x[p.slot[k]] = t
    solve_schur(m, x)
    for n in range(h.n_primitives):
        p = C[n]
        r = R[n]
        for k in range(p.n):
            la[p.row + k] = x[p.slot[k]]
        for side in range(2):
            b = p.body[side]
            o = B[b]
            if o.fixed == 1:
                continue
            i = o.iv
            if o.nt == 3:
                for j in range(3):
                    t = r.Gx[side, 0, j] * la[p.row]
                    for k in range(1, p.n):
                        t += r.Gx[side, k, j] * la[p.row + k]
                    vd[i + j] -= t / o.mass
                i += 3
            s = S[b]
            for j in range(3):
                t = r.HJ[side, 0, j] * la[p.row]
                for k in range(1, p.n):
                    t += r.HJ[side, k, j] * la[p.row + k]
                if h.kind == ANGULAR:
                    vd[i + j] -= t
                else:
                    for k in range(o.nr):
                        vd[i + k] -= s.N[k, j] * t


def internal_multipliers(m: Memory) -> None:
    """la_int from G_int^T la_int = f - M vdot - W la of the joints (W = G^T, but for the forms of [SNS15]):
    p . (...) / |p|^2, or Lambda = F D^-1. Writes `multipliers` and `unbalanced`."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    C = primitives(m)
    R = rows(m)
    la = multipliers(m)
    f = right_hand_side(m)
    vd = solution(m)
    F = unbalanced(m)
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = o.iv + o.nt
        for k in range(o.nr):
            s.ad[k] = vd[i + k]
        apply_mass(m, b, s.ad, s.t)
        for k in range(o.nr):
            F[i + k] = f[i + k] - s.t[k]
    for n in range(h.n_primitives):
        p = C[n]
        r = R[n]
        for side in range(2):
            o = B[p.body[side]]
            if o.fixed == 1:
                continue
            i = o.iv + o.nt
            W = r.Gw[side]
            if h.forms == 1:
                force_directions(m, n, side, o.nr)
                W = tangent_memory(m).work[side]
            for j in range(o.nr):
                for k in range(p.n):
                    F[i + j] -= W[k, j] * la[p.row + k]
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = o.iv + o.nt
        if h.kind == QUATERNION_RATE:
            n2 = s.a[0] * s.a[0] + s.a[1] * s.a[1] + s.a[2] * s.a[2] + s.a[3] * s.a[3]
            la[o.il] = (s.a[0] * F[i] + s.a[1] * F[i + 1] + s.a[2] * F[i + 2] + s.a[3] * F[i + 3]) / n2
        else:
            director_reduction.internal_multipliers(m, b)
