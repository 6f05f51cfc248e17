"""The applied forces: one place through which every formulation reaches the kernels of all kinds of force; bushings,
F = -K P - D Pdot between two points, P = sum A_k Z_k ([NS], Example C), are here."""

from __future__ import annotations

from rbdae.graph.functions import Memory
from rbdae.kernels.constraints.primitives import add_natural, combine
from rbdae.kernels.forces.elements import element_forces
from rbdae.kernels.forces.internal_states import state_forces
from rbdae.kernels.memory import bushings, head, states


def applied_forces(m: Memory) -> None:
    """Add all applied forces to the natural forces. Leaves the rates of the internal states."""
    _bushing_forces(m)
    element_forces(m)
    state_forces(m)


def _bushing_forces(m: Memory) -> None:
    """Add the forces of all bushings to the natural forces."""
    S = states(m)
    for i in range(head(m).n_bushings):
        e = bushings(m)[i]
        s1 = S[e.body[0]]
        s2 = S[e.body[1]]
        bushing_force(m, i)
        add_natural(e.A, s1.t, -1.0, s1.fx, s1.fd, s2.fx, s2.fd)


def bushing_force(m: Memory, i: int) -> None:
    """K P + D Pdot of one bushing, in t of its first body; Pdot, of one with damping alone, is in s there."""
    e = bushings(m)[i]
    S = states(m)
    s1 = S[e.body[0]]
    s2 = S[e.body[1]]
    P = s1.s
    F = s1.t
    combine(e.A, s1.x, s1.d, s2.x, s2.d, P)
    for k in range(3):
        F[k] = e.stiffness[k, 0] * P[0] + e.stiffness[k, 1] * P[1] + e.stiffness[k, 2] * P[2]
    if e.damped == 1:
        combine(e.A, s1.xd, s1.dd, s2.xd, s2.dd, P)
        for k in range(3):
            F[k] += e.damping[k, 0] * P[0] + e.damping[k, 1] * P[1] + e.damping[k, 2] * P[2]
