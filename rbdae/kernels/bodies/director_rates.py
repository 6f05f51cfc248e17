"""Bodies with ddot, the rates of the directors, as velocity, or with the momentum that belongs to them."""

from __future__ import annotations

from rbdae.compiler.access import Address, Array, Memory, select, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies.spatial import inverse_transposed
from rbdae.kernels.memory import bodies, head, multipliers, states
from rbdae.rotations.algebra import add_row_products


@stage("ii", "director-rate momenta")
def velocity_of_momentum(m: Memory, b: int) -> None:
    """w = E^-1 p."""
    s = states(m)[b]
    euler_tensor_times(bodies(m)[b].euler_inverse, s.p, s.w)


@stage("ii", "director-rate momenta")
def acceleration_of_momentum(m: Memory, b: int) -> None:
    """wdot = E^-1 pdot."""
    s = states(m)[b]
    euler_tensor_times(bodies(m)[b].euler_inverse, s.pd, s.wd)


POLAR_STEPS = 6
"""Newton's method for the polar factor is converged after them if the stretch is between 0.3 and 3.4."""


@stage("iif", "director-rate")
def turn_with_rotation(m: Memory, b: int, angular: float) -> None:
    """R of D = R S to the directors, and R Omega^ of ddot S^-1 to their rates, if `angular` is 1: omega stays, which is
    that of ddot D^-1. Reads a and w; writes them, with momenta p."""
    s = states(m)[b]
    d = s.s
    om = s.t
    for k in range(9):
        d[k] = s.a[k]
        om[k] = 0.0
    inverse_transposed(d, s.C)
    for i in range(3):
        for k in range(3):
            k1 = (k + 1) % 3
            k2 = (k + 2) % 3
            om[k] += 0.5 * (s.C[k1, i] * s.w[3 * i + k2] - s.C[k2, i] * s.w[3 * i + k1])
    for _ in range(POLAR_STEPS):
        inverse_transposed(d, s.C)
        for i in range(3):
            for k in range(3):
                d[3 * i + k] = 0.5 * (d[3 * i + k] + s.C[k, i])
    for k in range(3):
        k1 = (k + 1) % 3
        k2 = (k + 2) % 3
        for i in range(0, 9, 3):
            s.a[i + k] = select(angular > 0.5, d[i + k], s.a[i + k])
            s.w[i + k] = select(angular > 0.5, om[k1] * d[i + k2] - om[k2] * d[i + k1], s.w[i + k])
    if head(m).momenta == 1:
        euler_tensor_times(bodies(m)[b].euler, s.w, s.p)


@jit
def euler_tensor_times(E: Array, v: Array, out: Array) -> None:
    """out_i = sum_j E_ij v_j over the directors."""
    for i in range(3):
        for k in range(3):
            out[3 * i + k] = E[i, 0] * v[k] + E[i, 1] * v[3 + k] + E[i, 2] * v[6 + k]


@stage("iiii", "director-rate")
def dynamics_residual(m: Memory, b: int, out_at: Address, r: int) -> None:
    """out[r:r + 9] = E vdot (or pdot) - t + G_int^T la."""
    out = vector_at(out_at)
    o = bodies(m)[b]
    s = states(m)[b]
    la = multipliers(m)
    if head(m).momenta == 1:
        for k in range(9):
            s.ad[k] = s.pd[k]
    else:
        euler_tensor_times(o.euler, s.wd, s.ad)
    l0 = la[o.il]
    l1 = la[o.il + 1]
    l2 = la[o.il + 2]
    l3 = la[o.il + 3]
    l4 = la[o.il + 4]
    l5 = la[o.il + 5]
    for j in range(0, 9, 3):
        out[r + j] = s.ad[j] - s.t[j] + l0 * s.a[j] + l3 * s.a[j + 1] + l4 * s.a[j + 2]
        out[r + j + 1] = s.ad[j + 1] - s.t[j + 1] + l3 * s.a[j] + l1 * s.a[j + 1] + l5 * s.a[j + 2]
        out[r + j + 2] = s.ad[j + 2] - s.t[j + 2] + l4 * s.a[j] + l5 * s.a[j + 1] + l2 * s.a[j + 2]


@jit
def symmetric(l: Array, il: int, out: Array) -> None:
    """out[:3, :3] = the symmetric matrix of the six multipliers of a body."""
    for k in range(3):
        out[k, k] = l[il + k]
    out[0, 1] = l[il + 3]
    out[1, 0] = l[il + 3]
    out[0, 2] = l[il + 4]
    out[2, 0] = l[il + 4]
    out[1, 2] = l[il + 5]
    out[2, 1] = l[il + 5]


@stage("iiiii", "director-rate")
def internal_residual(m: Memory, b: int, out_at: Address, r: int, level: int) -> None:
    """D D^T = I at the three levels, [NS] (19)."""
    out = vector_at(out_at)
    s = states(m)[b]
    for k in range(6):
        out[r + k] = 0.0
    if level == 0:
        add_row_products(s.a, s.a, out, r, 0.5)
        for k in range(3):
            out[r + k] -= 0.5
    elif level == 1:
        add_row_products(s.a, s.w, out, r, 1.0)
    else:
        add_row_products(s.a, s.wd, out, r, 1.0)
        add_row_products(s.w, s.w, out, r, 1.0)


@stage("iiii", "director-rate")
def mass(m: Memory, b: int, v_at: Address, out_at: Address) -> None:
    """out = E v on each component of the directors."""
    v = vector_at(v_at)
    out = vector_at(out_at)
    E = bodies(m)[b].euler
    for j in range(3):
        for k in range(3):
            out[3 * j + k] = E[j, 0] * v[k] + E[j, 1] * v[3 + k] + E[j, 2] * v[6 + k]
