"""Tangents of the square system [G; S] w = (-g_I, nu), see `square_system`."""

from __future__ import annotations

from rbdae.compiler.access import Memory, is_zero
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies.kinematics import scatter_rate_tangent
from rbdae.kernels.constraints.primitive_tangents import scatter_primitive_rows
from rbdae.kernels.memory import bodies, head, primitives, rhs_tangent, tangent_memory
from rbdae.kernels.null_space.loops import select_loop_tangent
from rbdae.kernels.null_space.spatial_loops import add_selection_tangents, scatter_selection_stiffness
from rbdae.kernels.null_space.square_system import solve_columns, square_null_space
from rbdae.kernels.null_space.tree_frames import (
    frame_rate_tangents,
    frame_tangents,
    scatter_frame_stiffness,
    select_tree_tangent,
)
from rbdae.kernels.records import TREE
from rbdae.kernels.scatter import open_rhs_tangent, scatter_block, scatter_identity
from rbdae.kernels.scratch import acceleration_by_nu, acceleration_by_q, null_space, plane_work, velocity_by_q


@stage("i", "square-system")
def square_velocity_tangents(m: Memory) -> None:
    """T and dw/dq: [G; S] dw = -[d(G w + g_I); d(S w)]. Needs the factors of [G; S], the gradients, the rates of the
    primitives and the tangents of the natural velocities. `rhs_tangent` is the target afterwards."""
    h = head(m)
    C = primitives(m)
    W = rhs_tangent(m)
    Q = velocity_by_q(m)
    square_null_space(m)
    for i in range(h.n_v):
        for j in range(h.n_q):
            Q[i, j] = 0.0
    open_rhs_tangent(m)
    scatter_primitive_rows(m, 0, 1, 0.0, 1.0)
    n = 0
    for i in range(h.n_primitives):
        for k in range(C[i].n):
            if C[i].keep[k] == 1:
                for j in range(h.n_q):
                    Q[n, j] = -W[C[i].row + k, j]
                n += 1
    if h.structure == TREE:
        frame_tangents(m)
    elif h.spatial != 0:
        add_selection_tangents(m, 1)
    solve_columns(m, Q, h.n_q)


@stage("i", "square-system")
def square_acceleration_tangents(m: Memory) -> None:
    """dwdot/dq and dwdot/dnu: [G; S] dwdot = -[d(G wdot + g_II); d(S wdot + Sdot w)]. Follows
    `square_velocity_tangents`; needs the tangents of the natural accelerations, too."""
    h = head(m)
    C = primitives(m)
    W = rhs_tangent(m)
    T = null_space(m)
    Q = velocity_by_q(m)
    A = acceleration_by_q(m)
    N = acceleration_by_nu(m)
    for i in range(h.n_v):
        for j in range(h.n_q):
            A[i, j] = 0.0
        for j in range(h.n_nu):
            N[i, j] = 0.0
    open_rhs_tangent(m)
    scatter_primitive_rows(m, 0, 2, 0.0, 1.0)
    n = 0
    for i in range(h.n_primitives):
        for k in range(C[i].n):
            if C[i].keep[k] == 0:
                continue
            row = C[i].row + k
            for j in range(h.n_q):
                A[n, j] = -W[row, j]
            for l in range(h.n_v):
                t = W[row, h.n_q + l]
                if not is_zero(t):
                    for j in range(h.n_q):
                        A[n, j] -= t * Q[l, j]
                    for j in range(h.n_nu):
                        N[n, j] -= t * T[l, j]
            n += 1
    if h.structure == TREE:
        frame_rate_tangents(m)
    elif h.spatial != 0:
        add_selection_tangents(m, 2)
    solve_columns(m, A, h.n_q)
    solve_columns(m, N, h.n_nu)


@jit
def select_square_tangent(m: Memory) -> None:
    """Minus the tangent of nudot with respect to (q, nu). Reads minus that of vdot in the first nv rows of
    `rhs_tangent`, T and dw/dq; writes `reduced_tangent`."""
    if head(m).structure == TREE:
        select_tree_tangent(m)
    else:
        select_loop_tangent(m)


@stage("iff", "square-system")
def scatter_square_kinematics(m: Memory, c: float, sign: float) -> None:
    """Tangent of c qdot + sign K w(q, nu): full rows, because w depends on all of q and nu. Reads T and dw/dq."""
    scratch = tangent_memory(m)
    h = head(m)
    B = bodies(m)
    T = null_space(m)
    Q = velocity_by_q(m)
    for b in range(h.n_bodies):
        o = B[b]
        i = o.iq
        v = o.iv
        if o.nt == 3:
            scatter_identity(m, i, i, 3, c)
            scatter_block(m, i, 0, Q[v : v + 3], 3, h.n_q, sign)
            scatter_block(m, i, h.n_q, T[v : v + 3], 3, h.n_nu, sign)
            i += 3
            v += 3
        scatter_rate_tangent(m, b, i, c, sign)
        X = plane_work(m)
        for j in range(o.na):
            for k in range(h.n_q):
                X[j, k] = scratch.K[j, 0] * Q[v, k] + scratch.K[j, 1] * Q[v + 1, k] + scratch.K[j, 2] * Q[v + 2, k]
            for k in range(h.n_nu):
                X[j, h.n_q + k] = (
                    scratch.K[j, 0] * T[v, k] + scratch.K[j, 1] * T[v + 1, k] + scratch.K[j, 2] * T[v + 2, k]
                )
        scatter_block(m, i, 0, X, o.na, h.states_at, sign)


@jit
def scatter_rows_stiffness(m: Memory, row: int) -> None:
    """-d(S^T sigma)/dq in the rows of the dynamics, sigma = T^T h. Reads `quasi_forces`; S of loops is constant,
    and turns with the bodies where velocities are spatial."""
    if head(m).structure == TREE:
        scatter_frame_stiffness(m, row)
    elif head(m).spatial != 0:
        scatter_selection_stiffness(m, row)
