"""Independent quasi-velocities nu, whatever the structure of the system: w = T nu - r, and what follows from it.

[NS] (7)-(11) with w = (xdot, Omega) of all bodies. A tree of spherical joints has T in closed form
(`spherical_trees`); all other systems solve the square system [G; S] w = (-g_I, nu):

    [G(q, t)] w = [-g_I(q, t)],    so T = [G]^-1 [0],    G T = 0, S T = I
    [   S   ]     [    nu    ]            [S]    [I]

and wdot likewise from (-g_II, nudot - Sdot w). Trees have one block of S per joint, in the frame of its body, and are
solved body by body (`trees`). Loops have a constant S, the independent velocities of a selection: small
ones are a tree and equations in its quasi-velocities (`loops`), large ones have sparse factors (`sparse_loops`).
Nothing is chosen on the way. Dropped equations have no row in G.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import clear_accelerations, gather_accelerations, gather_velocities
from rbdae.kernels.bodies.natural import accelerate, move, velocity_basis
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitives import primitive_residual, primitive_vectors
from rbdae.kernels.memory import constraint_values, head, null_space, primitives, quasi_forces, square_side, states
from rbdae.kernels.null_space.loops import (
    factorise_loops,
    select_loop_rates,
    solve_loops,
    solve_loops_transposed,
)
from rbdae.kernels.null_space.sparse_loops import (
    factorise_sparse_loops,
    select_sparse_loop_rates,
    solve_sparse_loops,
    solve_sparse_loops_transposed,
)
from rbdae.kernels.null_space.spatial import (
    to_material_quasi_velocities,
    to_spatial_quasi_velocities,
    turn_null_space,
    turn_reduced_forces,
)
from rbdae.kernels.null_space.spherical_trees import (
    reduce_spherical_forces,
    select_spherical_rates,
    spherical_accelerations,
    spherical_null_space,
    spherical_rotations,
    spherical_velocities,
)
from rbdae.kernels.null_space.trees import (
    factorise_tree,
    select_tree_rates,
    solve_tree,
    solve_tree_transposed,
    subtract_frame_rates,
)
from rbdae.kernels.records import SPHERICAL_TREE, TREE


def velocities_from_nu(m: Memory, y: Array, offset: int) -> None:
    """Natural velocities of all placed bodies from nu in y; leaves the factors of [G; S]."""
    if head(m).structure == SPHERICAL_TREE:
        spherical_rotations(m, y, offset, 0)
        move(m)
        spherical_velocities(m)
    else:
        _square_velocities(m, y, offset)
        move(m)


def accelerations_from_nu(m: Memory, yd: Array, offset: int) -> None:
    """Natural accelerations from nudot in yd, and the rates of the primitives. Follows `velocities_from_nu`."""
    if head(m).structure == SPHERICAL_TREE:
        spherical_rotations(m, yd, offset, 1)
        accelerate(m)
        spherical_accelerations(m)
        primitive_vectors(m, 1)
    else:
        _square_accelerations(m, yd, offset)
        accelerate(m)
        primitive_vectors(m, 2)


def select_rates(m: Memory, vd: Array, out: Array, row: int) -> None:
    """out[row:row + nnu] = nudot = S vdot + Sdot w."""
    if head(m).structure == SPHERICAL_TREE:
        select_spherical_rates(m, vd, out, row)
    else:
        _select_square_rates(m, vd, out, row)
    if head(m).spatial != 0:
        to_spatial_quasi_velocities(m, out, row)


def reduce_forces(m: Memory, out: Array, row: int) -> None:
    """out[row:row + nnu] = T^T h. Reads `quasi_forces` (h); the square system leaves (zeta, T^T h) there."""
    if head(m).structure == SPHERICAL_TREE:
        reduce_spherical_forces(m, out, row)
    else:
        _reduce_square_forces(m, out, row)
    if head(m).spatial != 0:
        turn_reduced_forces(m, out, row)


def null_space_matrix(m: Memory) -> None:
    """T (nv x nnu) of the placed and moved bodies. Follows `velocities_from_nu`."""
    if head(m).structure == SPHERICAL_TREE:
        velocity_basis(m)
        spherical_null_space(m)
    else:
        _square_null_space(m)
    if head(m).spatial != 0:
        turn_null_space(m)


def _factorise(m: Memory) -> None:
    """Factors of [G; S]. Reads the gradients."""
    if head(m).structure == TREE:
        factorise_tree(m)
    elif head(m).sparse == 1:
        factorise_sparse_loops(m)
    else:
        factorise_loops(m)


def _solve(m: Memory, x: Array) -> None:
    """x = [G; S]^-1 x."""
    if head(m).structure == TREE:
        solve_tree(m, x)
    elif head(m).sparse == 1:
        solve_sparse_loops(m, x)
    else:
        solve_loops(m, x)


def _solve_transposed(m: Memory, x: Array) -> None:
    """x = [G; S]^-T x: the multipliers of the joints, then T^T x."""
    if head(m).structure == TREE:
        solve_tree_transposed(m, x)
    elif head(m).sparse == 1:
        solve_sparse_loops_transposed(m, x)
    else:
        solve_loops_transposed(m, x)


def _known(m: Memory, y: Array, offset: int, level: int) -> None:
    """`square_side` = (-g_I, nu) at level 1, (-g_II, nudot) at level 2. Reads the vectors of the primitives at zero
    velocities, or accelerations."""
    h = head(m)
    C = primitives(m)
    g = constraint_values(m)
    x = square_side(m)
    primitive_residual(m, g, 0, level)
    n = 0
    for i in range(h.n_primitives):
        for k in range(C[i].n):
            if C[i].keep[k] == 1:
                x[n] = -g[C[i].row + k]
                n += 1
    for i in range(h.n_nu):
        x[n + i] = y[offset + i]
    if h.spatial != 0:
        to_material_quasi_velocities(m, x[n:], level)


def _square_velocities(m: Memory, y: Array, offset: int) -> None:
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
    _known(m, y, offset, 1)
    x = square_side(m)
    _solve(m, x)
    gather_velocities(m, x, 0)


def _square_accelerations(m: Memory, yd: Array, offset: int) -> None:
    """xddot and Omegadot of all moved bodies from nudot in yd. Reads the factors that `_square_velocities` has left."""
    clear_accelerations(m)
    accelerate(m)
    primitive_vectors(m, 2)
    _known(m, yd, offset, 2)
    x = square_side(m)
    if head(m).structure == TREE:
        subtract_frame_rates(m, x)
    _solve(m, x)
    gather_accelerations(m, x, 0)


def _reduce_square_forces(m: Memory, out: Array, row: int) -> None:
    """out[row:row + nnu] = T^T h. `quasi_forces`: h becomes [G; S]^-T h = (zeta, T^T h)."""
    h = head(m)
    z = quasi_forces(m)
    _solve_transposed(m, z)
    first = h.n_v - h.n_nu
    for i in range(h.n_nu):
        out[row + i] = z[first + i]


def _select_square_rates(m: Memory, vd: Array, out: Array, row: int) -> None:
    """out[row:row + nnu] = nudot = S vdot + Sdot w."""
    if head(m).structure == TREE:
        select_tree_rates(m, vd, out, row)
    elif head(m).sparse == 1:
        select_sparse_loop_rates(m, vd, out, row)
    else:
        select_loop_rates(m, vd, out, row)


def _square_null_space(m: Memory) -> None:
    """T (nv x nnu), the solution for the unit vectors of nu. Reads the factors of [G; S]; writes `square_side`."""
    h = head(m)
    T = null_space(m)
    x = square_side(m)
    first = h.n_v - h.n_nu
    for j in range(h.n_nu):
        for i in range(h.n_v):
            x[i] = 0.0
        x[first + j] = 1.0
        _solve(m, x)
        for i in range(h.n_v):
            T[i, j] = x[i]
