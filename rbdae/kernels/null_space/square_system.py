"""The square system [G; S] w = (-g_I, nu) of the null-space form, for trees of any joints and for closed loops.

w = (xdot, Omega) of all bodies follows from the independent quasi-velocities nu = S w by

    [G(q, t)] w = [-g_I(q, t)],    so T = [G]^-1 [0],    G T = 0, S T = I
    [   S   ]     [    nu    ]            [S]    [I]

and wdot likewise from (-g_II, nudot - Sdot w). Trees have one block of S per joint, in the frame of its body, and are
solved body by body (`trees`). Loops have a constant S, the independent velocities of a selection, and a dense
elimination with partial pivoting, O(n_v^3) (`loops`). Dropped equations have no row in G.
"""

from __future__ import annotations

from rbdae.compiler.access import address, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies.gather import clear_accelerations, gather_accelerations, gather_velocities
from rbdae.kernels.bodies.kinematics import scatter_rate_tangent
from rbdae.kernels.bodies.natural import accelerate, move, velocity_basis
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitive_tangents import scatter_primitive_rows
from rbdae.kernels.constraints.primitives import primitive_residual, primitive_vectors
from rbdae.kernels.memory import bodies, head, primitives, rhs_tangent, states, tangent_memory
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
    scatter_frame_stiffness,
    select_tree_rates,
    select_tree_tangent,
    subtract_frame_rates,
)
from rbdae.kernels.null_space.trees import (
    factorise_tree,
    solve_tree,
    solve_tree_columns,
    solve_tree_transposed,
)
from rbdae.kernels.records import TREE
from rbdae.kernels.scatter import open_rhs_tangent, scatter_block, scatter_identity
from rbdae.kernels.scratch import (
    acceleration_by_nu,
    acceleration_by_q,
    constraint_values,
    multipliers,
    null_space,
    plane_work,
    quasi_forces,
    square_side,
    velocity_by_q,
)


@jit
def _factorise(m):
    """Factors of [G; S]. Reads the gradients."""
    if head(m).structure == TREE:
        factorise_tree(m)
    else:
        factorise_loops(m)


@jit
def _solve(m, x):
    """x = [G; S]^-1 x."""
    if head(m).structure == TREE:
        solve_tree(m, address(x))
    else:
        solve_loops(m, address(x))


@jit
def _solve_transposed(m, x):
    """x = [G; S]^-T x: the multipliers of the joints, then T^T x."""
    if head(m).structure == TREE:
        solve_tree_transposed(m, address(x))
    else:
        solve_loops_transposed(m, address(x))


@jit
def _solve_columns(m, X, n_columns):
    """X = [G; S]^-1 X for the first columns of X."""
    step = X.strides[0] // 8
    if head(m).structure == TREE:
        solve_tree_columns(m, address(X), step, n_columns)
    else:
        solve_loops_columns(m, address(X), step, n_columns)


@jit
def _known(m, y_at, offset, level):
    """`square_side` = (-g_I, nu) at level 1, (-g_II, nudot) at level 2. Reads the vectors of the primitives at zero
    velocities, or accelerations."""
    y = vector_at(y_at)
    h = head(m)
    C = primitives(m)
    g = constraint_values(m)
    x = square_side(m)
    primitive_residual(m, address(g), 0, level)
    n = 0
    for i in range(h.n_primitives):
        for k in range(C[i].n):
            if C[i].keep[k] == 1:
                x[n] = -g[C[i].row + k]
                n += 1
    for i in range(h.n_nu):
        x[n + i] = y[offset + i]


@stage("iii", "square-system")
def square_velocities(m, y_at, offset):
    """xdot and Omega of all placed bodies from nu in y. Writes the vectors and gradients of the primitives and the
    factors of [G; S]."""
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
    x = square_side(m)
    _solve(m, x)
    gather_velocities(m, address(x), 0)


@stage("iii", "square-system")
def square_accelerations(m, yd_at, offset):
    """xddot and Omegadot of all moved bodies from nudot in yd. Reads the factors that `square_velocities` has left."""
    clear_accelerations(m)
    accelerate(m)
    primitive_vectors(m, 2)
    _known(m, yd_at, offset, 2)
    x = square_side(m)
    if head(m).structure == TREE:
        subtract_frame_rates(m, address(x))
    _solve(m, x)
    gather_accelerations(m, address(x), 0)


@jit
def reduce_square_forces(m):
    """`quasi_forces`: h becomes [G; S]^-T h = (zeta, T^T h)."""
    _solve_transposed(m, quasi_forces(m))


@jit
def select_square_rates(m, vd, out, row):
    """out[row:row + nnu] = nudot = S vdot + Sdot w."""
    if head(m).structure == TREE:
        select_tree_rates(m, address(vd), address(out), row)
    else:
        select_loop_rates(m, address(vd), address(out), row)


@stage("i", "square-system")
def reduction_multipliers(m):
    """Multipliers -zeta of the joints. Reads (zeta, T^T h) in `quasi_forces`; writes `multipliers`."""
    C = primitives(m)
    z = quasi_forces(m)
    la = multipliers(m)
    n = 0
    for i in range(head(m).n_primitives):
        for k in range(C[i].n):
            la[C[i].row + k] = 0.0
            if C[i].keep[k] == 1:
                la[C[i].row + k] = -z[n]
                n += 1


@jit
def scatter_rows_stiffness(m, row):
    """-d(S^T sigma)/dq in the rows of the dynamics, sigma = T^T h. Reads `quasi_forces`; S of loops is constant."""
    if head(m).structure == TREE:
        scatter_frame_stiffness(m, row)


@stage("i", "square-system")
def square_null_space(m):
    """T (nv x nnu), the solution for the unit vectors of nu. Reads the factors of [G; S]."""
    h = head(m)
    T = null_space(m)
    first = h.n_v - h.n_nu
    for i in range(h.n_v):
        for j in range(h.n_nu):
            T[i, j] = 0.0
    for i in range(h.n_nu):
        T[first + i, i] = 1.0
    _solve_columns(m, T, h.n_nu)


@stage("i", "square-system")
def square_velocity_tangents(m):
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
    _solve_columns(m, Q, h.n_q)


@stage("i", "square-system")
def square_acceleration_tangents(m):
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
                if t != 0.0:
                    for j in range(h.n_q):
                        A[n, j] -= t * Q[l, j]
                    for j in range(h.n_nu):
                        N[n, j] -= t * T[l, j]
            n += 1
    if h.structure == TREE:
        frame_rate_tangents(m)
    _solve_columns(m, A, h.n_q)
    _solve_columns(m, N, h.n_nu)


@jit
def select_square_tangent(m):
    """Minus the tangent of nudot with respect to (q, nu). Reads minus that of vdot in the first nv rows of
    `rhs_tangent`, T and dw/dq; writes `reduced_tangent`."""
    if head(m).structure == TREE:
        select_tree_tangent(m)
    else:
        select_loop_tangent(m)


@stage("iff", "square-system")
def scatter_square_kinematics(m, c, sign):
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
        scatter_block(m, i, 0, X, o.na, h.n_q + h.n_nu, sign)
