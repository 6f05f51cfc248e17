"""`index-0`: the multipliers eliminated, (qdot, vdot) as a function of (q, v); [NS] (6), (40), (66).

The same kernel gives every formulation its consistent initial rates and multipliers. The Jacobian of the right-hand
side comes from differentiating the index-1 system implicitly at (q, v, vdot, la):

    [M G^T; G 0] (d vdot, d la) = -d(M vdot - psi + G^T la, G vdot + g_II)|_(vdot, la fixed).

Internal states s of forces follow, sdot = f(q, v, s, t); vdot then depends on s, too.
With momenta (lambda eliminated, [BS09], Remark 4.2) the unknown of the saddle-point system is M^-1 pdot, with the
spatial angular velocity Omegadot = R^T omegadot.
"""

from __future__ import annotations

from rbdae.compiler.access import Array, Memory, address, is_zero
from rbdae.compiler.jit import entry, jit, stage
from rbdae.formulations.base import AbsoluteFormulation, Explicit, Solved
from rbdae.kernels.bodies.dynamics import apply_mass_matrix, collect_forces, dynamics_residual
from rbdae.kernels.bodies.gather import clear_accelerations, gather_accelerations
from rbdae.kernels.bodies.kinematics import kinematics_rate, kinematics_residual, kinematics_tangent
from rbdae.kernels.bodies.natural import accelerate, place, velocity_basis
from rbdae.kernels.bodies.spatial import to_spatial_rates, to_spatial_rows
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitives import primitive_vectors
from rbdae.kernels.constraints.redundant_rows import clear_dropped
from rbdae.kernels.constraints.rows import constraint_rows, scatter_constraint_rows
from rbdae.kernels.equations import add_forces, natural_tangents, scatter_dynamics, set_state
from rbdae.kernels.forces.applied import applied_forces
from rbdae.kernels.forces.internal_states import collect_state_rates, scatter_state_rows, states_residual
from rbdae.kernels.linear.saddle import factorise, solve_saddle
from rbdae.kernels.linear.saddle_tangent import solve_saddle_tangent
from rbdae.kernels.memory import head, rhs_tangent, states
from rbdae.kernels.records import SPATIAL_VELOCITIES, STRIDED
from rbdae.kernels.scatter import open_rhs_tangent, open_target_above, overwrite_block, scatter_identity
from rbdae.kernels.scratch import constraint_side, multipliers, right_hand_side, solution


@stage("i")
def accelerations(m: Memory) -> None:
    """vdot, or M^-1 pdot, and la of the saddle-point system. Reads the placed and moved bodies; writes `solution` and
    `multipliers`; leaves the gradients and factors of the joints."""
    h = head(m)
    clear_accelerations(m)
    accelerate(m)
    primitive_vectors(m, 2)
    applied_forces(m)
    velocity_basis(m)
    gradients(m)
    factorise(m, 1)
    collect_forces(m, address(right_hand_side(m)))
    s = constraint_side(m)
    constraint_rows(m, address(s), 0, 2)
    clear_dropped(m, address(s), 0)
    for i in range(h.n_la):
        s[i] = -s[i]
    solve_saddle(m)


@stage("i", "momenta")
def _to_momentum_rates(m: Memory) -> None:
    """`solution`: M^-1 pdot becomes pdot."""
    apply_mass_matrix(m, address(solution(m)), address(solution(m)), 1.0)


@jit
def add_multipliers(m: Memory, out: Array) -> None:
    """The multipliers after the rates, if out has room for them."""
    h = head(m)
    if out.shape[0] > h.multipliers_at:
        la = multipliers(m)
        for i in range(h.n_la):
            out[h.multipliers_at + i] = la[i]


@jit
def _set_rates(m: Memory, t: float, y: Array) -> None:
    """vdot, or pdot, at (t, y) to `solution`."""
    set_state(m, t, y)
    accelerations(m)
    if head(m).momenta == 1:
        _to_momentum_rates(m)
    elif head(m).spatial == SPATIAL_VELOCITIES:
        to_spatial_rates(m)


@entry("ityo")
def rhs(m: Memory, t: float, y: Array, out: Array) -> None:
    """(qdot, vdot, sdot) to out; the multipliers follow if out has room for them."""
    h = head(m)
    _set_rates(m, t, y)
    kinematics_rate(m, address(out))
    vd = solution(m)
    for i in range(h.n_v):
        out[h.n_q + i] = vd[i]
    collect_state_rates(m, address(out))
    add_multipliers(m, out)


