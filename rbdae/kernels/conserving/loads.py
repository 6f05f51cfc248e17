"""Loads in a step that are laws of the motion: u(t + h / 2, s, sdot) at the mean s and with the rate (s1 - s0) / h."""

from __future__ import annotations

from rbdae.compiler.access import Memory
from rbdae.compiler.jit import stage
from rbdae.compiler.user_functions import call_user_function
from rbdae.kernels.forces.elements import add_load, n_displacements, n_load_arguments
from rbdae.kernels.memory import element_memory, elements, head


@stage("iif", "laws")
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
