"""The matrices of the equations of motion by name, [NS] (1)-(6): M, G, K and g, g_I, g_II, psi.

    M(q) vdot = psi(q, v, t) - G^T la,    qdot = K v
    g(q, t) = 0,    G v + g_I = 0,    G vdot + g_II = 0

with the velocities v of the chosen kind; the constraints are the internal ones of the bodies, then the joints. With
momenta p = M v, [BS09]: v = qdot, psi = -dH/dq, and vdot stands for M^-1 pdot. The null-space form has
v = (xdot, Omega). With spatial velocities v = (xdot, omega) in all forms: M = R J R^T, G R^T, K R^T and R psi of the
rotations, and wdot = R^T omegadot, so that the same equations hold.
"""

from __future__ import annotations

from rbdae.compiler.access import Array, Memory, address
from rbdae.compiler.jit import entry, jit
from rbdae.kernels.bodies.dynamics import apply_mass, collect_forces
from rbdae.kernels.bodies.gather import clear_accelerations, gather_positions
from rbdae.kernels.bodies.internal_constraints import internal_columns, internal_residual
from rbdae.kernels.bodies.natural import accelerate, place, velocity_basis
from rbdae.kernels.bodies.spatial import turn_columns, turn_forces, turn_rows
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import gradients, scatter_primitive_columns, turn_gradients
from rbdae.kernels.constraints.primitives import partial_rates, primitive_residual, primitive_vectors
from rbdae.kernels.constraints.redundant_rows import clear_dropped
from rbdae.kernels.equations import scatter_multiplier_columns
from rbdae.kernels.forces.applied import applied_forces
from rbdae.kernels.forces.internal_states import gather_force_states
from rbdae.kernels.forces.reaction_friction import add_friction
from rbdae.kernels.linear.accelerations import eliminated_normals
from rbdae.kernels.linear.small import dot
from rbdae.kernels.memory import bodies, head, states, tangent_memory
from rbdae.kernels.outputs import locate
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE
from rbdae.kernels.scatter import open_target, scatter_block, scatter_identity
from rbdae.rotations.chart import rate


@entry("ityM")
def mass_matrix(m: Memory, t: float, y: Array, out: Array) -> None:
    """M, n_v x n_v, to the target; a block for each body."""
    gather_positions(m, address(y))
    open_target(m, out)
    block = tangent_memory(m).block
    h = head(m)
    B = bodies(m)
    S = states(m)
    if h.spatial != 0:
        place(m)
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = o.iv
        if o.nt == 3:
            scatter_identity(m, i, i, 3, o.mass)
            i += 3
        for j in range(o.nr):
            for k in range(o.nr):
                s.ad[k] = 0.0
            s.ad[j] = 1.0
            apply_mass(m, b, s.ad, s.t)
            for k in range(o.nr):
                block[k, j] = s.t[k]
        if h.spatial != 0:
            turn_columns(m, b, block, 3)
            turn_rows(m, b, block, 3)
        scatter_block(m, i, i, block, o.nr, o.nr, 1.0)


@entry("ityM")
def kinematic_matrix(m: Memory, t: float, y: Array, out: Array) -> None:
    """K, n_q x n_v, to the target; a block for each body."""
    gather_positions(m, address(y))
    open_target(m, out)
    K = tangent_memory(m).K
    h = head(m)
    B = bodies(m)
    S = states(m)
    if h.spatial != 0:
        place(m)
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = o.iq
        j = o.iv
        if o.nt == 3:
            scatter_identity(m, i, j, 3, 1.0)
            i += 3
            j += 3
        if h.kind == ANGULAR:
            for l in range(3):
                for k in range(3):
                    s.t[k] = 0.0
                s.t[l] = 1.0
                rate(h.chart, s.a, s.t, s.ad)
                for k in range(o.na):
                    K[k, l] = s.ad[k]
            if h.spatial != 0:
                turn_columns(m, b, K, o.na)
            scatter_block(m, i, j, K, o.na, 3, 1.0)
        else:
            scatter_identity(m, i, j, o.na, 1.0)


@entry("ityM")
def transposed_gradient(m: Memory, t: float, y: Array, out: Array) -> None:
    """G^T, n_v x n_la, to the target; columns of zeros for dropped rows."""
    _place_gradients(m, t, y)
    open_target(m, out)
    internal_columns(m, 0, 0, 1.0)
    scatter_primitive_columns(m, 0, 0, 1.0)


@entry("ityM")
def force_directions(m: Memory, t: float, y: Array, out: Array) -> None:
    """W, n_v x n_la, to the target: G^T, but for the forms of [SNS15]."""
    h = head(m)
    _place_gradients(m, t, y)
    open_target(m, out)
    projected = h.projected
    h.projected = 0  # the matrices are those of (23), before the projection
    scatter_multiplier_columns(m, 0, 0, 1.0)
    h.projected = projected


@jit
def _place_gradients(m: Memory, t: float, y: Array) -> None:
    """The gradients at (t, y)."""
    set_time(m, t)
    gather_positions(m, address(y))
    place(m)
    primitive_vectors(m, 0)
    velocity_basis(m)
    gradients(m)
    if head(m).spatial != 0:
        turn_gradients(m)


@entry("ityo")
def terms(m: Memory, t: float, y: Array, out: Array) -> None:
    """out = (g, g_I, g_II, psi), three times n_la numbers and n_v; g_I and g_II are zero in dropped rows."""
    h = head(m)
    n = h.n_la
    set_time(m, t)
    locate(m, address(y))
    gather_force_states(m, address(y))
    eliminated_normals(m)
    primitive_vectors(m, 0)
    for i in range(3 * n):
        out[i] = 0.0
    internal_residual(m, address(out), 0, 0)
    primitive_residual(m, address(out), 0, 0)
    partial_rates(m, address(out), n, 1.0)
    clear_dropped(m, address(out), n)
    applied_forces(m)
    add_friction(m)
    collect_forces(m, address(out[3 * n :]))
    if h.spatial != 0:
        turn_forces(m, address(out), 3 * n)
    clear_accelerations(m)
    accelerate(m)
    primitive_vectors(m, 2)
    internal_residual(m, address(out), 2 * n, 2)
    primitive_residual(m, address(out), 2 * n, 2)
    clear_dropped(m, address(out), 2 * n)
    if h.momenta == 1 and h.kind == QUATERNION_RATE:
        _scale_norm_rows(m, out, 2 * n)


@jit
def _scale_norm_rows(m: Memory, out: Array, row: int) -> None:
    """Rows on q . pdot = 4 J0 / |q|^2 q . M^-1 pdot become rows on q . M^-1 pdot."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        a = states(m)[b].a
        out[row + o.il] *= dot(a, a, 4) / (4.0 * o.radial)
