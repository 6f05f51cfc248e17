"""The work that forces do without a potential: dampers, friction, loads that are laws of time, motors, the user's
functions.

A displacement has the part f = D sdot - u of its force here, with the load u(t) where it has no potential
(`rbdae.kernels.forces.potentials`), and does -f sdot a second. Over an increment ds in the time 1 / rate it does
-(rate D ds - u) ds: one function for powers, whose increments are rates, and for the work of a step.

A user's force with a potential has F less F without rates. If its potential depends on time, that changes the energy,
too: those who have an interval, and not a time, take it from there.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import clear_forces
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.primitives import combine, partial_rates, primitive_vectors
from rbdae.kernels.entry import entry
from rbdae.kernels.forces.elements import (
    add_load,
    constant_load,
    displacements,
    forms,
    gather,
    n_displacements,
    turns,
)
from rbdae.kernels.forces.internal_states import gather_force_states, state_forces
from rbdae.kernels.linear.accelerations import eliminated_normals
from rbdae.kernels.memory import bushings, element_memory, elements, force_states, head, states
from rbdae.kernels.outputs import locate
from rbdae.kernels.records import ANGLE, STATEFUL, USER
from rbdae.laws.user_functions import call_user_function


@entry("ityo")
def power(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[0] = the power of applied forces without what has a potential; out[1] = that of the user's forces with a
    potential, without rates; out[2:] = the partial derivatives g_t of the joint equations with respect to time. Forces
    of joints -G^T la have the power la . g_t."""
    h = head(m)
    set_time(m, t)
    gather_force_states(m, y)
    locate(m, y)
    eliminated_normals(m)
    S = states(m)
    clear_forces(m)
    state_forces(m)
    out[0] = sum(S[b].fx[:3] @ S[b].xd[:3] + S[b].fd[:9] @ S[b].dd[:9] for b in range(h.n_bodies))
    out[0] += sum(bushing_work(m, i, 1.0) for i in range(h.n_bushings))
    out[1] = 0.0
    _add_element_powers(m, out)
    out[2 : 2 + h.n_rows] = 0.0
    if h.n_drives > 0:
        primitive_vectors(m, 0)
        partial_rates(m, out, 2 - h.n_internal, 1.0)


def has_potential(e: Array) -> Any:
    """Whether the load of an element has one: a constant along what is no angle."""
    return e.holonomic == 1 and e.law == 0 and e.force == 0 and e.n_inputs == 0 and e.shaping != ANGLE


def bushing_work(m: Memory, i: int, rate: float) -> Any:
    """The work of the damper of one bushing. Reads increments of the natural coordinates as their rates."""
    e = bushings(m)[i]
    s1 = states(m)[e.body[0]]
    s2 = states(m)[e.body[1]]
    R = s1.gd[:3]
    combine(e.A, s1.xd, s1.dd, s2.xd, s2.dd, R)
    return (R @ (e.damping @ R)) * -rate


def element_work(m: Memory, i: int, rate: float) -> Any:
    """The work of the dampers and loads of one element, along the increments of its displacements in s. Reads Z, and of
    a law of the motion the displacements and rates in x."""
    e = elements(m)[i]
    c = element_memory(m)
    constant_load(m, i)
    if e.law != 0:
        call_user_function(e.law, head(m).time, c.Z, c.u)
    if e.force != 0:
        add_load(m, i)
    n = n_displacements(e)
    f = (e.damping[:n, :n] @ c.s[:n]) * rate
    if not has_potential(e):
        f = f - c.u[:n] * e.sign
    return -(f @ c.s[:n])


def _add_element_powers(m: Memory, out: Array) -> None:
    """out[0] += the power of what has no potential in all elements but those by functions with states, out[1] += that
    of the user's forces with a potential, without rates."""
    c = element_memory(m)
    for i in range(head(m).n_elements):
        e = elements(m)[i]
        if e.shaping == STATEFUL:
            continue
        if e.shaping == USER:
            _add_user_power(m, i, out)
            continue
        forms(m, i)
        displacements(m, i)
        n = n_displacements(e)
        if e.winding == 1:
            c.s[0] += turns(c.s[0], force_states(m)[e.state])
        c.x[:n] = c.s[:n]
        c.s[:n] = c.J[:n, : e.forms] @ c.r[: e.forms]
        c.x[n : 2 * n] = c.s[:n]
        out[0] += element_work(m, i, 1.0)


def _add_user_power(m: Memory, i: int, out: Array) -> None:
    e = elements(m)[i]
    c = element_memory(m)
    gather(m, i)
    rates = c.Z[24:48].copy()
    c.F[:24] = 0.0
    call_user_function(e.force, head(m).time, c.Z, c.F)
    out[0] += c.F[:24] @ rates
    if e.potential != 0:
        c.F[:24] = 0.0
        c.Z[24:48] = 0.0
        call_user_function(e.force, head(m).time, c.Z, c.F)
        kept = c.F[:24] @ rates
        out[0] -= kept
        out[1] += kept
