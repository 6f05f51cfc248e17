"""The forms of a force element in a step: their mean gradients, increments, and means of both ends; and loads that are
laws of the motion: u(t + h / 2, s, sdot) at the mean s and with the rate (s1 - s0) / h."""

from __future__ import annotations

from rbdae.graph.functions import Memory
from rbdae.kernels.forces.elements import add_load, forms, n_displacements, n_load_arguments
from rbdae.kernels.memory import element_memory, elements, entries, head
from rbdae.kernels.user_functions import call_user_function


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


def step_load(m: Memory, i: int, h: float) -> None:
    """Add the load of one element to u, and write du/ds1 to X. Reads the mean of s and its rate in x."""
    add_load(m, i)
    e = elements(m)[i]
    c = element_memory(m)
    n = n_displacements(e)
    n_in = n_load_arguments(e)
    for k in range(n * n_in):
        c.user[k] = 0.0
    call_user_function(e.jacobian, head(m).time, c.x[:n_in], c.user[: n * n_in])
    for k in range(n):
        for l in range(n):
            c.X[k, l] = 0.5 * c.user[n_in * k + l] + c.user[n_in * k + n + l] / h
