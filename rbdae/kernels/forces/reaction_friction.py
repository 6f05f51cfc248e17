"""Dry friction under the reaction of a joint: mu N phi(v) with N the size of the joint's own constraint force.

The constraint force -G^T la of one joint on its second body is f, and M its moment about the joint's point there. With
bearings at a distance l along the axis the second one takes c = M x axis / l across it, in addition to f / 2, and

    N = |f / 2 + c| + |f / 2 - c|,    |h|^2 = h . h + floor^2 / 4,

which is |f| where no moment counts. f and c are linear in la. So N is a function of (q, la): forms with multipliers
have it in their residual as it stands, and an unknown N with 0 = N - |R(q, la)| would be solved by itself. Forms
without multipliers find N by `rbdae.kernels.linear.friction_columns`.

An element with the number `reaction` is the friction of N = 1, which `normals` multiplies.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory, sqrt
from rbdae.kernels.forces.elements import element_force
from rbdae.kernels.linear.small import dot
from rbdae.kernels.memory import (
    friction_gradient,
    frictions,
    head,
    joint_load,
    multipliers,
    normals,
    primitives,
    rows,
    states,
)


def reaction_load(m: Memory, k: int, la: Array) -> None:
    """`joint_load` = (f, c) of friction k by multipliers la. Reads d, P and Q."""
    e = frictions(m)[k]
    s = states(m)[e.body[1]]
    out = joint_load(m)
    for j in range(6):
        out[j] = 0.0
    F = s.gd
    for j in range(9):
        F[j] = 0.0
    for i in range(e.first, e.last):
        p = primitives(m)[i]
        r = rows(m)[i]
        if p.linear == 1:
            for j in range(3):
                t = -la[p.row + j] * p.keep[j]
                out[j] += p.A[4] * t
                for l in range(3):
                    F[3 * l + j] += p.A[5 + l] * t
        else:
            t = -la[p.row] * p.keep[0] * p.scale
            for j in range(3):
                out[j] += t * (p.A[4] * r.Q[j] + p.B[4] * r.P[j])
                for l in range(3):
                    F[3 * l + j] += t * (p.A[5 + l] * r.Q[j] + p.B[5 + l] * r.P[j])
    if e.moments == 1:
        _moment(m, k, F, out)


def _moment(m: Memory, k: int, F: Array, out: Array) -> None:
    """c of the moment of the forces F on the directors of the second body, and of f, which acts at its reference
    point."""
    e = frictions(m)[k]
    d1 = states(m)[e.body[0]].d
    s = states(m)[e.body[1]]
    d = s.d
    M = s.s
    for i in range(3):
        j = (i + 1) % 3
        l = (i + 2) % 3
        t = 0.0 * out[0]
        for n in range(3):
            # of the force on director n at d_n, and of f at minus the arm of the point
            p = e.point[n]
            t += d[3 * n + j] * (F[3 * n + l] - p * out[l]) - d[3 * n + l] * (F[3 * n + j] - p * out[j])
        M[i] = t
    for i in range(3):
        j = (i + 1) % 3
        l = (i + 2) % 3
        a = d1[j] * e.axis[0] + d1[3 + j] * e.axis[1] + d1[6 + j] * e.axis[2]
        b = d1[l] * e.axis[0] + d1[3 + l] * e.axis[1] + d1[6 + l] * e.axis[2]
        out[3 + i] = (M[j] * b - M[l] * a) / e.length


def normal_force(m: Memory, k: int, load: Array) -> None:
    """`normals[k]` = N of friction k for a load (f, c), and `friction_gradient` its derivatives by it."""
    x = load
    e = frictions(m)[k]
    g = friction_gradient(m)
    least = 0.25 * e.floor * e.floor
    if e.moments == 0:
        size = sqrt(dot(x, x, 3) + 4.0 * least)
        for j in range(3):
            g[j] = x[j] / size
            g[3 + j] = 0.0
        normals(m)[k] = size
        return
    one = least + 0.0 * x[0]
    two = least + 0.0 * x[0]
    for j in range(3):
        one += (0.5 * x[j] + x[3 + j]) * (0.5 * x[j] + x[3 + j])
        two += (0.5 * x[j] - x[3 + j]) * (0.5 * x[j] - x[3 + j])
    one = sqrt(one)
    two = sqrt(two)
    for j in range(3):
        a = (0.5 * x[j] + x[3 + j]) / one
        b = (0.5 * x[j] - x[3 + j]) / two
        g[j] = 0.5 * (a + b)
        g[3 + j] = a - b
    normals(m)[k] = one + two


def friction_forces(m: Memory) -> None:
    """Add the friction under the reactions by `multipliers` to the natural forces. Reads P and Q; writes `normals`."""
    for k in range(head(m).n_frictions):
        reaction_load(m, k, multipliers(m))
        normal_force(m, k, joint_load(m))
    add_friction(m)


def add_friction(m: Memory) -> None:
    """Add the friction under the normal forces that are in `normals`."""
    for k in range(head(m).n_frictions):
        element_force(m, frictions(m)[k].element)
