"""Kernels of the force elements: forces along forms of the natural coordinates, and the user's own forces.

Over the natural coordinates Z in R^24 of two bodies, (x, d1, d2, d3) each, an element has up to three forms with rows
g_a = c_a + H_a Z and rates r_a = g_a . Zdot. Where H_a is symmetric the form is holonomic, the gradient of
q_a = c_a . Z + Z . H_a Z / 2; else r_a is a rate that belongs to no coordinate, such as an angular velocity. The shape
makes displacements s of the q: themselves (IDENTITY), the root of the first (ROOT, a length), or the angle of the first
two, (sin, cos) (ANGLE). With J = ds/dq and f = K (s - s0) + D J r - u(t) the natural forces and their tangents are

    w = J^T f,   F = -sum_a w_a g_a,
    dF/dZ = -sum_a w_a H_a - sum_ab g_a (C_ab g_b + E_ab H_b^T Zdot)^T,   dF/dZdot = -sum_ab g_a E_ab g_b^T,
    E = J^T D J,   C_ab = J^T K J + sum f d2s/dq_a dq_b + J_a D sum_c d2s/dq_b dq_c r_c.

H is held as a list of its nonzero entries: a new kind of force is data, not another kernel. All tangents are pulled
back to (q, v) in one place, as those of the bushings.
"""

from __future__ import annotations

from math import atan2, floor, pi
from typing import Any

import numpy as np

from rbdae.compiler.jit import ENABLED, call_foreign, jit, stage
from rbdae.kernels.bodies.chain_rule import put_velocity
from rbdae.kernels.memory import ANGLE, DIRECTOR_RATE, ROOT, USER, bodies, elements, entries, fold, head, states
from rbdae.kernels.scatter import put_block

_TURN = 2.0 * pi


@jit
def _nearest(angle, to):
    """The angle plus the full turns that bring it next to another one."""
    return angle + _TURN * floor((to - angle) / _TURN + 0.5)


if ENABLED:

    @jit
    def _angle(s, c, e):
        """atan2(s, c); next to the last value, which it replaces, where the element counts turns."""
        out = atan2(s, c)
        if e.continued == 1:
            out = _nearest(out, e.memory)
            if out == out:  # a solver's trial state may be no number
                e.memory = out
        return out

else:

    def _angle(s: Any, c: Any, e: Any) -> Any:
        out = atan2(s.real, c.real)
        if e.continued == 1:
            out = _nearest(out, e.memory)
            e.memory = out
        rest = 1j * (s.imag * c.real - s.real * c.imag) / (s.real**2 + c.real**2)
        return out + rest if np.iscomplexobj(s) else out


@stage("ii", "elements")
def _gather(m, i):
    """Z and Zdot of one element."""
    e = elements(m)[i]
    Z = fold(m).Z
    for side in range(2):
        s = states(m)[e.body[side]]
        n = 12 * side
        for k in range(3):
            Z[n + k] = s.x[k]
            Z[24 + n + k] = s.xd[k]
        for k in range(9):
            Z[n + 3 + k] = s.d[k]
            Z[27 + n + k] = s.dd[k]


@stage("ii", "elements")
def _forms(m, i):
    """q, g and r of one element."""
    _gather(m, i)
    e = elements(m)[i]
    c = fold(m)
    Z = c.Z
    for a in range(e.forms):
        c.q[a] = 0.0
        c.r[a] = 0.0
        for k in range(24):
            c.g[a, k] = 0.0
    T = entries(m)
    for n in range(e.first, e.last):
        t = T[n]
        if t.j < 0:
            c.q[t.form] += t.value * Z[t.i]
            c.g[t.form, t.i] += t.value
        else:
            c.q[t.form] += 0.5 * t.value * Z[t.i] * Z[t.j]
            c.g[t.form, t.i] += t.value * Z[t.j]
    for a in range(e.forms):
        for k in range(24):
            c.r[a] += c.g[a, k] * Z[24 + k]


@stage("ii", "elements")
def _law(m, i):
    """s with J and (for one displacement) X = d2s/dq2; f and w."""
    e = elements(m)[i]
    c = fold(m)
    for a in range(3):
        c.s[a] = c.q[a]
        c.u[a] = e.constant[a]
        for b in range(3):
            c.J[a, b] = 0.0
            c.X[a, b] = 0.0
        c.J[a, a] = 1.0
    n = e.forms
    if e.shaping == ROOT:
        l = c.q[0] ** 0.5
        c.s[0] = l
        c.J[0, 0] = 0.5 / l
        c.X[0, 0] = -0.25 / (c.q[0] * l)
    elif e.shaping == ANGLE:
        n = 1
        y = c.q[0]
        x = c.q[1]
        d = 1.0 / (x * x + y * y)
        c.s[0] = _angle(y, x, e)
        c.J[0, 0] = d * x
        c.J[0, 1] = -d * y
        c.X[0, 0] = -2.0 * d * d * x * y
        c.X[1, 1] = 2.0 * d * d * x * y
        c.X[0, 1] = d * d * (y * y - x * x)
        c.X[1, 0] = c.X[0, 1]
    if e.law != 0:
        call_foreign(e.law, head(m).time, c.Z, c.u)
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


@stage("i", "elements")
def element_forces(m):
    """Add the forces of all elements to the natural forces."""
    C = elements(m)
    c = fold(m)
    F = c.F
    for i in range(head(m).n_elements):
        e = C[i]
        if e.shaping == USER:
            _user_forces(m, i)
        else:
            _forms(m, i)
            _law(m, i)
            for k in range(24):
                F[k] = 0.0
                for a in range(e.forms):
                    F[k] -= c.w[a] * c.g[a, k]
        for side in range(2):
            s = states(m)[e.body[side]]
            n = 12 * side
            for k in range(3):
                s.fx[k] += F[n + k]
            for k in range(9):
                s.fd[k] += F[n + 3 + k]


