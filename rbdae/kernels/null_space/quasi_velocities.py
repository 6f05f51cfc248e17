"""Independent quasi-velocities nu, whatever the structure of the system: w = T nu - r, and what follows from it.

[NS] (7)-(11) with w = (xdot, Omega) of all bodies. A tree of spherical joints has T in closed form
(`spherical_trees`); all other systems solve the square system [G; S] (`square_system`), trees body by body.
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Memory
from rbdae.compiler.jit import jit
from rbdae.kernels.bodies.natural import accelerate, move, velocity_basis
from rbdae.kernels.constraints.primitives import primitive_vectors
from rbdae.kernels.memory import head
from rbdae.kernels.null_space.spatial import (
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
from rbdae.kernels.null_space.square_system import (
    reduce_square_forces,
    select_square_rates,
    square_accelerations,
    square_null_space,
    square_velocities,
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
def null_space_matrix(m: Memory) -> None:
    """T (nv x nnu) of the placed and moved bodies. Follows `velocities_from_nu`."""
    if head(m).structure == SPHERICAL_TREE:
        velocity_basis(m)
        spherical_null_space(m)
    else:
        square_null_space(m)
    if head(m).spatial != 0:
        turn_null_space(m)
