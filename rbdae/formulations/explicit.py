"""`index-0`: the multipliers eliminated, (qdot, vdot) as a function of (q, v); [NS] (6), (40), (66).

The same kernel gives every formulation its consistent initial rates and multipliers. The Jacobian of the right-hand
side comes from differentiating the index-1 system implicitly at (q, v, vdot, la):

    [M G^T; G 0] (d vdot, d la) = -d(M vdot - psi + G^T la, G vdot + g_II)|_(vdot, la fixed).

With momenta (lambda eliminated, [BS09], Remark 4.2) the unknown of the saddle-point system is M^-1 pdot.
"""

from __future__ import annotations

from rbdae.compiler.access import address
from rbdae.compiler.jit import entry, jit, stage
from rbdae.kernels.bodies.dynamics import apply_mass, forces
from rbdae.kernels.bodies.gather import clear_accelerations, gather_accelerations
from rbdae.kernels.bodies.kinematics import kinematics_rate, kinematics_tangent
from rbdae.kernels.bodies.natural import (
    accelerate,
    place,
    velocity_basis,
)
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitives import primitive_vectors
from rbdae.kernels.constraints.redundant_rows import clear_dropped
from rbdae.kernels.constraints.rows import constraint_rows, scatter_constraint_rows
from rbdae.kernels.equations import add_forces, natural_tangents, scatter_dynamics, set_state
from rbdae.kernels.forces.applied import applied_forces
from rbdae.kernels.linear.saddle import factorise, solve_saddle
from rbdae.kernels.linear.saddle_tangent import solve_saddle_tangent
from rbdae.kernels.memory import bodies, head, rhs_tangent, states
from rbdae.kernels.records import STRIDED
from rbdae.kernels.scatter import open_rhs_tangent, open_target_above, overwrite_block, scatter_identity
from rbdae.kernels.scratch import constraint_side, multipliers, right_hand_side, solution


@stage("i")
def accelerations(m):
    """vdot (or M^-1 pdot) to the scratch vector 3 and la to 0, from gathered and placed positions and velocities."""
    h = head(m)
    clear_accelerations(m)
    accelerate(m)
    primitive_vectors(m, 2)
    applied_forces(m)
    velocity_basis(m)
    gradients(m)
    factorise(m)
    B = bodies(m)
    S = states(m)
    f = right_hand_side(m)
    for b in range(h.n_bodies):
        forces(m, b)
        s = S[b]
        i = B[b].iv
        if B[b].nt == 3:
            for k in range(3):
                f[i + k] = s.tx[k]
            i += 3
        for k in range(B[b].nr):
            f[i + k] = s.t[k]
    s2 = constraint_side(m)
    constraint_rows(m, address(s2), 0, 2)
    clear_dropped(m, address(s2), 0)
    for i in range(h.n_la):
        s2[i] = -s2[i]
    solve_saddle(m)


@stage("i", "momenta")
def to_momentum_rates(m):
    """Scratch vector 3: pdot = M (M^-1 pdot)."""
    B = bodies(m)
    S = states(m)
    vd = solution(m)
    for b in range(head(m).n_bodies):
        o = B[b]
        s = S[b]
        i = o.iv
        if o.nt == 3:
            for k in range(3):
                vd[i + k] *= o.mass
            i += 3
        for k in range(o.nr):
            s.ad[k] = vd[i + k]
        apply_mass(m, b, s.ad, s.t)
        for k in range(o.nr):
            vd[i + k] = s.t[k]


@jit
def add_multipliers(m, out, n):
    """The multipliers from out[n] on, where out has room for them."""
    if out.shape[0] > n:
        la = multipliers(m)
        for i in range(head(m).n_la):
            out[n + i] = la[i]


@entry("ityo")
def rhs(m, t, y, out):
    """(qdot, vdot) to out; the multipliers too where out has room for them."""
    h = head(m)
    set_state(m, t, y)
    accelerations(m)
    if h.momenta == 1:
        to_momentum_rates(m)
    kinematics_rate(m, address(out))
    vd = solution(m)
    for i in range(h.n_v):
        out[h.n_q + i] = vd[i]
    add_multipliers(m, out, h.n_q + h.n_v)


@stage("i")
def acceleration_tangents(m):
    """The first nv rows of `rhs_tangent`: minus d vdot/d(q, v) (of pdot with momenta). Follows
    `accelerations`."""
    h = head(m)
    place(m)  # the natural forces start anew, now with those of the joints
    gather_accelerations(m, address(solution(m)), 0)
    accelerate(m)
    add_forces(m, 2)
    natural_tangents(m, 2)
    mode = h.mode
    open_rhs_tangent(m)
    scatter_dynamics(m, 0, 0.0)
    scatter_constraint_rows(m, h.n_v, 2, 0.0)
    h.mode = mode
    solve_saddle_tangent(m)


@jit
def _tangent(t, y, c, sign, out, m):
    """c I + sign d(rhs)/dy to the target."""
    h = head(m)
    set_state(m, t, y)
    accelerations(m)
    if h.momenta == 1:
        to_momentum_rates(m)
    acceleration_tangents(m)
    open_target_above(m, out, h.n_q)
    kinematics_tangent(m, c, sign)
    overwrite_block(m, h.n_q, 0, rhs_tangent(m), h.n_v, h.n_q + h.n_v, -sign)
    if c != 0.0 or h.mode != STRIDED:
        scatter_identity(m, h.n_q, h.n_q, h.n_v, c)


@entry("ityM")
def rhs_jacobian(m, t, y, out):
    """d(rhs)/dy to the target."""
    _tangent(t, y, 0.0, 1.0, out, m)


@entry("ityyo")
def residual(m, t, y, yd, out):
    """yd - rhs(t, y) to out."""
    h = head(m)
    set_state(m, t, y)
    accelerations(m)
    if h.momenta == 1:
        to_momentum_rates(m)
    kinematics_rate(m, address(out))
    for i in range(h.n_q):
        out[i] = yd[i] - out[i]
    vd = solution(m)
    for i in range(h.n_v):
        out[h.n_q + i] = yd[h.n_q + i] - vd[i]


@entry("ityytM")
def jacobian(m, t, y, yd, c, out):
    """c I - d(rhs)/dy to the target."""
    _tangent(t, y, c, -1.0, out, m)
