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
from rbdae.kernels.constraints.primitives import gradients, primitive_residual, primitive_vectors, put_primitive_rows
from rbdae.kernels.memory import (
    BY_BRANCHES,
    bodies,
    elimination,
    gauge,
    head,
    pivots,
    primitives,
    rows,
    states,
    tree,
    vectors,
    wide,
)
from rbdae.kernels.null_space.spherical_trees import by_quasi_velocities
from rbdae.kernels.null_space.trees import (
    factorise_branches,
    frame_rate_tangents,
    frame_tangents,
    put_frame_stiffness,
    select_branch_rates,
    select_branch_tangent,
    solve_branches,
    solve_branches_columns,
    solve_branches_transposed,
    subtract_frame_rates,
)
from rbdae.kernels.scatter import sink_to_wide


@jit
def _gather_gradients(m, out):
    """out[:rows] = G; needs `gradients`."""
    h = head(m)
    B = bodies(m)
    C = primitives(m)
    R = rows(m)
    n = 0
    for i in range(h.n_primitives):
        p = C[i]
        r = R[i]
        for k in range(p.n):
            if p.keep[k] == 0:
                continue
            for j in range(h.n_v):
                out[n, j] = 0.0
            for side in range(2):
                o = B[p.body[side]]
                if o.fixed == 1:
                    continue
                j = o.iv
                if o.nt == 3:
                    for l in range(3):
                        out[n, j + l] += r.Gx[side, k, l]
                    j += 3
                for l in range(3):
                    out[n, j + l] += r.Gw[side, k, l]
            n += 1


@jit
def _factorise(m):
    if head(m).reduced == BY_BRANCHES:
        factorise_branches(m)
    else:
        _factorise_loops(m)


@stage("i", "loops")
def _factorise_loops(m):
    """The elimination matrix becomes P L U of [G; S]."""
    h = head(m)
    A = elimination(m)
    P = pivots(m)
    S = gauge(m)
    n = h.n_v
    _gather_gradients(m, A)
    first = n - h.n_nu
    for i in range(h.n_nu):
        for j in range(n):
            A[first + i, j] = S[i, j]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        P[k] = best
        if best != k:
            for j in range(n):
                t = A[k, j]
                A[k, j] = A[best, j]
                A[best, j] = t
        for i in range(k + 1, n):
            if A[i, k] != 0.0:
                t = A[i, k] / A[k, k]
                A[i, k] = t
                for j in range(k + 1, n):
                    A[i, j] -= t * A[k, j]


@jit
def _solve(m, x):
    """x = [G; S]^-1 x."""
    if head(m).reduced == BY_BRANCHES:
        solve_branches(m, address(x))
    else:
        _solve_loops(m, address(x))


@stage("ii", "loops")
def _solve_loops(m, x_at):
    x = vector_at(x_at)
    A = elimination(m)
    P = pivots(m)
    n = head(m).n_v
    for k in range(n):
        if P[k] != k:
            t = x[k]
            x[k] = x[P[k]]
            x[P[k]] = t
    for i in range(n):
        t = x[i]
        for j in range(i):
            t -= A[i, j] * x[j]
        x[i] = t
    for i in range(n - 1, -1, -1):
        t = x[i]
        for j in range(i + 1, n):
            t -= A[i, j] * x[j]
        x[i] = t / A[i, i]


@jit
def solve_transposed(m, x):
    """x = [G; S]^-T x: first the multipliers of the joints, then T^T x."""
    if head(m).reduced == BY_BRANCHES:
        solve_branches_transposed(m, address(x))
    else:
        _solve_loops_transposed(m, address(x))


@stage("ii", "loops")
def _solve_loops_transposed(m, x_at):
    x = vector_at(x_at)
    A = elimination(m)
    P = pivots(m)
    n = head(m).n_v
    for i in range(n):
        t = x[i] / A[i, i]
        x[i] = t
        for j in range(i + 1, n):
            x[j] -= A[i, j] * t
    for i in range(n - 1, -1, -1):
        t = x[i]
        for j in range(i):
            x[j] -= A[i, j] * t
    for k in range(n - 1, -1, -1):
        if P[k] != k:
            t = x[k]
            x[k] = x[P[k]]
            x[P[k]] = t


