"""The clock: values of the rheonomic primitives at a time, from the user's laws s(t, u), s'(t, u), s''(t, u).

* OFFSET: the right-hand side of the primitive is s (a point that moves, a displacement, a cosine);
* LENGTH: the distance is s, so the right-hand side of the primitive is s^2 / 2;
* ANGLE: the first direction turns, a = e1 cos s + e2 sin s, and stays orthogonal to the second: no angle is singular.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Array, Memory, cos, sin
from rbdae.kernels.user_functions import call_user_function

OFFSET, LENGTH, ANGLE = range(3)


def set_time(m: Memory, t: float) -> None:
    """The time, and the values of all drives at it with two rates: coefficients and offsets of their primitives."""
    m.head.time = t
    for i, e in enumerate(m.drives):
        drive(m.primitives[e.primitive], e, drive_values(m, i, t))


def set_between(m: Memory, t: Any, h: Any) -> None:
    """The means of the values at t and t + h of all drives, without rates, at the time between."""
    m.head.time = t + h * 0.5
    for i, e in enumerate(m.drives):
        values = [drive_values(m, i, end)[0] + 0.0 for end in (t, t + h)]
        e.value[:] = 0.0
        e.value[0] = (values[0] + values[1]) * 0.5
        drive(m.primitives[e.primitive], e, e.value)


def drive_values(m: Memory, i: int, t: float) -> Array:
    """s, s', s'' of one drive at a time, under the inputs that its law takes."""
    e = m.drives[i]
    e.value[:] = 0.0  # what a law leaves out is not what it has written before
    n = e.n_inputs
    e.read[:n] = m.inputs[e.input[:n]]
    call_user_function(e.law, t, e.read, e.value)
    return e.value


def drive(p: Any, e: Any, value: Array) -> None:
    """The values s, s', s'' of a drive to its primitive; `e` has the kind and directions of the drive."""
    s, sd, sdd = value[:3]
    if e.kind == ANGLE:
        a = e.e1 * cos(s) + e.e2 * sin(s)
        b = e.e2 * cos(s) - e.e1 * sin(s)  # da/ds
        p.A[1:4], p.Ad[1:4], p.Add[1:4] = a, b * sd, b * sdd - a * (sd * sd)
    elif e.kind == LENGTH:
        p.offset[0], p.offset_rate[0], p.offset_acceleration[0] = 0.5 * s * s, s * sd, sd * sd + s * sdd
    else:
        n = p.n
        p.offset[:n], p.offset_rate[:n], p.offset_acceleration[:n] = np.split(value[: 3 * n], 3)
