"""The natural forces of each bushing and element by itself."""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import clear_forces
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.primitives import combine
from rbdae.kernels.entry import entry
from rbdae.kernels.forces.applied import bushing_force
from rbdae.kernels.forces.elements import element_force
from rbdae.kernels.forces.internal_states import gather_force_states, state_force
from rbdae.kernels.linear.accelerations import eliminated_normals
from rbdae.kernels.memory import bushings, elements, head, states
from rbdae.kernels.outputs import locate
from rbdae.kernels.records import STATEFUL

WIDTH = 25
"""Numbers of each: F on x and d of its two bodies, and its power F . Zdot."""


@entry("ityo")
def by_force(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[12 b:12 b + 12] = applied forces on x and d of every body, without its weight; then 25 numbers of each
    bushing and each element: natural forces on its first two bodies, and power; at y."""
    h = head(m)
    set_time(m, t)
    gather_force_states(m, y)
    locate(m, y)
    eliminated_normals(m)
    for k in range(12 * h.n_bodies):
        out[k] = 0.0
    _bushings(m, out)
    _elements(m, out)


def _bushings(m: Memory, out: Array) -> None:
    h = head(m)
    S = states(m)
    for i in range(h.n_bushings):
        e = bushings(m)[i]
        s1 = S[e.body[0]]
        s2 = S[e.body[1]]
        bushing_force(m, i)
        P = s1.s
        F = s1.t
        combine(e.A, s1.xd, s1.dd, s2.xd, s2.dd, P)  # for the power, without damping, too
        at = 12 * h.n_bodies + 25 * i
        for k in range(8):
            for l in range(3):
                out[at + 3 * k + l] = -e.A[k] * F[l]
        for side in range(2):
            if e.body[side] < h.n_bodies:
                for k in range(12):
                    out[12 * e.body[side] + k] += out[at + 12 * side + k]
        out[at + 24] = -(F[0] * P[0] + F[1] * P[1] + F[2] * P[2])


def _elements(m: Memory, out: Array) -> None:
    h = head(m)
    for i in range(h.n_elements):
        clear_forces(m)
        if elements(m)[i].shaping == STATEFUL:
            _state_force(m, i)
        else:
            element_force(m, i)
        _collect(m, i, out, 12 * h.n_bodies + 25 * (h.n_bushings + i))


def _state_force(m: Memory, i: int) -> None:
    state_force(m, i)


def _collect(m: Memory, i: int, out: Array, at: int) -> None:
    e = elements(m)[i]
    S = states(m)
    for side in range(2):
        s = S[e.body[side]]
        for k in range(3):
            out[at + 12 * side + k] = s.fx[k]
        for k in range(9):
            out[at + 12 * side + 3 + k] = s.fd[k]
    power = 0.0 * S[e.body[0]].fx[0]
    for b in range(head(m).n_bodies):
        s = S[b]
        for k in range(3):
            power += s.fx[k] * s.xd[k]
            out[12 * b + k] += s.fx[k]
        for k in range(9):
            power += s.fd[k] * s.dd[k]
            out[12 * b + 3 + k] += s.fd[k]
    out[at + 24] = power
