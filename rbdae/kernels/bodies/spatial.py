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
from rbdae.rotations.vectors import frame, reciprocal


def to_material(d: Array, om: Array, out: Array) -> None:
    """out[:3] = R^T om; d holds the columns of R."""
    out[:3] = frame(d).T @ om[:3]


def inverse_transposed(d: Array, C: Array) -> None:
    """C = R^-T."""
    C[:3, :3] = reciprocal(frame(d))


def times_three(C: Array, x: Array, i: int, out: Array, j: int) -> None:
    """out[j:j + 3] = C x[i:i + 3]; the same place is allowed."""
    out[j : j + 3] = C[:3, :3] @ x[i : i + 3]


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
    """omega = R^-T w."""
    s = states(m)[b]
    s.p[:3] = reciprocal(frame(s.d)) @ s.w[:3]


def to_spatial_rates(m: Memory) -> None:
    """`solution`: Omegadot becomes omegadot."""
    vd = solution(m)
    for b in range(head(m).n_bodies):
        i = bodies(m)[b].iv + bodies(m)[b].nt
        vd[i : i + 3] = reciprocal(frame(states(m)[b].d)) @ vd[i : i + 3]
