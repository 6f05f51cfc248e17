"""Independent quasi-velocities nu, whatever the structure of the system: w = T nu - r, and what follows from it.

[NS] (7)-(11) with w = (xdot, Omega) of all bodies. A tree of spherical joints has T in closed form
(`spherical_trees`); all other systems solve the square system [G; S] (`square_system`), trees body by body.
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory
from rbdae.compiler.jit import jit
from rbdae.kernels.bodies.natural import accelerate, move, move_tangent, place_tangent, velocity_basis
from rbdae.kernels.constraints.primitives import primitive_forces, primitive_vectors
from rbdae.kernels.memory import head
from rbdae.kernels.null_space.spatial import (
    add_turned_stiffness,
    to_spatial_quasi_velocities,
    turn_reduced_forces,
    turn_reduced_rows,
    turn_selected_rows,
    turn_tangents,
)
from rbdae.kernels.null_space.spherical_tangents import (
    add_spherical_stiffness,
    scatter_spherical_kinematics,
    select_spherical_tangent,
    spherical_tangents,
)
from rbdae.kernels.null_space.spherical_trees import (
    reduce_spherical_forces,
    select_spherical_rates,
    spherical_accelerations,
    spherical_rotations,
    spherical_velocities,
)
from rbdae.kernels.null_space.square_system import (
    reduce_square_forces,
    reduction_multipliers,
    select_square_rates,
    square_accelerations,
    square_null_space,
    square_velocities,
)
from rbdae.kernels.null_space.square_tangents import (
    scatter_rows_stiffness,
    scatter_square_kinematics,
    select_square_tangent,
    square_acceleration_tangents,
    square_velocity_tangents,
)
from rbdae.kernels.records import SPHERICAL_TREE


@jit
def velocities_from_nu(m: Memory, y_at: Address, offset: int) -> None:
    """Natural velocities of all placed bodies from nu in y; leaves the factors of [G; S]."""
    if head(m).structure == SPHERICAL_TREE:
        spherical_rotations(m, y_at, offset, 0)
        move(m)
        spherical_velocities(m)
    else:
        square_velocities(m, y_at, offset)
        move(m)


@jit
def accelerations_from_nu(m: Memory, yd_at: Address, offset: int) -> None:
    """Natural accelerations from nudot in yd, and the rates of the primitives. Follows `velocities_from_nu`."""
    if head(m).structure == SPHERICAL_TREE:
        spherical_rotations(m, yd_at, offset, 1)
        accelerate(m)
        spherical_accelerations(m)
        primitive_vectors(m, 1)
    else:
        square_accelerations(m, yd_at, offset)
        accelerate(m)
        primitive_vectors(m, 2)


@jit
def select_rates(m: Memory, vd_at: Address, out_at: Address, row: int) -> None:
    """out[row:row + nnu] = nudot = S vdot + Sdot w."""
    if head(m).structure == SPHERICAL_TREE:
        select_spherical_rates(m, vd_at, out_at, row)
    else:
        select_square_rates(m, vd_at, out_at, row)
    if head(m).spatial != 0:
        to_spatial_quasi_velocities(m, out_at, row)


@jit
def reduce_forces(m: Memory, out_at: Address, row: int) -> None:
    """out[row:row + nnu] = T^T h. Reads `quasi_forces` (h); the square system leaves (zeta, T^T h) there."""
    if head(m).structure == SPHERICAL_TREE:
        reduce_spherical_forces(m, out_at, row)
    else:
        reduce_square_forces(m, out_at, row)
    if head(m).spatial != 0:
        turn_reduced_forces(m, out_at, row)


@jit
def place_reduction_forces(m: Memory) -> None:
    """Natural forces that make up for d(T^T)/dq: d(T^T h) = T^T (dh - d(G^T zeta) - d(S^T sigma)) with
    (zeta, sigma) = [G; S]^-T h. Follows `reduce_forces`; a tree of spherical joints has d(T^T)/dq itself."""
    if head(m).structure != SPHERICAL_TREE:
        reduction_multipliers(m)
        primitive_forces(m)


@jit
def null_space_matrix(m: Memory) -> None:
    """T (nv x nnu) of the placed and moved bodies. Follows `velocities_from_nu`."""
    if head(m).structure == SPHERICAL_TREE:
        velocity_basis(m)
        spherical_tangents(m, 0)
    else:
        square_null_space(m)
    if head(m).spatial != 0:
        turn_tangents(m, 0)


@jit
def velocity_tangents(m: Memory) -> None:
    """T and dw/dq, if they need `rhs_tangent` and so must come before the tangent of vdot; a tree of spherical
    joints makes them in `select_tangent`."""
    h = head(m)
    if h.structure != SPHERICAL_TREE:
        mode = h.mode
        place_tangent(m)
        move_tangent(m)
        primitive_vectors(m, 1)
        square_velocity_tangents(m)
        h.mode = mode
        if h.spatial != 0:
            turn_tangents(m, 1)


@jit
def quasi_velocity_tangents(m: Memory) -> None:
    """T, dw/dq, dwdot/dq and dwdot/dnu. Needs the tangents of the natural accelerations."""
    h = head(m)
    if h.structure == SPHERICAL_TREE:
        spherical_tangents(m, 2)
    else:
        mode = h.mode
        square_velocity_tangents(m)
        square_acceleration_tangents(m)
        h.mode = mode
    if h.spatial != 0:
        turn_tangents(m, 2)


@jit
def scatter_row_stiffness(m: Memory, row: int) -> None:
    """-d(S^T sigma)/dq in the rows of the dynamics; sigma = T^T h as `reduce_forces` has left it."""
    if head(m).structure != SPHERICAL_TREE:
        scatter_rows_stiffness(m, row)


@jit
def add_stiffness(m: Memory) -> None:
    """Add d(T^T)/dq h at fixed h to `reduced_tangent`, if T is known in closed form. With spatial velocities T has
    rows that turn."""
    h = head(m)
    if h.structure == SPHERICAL_TREE:
        if h.spatial != 0:
            turn_reduced_rows(m, 0)
        add_spherical_stiffness(m)
        if h.spatial != 0:
            turn_reduced_rows(m, 1)
    if h.spatial != 0:
        add_turned_stiffness(m)


@jit
def select_tangent(m: Memory) -> None:
    """Minus the tangent of nudot with respect to (q, nu). Reads minus that of vdot in `rhs_tangent`; writes
    `reduced_tangent`."""
    if head(m).structure == SPHERICAL_TREE:
        spherical_tangents(m, 1)
        if head(m).spatial != 0:
            turn_tangents(m, 1)
        select_spherical_tangent(m)
    else:
        select_square_tangent(m)
    if head(m).spatial != 0:
        turn_selected_rows(m)


@jit
def scatter_quasi_kinematics(m: Memory, c: float, sign: float) -> None:
    """Tangent of c qdot + sign K w(q, nu). Reads T and dw/dq."""
    if head(m).structure == SPHERICAL_TREE:
        scatter_spherical_kinematics(m, c, sign)
    else:
        scatter_square_kinematics(m, c, sign)
