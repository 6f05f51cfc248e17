"""Kernels of the null-space form of any joints, trees and closed loops: the square system of the rows S.

w = (xdot, Omega) of all bodies follows from the independent quasi-velocities nu = S w by

    [G(q, t)] w = [-g_I(q, t)],    so T = [G]^-1 [0],    G T = 0, S T = I
    [   S   ]     [    nu    ]            [S]    [I]

and wdot likewise from (-g_II, nudot - Sdot w). Trees have one block of S for each joint, counted in the frame of its
body, and are solved body by body (`branches`). Loops have a constant S, a gauge, and dense elimination with partial
pivoting, O(n_v^3): for mechanisms with n_v up to a few hundred. Equations that are left out (`keep`) have no row here.
"""

from __future__ import annotations

from rbdae.compiler.jit import address, jit, stage, vector_at
from rbdae.kernels.bodies.gather import clear_accelerations, gather_accelerations, gather_velocities
from rbdae.kernels.bodies.natural import accelerate, move, velocity_basis
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitive_tangents import put_primitive_rows
from rbdae.kernels.constraints.primitives import primitive_residual, primitive_vectors
from rbdae.kernels.memory import head, primitives, states, tree, vectors, wide
from rbdae.kernels.null_space.loops import (
    factorise_loops,
    select_loop_rates,
    select_loop_tangent,
    solve_loops,
    solve_loops_columns,
    solve_loops_transposed,
)
from rbdae.kernels.null_space.tree_frames import (
    frame_rate_tangents,
    frame_tangents,
    put_frame_stiffness,
    select_branch_rates,
    select_branch_tangent,
    subtract_frame_rates,
)
from rbdae.kernels.null_space.trees import (
    factorise_branches,
    solve_branches,
    solve_branches_columns,
    solve_branches_transposed,
)
from rbdae.kernels.records import BY_BRANCHES
from rbdae.kernels.scatter import sink_to_wide


@jit
def factorise_square(m):
    if head(m).reduced == BY_BRANCHES:
        factorise_branches(m)
    else:
        factorise_loops(m)


@jit
def solve_square(m, x):
    """x = [G; S]^-1 x."""
    if head(m).reduced == BY_BRANCHES:
        solve_branches(m, address(x))
    else:
        solve_loops(m, address(x))


@jit
def solve_transposed(m, x):
    """x = [G; S]^-T x: first the multipliers of the joints, then T^T x."""
    if head(m).reduced == BY_BRANCHES:
        solve_branches_transposed(m, address(x))
    else:
        solve_loops_transposed(m, address(x))


@jit
def solve_columns(m, plane, n_columns):
    """[G; S]^-1 times the first columns of a scratch matrix, in place; row operations over contiguous columns."""
    if head(m).reduced == BY_BRANCHES:
        solve_branches_columns(m, plane, n_columns)
    else:
        solve_loops_columns(m, plane, n_columns)


@jit
def known(m, y_at, offset, level):
    """Scratch vector 2: (-g_I, nu) at level 1, (-g_II, nudot) at level 2; what remains of the constraints at zero
    velocities (accelerations)."""
    y = vector_at(y_at)
    h = head(m)
    C = primitives(m)
    g = vectors(m)[6]
    x = vectors(m)[2]
    primitive_residual(m, address(g), 0, level)
    n = 0
    for i in range(h.n_primitives):
        for k in range(C[i].n):
            if C[i].keep[k] == 1:
                x[n] = -g[C[i].row + k]
                n += 1
    for i in range(h.n_nu):
        x[n + i] = y[offset + i]


@stage("iii", "gauge")
def velocities_from_nu(m, y_at, offset):
    """xdot and Omega of all placed bodies, from nu in y; factorises the system."""
    S = states(m)
    h = head(m)
    for b in range(h.n_bodies):
        for k in range(3):
            S[b].xd[k] = 0.0
            S[b].w[k] = 0.0
    move(m)
    primitive_vectors(m, 1)
    velocity_basis(m)
    gradients(m)
    factorise_square(m)
    known(m, y_at, offset, 1)
    x = vectors(m)[2]
    solve_square(m, x)
    gather_velocities(m, address(x), 0)


