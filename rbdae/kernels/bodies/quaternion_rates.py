"""Bodies with pdot, the rate of the quaternion, as rotational velocity."""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.memory import bodies, head, states
from rbdae.rotations.euler_map import euler_differential, euler_differential_transposed, euler_map
from rbdae.rotations.quaternion_algebra import (
    add_product,
    conjugate_product,
    extended,
)


def natural_velocity(p: Array, r: Array, out: Array) -> None:
    """out = Dphi(p) r."""
    a = 2.0 * p[0]
    b = 2.0 * p[1]
    c = 2.0 * p[2]
    e = 2.0 * p[3]
    r0 = r[0]
    r1 = r[1]
    r2 = r[2]
    r3 = r[3]
    out[0] = a * r0 + b * r1 - c * r2 - e * r3
    out[1] = e * r0 + c * r1 + b * r2 + a * r3
    out[2] = -c * r0 + e * r1 - a * r2 + b * r3
    out[3] = -e * r0 + c * r1 + b * r2 - a * r3
    out[4] = a * r0 - b * r1 + c * r2 - e * r3
    out[5] = b * r0 + a * r1 + e * r2 + c * r3
    out[6] = c * r0 + e * r1 + a * r2 + b * r3
    out[7] = -b * r0 - a * r1 + e * r2 + c * r3
    out[8] = a * r0 - b * r1 - c * r2 + e * r3


def natural_acceleration(m: Memory, b: int) -> None:
    """dddot = Dphi(p) pddot + 2 phi(pdot)."""
    s = states(m)[b]
    natural_velocity(s.a, s.wd, s.ddd)
    euler_map(s.w, s.t)
    for k in range(9):
        s.ddd[k] += 2.0 * s.t[k]


def natural_tangent(p: Array, D: Array) -> None:
    """D[:, :4] = Dphi(p)."""
    euler_differential(p, D)


def pull_back(p: Array, f: Array, out: Array) -> None:
    """out = Dphi(p)^T f."""
    euler_differential_transposed(p, f, out)


def mass(m: Memory, b: int, v: Array, out: Array) -> None:
    """out = 4 p o I (conj(p) o v), divided by |p|^4 with momenta."""
    o = bodies(m)[b]
    s = states(m)[b]
    t = 4.0 + 0.0 * s.a[0]
    if head(m).momenta == 1:
        n = s.a[0] * s.a[0] + s.a[1] * s.a[1] + s.a[2] * s.a[2] + s.a[3] * s.a[3]
        t = 4.0 / (n * n)
    conjugate_product(s.a, v, s.s)
    extended(o.radial, o.inertia, s.s, s.s)
    for k in range(4):
        out[k] = 0.0
    add_product(s.a, s.s, t, out)
