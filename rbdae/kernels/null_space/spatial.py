"""Quasi-velocities of the null-space forms with the spatial angular velocity omega in place of Omega.

The forms work in w = (xdot, Omega), and what becomes spatial are quasi-velocities:

* a root of a tree, and every body of a tree of spherical joints, has omega, so that with T* of [NS] (45), (46) and a
  chain of spherical joints the rows of T are those of Remark 4.6. nu = P nu_m with P = R^-T on three of them: T, and
  the tangents of w and wdot, get other columns;
* loops have nu = S (xdot, omega), so that the rows S P of the square system turn with the bodies.

P has no rate along the motion: (d/dt R^-T) Omega = R^-T (R^T omegadot - Omegadot) = 0, for all velocities. T^T h has
the T of nu, so that the reduced mass matrix is symmetric.
"""

from __future__ import annotations

from typing import Any

from rbdae.compiler.access import Address, Array, Memory, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies.spatial import (
    add_product,
    add_turned,
    inverse_transposed,
    tangents,
    times_three,
    to_material,
)
from rbdae.kernels.memory import bodies, head, states, tangent_memory
from rbdae.kernels.records import LOOPS, SPHERICAL_TREE
from rbdae.kernels.scatter import scatter_block
from rbdae.kernels.scratch import (
    acceleration_by_nu,
    acceleration_by_q,
    null_space,
    reduced_tangent,
    solution,
    velocity_by_q,
)

ROOT = -1
NONE = -1


@jit
def _place(m: Memory, b: int) -> Any:
    """The place of omega of a body among the quasi-velocities, or `NONE`."""
    o = bodies(m)[b]
    kind = head(m).structure
    if kind == LOOPS:
        return NONE
    if o.parent == ROOT:
        return o.inu + o.nt
    return o.inu if kind == SPHERICAL_TREE else NONE


@stage("iii", "spatial")
def to_material_quasi_velocities(m: Memory, x_at: Address, order: int) -> None:
    """x = nu (order 1) or nudot (2): omega becomes Omega. Reads d; writes p, or pd."""
    x = vector_at(x_at)
    for b in range(head(m).n_bodies):
        j = _place(m, b)
        if j == NONE:
            continue
        s = states(m)[b]
        p = s.p if order == 1 else s.pd
        for k in range(3):
            p[k] = x[j + k]
        to_material(s.d, p, x[j : j + 3])


@stage("iii", "spatial")
def to_spatial_quasi_velocities(m: Memory, out_at: Address, row: int) -> None:
    """out[row:row + nnu]: of nudot, Omegadot becomes omegadot. Reads d; writes C."""
    out = vector_at(out_at)
    for b in range(head(m).n_bodies):
        j = _place(m, b)
        if j != NONE:
            s = states(m)[b]
            inverse_transposed(s.d, s.C)
            times_three(s.C, out, row + j, out, row + j)


@jit
def turn_column(C: Array, F: Array, i: int, c: int) -> None:
    """F[i:i + 3, c] becomes C times it."""
    x = F[i, c]
    y = F[i + 1, c]
    z = F[i + 2, c]
    for k in range(3):
        F[i + k, c] = C[k, 0] * x + C[k, 1] * y + C[k, 2] * z


@jit
def _turn_columns(T: Array, V: Array, j: int, n_rows: int) -> None:
    """T[:n_rows, j:j + 3] = that times V."""
    for i in range(n_rows):
        x = T[i, j]
        y = T[i, j + 1]
        z = T[i, j + 2]
        for k in range(3):
            T[i, j + k] = x * V[0, k] + y * V[1, k] + z * V[2, k]


@stage("ii", "spatial")
def turn_motion(m: Memory, w_at: Address) -> None:
    """w = (xdot, Omega) and the rows of T become those of (xdot, omega). Reads d; writes C."""
    w = vector_at(w_at)
    h = head(m)
    T = null_space(m)
    for b in range(h.n_bodies):
        s = states(m)[b]
        i = bodies(m)[b].iv + bodies(m)[b].nt
        inverse_transposed(s.d, s.C)
        times_three(s.C, w, i, w, i)
        for c in range(h.n_nu):
            turn_column(s.C, T, i, c)


