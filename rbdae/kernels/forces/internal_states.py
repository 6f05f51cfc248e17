"""Forces with internal states s: natural forces F(t, Z, Zdot, s), and sdot = f(t, Z, Zdot, s) as further equations.

Both come from one function of the user, and their Jacobian from another one (`rbdae.forces.element.StateElement`). The
columns of s in the dynamics are -dF/ds, pulled back as the natural forces are. The rows of s are -df/dZ and -df/dZdot
by the chain rule of natural coordinates, and -df/ds.

The winding phi of an angle is a state without a function: its rate comes from `element_forces`, it has no column,
because it only selects a branch, and its row is that of the angle's rate.
"""

from __future__ import annotations

from typing import Any

from rbdae.compiler.access import Address, Array, Memory, address, matrix_at, vector_at
from rbdae.compiler.jit import jit, stage, two_sided
from rbdae.compiler.user_functions import call_user_function
from rbdae.kernels.bodies.chain_rule import scatter_velocity
from rbdae.kernels.bodies.natural import n_row_basis
from rbdae.kernels.forces.element_tangents import pull_back, scatter_natural
from rbdae.kernels.forces.elements import add_to_bodies, displacements, forms, gather
from rbdae.kernels.forces.user_calls import call_force
from rbdae.kernels.memory import (
    bodies,
    element_memory,
    elements,
    entries,
    head,
    state_arguments,
    state_results,
    state_tangents,
    states,
)
from rbdae.kernels.records import DIRECTOR_RATE, STATEFUL
from rbdae.kernels.scatter import scatter_block, scatter_identity
from rbdae.kernels.scratch import force_state_rates, force_states

# rows, or columns, of one block: the working memory has room for them
_CHUNK = 9


@stage("ii", "states", optional=True)
def gather_force_states(m: Memory, y_at: Address) -> None:
    """s of all forces from y."""
    y = vector_at(y_at)
    h = head(m)
    s = force_states(m)
    for i in range(h.n_states):
        s[i] = y[h.states_at + i]


@stage("ii", "states")
def _gather_arguments(m: Memory, i: int) -> None:
    """`state_arguments` = (Z, Zdot, s) of one element."""
    gather(m, i)
    e = elements(m)[i]
    Z = element_memory(m).Z
    s = force_states(m)
    x = state_arguments(m)
    for k in range(48):
        x[k] = Z[k]
    for k in range(e.n_states):
        x[48 + k] = s[e.state + k]


@stage("i", "states", optional=True)
def state_forces(m: Memory) -> None:
    """Add the forces of all elements by functions with states to the natural forces. Reads `force_states`; writes
    `force_state_rates`."""
    C = elements(m)
    out = state_results(m)
    rates = force_state_rates(m)
    for i in range(head(m).n_elements):
        e = C[i]
        if e.shaping != STATEFUL:
            continue
        _gather_arguments(m, i)
        x, work = state_arguments(m), _own_tangents(m, e)
        call_force(e.force, e.jacobian, head(m).time, x, 48 + e.n_states, out, 24 + e.n_states, 0, work)
        add_to_bodies(m, i, out)
        for k in range(e.n_states):
            rates[e.state + k] = out[24 + k]


@stage("ii", "states", optional=True)
def collect_state_rates(m: Memory, out_at: Address) -> None:
    """sdot in its rows of out. Follows `state_forces`."""
    out = vector_at(out_at)
    h = head(m)
    rates = force_state_rates(m)
    for i in range(h.n_states):
        out[h.states_at + i] = rates[i]


@stage("iii", "states", optional=True)
def states_residual(m: Memory, yd_at: Address, out_at: Address) -> None:
    """sdot - f in its rows of out. Follows `state_forces`."""
    yd = vector_at(yd_at)
    out = vector_at(out_at)
    h = head(m)
    rates = force_state_rates(m)
    for i in range(h.n_states):
        out[h.states_at + i] = yd[h.states_at + i] - rates[i]


@jit
def _own_tangents(m: Memory, e: Array) -> Any:
    """The part of `state_tangents` that belongs to one element."""
    return state_tangents(m)[e.tangent_at : e.tangent_at + (24 + e.n_states) * (48 + e.n_states)]


def _plain_jacobian(m: Any, e: Any) -> Any:
    size = (24 + e.n_states) * (48 + e.n_states)
    return m.state_tangents[e.tangent_at : e.tangent_at + size].reshape(24 + e.n_states, 48 + e.n_states)


@two_sided(_plain_jacobian)
@jit
def _jacobian(m: Memory, e: Array) -> Any:
    """d(F, sdot)/d(Z, Zdot, s) of one element, (24 + k) x (48 + k)."""
    return matrix_at(address(_own_tangents(m, e)), 48 + e.n_states)


