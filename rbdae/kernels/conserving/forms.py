"""The forms of a force element in a step: their mean gradients, increments, and means of both ends."""

from __future__ import annotations

from rbdae.compiler.access import Memory
from rbdae.compiler.jit import stage
from rbdae.kernels.forces.elements import forms
from rbdae.kernels.memory import element_memory, elements, entries


@stage("ii", "elements")
def step_forms(m: Memory, i: int) -> None:
    """The forms of one element: g(Z_mean), half of the increments of q in r, and the mean of q at both ends in q.

    q is at most quadratic, so g(Z_mean) . (Z1 - Z0) = q1 - q0, and (q0 + q1) / 2 = q(Z_mean) + dZ . H dZ / 2 with half
    of the increment dZ. Reads Z_mean and dZ as positions and velocities of the bodies.
    """
    forms(m, i)
    e = elements(m)[i]
    c = element_memory(m)
    T = entries(m)
    for n in range(e.first, e.last):
        t = T[n]
        if t.j >= 0:
            c.q[t.form] += 0.5 * t.value * c.Z[24 + t.i] * c.Z[24 + t.j]
