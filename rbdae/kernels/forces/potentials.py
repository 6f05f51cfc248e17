"""The potentials of bushings and force elements, with the displacements that their forces have.

A potential is that of the stiffness, (s - s0) . K (s - s0) / 2, and of a constant force along s; a constant torque
about an axis has none, because without a winding it would have no single value. That of a user's force is their own.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import gather_natural
from rbdae.kernels.constraints.primitives import combine
from rbdae.kernels.entry import entry
from rbdae.kernels.forces.elements import displacements, forms, gather, n_displacements, turns
from rbdae.kernels.memory import bushings, element_memory, elements, head, states
from rbdae.kernels.records import ANGLE, USER
from rbdae.laws.user_functions import call_user_function


@entry("ityyo")
def potentials(m: Memory, t: float, Z: Array, s: Array, out: Array) -> None:
    """Potentials of the bushings, then of the elements, at t, at Z: (x, d, xdot, ddot) of every body in the order of
    the bodies in memory, and at the internal states s, of which windings select the branch of their angles."""
    gather_natural(m, Z)
    head(m).time = t
    write_potentials(m, s, out)


def write_potentials(m: Memory, s: Array, out: Array) -> None:
    """out = the potentials at placed bodies, at the time in the head, at the internal states s."""
    h = head(m)
    C = bushings(m)
    S = states(m)
    for i in range(h.n_bushings):
        e = C[i]
        s1 = S[e.body[0]]
        s2 = S[e.body[1]]
        P = s1.s
        combine(e.A, s1.x, s1.d, s2.x, s2.d, P)
        V = 0.0 * P[0]
        for k in range(3):
            for l in range(3):
                V += 0.5 * P[k] * e.stiffness[k, l] * P[l]
        out[i] = V
    _element_potentials(m, s, out)


def _element_potentials(m: Memory, states: Array, out: Array) -> None:
    winding = states
    h = head(m)
    E = elements(m)
    c = element_memory(m)
    for i in range(h.n_elements):
        e = E[i]
        out[h.n_bushings + i] = 0.0
        if e.shaping == USER and e.potential != 0:
            gather(m, i)
            c.s[0] = 0.0
            call_user_function(e.potential, h.time, c.Z, c.s)
            out[h.n_bushings + i] = c.s[0]
        if e.holonomic == 0:
            continue
        forms(m, i)
        displacements(m, i)
        if e.winding == 1:
            c.s[0] += turns(c.s[0], winding[e.state])
        n = n_displacements(e)
        V = e.level + 0.0 * c.s[0]
        for k in range(n):
            if e.shaping != ANGLE and e.law == 0:
                V -= e.sign * c.s[k] * e.constant[k]
            for l in range(n):
                V += 0.5 * (c.s[k] - e.rest[k]) * e.stiffness[k, l] * (c.s[l] - e.rest[l])
        out[h.n_bushings + i] = V