@stage("ii", "spatial")
def turn_tangents(m: Memory, order: int) -> None:
    """T (order 0), with dw/dq (1), with dwdot/dq and dwdot/dnu (2) of nu and nudot with omega. Reads d, of order 1 D0
    and omega, of order 2 omegadot."""
    h = head(m)
    T = null_space(m)
    Q = velocity_by_q(m)
    A = acceleration_by_q(m)
    N = acceleration_by_nu(m)
    for b in range(h.n_bodies):
        j = _place(m, b)
        if j == NONE:
            continue
        s = states(m)[b]
        o = bodies(m)[b]
        q = o.iq + o.nt
        if order == 0:
            for i in range(3):
                for k in range(3):
                    s.V[i, k] = s.d[3 * i + k]
        else:
            tangents(m, b)
            add_product(T[:, j : j + 3], s.U, h.n_v, o.na, Q[:, q : q + o.na])
        if order == 2:
            add_product(N[:, j : j + 3], s.U, h.n_v, o.na, A[:, q : q + o.na])
            add_product(T[:, j : j + 3], s.Ud, h.n_v, o.na, A[:, q : q + o.na])
            _turn_columns(N, s.V, j, h.n_v)
        _turn_columns(T, s.V, j, h.n_v)


@stage("ii", "spatial")
def turn_reduced_rows(m: Memory, back: int) -> None:
    """The rows of `reduced_tangent` that belong to omega become those of Omega, R^-1 times them, or go back. Reads
    d."""
    h = head(m)
    F = reduced_tangent(m)
    for b in range(h.n_bodies):
        j = _place(m, b)
        if j == NONE:
            continue
        s = states(m)[b]
        inverse_transposed(s.d, s.C)
        for c in range(h.states_at + h.n_states):
            x = F[j, c]
            y = F[j + 1, c]
            z = F[j + 2, c]
            for k in range(3):
                if back == 1:
                    F[j + k, c] = s.d[k] * x + s.d[3 + k] * y + s.d[6 + k] * z
                else:
                    F[j + k, c] = s.C[0, k] * x + s.C[1, k] * y + s.C[2, k] * z


@stage("iii", "spatial")
def turn_reduced_forces(m: Memory, out_at: Address, row: int) -> None:
    """out[row:row + nnu]: T^T h with the T of Omega becomes that with the T of omega. Reads d; leaves the former in
    gx of the bodies."""
    out = vector_at(out_at)
    for b in range(head(m).n_bodies):
        j = _place(m, b)
        if j == NONE:
            continue
        s = states(m)[b]
        for k in range(3):
            s.gx[k] = out[row + j + k]
        for k in range(3):
            out[row + j + k] = s.d[k] * s.gx[0] + s.d[3 + k] * s.gx[1] + s.d[6 + k] * s.gx[2]


@stage("i", "spatial")
def add_turned_stiffness(m: Memory) -> None:
    """Add dR/dq T^T h, at fixed T^T h with the T of Omega, to `reduced_tangent`. Reads D0 and gx."""
    F = reduced_tangent(m)
    for b in range(head(m).n_bodies):
        j = _place(m, b)
        if j == NONE:
            continue
        s = states(m)[b]
        o = bodies(m)[b]
        q = o.iq + o.nt
        for c in range(o.na):
            for k in range(3):
                F[j + k, q + c] += s.D0[k, c] * s.gx[0] + s.D0[3 + k, c] * s.gx[1] + s.D0[6 + k, c] * s.gx[2]


@stage("i", "spatial")
def turn_selected_rows(m: Memory) -> None:
    """`reduced_tangent`: minus the tangent of Omegadot becomes minus that of omegadot = R^-T Omegadot. Reads
    `solution` (wdot), d and D0."""
    h = head(m)
    F = reduced_tangent(m)
    for b in range(h.n_bodies):
        j = _place(m, b)
        if j == NONE:
            continue
        s = states(m)[b]
        o = bodies(m)[b]
        inverse_transposed(s.d, s.C)
        times_three(s.C, solution(m), o.iv + o.nt, s.pd, 0)
        add_turned(s.D0, s.pd, o.na, F[j : j + 3, o.iq + o.nt : o.iq + o.nt + o.na])
        for c in range(h.states_at + h.n_states):
            turn_column(s.C, F, j, c)


@stage("iiiif", "spatial")
def scatter_turned_kinematics(m: Memory, b: int, row: int, column: int, sign: float) -> None:
    """sign d(K Omega) of one body through Omega = R^T omega: K U in the columns of a, K V in those of omega, from
    `column` on. Reads K, U and V."""
    scratch = tangent_memory(m)
    s = states(m)[b]
    n = bodies(m)[b].na
    for i in range(n):
        for c in range(max(n, 3)):
            scratch.block[i, c] = 0.0
            scratch.product[i, c] = 0.0
    add_product(scratch.K, s.U, n, n, scratch.block)
    add_product(scratch.K, s.V, n, 3, scratch.product)
    scatter_block(m, row, row, scratch.block, n, n, sign)
    scatter_block(m, row, column, scratch.product, n, 3, sign)
