"""Kernels of the force elements: forces along forms of the natural coordinates, and the user's own forces.

Over the natural coordinates Z in R^24 of two bodies, (x, d1, d2, d3) each, an element has up to three forms with rows
g_a = c_a + H_a Z and rates r_a = g_a . Zdot. Where H_a is symmetric the form is holonomic, the gradient of
q_a = c_a . Z + Z . H_a Z / 2; else r_a is a rate that belongs to no coordinate, such as an angular velocity. The shape
makes displacements s of the q: themselves (IDENTITY), the root of the first (ROOT, a length), or the angle of the first
two, (sin, cos) (ANGLE). With J = ds/dq the natural forces are F = -sum_a w_a g_a,

    w = J^T f,   f = K (s - s0) + D J r - u(t).

H is held as a list of its nonzero entries: a new kind of force is data, not another kernel.

A load u(t, s, sdot) that depends on the motion is a law with Jacobian (`rbdae.forces.motion_law`).

An angle with a stiffness has an internal state, its winding phi, with phidot = J r. The force takes the angle of the
position, on the branch next to phi: it has no drift, and it depends on its arguments alone.
"""

from __future__ import annotations

from math import atan2, pi
from typing import Any

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.forces.user_calls import call_force, call_law
from rbdae.kernels.memory import (
    element_inputs,
    element_memory,
    elements,
    entries,
    force_state_rates,
    force_states,
    head,
    inputs,
    normals,
    states,
)
from rbdae.kernels.records import ANGLE, ROOT, STATEFUL, USER

_TURN = 2.0 * pi


def turns(angle: Any, to: Any) -> Any:
    """The full turns that bring an angle next to another one; no number where one of them is none."""
    if hasattr(angle, "recorder") or hasattr(to, "recorder"):
        return _TURN * np.floor((to - angle) / _TURN + 0.5)
    return _TURN * np.floor((to.real - angle.real) / _TURN + 0.5)


def angle_of(s: Any, c: Any) -> Any:
    """atan2(s, c)."""
    if hasattr(s, "recorder") or hasattr(c, "recorder"):
        return np.arctan2(s, c)
    out = atan2(s.real, c.real)
    rest = 1j * (s.imag * c.real - s.real * c.imag) / (s.real**2 + c.real**2)
    return out + rest if np.iscomplexobj(s) else out


def gather(m: Memory, i: int) -> None:
    """Z and Zdot of one element. Reads the natural coordinates of its bodies."""
    e = elements(m)[i]
    Z = element_memory(m).Z
    for side in range(2):
        s = states(m)[e.body[side]]
        n = 12 * side
        for k in range(3):
            Z[n + k] = s.x[k]
            Z[24 + n + k] = s.xd[k]
        for k in range(9):
            Z[n + 3 + k] = s.d[k]
            Z[27 + n + k] = s.dd[k]


def forms(m: Memory, i: int) -> None:
    """The forms q, their gradients g and rates r of one element. Writes Z, too."""
    gather(m, i)
    e = elements(m)[i]
    c = element_memory(m)
    Z = c.Z
    q = c.q
    g = c.g
    r = c.r
    for a in range(e.forms):
        q[a] = 0.0
        r[a] = 0.0
        for k in range(24):
            g[a, k] = 0.0
    T = entries(m)
    for n in range(e.first, e.last):
        a = T[n].form
        k = T[n].i
        j = T[n].j
        x = T[n].value
        if j < 0:
            q[a] += x * Z[k]
            g[a, k] += x
        else:
            q[a] += 0.5 * x * Z[k] * Z[j]
            g[a, k] += x * Z[j]
    for a in range(e.forms):
        for k in range(24):
            r[a] += g[a, k] * Z[24 + k]


def displacements(m: Memory, i: int) -> None:
    """s and J of one element; an angle without the turns. Reads q."""
    e = elements(m)[i]
    c = element_memory(m)
    for a in range(3):
        c.s[a] = c.q[a]
        for b in range(3):
            c.J[a, b] = 0.0
        c.J[a, a] = 1.0
    if e.shaping == ROOT:
        l = c.q[0] ** 0.5
        c.s[0] = l
        c.J[0, 0] = 0.5 / l
    elif e.shaping == ANGLE:
        y = c.q[0]
        x = c.q[1]
        d = 1.0 / (x * x + y * y)
        c.s[0] = angle_of(y, x)
        c.J[0, 0] = d * x
        c.J[0, 1] = -d * y


