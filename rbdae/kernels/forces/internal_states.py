"""Forces with internal states s: natural forces F(t, Z, Zdot, s, u), and sdot = f(t, Z, Zdot, s, u) as further
equations, or 0 = f for those of the states that are algebraic unknowns. Z has 12 numbers of each body on which the
force acts, or which it only reads; u are its inputs, and its law may have constants p.

Both come from one function of the user, and their Jacobian from another one (`rbdae.forces.element.StateElement`).

The winding phi of an angle is a state without a function: its rate comes from `element_forces`, and it only selects a
branch.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.forces.user_calls import call_force
from rbdae.kernels.memory import (
    algebraic,
    element_bodies,
    element_constants,
    element_inputs,
    elements,
    force_state_rates,
    force_states,
    head,
    inputs,
    state_arguments,
    state_results,
    states,
)
from rbdae.kernels.records import STATEFUL


def gather_force_states(m: Memory, y: Array) -> None:
    """s of all forces from y."""
    h = head(m)
    s = force_states(m)
    for i in range(h.n_states):
        s[i] = y[h.states_at + i]


def _gather_arguments(m: Memory, i: int) -> None:
    """`state_arguments` = (Z, Zdot, s, u, p) of one element."""
    e = elements(m)[i]
    s = force_states(m)
    x = state_arguments(m)
    n = 12 * e.n_bodies
    for b in range(e.n_bodies):
        o = states(m)[element_bodies(m)[e.first_body + b]]
        for k in range(3):
            x[12 * b + k] = o.x[k]
            x[n + 12 * b + k] = o.xd[k]
        for k in range(9):
            x[12 * b + 3 + k] = o.d[k]
            x[n + 12 * b + 3 + k] = o.dd[k]
    for k in range(e.n_states):
        x[2 * n + k] = s[e.state + k]
    for k in range(e.n_inputs):
        x[2 * n + e.n_states + k] = inputs(m)[element_inputs(m)[e.first_input + k]]
    for k in range(e.n_parameters):
        x[2 * n + e.n_states + e.n_inputs + k] = element_constants(m)[e.first_parameter + k].value


def state_forces(m: Memory) -> None:
    """Add the forces of all elements by functions with states to the natural forces. Reads `force_states`; writes
    `force_state_rates`."""
    for i in range(head(m).n_elements):
        if elements(m)[i].shaping == STATEFUL:
            state_force(m, i)


def state_force(m: Memory, i: int) -> None:
    """The same of one element."""
    e = elements(m)[i]
    out = state_results(m)
    rates = force_state_rates(m)
    _gather_arguments(m, i)
    n = 12 * e.n_bodies
    n_in = _n_arguments(e)
    x = state_arguments(m)
    call_force(e.force, head(m).time, x, n_in, out, n + e.n_states)
    for b in range(e.n_bodies):
        o = states(m)[element_bodies(m)[e.first_body + b]]
        for k in range(3):
            o.fx[k] += out[12 * b + k]
        for k in range(9):
            o.fd[k] += out[12 * b + 3 + k]
    for k in range(e.n_states):
        rates[e.state + k] = out[n + k]


def collect_state_rates(m: Memory, out: Array) -> None:
    """sdot in its rows of out. Follows `state_forces`."""
    h = head(m)
    rates = force_state_rates(m)
    for i in range(h.n_states):
        out[h.states_at + i] = rates[i]


def states_residual(m: Memory, yd: Array, out: Array) -> None:
    """sdot - f in its rows of out, of algebraic unknowns -f. Follows `state_forces`."""
    h = head(m)
    rates = force_state_rates(m)
    for i in range(h.n_states):
        if algebraic(m)[i] == 1:
            out[h.states_at + i] = -rates[i]
        else:
            out[h.states_at + i] = yd[h.states_at + i] - rates[i]


def _n_arguments(e: Array) -> Any:
    """How many numbers the function of one element takes."""
    return 24 * e.n_bodies + e.n_states + e.n_inputs + e.n_parameters
