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
from rbdae.kernels.bodies.gather import gather_accelerations, moving, states_residual, write_body
from rbdae.kernels.bodies.natural import accelerate, kinematics_residual
from rbdae.kernels.constraints.primitives import primitive_residual
from rbdae.kernels.constraints.rows import dropped_residual
from rbdae.kernels.entry import entry
from rbdae.kernels.equations import add_forces, set_state


@entry("ityyo")
def residual(m: Memory, t: float, y: Array, yd: Array, out: Array) -> None:
    """F(t, y, yd) to out."""
    h = m.head
    first = h.multipliers_at - h.n_internal  # rows and multipliers of unit norms would begin there
    set_state(m, t, y)
    gather_accelerations(m, yd, h.n_q)
    la = m.multipliers
    la[: h.n_internal] = 0.0  # as in (23)
    la[h.n_internal : h.n_la] = y[h.multipliers_at : first + h.n_la]
    if h.level == 2:
        accelerate(m)
    add_forces(m, h.level)
    kinematics_residual(m, yd, out)
    for o, s in moving(m):
        write_body(o, s.xdd * o.mass - s.fx, projected_residual(o, s, h.level), out, h.n_q + o.iv)
    states_residual(m, yd, out)
    primitive_residual(m, out, first, h.level)
    dropped_residual(m, out, first, y[first:])


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
