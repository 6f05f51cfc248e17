"""Rheonomic joints in a step: g(z1, t1) = 0, and forces whose work is a multiplier times the prescribed increment.

Of q(z) = s(t) (OFFSET, LENGTH) the force -G(z_mean)^T la has the work -la (s(t1) - s(t0)), as G(z_mean) (z1 - z0) is
the increment of q. Of a prescribed angle (ANGLE), with the direction a(s) = e1 cos s + e2 sin s of the first body and
the direction b of the second one, G is that of the direction half way, a((s0 + s1) / 2). Both products a(s0) . b and
a(s1) . b vanish at their ends, where b is a quarter turn from a: the increment of a_mean . b is 2 sin((s1 - s0) / 2) or
its opposite, and the work again a multiplier times s1 - s0.
"""

from __future__ import annotations

from rbdae.graph.functions import Memory, cos, sin
from rbdae.kernels.constraints.drives import ANGLE, LENGTH, drive_values
from rbdae.kernels.constraints.primitives import combine
from rbdae.kernels.memory import drives, head, primitives, rows, states


def set_drives(m: Memory, t1: float) -> None:
    """Right-hand sides of the rheonomic primitives at the end t1 of the step. Those that turn have the direction half
    way in A and what is missing to that of the end in Ad. Follows `begin`, which leaves the values of the start."""
    D = drives(m)
    for i in range(head(m).n_drives):
        e = D[i]
        v = e.value
        before = v[0]
        drive_values(m, i, t1)
        p = primitives(m)[e.primitive]
        if e.kind == ANGLE:
            mean = 0.5 * (before + v[0])
            c = cos(mean)
            s = sin(mean)
            c1 = cos(v[0]) - c
            s1 = sin(v[0]) - s
            for k in range(3):
                p.A[1 + k] = c * e.e1[k] + s * e.e2[k]
                p.Ad[1 + k] = c1 * e.e1[k] + s1 * e.e2[k]
        elif e.kind == LENGTH:
            p.offset[0] = 0.5 * v[0] * v[0]
        else:
            for k in range(p.n):
                p.offset[k] = v[k]


def add_moving_increments(m: Memory) -> None:
    """Pd += Ad dZ of primitives that turn: with P the direction of the end. Reads half of the increments, and Ad Z_mean
    in Pd (`primitive_vectors`)."""
    for i in range(head(m).n_primitives):
        p = primitives(m)[i]
        if p.moving == 1:
            r = rows(m)[i]
            s1 = states(m)[p.body[0]]
            s2 = states(m)[p.body[1]]
            combine(p.Ad, s1.xd, s1.dd, s2.xd, s2.dd, r.value)
            for k in range(3):
                r.Pd[k] += r.value[k]
