"""The internal states s of forces among the unknowns: their places in y, and their rows."""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.memory import algebraic, force_state_rates, force_states, head


def gather_force_states(m: Memory, y: Array) -> None:
    """s of all forces from y."""
    h = head(m)
    force_states(m)[: h.n_states] = y[h.states_at : h.states_at + h.n_states]


def collect_state_rates(m: Memory, out: Array) -> None:
    """sdot in its rows of out. Follows `applied_forces`."""
    h = head(m)
    out[h.states_at : h.states_at + h.n_states] = force_state_rates(m)[: h.n_states]


def states_residual(m: Memory, yd: Array, out: Array) -> None:
    """sdot - f in its rows of out, of algebraic unknowns -f. Follows `applied_forces`."""
    h = head(m)
    rates = force_state_rates(m)
    for i in range(h.n_states):
        given = 0.0 if algebraic(m)[i] == 1 else yd[h.states_at + i]
        out[h.states_at + i] = given - rates[i]
