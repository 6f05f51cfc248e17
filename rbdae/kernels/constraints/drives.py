"""The clock: values of the rheonomic primitives at a time, from the user's laws s(t, u), s'(t, u), s''(t, u).

* OFFSET: the right-hand side of the primitive is s (a point that moves, a displacement, a cosine);
* LENGTH: the distance is s, so the right-hand side of the primitive is s^2 / 2;
* ANGLE: the first direction turns, a = e1 cos s + e2 sin s, and stays orthogonal to the second: no angle is singular.
"""

from __future__ import annotations

from rbdae.graph.functions import Memory, cos, sin
from rbdae.kernels.memory import drives, head, inputs, primitives
from rbdae.kernels.user_functions import call_user_function

OFFSET = 0
LENGTH = 1
ANGLE = 2


def set_time(m: Memory, t: float) -> None:
    """The time, and the values of all drives at it."""
    h = head(m)
    h.time = t
    if h.n_drives > 0:
        _clock(m)


def drive_values(m: Memory, i: int, t: float) -> None:
    """s, s', s'' of one drive at a time, under the inputs that its law takes."""
    e = drives(m)[i]
    for k in range(9):
        e.value[k] = 0.0  # what a law leaves out is not what it has written before
    for k in range(e.n_inputs):
        e.read[k] = inputs(m)[e.input[k]]
    call_user_function(e.law, t, e.read, e.value)


def _clock(m: Memory) -> None:
    """Coefficients and right-hand sides of the rheonomic primitives, with two rates."""
    h = head(m)
    C = primitives(m)
    D = drives(m)
    for i in range(h.n_drives):
        drive_values(m, i, h.time)
        e = D[i]
        v = e.value
        p = C[e.primitive]
        if e.kind == ANGLE:
            c = cos(v[0])
            s = sin(v[0])
            for k in range(3):
                a = c * e.e1[k] + s * e.e2[k]
                b = c * e.e2[k] - s * e.e1[k]
                p.A[1 + k] = a
                p.Ad[1 + k] = v[1] * b
                p.Add[1 + k] = v[2] * b - v[1] * v[1] * a
        elif e.kind == LENGTH:
            p.offset[0] = 0.5 * v[0] * v[0]
            p.offset_rate[0] = v[0] * v[1]
            p.offset_acceleration[0] = v[1] * v[1] + v[0] * v[2]
        else:
            n = p.n
            for k in range(n):
                p.offset[k] = v[k]
                p.offset_rate[k] = v[n + k]
                p.offset_acceleration[k] = v[2 * n + k]
