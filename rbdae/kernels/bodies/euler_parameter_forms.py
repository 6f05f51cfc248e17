"""The forms of [SNS15]: other gyroscopic terms and generalised forces of bodies with quaternion rates.

With L w = vect(conj(p) o w), L^T L = |p|^2 I - p p^T and the natural force fd on the directors, the dynamics are

    4 p o I (conj(p) o pddot) = gyroscopic + Q - W la - p la_norm

    gyroscopic: third order     g = 8 pdot o I (conj(pdot) o p)    (29), [NS] (33)
                fifth order     L^T L g                            (23)
    Q:          homogeneous     Dphi(p)^T fd                       2 H^T G^T f of (69), (75); linear in p
                moment          2 L^T n = L^T L Dphi(p)^T fd       (43), (59); cubic in p
                inhomogeneous   Dphi(p)^T fd + 2 p tr F            (62); F = [fd_1 fd_2 fd_3]

and all three Q are (d(ddot)/d(pdot))^T fd with another matrix in place of Dphi, the row basis U: Dphi, Dphi L^T L,
Dphi + 2 vec(I) p^T. W has the same Q of the joints' natural forces. The projected form (25) is L times (23) over
|p|^2,

    4 J L pddot = L (g + Dphi(p)^T fd),

with the row basis 2 T_d(d), because L Dphi(p)^T = 2 T_d(phi(p))^T for every p.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.linear.small import dot
from rbdae.kernels.memory import bodies, head, states
from rbdae.kernels.records import FIFTH_ORDER, INHOMOGENEOUS, MOMENT
from rbdae.rotations.euler_map import euler_differential, euler_differential_transposed
from rbdae.rotations.quaternion_algebra import (
    add_product,
    conjugate_product,
    extended,
)


def _onto_tangents(p: Array, f: Array) -> None:
    """f becomes L^T L f = |p|^2 f - p (p . f)."""
    n = dot(p, p, 4)
    t = dot(p, f, 4)
    for k in range(4):
        f[k] = n * f[k] - p[k] * t


def _trace(f: Array) -> float:
    """tr F."""
    t: float = f[0] + f[4] + f[8]
    return t


def pull_back(m: Memory, b: int) -> None:
    """t = Q."""
    h = head(m)
    s = states(m)[b]
    euler_differential_transposed(s.a, s.fd, s.t)
    if h.pull_back == MOMENT:
        _onto_tangents(s.a, s.t)
    elif h.pull_back == INHOMOGENEOUS:
        f = 2.0 * _trace(s.fd)
        for k in range(4):
            s.t[k] += f * s.a[k]


def add_gyroscopic(m: Memory, b: int) -> None:
    """t += the gyroscopic term; of the third order 8 Q(pdot) I Q(pdot)^T p, [NS] (33)."""
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.w, s.a, s.s)
    extended(o.radial, o.inertia, s.s, s.s)
    for k in range(4):
        s.ad[k] = 0.0
    add_product(s.w, s.s, 8.0, s.ad)
    if h.gyroscopic == FIFTH_ORDER:
        _onto_tangents(s.a, s.ad)
    for k in range(4):
        s.t[k] += s.ad[k]


def row_basis(m: Memory, b: int) -> None:
    """U, 9 x 4: the virtual velocities of the directors that the rows of the dynamics belong to."""
    h = head(m)
    s = states(m)[b]
    U = s.U
    euler_differential(s.a, U)
    if h.pull_back == MOMENT:
        for i in range(9):
            _onto_tangents(s.a, U[i])
    elif h.pull_back == INHOMOGENEOUS:
        for i in range(0, 9, 4):
            for k in range(4):
                U[i, k] += 2.0 * s.a[k]


# ---------------------------------------------------------------- the projected form (25)


def projected_residual(m: Memory, b: int, out: Array, r: int, level: int) -> None:
    """out[r:r + 3] = 4 J L pddot - L (g + Dphi^T fd), out[r + 3] = the unit norm at the level of velocities (1) or
    accelerations (2)."""
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.w, s.a, s.s)
    extended(0.0 * o.radial, o.inertia, s.s, s.s)
    euler_differential_transposed(s.a, s.fd, s.t)
    add_product(s.w, s.s, 8.0, s.t)
    conjugate_product(s.a, s.t, s.ad)
    conjugate_product(s.a, s.wd, s.s)
    extended(0.0 * o.radial, o.inertia, s.s, s.s)
    for k in range(3):
        out[r + k] = 4.0 * s.s[1 + k] - s.ad[1 + k]
    if level == 1:
        out[r + 3] = dot(s.a, s.w, 4)
    else:
        out[r + 3] = dot(s.a, s.wd, 4) + dot(s.w, s.w, 4)
