"""The equations of motion in the steps that formulations share: state and forces."""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import gather_force_states, gather_positions, gather_velocities
from rbdae.kernels.bodies.natural import move, place
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.primitives import primitive_forces, primitive_vectors
from rbdae.kernels.forces.elements import applied_forces
from rbdae.kernels.forces.reaction_friction import friction_forces


def set_state(m: Memory, t: float, y: Array) -> None:
    """Natural positions, velocities and internal states of forces at (t, y); the natural forces become the weight."""
    set_time(m, t)
    gather_positions(m, y)
    gather_velocities(m, y, m.head.n_q)
    gather_force_states(m, y)
    place(m)
    move(m)


def add_forces(m: Memory, level: int) -> None:
    """Applied forces and constraint forces -G^T la of the joints among the natural forces. Reads the multipliers;
    leaves the vectors of the primitives with their rates up to `level`."""
    primitive_vectors(m, level)
    applied_forces(m)
    friction_forces(m)
    primitive_forces(m)
