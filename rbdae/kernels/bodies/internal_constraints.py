"""Internal constraints of the bodies: unit norm of quaternions, orthonormal directors."""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory, address, vector_at
from rbdae.compiler.jit import stage
from rbdae.kernels.bodies import director_columns, director_rates
from rbdae.kernels.linear.small import dot
from rbdae.kernels.memory import bodies, head, states, tangent_memory, work
from rbdae.kernels.records import ANGULAR, DIRECTOR_RATE, QUATERNION_RATE
from rbdae.kernels.scatter import scatter, scatter_transposed
from rbdae.rotations.chart import internal_constraints


@stage("iiii")
def internal_residual(m: Memory, out_at: Address, row: int, level: int) -> None:
    """Internal constraints at the level of positions (0), of velocities or momenta (1), or of accelerations (2)."""
    out = vector_at(out_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    if h.kind == ANGULAR:
        return
    for b in range(h.n_bodies):
        s = S[b]
        r = row + B[b].il
        if h.columns == 1:
            director_columns.internal_residual(m, b, out_at, r, level)
        elif h.kind == DIRECTOR_RATE:
            director_rates.internal_residual(m, b, out_at, r, level)
        elif level == 0:
            out[r] = 0.5 * (dot(s.a, s.a, 4) - 1.0)
        elif level == 1:
            # momentum level: q . p, [BS09] (40)
            out[r] = dot(s.a, s.p, 4) if h.momenta == 1 else dot(s.a, s.w, 4)
        elif h.momenta == 1:
            out[r] = dot(s.a, s.pd, 4) + dot(s.p, s.w, 4)
        else:
            out[r] = dot(s.a, s.wd, 4) + dot(s.w, s.w, 4)


@stage("iiii", "corrected")
def add_internal_corrections(m: Memory, mu_at: Address, offset: int, out_at: Address) -> None:
    """out[:nq] += G_int^T mu with angular velocities, G_int = dg/da of the chart; mu from mu_at[offset:], body by body.
    Reads the placed bodies; writes `work`."""
    mu = vector_at(mu_at)
    out = vector_at(out_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    n = h.chart_internal
    if n == 0:
        return
    T = tangent_memory(m).block
    v = work(m)
    g = v[9:]
    for b in range(h.n_bodies):
        o = B[b]
        i = o.iq + o.nt
        if h.columns == 1:
            director_columns.column_products_tangent(address(S[b].a), 1.0, address(T), T.strides[0] // 8)
        for k in range(o.na):
            if h.columns == 0:  # a column is the rate along a unit vector
                for l in range(o.na):
                    v[l] = 1.0 if l == k else 0.0
                internal_constraints(h.chart, S[b].a, v, g, 0, n)
                for j in range(n):
                    T[j, k] = g[n + j]
            for j in range(n):
                out[i + k] += T[j, k] * mu[offset + n * b + j]


@stage("iiif")
def internal_columns(m: Memory, row: int, column: int, scale: float) -> None:
    """scale G_int^T in the rows of the dynamics and the columns of the multipliers."""
    scratch = tangent_memory(m)
    h = head(m)
    B = bodies(m)
    S = states(m)
    if h.kind == ANGULAR:
        return
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        r = row + o.iv + o.nt
        if h.kind == QUATERNION_RATE:
            for k in range(4):
                scatter(m, r + k, column + o.il, scale * s.a[k])
        else:
            director_rates.constraint_gradient(m, s.a, 1.0, scratch.block)
            scatter_transposed(m, r, column + o.il, scratch.block, 9, 6, scale)
