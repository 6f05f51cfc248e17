"""Energies and momenta of a whole system at a state."""

from __future__ import annotations

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.dynamics import apply_mass
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.entry import entry
from rbdae.kernels.forces.internal_states import gather_force_states
from rbdae.kernels.forces.readings import write_potentials
from rbdae.kernels.memory import bodies, force_states, head, states
from rbdae.kernels.outputs import locate
from rbdae.kernels.records import DIRECTOR_RATE
from rbdae.rotations.vectors import angular_velocity


@entry("ityo")
def energies(m: Memory, t: float, y: Array, out: Array) -> None:
    """out = T and V. T = (m xdot . xdot + w . M w) / 2 with the formulation's own velocities w, p . w / 2 with momenta;
    a body with a pivot turns about it. V has the weight, without that of pivots themselves, and the forces."""
    h = head(m)
    set_time(m, t)
    gather_force_states(m, y)
    locate(m, y)
    T = 0.0
    V = 0.0
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        if o.nt == 3:
            T += (s.xd[:3] @ s.xd[:3]) * (0.5 * o.mass)
        if h.momenta == 0:
            apply_mass(m, b, s.w, s.ad)
        T += 0.5 * (s.w[: o.nr] @ (s.p if h.momenta == 1 else s.ad)[: o.nr])
        V -= s.x[:3] @ o.weight + s.d @ o.weight_d
    of_forces = [0.0] * (h.n_bushings + h.n_elements)
    write_potentials(m, force_states(m), of_forces)
    out[0] = T
    out[1] = sum(of_forces, V)


@entry("ityo")
def momenta(m: Memory, t: float, y: Array, out: Array) -> None:
    """out = linear momentum, then angular momentum about the origin of space; its part from the rotation is R J Omega,
    with rates of directors the sum of d_i x E_ij d/dt d_j."""
    set_time(m, t)
    locate(m, y)
    p = np.zeros(3)
    L = np.zeros(3)
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        D = s.d.reshape(3, 3)  # its rows are the directors
        rates = s.dd.reshape(3, 3)
        impulse = (s.xd[:3] if o.nt == 3 else o.center @ rates) * o.mass
        if head(m).kind == DIRECTOR_RATE:
            spin = cross(D, o.euler @ rates).sum(axis=0)
        else:
            spin = (o.inertia @ angular_velocity(D, rates)) @ D
        p = p + impulse
        L = L + cross(s.x[:3], impulse) + spin
    out[:3] = p
    out[3:6] = L
