"""Bodies with the spatial angular velocity omega as unknown: a change of variables, exact at both levels.

    Omega = R^T omega,    Omegadot = R^T omegadot,

because Rdot^T omega = -Omega x Omega = 0; so [NS] (1) in omega has M = R J R^T, G R^T and R psi (Remark 4.6). All
other kernels have w = Omega. Here omega (the field p of a state) and its rate (pd) become w and wd, and rates of w
become those of omega. The way back has the inverse, C = R^-T, so that it is exact off the internal constraints of
quaternions and directors, too.
"""

from __future__ import annotations

from rbdae.graph.functions import Memory
from rbdae.kernels.memory import bodies, head, solution, states
from rbdae.rotations.vectors import frame, reciprocal


def velocities(m: Memory) -> None:
    """w = R^T omega of all bodies."""
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        s.w[:3] = frame(s.d).T @ s.p[:3]


def accelerations(m: Memory) -> None:
    """wdot = R^T omegadot of all bodies."""
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        s.wd[:3] = frame(s.d).T @ s.pd[:3]


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
