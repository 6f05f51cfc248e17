"""The user's forces in a step: F(t + h / 2, Z_mean, (Z1 - Z0) / h), the function at the mean.

Their work is F . (Z1 - Z0), and the change of momentum is that of F at Z_mean, which belongs to no rigid body. What
they have of a potential is exact where it is quadratic in Z, else of second order; with a `potential` they are
corrected, and the work of what has it is V0 - V1.

A force with a potential V is a discrete gradient, [Gon96]: Gonzalez' keeps energy by a correction along Z1 - Z0, and
with V as a function of invariants also momentum, by one along their gradients. Here it has no invariants of its own,
but a direction without their moment:

    F = F_mean + lambda D,   lambda = (V0 - V1 - F_mean . dZ) / (D . dZ),   dZ = Z1 - Z0,

with F_mean at t + h / 2, Z_mean and no rates, and both V at t + h / 2. D is dZ without its common motion. Over the
eight vectors z of Z at the mean, with the points x about the middle of both, and their increments dz,

    D = dz - om x z,   A om = sum z x dz,   A = sum (z . z I - z z^T).

om is that of least squares of |dz - om x z|, so sum z x D = 0, and the forces D on x are opposite: D has neither a
resultant nor a moment on both bodies together. D . dZ = D . D is zero only where all of dZ is a common motion of the
means, that is where no scalar product of the vectors changes; then the V of invariants does not change either.

The denominator has 1e-16 sum z . z in it: increments below 1e-8 of the size of z get no correction. There V0 - V1 -
F_mean . dZ, of the third order in dZ, is far below round-off. With dV/dZ = -F at the end the tangent is exact.
Lengths (m) and directors (1) are taken alike.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.forces.elements import gather
from rbdae.kernels.linear.small import inverse3
from rbdae.kernels.memory import element_memory, elements, head
from rbdae.kernels.user_functions import call_user_function

FLOOR = 1e-16
"""Of D . D, in units of sum z . z."""


def _cross(a: Array, b: Array, i: int, out: Array) -> None:
    """out[:3] += a x b, of vectors from the place i on."""
    out[0] += a[i + 1] * b[i + 2] - a[i + 2] * b[i + 1]
    out[1] += a[i + 2] * b[i] - a[i] * b[i + 2]
    out[2] += a[i] * b[i + 1] - a[i + 1] * b[i]


def _less_turn(om: Array, z: Array, out: Array) -> None:
    """out -= om x z, of eight vectors."""
    for a in range(8):
        i = 3 * a
        out[i] -= om[1] * z[i + 2] - om[2] * z[i + 1]
        out[i + 1] -= om[2] * z[i] - om[0] * z[i + 2]
        out[i + 2] -= om[0] * z[i + 1] - om[1] * z[i]


def _centred(Z: Array, out: Array) -> None:
    """Eight vectors, with the points about their middle."""
    for k in range(24):
        out[k] = Z[k]
    for k in range(3):
        out[k] = 0.5 * (Z[k] - Z[12 + k])
        out[12 + k] = -out[k]


def _solve(m: Memory) -> None:
    """om in w, A om = q, with the inverse of A in X."""
    c = element_memory(m)
    for k in range(3):
        c.w[k] = c.X[k, 0] * c.q[0] + c.X[k, 1] * c.q[1] + c.X[k, 2] * c.q[2]


def _direction(m: Memory) -> None:
    """z in g[0], D in g[1], the inverse of A in X, om in w, 1 / (D . D) in f[1]. Reads dZ in h[1], Z_mean in h[2]."""
    c = element_memory(m)
    z = c.g[0]
    D = c.g[1]
    _centred(c.h[2], z)
    _centred(c.h[1], D)
    size = 0.0 * z[0]
    for k in range(24):
        size += z[k] * z[k]
    for k in range(3):
        c.q[k] = 0.0
        for l in range(3):
            c.J[k, l] = size if k == l else 0.0
            for a in range(8):
                c.J[k, l] -= z[3 * a + k] * z[3 * a + l]
    for a in range(8):
        _cross(z, D, 3 * a, c.q)
    inverse3(c.J, c.X)
    _solve(m)
    _less_turn(c.w, z, D)
    n = FLOOR * size
    for k in range(24):
        n += D[k] * D[k]
    c.f[1] = 1.0 / n


def _place(m: Memory, along: float) -> None:
    """Z_mean + along dZ, and no rates, in Z."""
    c = element_memory(m)
    for k in range(24):
        c.Z[k] = c.h[2, k] + along * c.h[1, k]
        c.Z[24 + k] = 0.0


def _correction(m: Memory, i: int, h: float) -> None:
    """lambda in f[0], D in g[1]. Reads Z_mean and rates dZ / h in Z; leaves Z_mean, and no rates."""
    e = elements(m)[i]
    c = element_memory(m)
    t = head(m).time
    F = c.g[2]
    for k in range(24):
        c.h[1, k] = h * c.Z[24 + k]
        c.h[2, k] = c.Z[k]
        F[k] = 0.0
    _direction(m)
    c.s[0] = 0.0
    _place(m, -0.5)
    call_user_function(e.potential, t, c.Z, c.s)
    lost = c.s[0] + 0.0
    c.s[0] = 0.0
    _place(m, 0.5)
    call_user_function(e.potential, t, c.Z, c.s)
    lost -= c.s[0]
    _place(m, 0.0)
    call_user_function(e.force, t, c.Z, F)
    for k in range(24):
        lost -= F[k] * c.h[1, k]
    c.f[0] = c.f[1] * lost


def _direction_tangent(m: Memory, j: int) -> Any:
    """d(D . D)/dZ1 along the coordinate j, of the vector a: 2 D_a . E with E = e - om x e / 2. Writes dD in y: that of
    the vector is E, and all turn with A dom = e x D_a / 2 + z_a x E. Reads om in u."""
    c = element_memory(m)
    l = j % 3
    p = (l + 1) % 3
    q = (l + 2) % 3
    a = j - l
    D = c.g[1]
    E = c.r
    E[l] = 1.0
    E[p] = -0.5 * c.u[q]
    E[q] = 0.5 * c.u[p]
    c.q[l] = 0.0
    c.q[p] = -0.5 * D[a + q]
    c.q[q] = 0.5 * D[a + p]
    n = 0.0 * D[a]
    for k in range(24):
        c.y[k] = 0.0
        c.z[k] = 0.0
    for k in range(3):
        n += 2.0 * D[a + k] * E[k]
        c.z[a + k] = E[k]
    _cross(c.g[0], c.z, a, c.q)
    _solve(m)
    _centred(c.z, c.y)
    _less_turn(c.w, c.g[0], c.y)
    return n


def _add_tangent(m: Memory, i: int, h: float) -> None:
    """Add -d(lambda D)/dZ1, times h^2 / 2, to K. Reads Z_mean and rates in Z."""
    _correction(m, i, h)
    e = elements(m)[i]
    c = element_memory(m)
    t = head(m).time
    for k in range(1152):
        c.user[k] = 0.0
    call_user_function(e.jacobian, t, c.Z, c.user)
    for k in range(24):
        c.h[0, k] = 0.0
    _place(m, 0.5)
    call_user_function(e.force, t, c.Z, c.h[0])
    for k in range(3):
        c.u[k] = c.w[k]
    for j in range(24):
        lost = c.h[0, j] - c.g[2, j]
        for k in range(24):
            lost -= 0.5 * c.user[24 * k + j] * c.h[1, k]
        n = _direction_tangent(m, j)
        slope = c.f[1] * (lost - c.f[0] * n)
        for k in range(24):
            c.K[k, j] -= 0.5 * h * h * (slope * c.g[1, k] + c.f[0] * c.y[k])


def _mean(m: Memory, i: int, h: float) -> None:
    """Z_mean and (Z1 - Z0) / h of one element. Reads half of the increments as velocities."""
    gather(m, i)
    Z = element_memory(m).Z
    for k in range(24):
        Z[24 + k] = 2.0 / h * Z[24 + k]


def user_force(m: Memory, i: int, h: float) -> None:
    """h^2 / 2 times F of one element."""
    _mean(m, i, h)
    e = elements(m)[i]
    c = element_memory(m)
    for k in range(24):
        c.F[k] = 0.0  # what the function leaves out is not what another one has written
    call_user_function(e.force, head(m).time, c.Z, c.F)
    if e.potential != 0:
        _correction(m, i, h)
        for k in range(24):
            c.F[k] += c.f[0] * c.g[1, k]
    for k in range(24):
        c.F[k] = 0.5 * h * h * c.F[k]


def user_tangent(m: Memory, i: int, h: float) -> None:
    """K = -dF/dZ1 = -(dF/dZ / 2 + dF/dZdot / h), times h^2 / 2, and the tangent of the correction."""
    _mean(m, i, h)
    e = elements(m)[i]
    c = element_memory(m)
    for k in range(1152):
        c.user[k] = 0.0
    call_user_function(e.jacobian, head(m).time, c.Z, c.user)
    for k in range(24):
        for j in range(24):
            c.K[k, j] = -0.25 * h * h * c.user[24 * k + j] - 0.5 * h * c.user[576 + 24 * k + j]
    if e.potential != 0:
        _add_tangent(m, i, h)
