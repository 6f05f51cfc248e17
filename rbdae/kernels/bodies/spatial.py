"""Bodies with the spatial angular velocity omega as unknown: a change of variables, exact at both levels.

    Omega = R^T omega,    Omegadot = R^T omegadot,

because Rdot^T omega = -Omega x Omega = 0; so [NS] (1) in omega has M = R J R^T, G R^T and R psi (Remark 4.6). All
other kernels have w = Omega. Here omega (the field p of a state) and its rate (pd) become w and wd, and rates of w
become those of omega. The way back has the inverse, C = R^-T, so that it is exact off the internal constraints of
quaternions and directors, too.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.memory import bodies, head, solution, states


def to_material(d: Array, om: Array, out: Array) -> None:
    """out = R^T om; d holds the columns of R."""
    for i in range(3):
        out[i] = d[3 * i] * om[0] + d[3 * i + 1] * om[1] + d[3 * i + 2] * om[2]


def inverse_transposed(d: Array, C: Array) -> None:
    """C = R^-T: its columns are the cross products of the directors over their determinant."""
    for i in range(3):
        j = 3 * ((i + 1) % 3)
        k = 3 * ((i + 2) % 3)
        C[0, i] = d[j + 1] * d[k + 2] - d[j + 2] * d[k + 1]
        C[1, i] = d[j + 2] * d[k] - d[j] * d[k + 2]
        C[2, i] = d[j] * d[k + 1] - d[j + 1] * d[k]
    det = d[0] * C[0, 0] + d[1] * C[1, 0] + d[2] * C[2, 0]
    for i in range(3):
        for k in range(3):
            C[k, i] /= det


def times_three(C: Array, x: Array, i: int, out: Array, j: int) -> None:
    """out[j:j + 3] = C x[i:i + 3]; the same place is allowed."""
    a = x[i]
    b = x[i + 1]
    e = x[i + 2]
    for k in range(3):
        out[j + k] = C[k, 0] * a + C[k, 1] * b + C[k, 2] * e


def velocities(m: Memory) -> None:
    """w = R^T omega of all bodies."""
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        to_material(s.d, s.p, s.w)


def accelerations(m: Memory) -> None:
    """wdot = R^T omegadot of all bodies."""
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        to_material(s.d, s.pd, s.wd)


def spatial_velocity(m: Memory, b: int) -> None:
    """omega = R^-T w. Writes C, too."""
    s = states(m)[b]
    inverse_transposed(s.d, s.C)
    times_three(s.C, s.w, 0, s.p, 0)


def to_spatial_rates(m: Memory) -> None:
    """`solution`: Omegadot becomes omegadot. Writes C."""
    vd = solution(m)
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        i = o.iv + o.nt
        inverse_transposed(s.d, s.C)
        times_three(s.C, vd, i, vd, i)
