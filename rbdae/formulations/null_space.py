"""`null-space`: q and the independent quasi-velocities nu; [NS] (11), (42), (60), (61), (66).

    qdot - K T nu                                 = 0      T = T_int T_ext, here w = (xdot, Omega) = T nu
    T^T [M (T nudot + Tdot nu) - psi(q, T nu, t)] = 0

as an implicit residual with the reduced mass T^T M T, and as an ODE. The right-hand side takes nudot from the
angular saddle-point system, whose solution is T nudot + Tdot nu (because G T = 0 identically): the same numbers for
O(N) work. For trees of spherical joints, whose T is known; `gauge` is for all other systems.
"""

from __future__ import annotations

from rbdae.compiler.jit import address, entry, jit
from rbdae.formulations.explicit import acceleration_tangents, accelerations, add_multipliers
from rbdae.kernels.bodies.dynamics import dynamics_residual, dynamics_tangent
from rbdae.kernels.bodies.gather import gather_positions
from rbdae.kernels.bodies.kinematics import kinematics_rate, kinematics_residual, put_rate_tangent
from rbdae.kernels.bodies.natural import accelerate, accelerate_tangent, move, move_tangent, place, place_tangent
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.primitives import primitive_vectors
from rbdae.kernels.forces.applied import applied_forces, put_applied_tangents
from rbdae.kernels.memory import bodies, head, tangent, tree, vectors, wide
from rbdae.kernels.null_space.spherical_trees import (
    ROOT,
    add_reduced_stiffness,
    by_quasi_velocities,
    chain_accelerations,
    chain_velocities,
    from_nu,
    reduce_residual,
    reduce_tangent,
    select_nu,
    tree_tangents,
)
from rbdae.kernels.outputs import position_rows, put_position_rows
from rbdae.kernels.scatter import open_sink, put_block, put_identity, sink_to_wide


@jit
def evaluate(m, t, y):
    """Natural positions and velocities at (q, nu)."""
    set_time(m, t)
    gather_positions(m, address(y))
    from_nu(m, address(y), head(m).n_q, 0)
    place(m)
    move(m)
    chain_velocities(m)


@entry("ityo")
def rhs(m, t, y, out):
    """(qdot, nudot) to out; the joints' multipliers too where out has room for them."""
    h = head(m)
    evaluate(m, t, y)
    accelerations(m)
    kinematics_rate(m, address(out))
    select_nu(m, address(vectors(m)[3]), address(out), h.n_q)
    add_multipliers(m, out, h.n_q + h.n_nu)


@jit
def _residual(m, t, y, yd, out):
    h = head(m)
    evaluate(m, t, y)
    from_nu(m, address(yd), h.n_q, 1)
    accelerate(m)
    chain_accelerations(m)
    primitive_vectors(m, 1)
    applied_forces(m)
    kinematics_residual(m, address(yd), address(out))
    dynamics_residual(m, address(vectors(m)[1]), 0)
    reduce_residual(m, address(out), h.n_q)


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
    """Tangent of c qdot + sign K T nu."""
    scratch = tangent(m)
    h = head(m)
    B = bodies(m)
    T = tree(m)[0]
    Q = tree(m)[1]
    for b in range(h.n_bodies):
        o = B[b]
        i = o.iq
        v = h.n_q + o.inu
        if o.nt == 3:
            put_identity(m, i, i, 3, c)
            if o.parent == ROOT:
                put_identity(m, i, v, 3, sign)
                v += 3
            else:
                put_block(m, i, 0, Q[o.iv : o.iv + 3], 3, h.n_q, sign)
                put_block(m, i, h.n_q, T[o.iv : o.iv + 3], 3, h.n_nu, sign)
            i += 3
        put_rate_tangent(m, b, i, c, sign)
        put_block(m, i, v, scratch.T1, o.na, 3, sign)


@jit
def _tangent(t, y, sign, c, out, m):
    """c I + sign d(rhs)/dy to the sink."""
    h = head(m)
    evaluate(m, t, y)
    accelerations(m)
    acceleration_tangents(m)
    tree_tangents(m, 1)
    W = wide(m)
    F = tree(m)[4]
    B = bodies(m)
    for b in range(h.n_bodies):
        o = B[b]
        first = 0 if o.parent == ROOT else o.nt
        for k in range(first, o.nt + 3):
            i = o.iv + k
            by_quasi_velocities(m, W[i], F[o.inu + k - first])
    open_sink(m, out)
    _put_kinematics(m, c, sign)
    put_block(m, h.n_q, 0, F, h.n_nu, h.n_q + h.n_nu, -sign)
    put_identity(m, h.n_q, h.n_q, h.n_nu, c)


@entry("ityM")
def rhs_jacobian(m, t, y, out):
    """d(rhs)/dy to the sink."""
    _tangent(t, y, 1.0, 0.0, out, m)


@jit
def _jacobian(m, t, y, yd, c, out):
    """With h(q, w, wdot) = M wdot - psi: d(T^T h) = dT^T h + T^T (h_q + h_w w_q + M wdot_q, h_w T + M wdot_nu + c M
    T)."""
    h = head(m)
    evaluate(m, t, y)
    from_nu(m, address(yd), h.n_q, 1)
    accelerate(m)
    chain_accelerations(m)
    primitive_vectors(m, 1)
    applied_forces(m)
    place_tangent(m)
    move_tangent(m)
    accelerate_tangent(m)
    tree_tangents(m, 2)
    mode = h.mode
    sink_to_wide(m)
    dynamics_tangent(m, 0, 0.0)
    put_applied_tangents(m, 0)
    h.mode = mode
    dynamics_residual(m, address(vectors(m)[1]), 0)
    reduce_residual(m, address(vectors(m)[5]), 0)
    reduce_tangent(m, c)
    add_reduced_stiffness(m)
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
