"""Internal constraints of the bodies: unit norm of quaternions, orthonormal directors."""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies import director_rates
from rbdae.kernels.linear.small import dot
from rbdae.kernels.memory import bodies, head, states, tangent_memory, work
from rbdae.kernels.records import ANGULAR, DIRECTOR_RATE
from rbdae.rotations.chart import internal_constraints


def internal_residual(m: Memory, out: Array, row: int, level: int) -> None:
    """Internal constraints at the level of positions (0), of velocities or momenta (1), or of accelerations (2)."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    if h.kind == ANGULAR:
        return
    for b in range(h.n_bodies):
        s = S[b]
        r = row + B[b].il
        if h.kind == DIRECTOR_RATE:
            director_rates.internal_residual(m, b, out, r, level)
        elif level == 0:
            out[r] = 0.5 * (dot(s.a, s.a, 4) - 1.0)
        elif level == 1:
            # momentum level: q . p, [BS09] (40)
            out[r] = dot(s.a, s.p, 4) if h.momenta == 1 else dot(s.a, s.w, 4)
        elif h.momenta == 1:
            out[r] = dot(s.a, s.pd, 4) + dot(s.p, s.w, 4)
        else:
            out[r] = dot(s.a, s.wd, 4) + dot(s.w, s.w, 4)


def add_internal_corrections(m: Memory, mu: Array, offset: int, out: Array) -> None:
    """out[:nq] += G_int^T mu with angular velocities, G_int = dg/da of the chart; mu from mu[offset:], body by body.
    Reads the placed bodies; writes `work`."""
    h = head(m)
    B = bodies(m)
    n = h.chart_internal
    if n == 0:
        return
    G = tangent_memory(m).block
    for b in range(h.n_bodies):
        i = B[b].iq + B[b].nt
        internal_gradient(m, b)
        for k in range(B[b].na):
            for j in range(n):
                out[i + k] += G[j, k] * mu[offset + n * b + j]


def internal_gradient(m: Memory, b: int) -> None:
    """`block`[:, :na] = G_int = dg/da of the chart. Reads a; writes `work`."""
    h = head(m)
    n = h.chart_internal
    na = bodies(m)[b].na
    G = tangent_memory(m).block
    v = work(m)
    g = v[9:]
    for k in range(na):  # a column is the rate along a unit vector
        for l in range(na):
            v[l] = 1.0 if l == k else 0.0
        constraints_of_body(m, b, v, g, 0, n)
        for j in range(n):
            G[j, k] = g[n + j]


def constraints_of_body(m: Memory, b: int, v: Array, out: Array, i: int, j: int) -> None:
    """out[i:] = g(a) of the chart, out[j:] = dg/da v."""
    a = states(m)[b].a
    if head(m).columns == 0:
        internal_constraints(head(m).chart, a, v, out, i, j)
        return
    for k in range(6):
        out[i + k] = -0.5 if k < 3 else 0.0
        out[j + k] = 0.0
    director_rates.add_constraints(m, a, a, out, i, 0.5)
    director_rates.add_constraints(m, a, v, out, j, 1.0)


def add_internal_forces(m: Memory, b: int, la: Array, out: Array, row: int) -> None:
    """out[row:row + nr] += G_int^T la of one body with coordinate velocities, for all multipliers la."""
    if head(m).kind == DIRECTOR_RATE:
        director_rates.add_constraint_forces(m, b, la, out, row)
        return
    for k in range(4):
        out[row + k] += la[bodies(m)[b].il] * states(m)[b].a[k]
