"""`null-space` of any joints, closed loops and rheonomic ones included: (q, nu) with nu = S w.

    qdot - K w = 0,                                w    = [G; S]^-1 (-g_I, nu)
    T^T [M wdot - psi(q, w, t)] = 0,               wdot = [G; S]^-1 (-g_II, nudot),    T = [G; S]^-1 [0; I]

[NS] (7)-(11): the velocity constraints hold to rounding whatever the solver does. The right-hand side takes
nudot = S vdot + Sdot w from the saddle-point system, whose solution has the same equations. Trees of joints whose
freedoms are known (`rbdae.multibody.tree_velocities`) have rows S in the frames of the bodies, good everywhere, and cost O(n). With
loops S is constant and the system dense, O(n_v^3), so that is for mechanisms with n_v up to a few hundred; where it
comes near a singular matrix, `rbdae.solving.switches.velocities` chooses another S and carries nu over: the same motion in other unknowns.
Trees of spherical joints take the matrix of `null_space`.
"""

from __future__ import annotations

from rbdae.compiler.jit import address, entry, jit
from rbdae.formulations.explicit import acceleration_tangents, accelerations, add_multipliers
from rbdae.kernels.bodies.dynamics import dynamics_residual, dynamics_tangent
from rbdae.kernels.bodies.gather import gather_positions
from rbdae.kernels.bodies.kinematics import kinematics_rate, kinematics_residual, put_rate_tangent
from rbdae.kernels.bodies.natural import accelerate, accelerate_tangent, move, move_tangent, place, place_tangent
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.hessians import put_primitive_stiffness
from rbdae.kernels.constraints.primitives import primitive_forces, primitive_vectors
from rbdae.kernels.forces.applied import applied_forces, put_applied_tangents
from rbdae.kernels.memory import bodies, head, states, tangent, tree, vectors
from rbdae.kernels.null_space.spherical_trees import reduce_tangent
from rbdae.kernels.null_space.square_system import (
    accelerations_from_nu,
    gauge_tangents,
    null_space_columns,
    place_gauge_forces,
    put_rows_stiffness,
    select_rates,
    select_tangent,
    solve_transposed,
    velocities_from_nu,
)
from rbdae.kernels.outputs import position_rows, put_position_rows
from rbdae.kernels.scatter import open_sink, put_block, put_identity, sink_to_wide


@jit
def evaluate(m, t, y):
    """Natural positions and velocities at (q, nu)."""
    set_time(m, t)
    gather_positions(m, address(y))
    place(m)
    velocities_from_nu(m, address(y), head(m).n_q)
    move(m)


@entry("ityo")
def motion(m, t, y, out):
    """(w, T by rows) to out: what a new gauge is chosen by."""
    h = head(m)
    evaluate(m, t, y)
    null_space_columns(m)
    T = tree(m)[0]
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        i = B[b].iv
        if B[b].nt == 3:
            for k in range(3):
                out[i + k] = S[b].xd[k]
            i += 3
        for k in range(3):
            out[i + k] = S[b].w[k]
    for i in range(h.n_v):
        for j in range(h.n_nu):
            out[h.n_v + i * h.n_nu + j] = T[i, j]


@entry("ityo")
def rhs(m, t, y, out):
    """(qdot, nudot) to out; the joints' multipliers too where out has room for them."""
    h = head(m)
    evaluate(m, t, y)
    accelerations(m)
    kinematics_rate(m, address(out))
    select_rates(m, vectors(m)[3], out, h.n_q)
    add_multipliers(m, out, h.n_q + h.n_nu)


@jit
def _dynamics(m, t, y, yd):
    """Natural accelerations and forces at (t, y, yd); M wdot - psi to the scratch vector 1."""
    h = head(m)
    evaluate(m, t, y)
    accelerations_from_nu(m, address(yd), h.n_q)
    accelerate(m)
    primitive_vectors(m, 2)
    applied_forces(m)
    dynamics_residual(m, address(vectors(m)[1]), 0)
    solve_transposed(m, vectors(m)[1])


@jit
def _residual(m, t, y, yd, out):
    h = head(m)
    _dynamics(m, t, y, yd)
    kinematics_residual(m, address(yd), address(out))
    z = vectors(m)[1]
    first = h.n_v - h.n_nu
    for i in range(h.n_nu):
        out[h.n_q + i] = z[first + i]


