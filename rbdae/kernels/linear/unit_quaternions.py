"""Accelerations of bodies with quaternion rates where |p| = 1 is taken for granted.

Euler's equations give the material angular acceleration, which is mapped back. With conj(p) o pdot = (W0, W), the
inertia I = diag(J0, J) and the moment n about the body's axes,

    pddot = -(pdot . pdot) p + p o (0, b),
    b     = J^-1 n / 2 - 2 J^-1 (W x J W) - 2 W0 W + 2 J0 W0 J^-1 W.

On the unit sphere that is [NS] (40) for every pdot, W0 = p . pdot = 0 or not. Off the sphere it is another
continuation: p . pddot + pdot . pdot = (pdot . pdot) (1 - |p|^2), so that |p| swings about 1 where (40) lets it drift.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.linear.small import dot
from rbdae.kernels.memory import bodies, constraint_side, head, right_hand_side, solution, states
from rbdae.rotations.algebra import spin_transposed
from rbdae.rotations.quaternion_algebra import add_product, conjugate_product


def reduce(m: Memory) -> None:
    """Ji = J^-1 of all bodies."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        for i in range(3):
            for j in range(3):
                s.Ji[i, j] = o.inertia_inverse[i, j]


def free_accelerations(m: Memory) -> None:
    """Accelerations of all bodies without joints to `solution`. Reads d, fd, `right_hand_side` (of xdot) and
    `constraint_side`."""
    f = right_hand_side(m)
    side = constraint_side(m)
    vd = solution(m)
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        i = o.iv + o.nt
        for k in range(o.iv, i):
            vd[k] = f[k] / o.mass
        _half_rate(m, b)
        for k in range(4):
            vd[i + k] = side[o.il] * s.a[k]
        add_product(s.a, s.s, 1.0, vd[i : i + 4])


def _half_rate(m: Memory, b: int) -> None:
    """s = (0, b). Coefficients of products of two of W are numbers of the model: in principal axes three are not 0."""
    o = bodies(m)[b]
    s = states(m)[b]
    J = o.inertia
    Ji = o.inertia_inverse
    conjugate_product(s.a, s.w, s.s)
    spin_transposed(s.d, s.fd, s.t)
    w0 = s.s[1]
    w1 = s.s[2]
    w2 = s.s[3]
    turned = -2.0 * s.s[0]
    radial = 2.0 * o.radial * s.s[0]
    for k in range(3):
        g0 = Ji[k, 0]
        g1 = Ji[k, 1]
        g2 = Ji[k, 2]
        s.ad[k] = (
            2.0 * (g0 * (J[1, 1] - J[2, 2]) - g1 * J[0, 1] + g2 * J[0, 2]) * (w1 * w2)
            + 2.0 * (g0 * J[0, 1] + g1 * (J[2, 2] - J[0, 0]) - g2 * J[1, 2]) * (w2 * w0)
            + 2.0 * (g1 * J[1, 2] - g0 * J[0, 2] + g2 * (J[0, 0] - J[1, 1])) * (w0 * w1)
            + 2.0 * (g1 * J[0, 2] - g2 * J[0, 1]) * (w0 * w0)
            + 2.0 * (g2 * J[0, 1] - g0 * J[1, 2]) * (w1 * w1)
            + 2.0 * (g0 * J[1, 2] - g1 * J[0, 2]) * (w2 * w2)
            + turned * s.s[1 + k]
            + radial * (g0 * w0 + g1 * w1 + g2 * w2)
            + (0.5 * g0 * s.t[0] + 0.5 * g1 * s.t[1] + 0.5 * g2 * s.t[2])
        )
    s.s[0] = 0.0 * w0
    for k in range(3):
        s.s[1 + k] = s.ad[k]


def pushed(m: Memory) -> None:
    """What natural forces alone do to `solution` without joints. Reads d, fd and `right_hand_side` (of xdot)."""
    f = right_hand_side(m)
    vd = solution(m)
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        i = o.iv + o.nt
        for k in range(o.iv, i):
            vd[k] = f[k] / o.mass
        spin_transposed(s.d, s.fd, s.t)
        s.s[0] = 0.0
        for k in range(3):
            g = o.inertia_inverse[k]
            s.s[1 + k] = 0.5 * g[0] * s.t[0] + 0.5 * g[1] * s.t[1] + 0.5 * g[2] * s.t[2]
        for k in range(4):
            vd[i + k] = 0.0
        add_product(s.a, s.s, 1.0, vd[i : i + 4])


def balance(m: Memory, out: Array, row: int) -> None:
    """The equations that these accelerations solve. out[row:]: the dynamics, for the rotation J (w' / 2 - b) and a 0;
    the unit norm divided by |p|^2 at its place among the constraints. Reads the natural forces, which contain those of
    the joints."""
    h = head(m)
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        i = row + o.iv + o.nt
        for k in range(o.nt):
            out[row + o.iv + k] = o.mass * s.xdd[k] - s.fx[k]
        _half_rate(m, b)
        for k in range(3):
            s.ad[k] = s.s[1 + k]
        n = 1.0 / dot(s.a, s.a, 4)
        conjugate_product(s.a, s.wd, s.s)
        for k in range(3):
            s.ad[k] = n * s.s[1 + k] - s.ad[k]
        out[row + h.n_v + o.il] = n * s.s[0] + dot(s.w, s.w, 4)
        J = o.inertia
        for k in range(3):
            out[i + k] = 2.0 * (J[k, 0] * s.ad[0] + J[k, 1] * s.ad[1] + J[k, 2] * s.ad[2])
        out[i + 3] = 0.0 * s.ad[0]
