"""Tangents of the force elements, see `rbdae.kernels.forces.elements`."""

from __future__ import annotations

from rbdae.compiler.access import Memory
from rbdae.compiler.jit import jit, stage
from rbdae.compiler.user_functions import call_user_function
from rbdae.kernels.bodies.chain_rule import scatter_velocity
from rbdae.kernels.bodies.natural import n_row_basis, row_basis
from rbdae.kernels.forces.elements import forms, gather, law, n_displacements
from rbdae.kernels.memory import bodies, element_memory, elements, entries, head, states
from rbdae.kernels.records import DIRECTOR_RATE, STATEFUL, USER
from rbdae.kernels.scatter import scatter_block


@stage("ii", "user-forces")
def _user_tangents(m: Memory, i: int) -> None:
    """K = dF/dZ and D = dF/dZdot of a user's force."""
    gather(m, i)
    c = element_memory(m)
    user = c.user
    K = c.K
    D = c.D
    for k in range(1152):
        user[k] = 0.0
    call_user_function(elements(m)[i].jacobian, head(m).time, c.Z, user)
    for k in range(24):
        for j in range(24):
            K[k, j] = user[24 * k + j]
            D[k, j] = user[576 + 24 * k + j]


@stage("ii", "elements")
def _form_tangents(m: Memory, i: int) -> None:
    """K = dF/dZ and D = dF/dZdot."""
    forms(m, i)
    law(m, i)
    e = elements(m)[i]
    c = element_memory(m)
    p = e.forms
    n = n_displacements(e)
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


@stage("ii", "elements", optional=True)
def scatter_element_tangents(m: Memory, row: int) -> None:
    """-d(forces)/d(q, v) of all elements but those by functions with states in the rows of the dynamics. Reads D0, D1
    and B of the bodies."""
    C = elements(m)
    for i in range(head(m).n_elements):
        e = C[i]
        if e.tangent == 0 or e.shaping == STATEFUL:
            continue
        if e.shaping == USER:
            _user_tangents(m, i)
        else:
            _form_tangents(m, i)
        scatter_natural(m, row, i)


@jit
def scatter_natural(m: Memory, row: int, i: int) -> None:
    """-K and -D of one element, pulled back to (q, v), in the rows of the dynamics."""
    e = elements(m)[i]
    B = bodies(m)
    for s1 in range(2):
        if B[e.body[s1]].fixed == 1:
            continue
        for s2 in range(2):
            if B[e.body[s2]].fixed == 0:
                _scatter_side(m, row, i, s1, s2)


@stage("iiiii", "elements")
def _scatter_side(m: Memory, row: int, i: int, s1: int, s2: int) -> None:
    """-(I, B1)^T K (I, D0), and with the damping D1, in the columns of q of the body of side 2; -(I, B1)^T D (I, B) in
    those of its velocities. Without x where the body or the element has none."""
    h = head(m)
    e = elements(m)[i]
    c = element_memory(m)
    b1 = e.body[s1]
    b2 = e.body[s2]
    o1 = bodies(m)[b1]
    o2 = bodies(m)[b2]
    D0 = states(m)[b2].D0
    D1 = states(m)[b2].D1
    B2 = states(m)[b2].B
    Y = c.Y
    t1 = o1.nt if e.start == 0 else 0
    t2 = o2.nt if e.start == 0 else 0
    r = row + o1.iv + o1.nt - t1
    n1 = n_row_basis(m, b1)
    moved = e.damped == 1 and h.kind != DIRECTOR_RATE
    for k in range(3 - t1, 12):
        K = c.K[12 * s1 + k]
        D = c.D[12 * s1 + k]
        for j in range(t2):
            Y[k, j] = K[12 * s2 + j]
        for j in range(o2.na):
            y = 0.0 * K[0]
            for l in range(9):
                y += K[12 * s2 + 3 + l] * D0[l, j]
            if moved:
                for l in range(9):
                    y += D[12 * s2 + 3 + l] * D1[l, j]
            Y[k, t2 + j] = y
    pull_back(m, b1, t1, t2 + o2.na)
    scatter_block(m, r, o2.iq + o2.nt - t2, c.W, t1 + n1, t2 + o2.na, -1.0)
    if e.damped == 0:
        return
    for k in range(3 - t1, 12):
        D = c.D[12 * s1 + k]
        for j in range(3):
            Y[k, j] = D[12 * s2 + j]
        for j in range(o2.nr):
            y = 0.0 * D[0]
            for l in range(9):
                y += D[12 * s2 + 3 + l] * B2[l, j]
            Y[k, 3 + j] = y
    pull_back(m, b1, t1, 3 + o2.nr)
    if t1 == 3:
        scatter_velocity(m, b2, r, c.W[:3, :3], c.W[:3, 3:], 3, -1.0)
    scatter_velocity(m, b2, r + t1, c.W[t1:, :3], c.W[t1:, 3:], n1, -1.0)


@stage("iiii", "elements")
def pull_back(m: Memory, b: int, t: int, n: int) -> None:
    """W[:, :n] = (I, B)^T Y[:, :n], without the first rows where t = 0; B is the row basis."""
    W = element_memory(m).W
    Y = element_memory(m).Y
    B = row_basis(m, b)
    for j in range(n):
        for k in range(t):
            W[k, j] = Y[k, j]
        for k in range(n_row_basis(m, b)):
            y = 0.0 * Y[3, j]
            for l in range(9):
                y += B[l, k] * Y[3 + l, j]
            W[t + k, j] = y