def n_displacements(e: Array) -> Any:
    """How many displacements an element has."""
    return 1 if e.shaping == ANGLE else e.forms


def constant_load(m: Memory, i: int) -> None:
    """u of one element without a law of time: its constant, or its inputs, if no law of the motion reads them."""
    e = elements(m)[i]
    u = element_memory(m).u
    for a in range(3):
        u[a] = e.constant[a]
    if e.force == 0:
        for a in range(e.n_inputs):
            u[a] = inputs(m)[element_inputs(m)[e.first_input + a]]


def n_load_arguments(e: Array) -> Any:
    """How many numbers the law of one element takes: displacements, rates, its constants, its inputs."""
    return 2 * n_displacements(e) + e.n_parameters + e.n_inputs


def add_load(m: Memory, i: int) -> None:
    """Add the load of one element that depends on its motion to u. Reads (s, sdot) in x."""
    e = elements(m)[i]
    c = element_memory(m)
    n = n_displacements(e)
    for k in range(e.n_parameters):
        c.x[2 * n + k] = e.parameters[k]
    for k in range(e.n_inputs):
        c.x[2 * n + e.n_parameters + k] = inputs(m)[element_inputs(m)[e.first_input + k]]
    call_force(e.force, head(m).time, c.x, n_load_arguments(e), c.load, n)
    if e.reaction > 0:
        for k in range(n):
            c.load[k] *= normals(m)[e.reaction - 1]
    for k in range(n):
        c.u[k] += c.load[k]


def law(m: Memory, i: int) -> None:
    """The forces f along the displacements and w = J^T f along the forms of one element. Reads q, r, Z and phi."""
    displacements(m, i)
    e = elements(m)[i]
    c = element_memory(m)
    if e.winding == 1:
        c.s[0] += turns(c.s[0], force_states(m)[e.state])
    n = n_displacements(e)
    constant_load(m, i)
    if e.law != 0:
        call_law(e.law, head(m).time, c.u)
    if e.force != 0:
        for k in range(n):
            c.x[k] = c.s[k]
            c.x[n + k] = 0.0
            for a in range(e.forms):
                c.x[n + k] += c.J[k, a] * c.r[a]
        add_load(m, i)
    for a in range(e.forms):
        c.w[a] = 0.0
    for k in range(n):
        f = -e.sign * c.u[k]
        for l in range(n):
            f += e.stiffness[k, l] * (c.s[l] - e.rest[l])
            for a in range(e.forms):
                f += e.damping[k, l] * c.J[l, a] * c.r[a]
        c.f[k] = f
        for a in range(e.forms):
            c.w[a] += c.J[k, a] * f


def element_forces(m: Memory) -> None:
    """Add the forces of all elements but those by functions with states, and friction under reactions, to the natural
    forces. Reads `force_states`; writes the rates of windings in `force_state_rates`."""
    for i in range(head(m).n_elements):
        if elements(m)[i].shaping != STATEFUL and elements(m)[i].reaction == 0:
            element_force(m, i)


def element_force(m: Memory, i: int) -> None:
    """The same of one element."""
    e = elements(m)[i]
    c = element_memory(m)
    F = c.F
    if e.shaping == USER:
        _user_forces(m, i)
    else:
        forms(m, i)
        law(m, i)
        for k in range(24):
            F[k] = 0.0
            for a in range(e.forms):
                F[k] -= c.w[a] * c.g[a, k]
        if e.winding == 1:
            force_state_rates(m)[e.state] = c.J[0, 0] * c.r[0] + c.J[0, 1] * c.r[1]
    add_to_bodies(m, i, F)


def add_to_bodies(m: Memory, i: int, F: Array) -> None:
    """Add F to the natural forces of both bodies of one element."""
    e = elements(m)[i]
    for side in range(2):
        s = states(m)[e.body[side]]
        n = 12 * side
        for k in range(3):
            s.fx[k] += F[n + k]
        for k in range(9):
            s.fd[k] += F[n + 3 + k]


def _user_forces(m: Memory, i: int) -> None:
    """F of a user's force."""
    gather(m, i)
    c = element_memory(m)
    e = elements(m)[i]
    call_force(e.force, head(m).time, c.Z, 48, c.F, 24)