@jit
def _solve_columns(m, plane, n_columns):
    """[G; S]^-1 times the first columns of a scratch matrix, in place; row operations over contiguous columns."""
    if head(m).reduced == BY_BRANCHES:
        solve_branches_columns(m, plane, n_columns)
    else:
        _solve_loops_columns(m, plane, n_columns)


@stage("iii", "loops")
def _solve_loops_columns(m, plane, n_columns):
    X = tree(m)[plane]
    A = elimination(m)
    P = pivots(m)
    n = head(m).n_v
    for k in range(n):
        if P[k] != k:
            for c in range(n_columns):
                t = X[k, c]
                X[k, c] = X[P[k], c]
                X[P[k], c] = t
    for i in range(n):
        for j in range(i):
            t = A[i, j]
            if t != 0.0:
                for c in range(n_columns):
                    X[i, c] -= t * X[j, c]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            t = A[i, j]
            if t != 0.0:
                for c in range(n_columns):
                    X[i, c] -= t * X[j, c]
        t = 1.0 / A[i, i]
        for c in range(n_columns):
            X[i, c] *= t


@jit
def _known(m, y_at, offset, level):
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
    _factorise(m)
    _known(m, y_at, offset, 1)
    x = vectors(m)[2]
    _solve(m, x)
    gather_velocities(m, address(x), 0)


@stage("iii", "gauge")
def accelerations_from_nu(m, yd_at, offset):
    """xddot and Omegadot of all moved bodies, from nudot in yd; after `velocities_from_nu`."""
    clear_accelerations(m)
    accelerate(m)
    primitive_vectors(m, 2)
    _known(m, yd_at, offset, 2)
    x = vectors(m)[2]
    if head(m).reduced == BY_BRANCHES:
        subtract_frame_rates(m, address(x))
    _solve(m, x)
    gather_accelerations(m, address(x), 0)


@jit
def select_rates(m, vd, out, row):
    """out[row:row + nnu] = nudot = S vdot + Sdot w."""
    if head(m).reduced == BY_BRANCHES:
        select_branch_rates(m, address(vd), address(out), row)
    else:
        _select_loop_rates(m, address(vd), address(out), row)


@stage("iiii", "loops")
def _select_loop_rates(m, w_at, out_at, row):
    w = vector_at(w_at)
    out = vector_at(out_at)
    h = head(m)
    S = gauge(m)
    for i in range(h.n_nu):
        t = 0.0 * w[0]
        for j in range(h.n_v):
            t += S[i, j] * w[j]
        out[row + i] = t


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
    _solve_columns(m, 0, h.n_nu)


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
    _solve_columns(m, 1, h.n_q)
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
    _solve_columns(m, 2, h.n_q)
    _solve_columns(m, 3, h.n_nu)


@jit
def select_tangent(m):
    """tree(m)[4] = the tangent of nudot with respect to (q, nu), from that of vdot in the first nv rows of the scratch
    matrix; both with the sign that it has there, minus."""
    if head(m).reduced == BY_BRANCHES:
        select_branch_tangent(m)
    else:
        _select_loop_tangent(m)


@stage("i", "loops")
def _select_loop_tangent(m):
    h = head(m)
    S = gauge(m)
    W = wide(m)
    F = tree(m)[4]
    x = vectors(m)[2]
    nq = h.n_q
    for i in range(h.n_nu):
        for j in range(nq + h.n_v):
            x[j] = 0.0
        for l in range(h.n_v):
            t = S[i, l]
            if t != 0.0:
                for j in range(nq + h.n_v):
                    x[j] += t * W[l, j]
        by_quasi_velocities(m, x, F[i])