@stage("ii", "states", optional=True)
def scatter_state_force_tangents(m: Memory, row: int) -> None:
    """-dF/d(q, v, s) of all elements by functions with states in the rows of the dynamics. Reads D0, D1 and B of the
    bodies; writes `state_tangents`, those of windings, too."""
    C = elements(m)
    c = element_memory(m)
    for i in range(head(m).n_elements):
        e = C[i]
        if e.winding == 1:
            _winding_tangents(m, i)
        if e.shaping != STATEFUL:
            continue
        _gather_arguments(m, i)
        own = _own_tangents(m, e)
        for k in range((24 + e.n_states) * (48 + e.n_states)):
            own[k] = 0.0
        call_user_function(e.jacobian, head(m).time, state_arguments(m)[: 48 + e.n_states], own)
        J = _jacobian(m, e)
        for k in range(24):
            for j in range(24):
                c.K[k, j] = J[k, j]
                c.D[k, j] = J[k, 24 + j]
        scatter_natural(m, row, i)
        for side in range(2):
            if bodies(m)[e.body[side]].fixed == 0:
                _scatter_columns(m, row, i, side)


@stage("ii", "states")
def _winding_tangents(m: Memory, i: int) -> None:
    """d(phidot)/d(Z, Zdot) of one angle in its row of `state_tangents`: phidot = J r."""
    forms(m, i)
    displacements(m, i)
    e = elements(m)[i]
    c = element_memory(m)
    J = _jacobian(m, e)
    for k in range(24):
        J[24, k] = 0.0
        J[24, 24 + k] = 0.0
        for a in range(2):
            J[24, 24 + k] += c.J[0, a] * c.g[a, k]
            for b in range(2):
                J[24, k] += c.X[a, b] * c.r[a] * c.g[b, k]
    J[24, 48] = 0.0
    T = entries(m)
    for n in range(e.first, e.last):
        t = T[n]
        if t.j >= 0:
            J[24, t.j] += c.J[0, t.form] * t.value * c.Z[24 + t.i]


@stage("iiii", "states")
def _scatter_columns(m: Memory, row: int, i: int, side: int) -> None:
    """-(I, B)^T dF/ds of one side of an element."""
    h = head(m)
    e = elements(m)[i]
    c = element_memory(m)
    b = e.body[side]
    o = bodies(m)[b]
    J = _jacobian(m, e)
    for first in range(0, e.n_states, _CHUNK):
        n = min(_CHUNK, e.n_states - first)
        for k in range(12):
            for j in range(n):
                c.Y[k, j] = J[12 * side + k, 48 + first + j]
        pull_back(m, b, o.nt, n)
        scatter_block(m, row + o.iv, h.n_columns - h.n_states + e.state + first, c.W, o.nt + n_row_basis(m, b), n, -1.0)


@stage("ii", "states", optional=True)
def scatter_state_rows(m: Memory, row: int) -> None:
    """-df/d(q, v, s) in the rows from `row` on. Follows `scatter_state_force_tangents`."""
    h = head(m)
    C = elements(m)
    for i in range(h.n_elements):
        e = C[i]
        if e.n_states == 0:
            continue
        for side in range(2):
            if bodies(m)[e.body[side]].fixed == 0:
                for first in range(0, e.n_states, _CHUNK):
                    _scatter_rows(m, row + e.state, i, side, first)
        J = _jacobian(m, e)
        scatter_block(m, row + e.state, h.n_columns - h.n_states + e.state, J[24:, 48:], e.n_states, e.n_states, -1.0)


@stage("iiiii", "states")
def _scatter_rows(m: Memory, row: int, i: int, side: int, first: int) -> None:
    """-df/d(q, v) of the body of one side, some rows from `first` on."""
    e = elements(m)[i]
    c = element_memory(m)
    b = e.body[side]
    o = bodies(m)[b]
    s = states(m)[b]
    J = _jacobian(m, e)
    n = min(_CHUNK, e.n_states - first)
    z = 12 * side
    moved = head(m).kind != DIRECTOR_RATE
    for k in range(n):
        f = J[24 + first + k]
        for j in range(o.nt):
            c.W[k, j] = f[z + j]
        for j in range(o.na):
            t = 0.0 * f[z]
            for l in range(9):
                t += f[z + 3 + l] * s.D0[l, j]
            if moved:
                for l in range(9):
                    t += f[24 + z + 3 + l] * s.D1[l, j]
            c.W[k, o.nt + j] = t
    scatter_block(m, row + first, o.iq, c.W, n, o.nt + o.na, -1.0)
    for k in range(n):
        f = J[24 + first + k]
        for j in range(3):
            c.W[k, j] = f[24 + z + j]
        for j in range(o.nr):
            t = 0.0 * f[z]
            for l in range(9):
                t += f[24 + z + 3 + l] * s.B[l, j]
            c.W[k, 3 + j] = t
    scatter_velocity(m, b, row + first, c.W[:, :3], c.W[:, 3:], n, -1.0)


@stage("if", "states", optional=True)
def scatter_states(m: Memory, c: float) -> None:
    """The tangent of sdot - f, plus c times that of the rates, in its rows of the target. Follows
    `scatter_state_force_tangents`."""
    h = head(m)
    scatter_state_rows(m, h.states_at)
    scatter_identity(m, h.states_at, h.states_at, h.n_states, c)
