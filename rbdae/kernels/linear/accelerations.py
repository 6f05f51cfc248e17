"""Accelerations and multipliers at a state, by elimination."""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.dynamics import collect_forces
from rbdae.kernels.bodies.gather import clear_accelerations, gather_force_states
from rbdae.kernels.bodies.natural import accelerate, place, velocity_basis
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitives import primitive_vectors
from rbdae.kernels.constraints.rows import constraint_rows
from rbdae.kernels.entry import entry
from rbdae.kernels.forces.elements import applied_forces
from rbdae.kernels.linear import unit_quaternions
from rbdae.kernels.linear.friction_columns import make_columns, margins, superpose_friction
from rbdae.kernels.linear.saddle import add_joints, factorise, solve_saddle
from rbdae.kernels.outputs import locate


def accelerations(m: Memory) -> None:
    """vdot, or M^-1 pdot, and la of the saddle-point system. Reads the placed and moved bodies; writes `solution` and
    `multipliers`; leaves the gradients and factors of the joints."""
    clear_accelerations(m)
    accelerate(m)
    primitive_vectors(m, 2)
    velocity_basis(m)
    gradients(m)
    factorise(m, 1, m.order)
    make_columns(m)
    applied_forces(m)
    collect_forces(m, m.right_hand_side)
    side = m.constraint_side
    constraint_rows(m, side, 0, 2)
    side[:] = -side
    if m.head.unit_norm == 1:
        unit_quaternions.free_accelerations(m)
        add_joints(m)
    else:
        solve_saddle(m)
    superpose_friction(m)


def eliminated_normals(m: Memory) -> None:
    """`normals` by elimination, if there are any, of the moved bodies; the natural forces become the weight."""
    if m.head.n_frictions > 0:
        accelerations(m)
    place(m)


@entry("ityo")
def friction_margins(m: Memory, t: float, y: Array, out: Array) -> None:
    """How far each friction under a reaction is from Painleve's paradox, see
    `rbdae.kernels.linear.friction_columns.margins`, and its normal force."""
    set_time(m, t)
    gather_force_states(m, y)
    locate(m, y)
    accelerations(m)
    margins(m, out)
