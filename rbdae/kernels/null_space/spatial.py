"""Quasi-velocities of the null-space forms with the spatial angular velocity omega in place of Omega.

The forms work in w = (xdot, Omega), and what becomes spatial are quasi-velocities:

* a root of a tree, and every body of a tree of spherical joints, has omega, so that with T* of [NS] (45), (46) and a
  chain of spherical joints the rows of T are those of Remark 4.6. nu = P nu_m with P = R^-T on three of them: T gets
  other columns;
* loops have nu = S (xdot, omega), so that the rows S P of the square system turn with the bodies.

P has no rate along the motion: (d/dt R^-T) Omega = R^-T (R^T omegadot - Omegadot) = 0, for all velocities. T^T h has
the T of nu, so that the reduced mass matrix is symmetric.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.spatial import (
    inverse_transposed,
    times_three,
    to_material,
)
from rbdae.kernels.memory import bodies, head, null_space, states
from rbdae.kernels.records import LOOPS, SPHERICAL_TREE

ROOT = -1
NONE = -1


def _place(m: Memory, b: int) -> Any:
    """The place of omega of a body among the quasi-velocities, or `NONE`."""
    o = bodies(m)[b]
    kind = head(m).structure
    if kind == LOOPS:
        return NONE
    if o.parent == ROOT:
        return o.inu + o.nt
    return o.inu if kind == SPHERICAL_TREE else NONE


def to_material_quasi_velocities(m: Memory, x: Array, order: int) -> None:
    """x = nu (order 1) or nudot (2): omega becomes Omega. Reads d; writes p, or pd."""
    for b in range(head(m).n_bodies):
        j = _place(m, b)
        if j == NONE:
            continue
        s = states(m)[b]
        p = s.p if order == 1 else s.pd
        for k in range(3):
            p[k] = x[j + k]
        to_material(s.d, p, x[j : j + 3])


def to_spatial_quasi_velocities(m: Memory, out: Array, row: int) -> None:
    """out[row:row + nnu]: of nudot, Omegadot becomes omegadot. Reads d; writes C."""
    for b in range(head(m).n_bodies):
        j = _place(m, b)
        if j != NONE:
            s = states(m)[b]
            inverse_transposed(s.d, s.C)
            times_three(s.C, out, row + j, out, row + j)


def turn_column(C: Array, F: Array, i: int, c: int) -> None:
    """F[i:i + 3, c] becomes C times it."""
    x = F[i, c]
    y = F[i + 1, c]
    z = F[i + 2, c]
    for k in range(3):
        F[i + k, c] = C[k, 0] * x + C[k, 1] * y + C[k, 2] * z


def turn_motion(m: Memory, w: Array) -> None:
    """w = (xdot, Omega) and the rows of T become those of (xdot, omega). Reads d; writes C."""
    h = head(m)
    T = null_space(m)
    for b in range(h.n_bodies):
        s = states(m)[b]
        i = bodies(m)[b].iv + bodies(m)[b].nt
        inverse_transposed(s.d, s.C)
        times_three(s.C, w, i, w, i)
        for c in range(h.n_nu):
            turn_column(s.C, T, i, c)


def turn_null_space(m: Memory) -> None:
    """T with the columns of omega in place of those of Omega = R^T omega. Reads d."""
    h = head(m)
    T = null_space(m)
    for b in range(h.n_bodies):
        j = _place(m, b)
        if j == NONE:
            continue
        d = states(m)[b].d
        for i in range(h.n_v):
            x = T[i, j]
            y = T[i, j + 1]
            z = T[i, j + 2]
            for k in range(3):
                T[i, j + k] = x * d[k] + y * d[3 + k] + z * d[6 + k]


def turn_reduced_forces(m: Memory, out: Array, row: int) -> None:
    """out[row:row + nnu]: T^T h with the T of Omega becomes that with the T of omega. Reads d; leaves the former in
    gx of the bodies."""
    for b in range(head(m).n_bodies):
        j = _place(m, b)
        if j == NONE:
            continue
        s = states(m)[b]
        for k in range(3):
            s.gx[k] = out[row + j + k]
        for k in range(3):
            out[row + j + k] = s.d[k] * s.gx[0] + s.d[3 + k] * s.gx[1] + s.d[6 + k] * s.gx[2]