@entry("ityyo")
def residual(m, t, y, yd, out):
    """The implicit form with the reduced mass matrix to out."""
    _residual(m, t, y, yd, out)


@entry("ityyo")
def overdetermined_residual(m, t, y, yd, out):
    """The same, then g = 0: the chart's internal constraints body by body, then the joints."""
    h = head(m)
    _residual(m, t, y, yd, out)
    position_rows(m, address(out), h.n_q + h.n_nu)


@jit
def _put_kinematics(m, c, sign):
    """Tangent of c qdot + sign K w(q, nu)."""
    scratch = tangent(m)
    h = head(m)
    B = bodies(m)
    T = tree(m)[0]
    Q = tree(m)[1]
    for b in range(h.n_bodies):
        o = B[b]
        i = o.iq
        v = o.iv
        if o.nt == 3:
            put_identity(m, i, i, 3, c)
            put_block(m, i, 0, Q[v : v + 3], 3, h.n_q, sign)
            put_block(m, i, h.n_q, T[v : v + 3], 3, h.n_nu, sign)
            i += 3
            v += 3
        put_rate_tangent(m, b, i, c, sign)
        X = tree(m)[5]
        for j in range(o.na):
            for k in range(h.n_q):
                X[j, k] = scratch.T1[j, 0] * Q[v, k] + scratch.T1[j, 1] * Q[v + 1, k] + scratch.T1[j, 2] * Q[v + 2, k]
            for k in range(h.n_nu):
                X[j, h.n_q + k] = (
                    scratch.T1[j, 0] * T[v, k] + scratch.T1[j, 1] * T[v + 1, k] + scratch.T1[j, 2] * T[v + 2, k]
                )
        put_block(m, i, 0, X, o.na, h.n_q + h.n_nu, sign)


@jit
def _tangent(t, y, sign, c, out, m):
    """c I + sign d(rhs)/dy to the sink."""
    h = head(m)
    evaluate(m, t, y)
    place_tangent(m)
    move_tangent(m)
    mode = h.mode
    primitive_vectors(m, 1)
    gauge_tangents(m, 1)
    h.mode = mode
    accelerations(m)
    acceleration_tangents(m)
    select_tangent(m)
    open_sink(m, out)
    _put_kinematics(m, c, sign)
    put_block(m, h.n_q, 0, tree(m)[4], h.n_nu, h.n_q + h.n_nu, -sign)
    put_identity(m, h.n_q, h.n_q, h.n_nu, c)


@entry("ityM")
def rhs_jacobian(m, t, y, out):
    """d(rhs)/dy to the sink."""
    _tangent(t, y, 1.0, 0.0, out, m)


@jit
def _jacobian(m, t, y, yd, c, out):
    """With (zeta, T^T h) = [G; S]^-T h: d(T^T h) = T^T (dh - d(G^T zeta)), so the tangent of the dynamics with the
    multipliers -zeta, which the forms with multipliers have as well."""
    h = head(m)
    _dynamics(m, t, y, yd)
    place_gauge_forces(m)
    primitive_forces(m)
    place_tangent(m)
    move_tangent(m)
    accelerate_tangent(m)
    mode = h.mode
    gauge_tangents(m, 2)
    sink_to_wide(m)
    dynamics_tangent(m, 0, 0.0)
    put_primitive_stiffness(m, 0)
    put_applied_tangents(m, 0)
    put_rows_stiffness(m, 0)
    h.mode = mode
    reduce_tangent(m, c)
    open_sink(m, out)
    _put_kinematics(m, c, -1.0)
    put_block(m, h.n_q, 0, tree(m)[4], h.n_nu, h.n_q + h.n_nu, 1.0)


@entry("ityytM")
def jacobian(m, t, y, yd, c, out):
    """dF/dy + c dF/dyd of the implicit form to the sink."""
    _jacobian(m, t, y, yd, c, out)


@entry("ityytM")
def overdetermined_jacobian(m, t, y, yd, c, out):
    """The same with the rows of g."""
    h = head(m)
    _jacobian(m, t, y, yd, c, out)
    put_position_rows(m, h.n_q + h.n_nu)
