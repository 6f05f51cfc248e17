"""`index-0`: the multipliers eliminated, (qdot, vdot) as a function of (q, v); [NS] (6), (40), (66).

The same kernel gives every formulation its consistent initial rates and multipliers. The Jacobian of the right-hand
side comes from implicit differentiation of the index-1 system at (q, v, vdot, la):

    [M G^T; G 0] (d vdot, d la) = -d(M vdot - psi + G^T la, G vdot + g_II)|_(vdot, la fixed).

Internal states s of forces follow, sdot = f(q, v, s, t); vdot then also depends on s.
With momenta (lambda eliminated, [BS09], Remark 4.2) the unknown of the saddle-point system is M^-1 pdot, with the
spatial angular velocity Omegadot = R^T omegadot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rbdae.formulations.base import AbsoluteFormulation, Explicit, Norm
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.dynamics import apply_mass_matrix, dynamics_residual
from rbdae.kernels.bodies.gather import clear_accelerations, collect_state_rates, gather_accelerations, moving
from rbdae.kernels.bodies.natural import accelerate, kinematics_rate, place, to_spatial, velocity_basis
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitives import partial_rates, primitive_vectors
from rbdae.kernels.constraints.rows import constraint_rows
from rbdae.kernels.entry import entry
from rbdae.kernels.equations import add_forces, set_state
from rbdae.kernels.forces.elements import applied_forces
from rbdae.kernels.linear import unit_quaternions
from rbdae.kernels.linear.accelerations import accelerations
from rbdae.kernels.linear.saddle import reduce_bodies, reduce_gradients
from rbdae.kernels.records import QUATERNION_RATE, SPATIAL_VELOCITIES


def free_rates(m: Memory, t: float, y: Array, out: Array) -> None:
    """qdot at (t, y), and the unknowns of the saddle-point system: vdot, M^-1 pdot, or material rates."""
    n_q, n_v = m.head.n_q, m.head.n_v
    set_state(m, t, y)
    accelerations(m)
    kinematics_rate(m, out)
    out[n_q : n_q + n_v] = m.solution[:n_v]


def change_rates(m: Memory) -> None:
    """Change `solution` from the unknowns of the saddle-point system to the rates of the unknowns y."""
    if m.head.momenta == 1:
        apply_mass_matrix(m, m.solution, m.solution, 1.0)
    elif m.head.spatial == SPATIAL_VELOCITIES:
        vd = m.solution
        for o, s in moving(m):
            i = o.iv + o.nt
            vd[i : i + 3] = to_spatial(s, vd[i : i + 3])


def _free_momenta(m: Memory) -> None:
    """pdot = f - q la of bodies without joints, with q . pdot = s: half of the operations of M (M^-1 pdot)."""
    f, s = m.right_hand_side, m.constraint_side
    for o, of in moving(m):
        i = o.iv + o.nt
        q, load = of.a[:4], f[i : i + 4]
        m.solution[o.iv : i] = f[o.iv : i]
        m.solution[i : i + 4] = load - q * ((q @ load - s[o.il]) / (q @ q))


def natural_loads(m: Memory, t: float, y: Array) -> None:
    """The applied forces at (t, y) among the natural forces. Leaves the rates of the internal states."""
    set_state(m, t, y)
    applied_forces(m)


def unsolved(m: Memory, t: float, y: Array) -> None:
    """The saddle-point system at (t, y) without applied forces, not factorised. Leaves the gradients with H, N
    and Ji of the bodies, g_II in `constraint_side`, and g_I of the joints in `square_side`."""
    set_state(m, t, y)
    clear_accelerations(m)
    accelerate(m)
    primitive_vectors(m, 2)
    velocity_basis(m)
    gradients(m)
    reduce_bodies(m, 1)
    reduce_gradients(m)
    constraint_rows(m, m.constraint_side, 0, 2)
    partial_rates(m, m.square_side, 0, 1.0)


def add_multipliers(m: Memory, out: Array) -> None:
    """Append the multipliers to the rates if out has room for them."""
    h = m.head
    if len(out) > h.multipliers_at:
        out[h.multipliers_at : h.multipliers_at + h.n_la] = m.multipliers[: h.n_la]


@entry("ityo", ordered=True)
def rhs(m: Memory, t: float, y: Array, out: Array) -> None:
    """(qdot, vdot, sdot) to out; the multipliers follow if out has room for them."""
    n_q, n_v = m.head.n_q, m.head.n_v
    set_state(m, t, y)
    accelerations(m)
    if m.head.momenta == 1 and m.head.n_rows == 0 and m.head.kind == QUATERNION_RATE:
        _free_momenta(m)
    else:
        change_rates(m)
    kinematics_rate(m, out)
    out[n_q : n_q + n_v] = m.solution[:n_v]
    collect_state_rates(m, out)
    add_multipliers(m, out)


@entry("ityyo", ordered=True)
def residual(m: Memory, t: float, y: Array, yd: Array, out: Array) -> None:
    """yd - rhs(t, y) to out."""
    rates = np.zeros(m.head.multipliers_at, dtype=out.dtype)
    rhs(m, t, y, rates)
    out[:] = yd - rates


@entry("iyo")
def balance(m: Memory, x: Array, out: Array) -> None:
    """M vdot - psi + G^T la and G vdot + g_II to out at x = (vdot, la), or at (pdot, la). Follows `accelerations`."""
    h = m.head
    m.multipliers[: h.n_la] = x[h.n_v : h.n_v + h.n_la]
    place(m)  # natural forces begin with the weight, and now include the joints' forces
    gather_accelerations(m, x, 0)
    accelerate(m)
    add_forces(m, 2)
    dynamics_residual(m, out, 0)
    constraint_rows(m, out, h.n_v, 2)


@entry("iyo")
def unit_balance(m: Memory, x: Array, out: Array) -> None:
    """`balance` if |p| = 1 is assumed."""
    balance(m, x, out)
    unit_quaternions.balance(m, out, 0)


KERNELS = Explicit(residual, rhs, (residual, rhs), balance)

UNIT_NORM = Explicit(residual, rhs, (residual, rhs), unit_balance)


@dataclass(frozen=True, kw_only=True)
class Index0(AbsoluteFormulation, name="index-0", kind="ode", index=0, kernels=KERNELS, levels=(2,), source="[NS] (6)"):
    """Multipliers eliminated, an ODE in (q, v).

    Parameters
    ----------
    norm : ``"any"`` or ``"unit"``
        For quaternions and coordinate velocities: the right-hand side for every |p|, or the one that assumes |p| = 1 as
        in [NS] (40), with three fifths of the operations. On the unit sphere they are equal. Off it ``"unit"`` has
        another continuation, in which |p| oscillates about 1 with bounded drift. Other options as for
        `AbsoluteFormulation`.
    """

    norm: Norm = "any"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.norm == "unit":
            object.__setattr__(self, "kernels", UNIT_NORM)
