"""A body with quaternion rates: its velocities without the internal constraint, and the way back.

See `rbdae.kernels.linear.saddle`.
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory, address, vector_at
from rbdae.compiler.jit import stage
from rbdae.kernels.bodies.dynamics import apply_mass
from rbdae.kernels.linear.small import product_transposed
from rbdae.kernels.memory import bodies, head, primitives, rhs_tangent, rows, states, tangent_memory, tangent_rows
from rbdae.kernels.row_operations import add_to, set_by_three
from rbdae.rotations.quaternion_algebra import quaternion_tangents


@stage("ii", "quaternion-rate")
def reduce(m: Memory, b: int) -> None:
    """N = T_p(p) and Ji = J^-1 / |p|^4, or J^-1 with momenta."""
    o = bodies(m)[b]
    s = states(m)[b]
    quaternion_tangents(s.a, s.N)
    t = 1.0 + 0.0 * s.a[0]
    if head(m).momenta == 0:
        t = s.a[0] * s.a[0] + s.a[1] * s.a[1] + s.a[2] * s.a[2] + s.a[3] * s.a[3]
        t = 1.0 / (t * t)
    for i in range(3):
        for j in range(3):
            s.Ji[i, j] = t * o.inertia_inverse[i, j]


@stage("iiiii", "quaternion-rate")
def particular(m: Memory, b: int, s_at: Address, il: int, out_at: Address) -> None:
    """out = p s / |p|^2, or with momenta p s / (4 J0)."""
    s_int = vector_at(s_at)
    out = vector_at(out_at)
    s = states(m)[b]
    n = s.a[0] * s.a[0] + s.a[1] * s.a[1] + s.a[2] * s.a[2] + s.a[3] * s.a[3]
    t = s_int[il] / n
    if head(m).momenta == 1:
        # the row is q . pdot = (4 J0 / |q|^2) q . w
        t *= n / (4.0 * bodies(m)[b].radial)
    for k in range(4):
        out[k] = t * s.a[k]


@stage("ii", "quaternion-rate")
def solve_tangent(m: Memory, b: int) -> None:
    """beta to the first three of the rows of f of one body; Zi = 0, because M p is a multiple of p. Writes Pi and
    Ri."""
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    W = rhs_tangent(m)
    X = tangent_rows(m)
    nc = h.rhs_tangent_width
    i = o.iv + o.nt
    s.s[0] = 1.0
    particular(m, b, address(s.s), 0, address(s.ad))
    for k in range(4):
        s.Pi[k, 0] = s.ad[k]
    product_transposed(s.Ji, s.N, 4, s.Ri)
    if h.unit_norm == 1:
        for k in range(4):
            s.Pi[k, 0] = s.a[k]
        for l in range(3):
            for j in range(3):
                s.Ri[l, j] = s.Ji[l, j]
            s.Ri[l, 3] = 0.0 * s.a[0]
    for l in range(3):
        set_by_three(X[l], W, i, nc, s.Ri[l])
    for l in range(3):
        add_to(X[l], W, i + 3, nc, s.Ri[l, 3])
    for l in range(3):
        for c in range(nc):
            W[i + l, c] = X[l, c]


@stage("iiii", "joints quaternion-rate")
def gradient(m: Memory, b: int, n: int, side: int) -> None:
    """GP = Gw Pi of one side of a primitive."""
    s = states(m)[b]
    r = rows(m)[n]
    GP = tangent_memory(m).GP
    for k in range(primitives(m)[n].n):
        g = r.Gw[side, k]
        GP[k, 0] = g[0] * s.Pi[0, 0] + g[1] * s.Pi[1, 0] + g[2] * s.Pi[2, 0] + g[3] * s.Pi[3, 0]


@stage("ii", "quaternion-rate momenta")
def momentum_maps(m: Memory, b: int) -> None:
    """M N and M Pi in place of N and Pi."""
    s = states(m)[b]
    for j in range(3):
        for k in range(4):
            s.ad[k] = s.N[k, j]
        apply_mass(m, b, s.ad, s.t)
        for k in range(4):
            s.N[k, j] = s.t[k]
    for k in range(4):
        s.ad[k] = s.Pi[k, 0]
    apply_mass(m, b, s.ad, s.t)
    for k in range(4):
        s.Pi[k, 0] = s.t[k]
