"""`index-3`, `index-2`, `index-1` and the Hamiltonian DAEs: the blocks of one residual in the order of [NS].

[NS] (1), (3), (4), with the velocities of the chosen kind:

    qdot - v                          = 0    (angular: adot - K(a) Omega)
    M(q) vdot - psi(q, v, t) + G^T la = 0
    g, or G v + g_I, or G vdot + g_II = 0    (level 0, 1, 2: index 3, 2, 1)

With momenta ([BS09] (38), (39); quaternion or directors):

    qdot - dH/dp                      = 0
    pdot + dT/dq - psi + G^T la       = 0
    g, or its first, or its second derivative along the flow, for the unit norm q . p and q . pdot + p . qdot (40)
"""

from __future__ import annotations

from rbdae.compiler.jit import address, entry, jit
from rbdae.kernels.bodies.dynamics import dynamics_residual, dynamics_tangent
from rbdae.kernels.bodies.gather import gather_accelerations, gather_multipliers, gather_positions, gather_velocities
from rbdae.kernels.bodies.internal_constraints import internal_columns
from rbdae.kernels.bodies.kinematics import kinematics_residual, kinematics_tangent
from rbdae.kernels.bodies.natural import accelerate, accelerate_tangent, move, move_tangent, place, place_tangent
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import gradients, put_primitive_columns
from rbdae.kernels.constraints.hessians import put_primitive_stiffness
from rbdae.kernels.constraints.primitives import primitive_forces, primitive_vectors
from rbdae.kernels.constraints.redundant_rows import dropped_residual, put_dropped
from rbdae.kernels.constraints.rows import constraint_rows, put_constraint_rows
from rbdae.kernels.forces.applied import applied_forces, put_applied_tangents
from rbdae.kernels.memory import head
from rbdae.kernels.scatter import open_sink


@jit
def _evaluate(m, t, y, yd, level):
    """Natural coordinates and forces at (t, y, yd)."""
    h = head(m)
    set_time(m, t)
    gather_positions(m, address(y))
    gather_velocities(m, address(y), h.n_q)
    gather_multipliers(m, address(y), h.n_q + h.n_v)
    place(m)
    gather_accelerations(m, address(yd), h.n_q)
    move(m)
    if level == 2:
        accelerate(m)
    primitive_vectors(m, level)
    applied_forces(m)
    primitive_forces(m)


@jit
def fill_residual(m, t, y, yd, out):
    """F(t, y, yd) to out."""
    h = head(m)
    level = h.level
    _evaluate(m, t, y, yd, level)
    kinematics_residual(m, address(yd), address(out))
    dynamics_residual(m, address(out), h.n_q)
    n = h.n_q + h.n_v
    constraint_rows(m, address(out), n, level)
    dropped_residual(m, address(out), n, address(y), n)


@jit
def fill_jacobian(m, t, y, yd, c, out):
    """dF/dy + c dF/dyd to the sink."""
    h = head(m)
    level = h.level
    open_sink(m, out)
    _evaluate(m, t, y, yd, level)
    place_tangent(m)
    move_tangent(m)
    if level == 2:
        accelerate_tangent(m)
    gradients(m)
    dynamics = h.n_q
    constraints = h.n_q + h.n_v
    kinematics_tangent(m, c, -1.0)
    dynamics_tangent(m, dynamics, c)
    put_primitive_stiffness(m, dynamics)
    put_applied_tangents(m, dynamics)
    internal_columns(m, dynamics, constraints, 1.0)
    put_primitive_columns(m, dynamics, constraints, 1.0)
    put_dropped(m, constraints, constraints, 1.0)
    put_constraint_rows(m, constraints, level, c)


@entry("ityyo")
def residual(m, t, y, yd, out):
    """F(t, y, yd) to out."""
    fill_residual(m, t, y, yd, out)


@entry("ityytM")
def jacobian(m, t, y, yd, c, out):
    """dF/dy + c dF/dyd to the sink."""
    fill_jacobian(m, t, y, yd, c, out)
