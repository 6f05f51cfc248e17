"""`projected-2` and `projected-1`: the three rotational equations (25) of [SNS15] for each body, without a multiplier
of the unit norm; the norm's row replaces the fourth equation.

    pdot - v = 0                                                            (and xdot - v for the translation)
    m xddot - f + G_x^T la                                = 0
    4 J L vdot + 8 L Ldot^T J L v - 2 n + 2 T_d^T G_d^T la = 0              (25), L times (23) over |p|^2
    p . v, or p . vdot + v . v                            = 0                level 1, 2
    g of the joints at the same level                     = 0

With joints, the constraints differentiated 2 - level times give vdot and la, and once more the rate of la, so the index
is 3 - level. The norm counts like the joints, because their gradients have parts along p: the rate of la needs
p . vddot. So all constraints have the same level. With |p|^2 = 1 itself as the fourth row the index would be 3 for any
level of the joints.

Without joints there are no multipliers, and the index is 2 - level: 1 for `projected-2`; `projected-1` is an ordinary
differential equation in implicit form. `projected-0` solves these forms for (qdot, vdot), the explicit form of (23):
(38), or (40) without joints.
"""

from __future__ import annotations

from typing import ClassVar

from rbdae.formulations import explicit
from rbdae.formulations.base import Formulation, Gyroscopic, Implicit, PullBack
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.euler_parameter_forms import projected_residual
from rbdae.kernels.bodies.gather import gather_accelerations
from rbdae.kernels.bodies.kinematics import kinematics_residual
from rbdae.kernels.bodies.natural import accelerate
from rbdae.kernels.constraints.primitives import primitive_residual
from rbdae.kernels.constraints.redundant_rows import dropped_residual
from rbdae.kernels.entry import entry
from rbdae.kernels.equations import add_forces, set_state
from rbdae.kernels.forces.internal_states import states_residual
from rbdae.kernels.memory import bodies, head, multipliers, states


def _joints_at(m: Memory) -> int:
    """The place at which rows and multipliers of the joints would begin after those of the unit norms."""
    h = head(m)
    n: int = h.multipliers_at - h.n_internal
    return n


def _gather_joint_multipliers(m: Memory, y: Array) -> None:
    """Gather the joints' multipliers from y; the unit norms' are zero, as in (23)."""
    h = head(m)
    la = multipliers(m)
    for i in range(h.n_internal):
        la[i] = 0.0
    for i in range(h.n_internal, h.n_la):
        la[i] = y[h.multipliers_at - h.n_internal + i]


def _evaluate(m: Memory, t: float, y: Array, yd: Array, level: int) -> None:
    """Natural coordinates and forces at (t, y, yd)."""
    set_state(m, t, y)
    gather_accelerations(m, yd, head(m).n_q)
    _gather_joint_multipliers(m, y)
    if level == 2:
        accelerate(m)
    add_forces(m, level)


def _dynamics_residual(m: Memory, out: Array, row: int) -> None:
    """out[row:row + nv]: the dynamics, and the unit norms."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        r = row + o.iv
        for k in range(o.nt):
            out[r + k] = o.mass * s.xdd[k] - s.fx[k]
        projected_residual(m, b, out, r + o.nt, h.level)


@entry("ityyo")
def residual(m: Memory, t: float, y: Array, yd: Array, out: Array) -> None:
    """F(t, y, yd) to out."""
    h = head(m)
    _evaluate(m, t, y, yd, h.level)
    kinematics_residual(m, yd, out)
    _dynamics_residual(m, out, h.n_q)
    states_residual(m, yd, out)
    joints = _joints_at(m)
    primitive_residual(m, out, joints, h.level)
    dropped_residual(m, out, joints, y, joints)


class Projected(Formulation, velocities=("coordinate",), charts=("quaternion",), projected=True):
    """Quaternions without a multiplier of the unit norm. The gyroscopic term is from (23), generalised forces from
    (59); a radial inertia would act along p, where there is no equation."""

    gyroscopic: ClassVar[Gyroscopic] = "fifth-order"
    pull_back: ClassVar[PullBack] = "moment"


class Projected2(Projected, name="projected-2", kind="dae", index=2, levels=(1,), source="[SNS15] (25)"):
    """No multiplier of the unit norm; constraints on velocities."""

    kernels = Implicit(residual, explicit.rhs)
    multipliers = "values"


class Projected1(Projected2, name="projected-1", index=1, levels=(2,), source="[SNS15] (25), (33)"):
    """No multiplier of the unit norm; constraints on accelerations."""


class Projected0(Projected, name="projected-0", kind="ode", index=0, levels=(2,), source="[SNS15] (38), (40)"):
    """No multipliers, an ODE in (q, v)."""

    kernels = explicit.KERNELS