@entry("ityyo")
def residual(m: Memory, t: float, y: Array, yd: Array, out: Array) -> None:
    """yd - rhs(t, y) to out."""
    h = head(m)
    _set_rates(m, t, y)
    kinematics_residual(m, address(yd), address(out))
    vd = solution(m)
    for i in range(h.n_v):
        out[h.n_q + i] = yd[h.n_q + i] - vd[i]
    states_residual(m, address(yd), address(out))


@entry("iyo")
def balance(m: Memory, x: Array, out: Array) -> None:
    """M vdot - psi + G^T la and G vdot + g_II to out at x = (vdot, la), or at (pdot, la). Follows `accelerations`."""
    h = head(m)
    la = multipliers(m)
    for i in range(h.n_la):
        la[i] = x[h.n_v + i]
    place(m)  # the natural forces begin with the weight, and those of the joints are among them now
    gather_accelerations(m, address(x), 0)
    accelerate(m)
    add_forces(m, 2)
    dynamics_residual(m, address(out), 0)
    constraint_rows(m, address(out), h.n_v, 2)
    clear_dropped(m, address(out), h.n_v)


@entry("i")
def columns(m: Memory) -> None:
    """Solve the saddle-point system for the columns of `rhs_tangent`."""
    solve_saddle_tangent(m)
    if head(m).spatial == SPATIAL_VELOCITIES:
        to_spatial_rows(m)


@stage("i")
def acceleration_tangents(m: Memory) -> None:
    """Minus d vdot/d(q, v, s), or of pdot, to the first nv rows of `rhs_tangent`, and minus that of sdot to its rows
    after those of the multipliers. Follows `accelerations`: reads `solution`, the multipliers and the factors of the
    joints."""
    h = head(m)
    place(m)  # the natural forces begin with the weight, and those of the joints are among them now
    gather_accelerations(m, address(solution(m)), 0)
    accelerate(m)
    add_forces(m, 2)
    natural_tangents(m, 2)
    mode = h.mode
    open_rhs_tangent(m)
    scatter_dynamics(m, 0, 0.0)
    scatter_constraint_rows(m, h.n_v, 2, 0.0)
    scatter_state_rows(m, h.n_v + h.n_la)
    h.mode = mode
    solve_saddle_tangent(m)
    if h.spatial == SPATIAL_VELOCITIES:
        to_spatial_rows(m)


@jit
def _fill_tangent(m: Memory, t: float, y: Array, c: float, sign: float, out: Array) -> None:
    """c I + sign d(rhs)/dy to the target."""
    h = head(m)
    _set_rates(m, t, y)
    acceleration_tangents(m)
    open_target_above(m, out, h.n_q)
    kinematics_tangent(m, c, sign)
    W = rhs_tangent(m)
    overwrite_block(m, h.n_q, 0, W, h.n_v, h.n_columns, -sign)
    if h.n_states > 0:
        overwrite_block(m, h.states_at, 0, W[h.n_v + h.n_la :], h.n_states, h.n_columns, -sign)
    if not is_zero(c) or h.mode != STRIDED:
        scatter_identity(m, h.n_q, h.n_q, h.n_v + h.n_states, c)


@entry("ityM")
def rhs_jacobian(m: Memory, t: float, y: Array, out: Array) -> None:
    """d(rhs)/dy to the target."""
    _fill_tangent(m, t, y, 0.0, 1.0, out)


@entry("ityytM")
def jacobian(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """c I - d(rhs)/dy to the target."""
    _fill_tangent(m, t, y, c, -1.0, out)


@entry("ityo")
def natural_forces(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[12 b:12 b + 12] = (fx, fd) of every body: weight, applied forces, and the joints' with the multipliers by
    elimination."""
    set_state(m, t, y)
    accelerations(m)
    place(m)
    add_forces(m, 0)
    S = states(m)
    for b in range(head(m).n_bodies):
        s = S[b]
        for k in range(3):
            out[12 * b + k] = s.fx[k]
        for k in range(9):
            out[12 * b + 3 + k] = s.fd[k]


SADDLE = Solved(balance, columns)

KERNELS = Explicit(residual, jacobian, rhs, rhs_jacobian, ((residual, SADDLE), (rhs, SADDLE)))


class Index0(AbsoluteFormulation, name="index-0", kind="ode", index=0, kernels=KERNELS, levels=(2,), source="[NS] (6)"):
    """Multipliers eliminated, an ODE in (q, v)."""