@stage("iii", "gauge")
def accelerations_from_nu(m, yd_at, offset):
    """xddot and Omegadot of all moved bodies, from nudot in yd; after `velocities_from_nu`."""
    clear_accelerations(m)
    accelerate(m)
    primitive_vectors(m, 2)
    known(m, yd_at, offset, 2)
    x = vectors(m)[2]
    if head(m).reduced == BY_BRANCHES:
        subtract_frame_rates(m, address(x))
    solve_square(m, x)
    gather_accelerations(m, address(x), 0)


@jit
def select_rates(m, vd, out, row):
    """out[row:row + nnu] = nudot = S vdot + Sdot w."""
    if head(m).reduced == BY_BRANCHES:
        select_branch_rates(m, address(vd), address(out), row)
    else:
        select_loop_rates(m, address(vd), address(out), row)


@stage("i", "gauge")
def place_gauge_forces(m):
    """Scratch vector 0: minus the first part of [G; S]^-T h in the scratch vector 1, as multipliers of the joints."""
    C = primitives(m)
    z = vectors(m)[1]
    la = vectors(m)[0]
    n = 0
    for i in range(head(m).n_primitives):
        for k in range(C[i].n):
            la[C[i].row + k] = 0.0
            if C[i].keep[k] == 1:
                la[C[i].row + k] = -z[n]
                n += 1


@jit
def put_rows_stiffness(m, row):
    """-d(S^T sigma)/dq in the rows of the dynamics, after `solve_transposed` to the scratch vector 1."""
    if head(m).reduced == BY_BRANCHES:
        put_frame_stiffness(m, row)


@stage("i", "gauge")
def null_space_columns(m):
    """tree(m)[0] = T (nv x nnu)."""
    h = head(m)
    T = tree(m)[0]
    first = h.n_v - h.n_nu
    for i in range(h.n_v):
        for j in range(h.n_nu):
            T[i, j] = 0.0
    for i in range(h.n_nu):
        T[first + i, i] = 1.0
    solve_columns(m, 0, h.n_nu)


@stage("ii", "gauge")
def gauge_tangents(m, order):
    """tree(m)[0] = T (nv x nnu), [1] = dw/dq (nv x nq); for order 2 also [2] = dwdot/dq and [3] = dwdot/dnu. The
    scratch matrix is the sink afterwards.

        [G; S] dw = -[d(G w + g_I); 0],    [G; S] dwdot = -[d(G wdot + g_II); 0]
    """
    h = head(m)
    C = primitives(m)
    W = wide(m)
    M = tree(m)
    T = M[0]
    Q = M[1]
    A = M[2]
    N = M[3]
    null_space_columns(m)
    for i in range(h.n_v):
        for j in range(h.n_q):
            Q[i, j] = 0.0
    sink_to_wide(m)
    put_primitive_rows(m, 0, 1, 0.0, 1.0)
    n = 0
    for i in range(h.n_primitives):
        for k in range(C[i].n):
            if C[i].keep[k] == 1:
                for j in range(h.n_q):
                    Q[n, j] = -W[C[i].row + k, j]
                n += 1
    if h.reduced == BY_BRANCHES:
        frame_tangents(m)
    solve_columns(m, 1, h.n_q)
    if order < 2:
        return
    for i in range(h.n_v):
        for j in range(h.n_q):
            A[i, j] = 0.0
        for j in range(h.n_nu):
            N[i, j] = 0.0
    sink_to_wide(m)
    put_primitive_rows(m, 0, 2, 0.0, 1.0)
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
                if t != 0.0:
                    for j in range(h.n_q):
                        A[n, j] -= t * Q[l, j]
                    for j in range(h.n_nu):
                        N[n, j] -= t * T[l, j]
            n += 1
    if h.reduced == BY_BRANCHES:
        frame_rate_tangents(m)
    solve_columns(m, 2, h.n_q)
    solve_columns(m, 3, h.n_nu)


@jit
def select_tangent(m):
    """tree(m)[4] = the tangent of nudot with respect to (q, nu), from that of vdot in the first nv rows of the scratch
    matrix; both with the sign that it has there, minus."""
    if head(m).reduced == BY_BRANCHES:
        select_branch_tangent(m)
    else:
        select_loop_tangent(m)