@stage("ii", "user-forces")
def _user_forces(m, i):
    _gather(m, i)
    c = fold(m)
    call_foreign(elements(m)[i].force, head(m).time, c.Z, c.F)


@stage("ii", "user-forces")
def _user_tangents(m, i):
    _gather(m, i)
    c = fold(m)
    call_foreign(elements(m)[i].jacobian, head(m).time, c.Z, c.user)
    for k in range(24):
        for j in range(24):
            c.K[k, j] = c.user[24 * k + j]
            c.D[k, j] = c.user[576 + 24 * k + j]


@stage("ii", "elements")
def _form_tangents(m, i):
    """K = dF/dZ and D = dF/dZdot."""
    _forms(m, i)
    _law(m, i)
    e = elements(m)[i]
    c = fold(m)
    p = e.forms
    n = 1 if e.shaping == ANGLE else p
    for a in range(p):
        for b in range(p):
            x = c.f[0] * c.X[a, b]
            for k in range(p):
                x += c.J[0, a] * e.damping[0, 0] * c.X[b, k] * c.r[k]
            d = 0.0
            for k in range(n):
                for l in range(n):
                    x += c.J[k, a] * e.stiffness[k, l] * c.J[l, b]
                    d += c.J[k, a] * e.damping[k, l] * c.J[l, b]
            c.C[a, b] = x
            c.E[a, b] = d
        for k in range(24):
            c.h[a, k] = 0.0
    for k in range(24):
        for j in range(24):
            c.K[k, j] = 0.0
            c.D[k, j] = 0.0
    T = entries(m)
    for k in range(e.first, e.last):
        t = T[k]
        if t.j >= 0:
            c.K[t.i, t.j] -= c.w[t.form] * t.value
            c.h[t.form, t.j] += t.value * c.Z[24 + t.i]
    for a in range(p):
        for j in range(24):
            c.y[j] = 0.0
            c.z[j] = 0.0
            for b in range(p):
                c.y[j] += c.C[a, b] * c.g[b, j] + c.E[a, b] * c.h[b, j]
                c.z[j] += c.E[a, b] * c.g[b, j]
        for k in range(24):
            g = c.g[a, k]
            for j in range(24):
                c.K[k, j] -= g * c.y[j]
                c.D[k, j] -= g * c.z[j]


@stage("ii", "elements")
def put_element_tangents(m, row):
    """-d(forces)/d(q, v) of all elements in the rows of the dynamics."""
    C = elements(m)
    B = bodies(m)
    for i in range(head(m).n_elements):
        e = C[i]
        if e.tangent == 0:
            continue
        if e.shaping == USER:
            _user_tangents(m, i)
        else:
            _form_tangents(m, i)
        for s1 in range(2):
            if B[e.body[s1]].fixed == 1:
                continue
            for s2 in range(2):
                if B[e.body[s2]].fixed == 0:
                    _put_side(m, row, i, s1, s2)


@stage("iiiii", "elements")
def _put_side(m, row, i, s1, s2):
    """-(I, B1)^T K (I, D0), and with the damping D1, in the columns of q of the body of side 2; -(I, B1)^T D (I, B) in
    those of its velocities. Without x where the body or the element has none."""
    h = head(m)
    e = elements(m)[i]
    c = fold(m)
    b1 = e.body[s1]
    b2 = e.body[s2]
    o1 = bodies(m)[b1]
    o2 = bodies(m)[b2]
    s = states(m)[b2]
    t1 = o1.nt if e.start == 0 else 0
    t2 = o2.nt if e.start == 0 else 0
    r = row + o1.iv + o1.nt - t1
    moved = e.damped == 1 and h.kind != DIRECTOR_RATE
    for k in range(3 - t1, 12):
        K = c.K[12 * s1 + k]
        D = c.D[12 * s1 + k]
        for j in range(t2):
            c.Y[k, j] = K[12 * s2 + j]
        for j in range(o2.na):
            y = 0.0 * K[0]
            for l in range(9):
                y += K[12 * s2 + 3 + l] * s.D0[l, j]
            if moved:
                for l in range(9):
                    y += D[12 * s2 + 3 + l] * s.D1[l, j]
            c.Y[k, t2 + j] = y
    _pull_back(m, b1, t1, t2 + o2.na)
    put_block(m, r, o2.iq + o2.nt - t2, c.W, t1 + o1.nr, t2 + o2.na, -1.0)
    if e.damped == 0:
        return
    for k in range(3 - t1, 12):
        D = c.D[12 * s1 + k]
        for j in range(3):
            c.Y[k, j] = D[12 * s2 + j]
        for j in range(o2.nr):
            y = 0.0 * D[0]
            for l in range(9):
                y += D[12 * s2 + 3 + l] * s.B[l, j]
            c.Y[k, 3 + j] = y
    _pull_back(m, b1, t1, 3 + o2.nr)
    if t1 == 3:
        put_velocity(m, b2, r, c.W[:3, :3], c.W[:3, 3:], 3, -1.0)
    put_velocity(m, b2, r + t1, c.W[t1:, :3], c.W[t1:, 3:], o1.nr, -1.0)


@stage("iiii", "elements")
def _pull_back(m, b, t, n):
    """W[:, :n] = (I, B)^T Y[:, :n], without the first rows where t = 0."""
    c = fold(m)
    B = states(m)[b].B
    for j in range(n):
        for k in range(t):
            c.W[k, j] = c.Y[k, j]
        for k in range(bodies(m)[b].nr):
            y = 0.0 * c.Y[3, j]
            for l in range(9):
                y += B[l, k] * c.Y[3 + l, j]
            c.W[t + k, j] = y
