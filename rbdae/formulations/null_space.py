"""`null-space`: positions q and independent quasi-velocities nu; [NS] (7)-(11), (42), (60), (61), (66).

    qdot - K w                       = 0,    w = T nu - r
    T^T [M wdot - psi(q, w, t)]      = 0,    wdot = T nudot + Tdot nu - rdot

w = (xdot, Omega) of all bodies satisfies the velocity constraints G w + g_I = 0 by construction, so they hold to
rounding for any solver. T depends on the structure of the system, see
`rbdae.kernels.null_space.quasi_velocities`. Internal states s of forces follow: sdot - f(q, w, s, t) = 0, and psi
also depends on s. The ODE takes nudot from the angular saddle-point system, whose solution wdot satisfies the same
equations because G T = 0: the same numbers in O(n) for trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rbdae.formulations.base import DirectorConstraints, Explicit, Formulation, Implicit
from rbdae.formulations.explicit import add_multipliers, balance
from rbdae.graph.functions import Array, Memory, maximum, sqrt
from rbdae.kernels.bodies.dynamics import dynamics_residual
from rbdae.kernels.bodies.gather import (
    collect_state_rates,
    collect_velocities,
    gather_force_states,
    gather_positions,
    gather_velocities,
    states_residual,
)
from rbdae.kernels.bodies.natural import kinematics_rate, kinematics_residual, move, place
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.entry import entry
from rbdae.kernels.forces.elements import applied_forces
from rbdae.kernels.forces.reaction_friction import add_friction
from rbdae.kernels.linear.accelerations import accelerations, eliminated_normals
from rbdae.kernels.null_space.quasi_velocities import QuasiVelocities, velocities_from_nu
from rbdae.kernels.outputs import position_rows
from rbdae.rotations.vectors import frame, reciprocal


def _set_state(m: Memory, t: float, y: Array) -> QuasiVelocities:
    """Natural positions and velocities, and internal states of forces, at (q, nu, s)."""
    set_time(m, t)
    gather_positions(m, y)
    place(m)
    gather_force_states(m, y)
    return velocities_from_nu(m, y, m.head.n_q)


@entry("ityo")
def motion(m: Memory, t: float, y: Array, out: Array) -> None:
    """(w, T by rows) to out, which determine r = T nu - w; with spatial velocities w = (xdot, omega)."""
    h = m.head
    T = _set_state(m, t, y).matrix()
    w = out[: h.n_v]
    collect_velocities(m, w)
    if h.spatial != 0:
        for o, s in zip(m.bodies[:-1], m.states[:-1], strict=True):
            turning, C = slice(o.iv + o.nt, o.iv + o.nt + 3), reciprocal(frame(s.d))  # R^-T
            w[turning], T[turning] = C @ w[turning], C @ T[turning]
    out[h.n_v :] = T.ravel()


@entry("ityyo")
def selected_rates(m: Memory, t: float, y: Array, yd: Array, out: Array) -> None:
    """nudot to out at (q, w) in y and wdot in yd, w = (xdot, Omega). It is nu where w is 0 and wdot is w."""
    set_time(m, t)
    gather_positions(m, y)
    place(m)
    gather_velocities(m, y, m.head.n_q)
    move(m)
    out[:] = QuasiVelocities(m).rates(yd[m.head.n_q :])


@entry("ityo")
def growth(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[0] = the largest growth of a column of T since the independent velocities were selected; for loops."""
    T = _set_state(m, t, y).matrix()
    of_rows, of_columns = np.split(m.velocity_metric[: sum(T.shape)], [len(T)])
    most = 0.0
    for column, size in zip(T.T, of_columns, strict=True):
        most = maximum(most, sqrt((of_rows * column) @ (of_rows * column)) * size)
    out[0] = most


@entry("ityo", ordered=True)
def rhs(m: Memory, t: float, y: Array, out: Array) -> None:
    """(qdot, nudot, sdot) to out; the joints' multipliers follow if out has room for them."""
    h = m.head
    velocities = _set_state(m, t, y)
    accelerations(m)
    kinematics_rate(m, out)
    out[h.n_q : h.n_q + h.n_nu] = velocities.rates(m.solution)
    collect_state_rates(m, out)
    add_multipliers(m, out)


@entry("ityyo")
def residual(m: Memory, t: float, y: Array, yd: Array, out: Array) -> None:
    """The implicit form with the reduced mass matrix T^T M T to out."""
    h = m.head
    velocities = _set_state(m, t, y)
    eliminated_normals(m)
    velocities.accelerations(yd[h.n_q : h.n_q + h.n_nu])
    applied_forces(m)
    add_friction(m)
    dynamics = np.zeros(h.n_v, dtype=out.dtype)  # M wdot - psi
    dynamics_residual(m, dynamics, 0)
    kinematics_residual(m, yd, out)
    out[h.n_q : h.n_q + h.n_nu] = velocities.reduced(dynamics)
    states_residual(m, yd, out)


@entry("ityyo")
def overdetermined_residual(m: Memory, t: float, y: Array, yd: Array, out: Array) -> None:
    """The implicit form, then g = 0: the chart's internal constraints body by body, then the kept joint rows. Dropped
    rows have no equation, since a row of zeros would itself be redundant."""
    residual(m, t, y, yd, out)
    position_rows(m, out, m.head.multipliers_at)


@dataclass(frozen=True, kw_only=True)
class NullSpace(
    Formulation, name="null-space", kind="ode", index=0, velocities=("angular", "spatial"), unknowns="quasi-velocities"
):
    """Independent quasi-velocities, reduced mass matrix; ODE or implicit.

    It costs O(n) for trees of lower pairs. Systems with loops cost as much as sparse factors over the graph of the
    joints, O(n) for ladders. Their quasi-velocities are a selection that `rbdae.solve` changes when it becomes
    ill-conditioned.

    Parameters
    ----------
    director_constraints : ``"rows"`` or ``"columns"``
        As for `AbsoluteFormulation`; here only for `Problem.constraints` and the projection in `solve`.
    """

    source = "[NS] (11), (60), (61)"
    kernels: ClassVar[Implicit] = Explicit(residual, rhs, (rhs,), balance)
    director_constraints: DirectorConstraints = "rows"


class NullSpaceOverdetermined(NullSpace, name="null-space-overdetermined", kind="overdetermined", levels=(0,)):
    """The implicit null-space form with additional g = 0, for ODASSL."""

    source = "[NS] (11)"
    kernels = Implicit(overdetermined_residual, rhs)
