"""The applied forces in a step, on the mean natural coordinates: their work is the change of their potential.

A form q that is at most quadratic in Z has the discrete gradient g(Z_mean), g(Z_mean) . (Z1 - Z0) = q1 - q0. With the
displacement s(q) of an element and its potential V(s) the force is -w g(Z_mean), w = (V1 - V0) / (q1 - q0):

    s = q:         w = k (q_mean - s0) + d (q1 - q0) / h - u
    s = sqrt(q):   w = (k ((s1 + s2) / 2 - s0) + d (s2 - s1) / h - u) / (s1 + s2)

where q_mean is the mean of q at both ends, s1 and s2 are the lengths there, and (s2 - s1) / (q1 - q0) = 1 / (s1 + s2):
nothing is divided by a difference. Loads u(t) belong to the middle of the step. Angles have a file of their own, and so
have the user's forces.

Reads Z and half of its increment as positions and velocities of the bodies (`rbdae.kernels.conserving.bodies.take`).
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory, sqrt
from rbdae.kernels.conserving.angles import angle_law
from rbdae.kernels.conserving.forms import step_forms, step_load
from rbdae.kernels.conserving.joints import MOVED, PULLED, bases
from rbdae.kernels.conserving.user_forces import user_force, user_tangent
from rbdae.kernels.constraints.gradients import columns_of
from rbdae.kernels.constraints.primitives import add_natural, combine
from rbdae.kernels.forces.elements import add_to_bodies, constant_load
from rbdae.kernels.forces.internal_states import gather_force_states
from rbdae.kernels.memory import (
    bodies,
    bushings,
    element_memory,
    elements,
    entries,
    head,
    newton_forces,
    newton_matrix,
    states,
    tangent_memory,
)
from rbdae.kernels.records import ANGLE, ANGULAR, ROOT, USER
from rbdae.kernels.user_functions import call_user_function


def applied(m: Memory, t: float, y: Array, h: float) -> None:
    """h^2 / 2 times all applied forces, added to the natural forces. Reads the internal states in y."""
    head(m).time = t + 0.5 * h
    gather_force_states(m, y)
    _bushings(m, h)
    _elements(m, h)


def applied_tangents(m: Memory, h: float) -> None:
    """Their tangents in the Newton equations. Reads the bases of the bodies."""
    _bushing_tangents(m, h)
    _element_tangents(m, h)


def _bushings(m: Memory, h: float) -> None:
    C = bushings(m)
    S = states(m)
    for i in range(head(m).n_bushings):
        e = C[i]
        s1 = S[e.body[0]]
        s2 = S[e.body[1]]
        P = s1.s
        R = s1.gd
        F = s1.t
        combine(e.A, s1.x, s1.d, s2.x, s2.d, P)
        combine(e.A, s1.xd, s1.dd, s2.xd, s2.dd, R)
        for k in range(3):
            F[k] = e.stiffness[k, 0] * P[0] + e.stiffness[k, 1] * P[1] + e.stiffness[k, 2] * P[2]
            d = e.damping[k, 0] * R[0] + e.damping[k, 1] * R[1] + e.damping[k, 2] * R[2]
            F[k] = 0.5 * h * h * F[k] + h * d
        add_natural(e.A, F, -1.0, s1.fx, s1.fd, s2.fx, s2.fd)


def _bushing_tangents(m: Memory, h: float) -> None:
    """A_i A_j (h^2 K / 4 + h D / 2) of the natural coordinates i and j."""
    c = tangent_memory(m)
    C = bushings(m)
    B = bodies(m)
    for i in range(head(m).n_bushings):
        e = C[i]
        for k in range(3):
            for l in range(3):
                c.block[k, l] = 0.25 * h * h * e.stiffness[k, l] + 0.5 * h * e.damping[k, l]
        for one in range(2):
            if B[e.body[one]].fixed == 1:
                continue
            for two in range(2):
                if B[e.body[two]].fixed == 0:
                    _scatter_bushing(m, i, one, two)


def _scatter_bushing(m: Memory, i: int, one: int, two: int) -> None:
    """(x I, T)^T K (x I, C); reads K in ``block``."""
    c = tangent_memory(m)
    e = bushings(m)[i]
    A = newton_matrix(m)
    to = newton_forces(m)[head(m).n_elements + i]
    at = to.stiffness[one, two]
    n = to.stride[two]
    t1 = bodies(m)[e.body[one]].nt
    t2 = bodies(m)[e.body[two]].nt
    L = c.left
    R = c.right
    columns_of(ANGULAR, e.A, one, bases(m, e.body[one]), 6, L)
    columns_of(ANGULAR, e.A, two, bases(m, e.body[two]), 6, R)
    x1 = e.A[4 * one]
    x2 = e.A[4 * two]
    for k in range(3):
        for j in range(3):
            c.A[k, j] = (
                c.block[k, 0] * R[0, MOVED + j] + c.block[k, 1] * R[1, MOVED + j] + c.block[k, 2] * R[2, MOVED + j]
            )
    for k in range(3):
        for j in range(3):
            if t1 == 3:
                A[at + n * k + t2 + j] += x1 * c.A[k, j]
                if t2 == 3:
                    A[at + n * k + j] += x1 * x2 * c.block[k, j]
            u = 0.0
            v = 0.0
            for l in range(3):
                u += L[l, PULLED + k] * c.block[l, j]
                v += L[l, PULLED + k] * c.A[l, j]
            if t2 == 3:
                A[at + n * (t1 + k) + j] += x2 * u
            A[at + n * (t1 + k) + t2 + j] += v


def _law(m: Memory, i: int, h: float) -> None:
    """w along the forms of one element, and C = dw/dq1. Writes g at the mean, half of the increments of q to r, and
    the mean of q to q."""
    step_forms(m, i)
    e = elements(m)[i]
    c = element_memory(m)
    constant_load(m, i)
    if e.law != 0:
        call_user_function(e.law, head(m).time, c.Z, c.u)
    if e.shaping == ROOT:
        _root(m, i, h)
        return
    if e.shaping == ANGLE:
        angle_law(m, i, h)
        return
    if e.force != 0:
        for a in range(e.forms):
            c.x[a] = c.q[a]
            c.x[e.forms + a] = 2.0 / h * c.r[a]
        step_load(m, i, h)
    for a in range(e.forms):
        w = -e.sign * c.u[a]
        for b in range(e.forms):
            w += e.stiffness[a, b] * (c.q[b] - e.rest[b]) + 2.0 / h * e.damping[a, b] * c.r[b]
            c.C[a, b] = 0.5 * e.stiffness[a, b] + e.damping[a, b] / h
            if e.force != 0:
                c.C[a, b] -= e.sign * c.X[a, b]
        c.w[a] = w


def _root(m: Memory, i: int, h: float) -> None:
    """The law of a distance."""
    e = elements(m)[i]
    c = element_memory(m)
    before = sqrt(c.q[0] - c.r[0])
    after = sqrt(c.q[0] + c.r[0])
    f = 1.0 / (before + after)
    k = e.stiffness[0, 0]
    d = e.damping[0, 0] / h
    if e.force != 0:
        c.x[0] = 0.5 * (before + after)
        c.x[1] = (after - before) / h
        step_load(m, i, h)
    load = k * e.rest[0] + e.sign * c.u[0]
    slope = 0.5 / after
    c.w[0] = 0.5 * k - load * f + 2.0 * d * c.r[0] * f * f
    c.C[0, 0] = f * f * (load * slope + d - 4.0 * d * c.r[0] * f * slope)
    if e.force != 0:
        c.C[0, 0] -= e.sign * f * slope * c.X[0, 0]


def _elements(m: Memory, h: float) -> None:
    c = element_memory(m)
    for i in range(head(m).n_elements):
        e = elements(m)[i]
        if e.shaping == USER:
            user_force(m, i, h)
        else:
            _law(m, i, h)
            for k in range(24):
                c.F[k] = 0.0
                for a in range(e.forms):
                    c.F[k] -= 0.5 * h * h * c.w[a] * c.g[a, k]
        add_to_bodies(m, i, c.F)


def _element_tangents(m: Memory, h: float) -> None:
    B = bodies(m)
    for i in range(head(m).n_elements):
        e = elements(m)[i]
        if e.shaping == USER:
            user_tangent(m, i, h)
        else:
            _form_tangent(m, i, h)
        for one in range(2):
            for two in range(2):
                if B[e.body[one]].fixed == 0 and B[e.body[two]].fixed == 0:
                    _scatter_element(m, i, one, two)


def _form_tangent(m: Memory, i: int, h: float) -> None:
    """K = -dF/dZ1 = sum w_a H_a / 2 + sum g_a C_ab (g_b + H_b^T dZ / 2)^T, times h^2 / 2."""
    _law(m, i, h)
    e = elements(m)[i]
    c = element_memory(m)
    scale = 0.5 * h * h
    for k in range(24):
        for j in range(24):
            c.K[k, j] = 0.0
        for a in range(e.forms):
            c.h[a, k] = c.g[a, k]
    T = entries(m)
    for n in range(e.first, e.last):
        t = T[n]
        if t.j >= 0:
            c.K[t.i, t.j] += 0.5 * scale * c.w[t.form] * t.value
            c.h[t.form, t.j] += t.value * c.Z[24 + t.i]
    for a in range(e.forms):
        for j in range(24):
            c.y[j] = 0.0
            for b in range(e.forms):
                c.y[j] += scale * c.C[a, b] * c.h[b, j]
        for k in range(24):
            for j in range(24):
                c.K[k, j] += c.g[a, k] * c.y[j]


def _scatter_element(m: Memory, i: int, one: int, two: int) -> None:
    """(I, T)^T K (I, C)."""
    e = elements(m)[i]
    c = element_memory(m)
    A = newton_matrix(m)
    to = newton_forces(m)[i]
    at = to.stiffness[one, two]
    n = to.stride[two]
    t1 = bodies(m)[e.body[one]].nt
    t2 = bodies(m)[e.body[two]].nt
    left = bases(m, e.body[one])
    right = bases(m, e.body[two])
    for k in range(12):
        K = c.K[12 * one + k]
        for j in range(t2):
            c.Y[k, j] = K[12 * two + j]
        for j in range(3):
            u = 0.0
            for l in range(9):
                u += K[12 * two + 3 + l] * right[l, MOVED + j]
            c.Y[k, t2 + j] = u
    for j in range(t2 + 3):
        for k in range(t1):
            A[at + n * k + j] += c.Y[k, j]
        for k in range(3):
            u = 0.0
            for l in range(9):
                u += left[l, PULLED + k] * c.Y[3 + l, j]
            A[at + n * (t1 + k) + j] += u
