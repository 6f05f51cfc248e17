"""Forces along an angle in a step: torsional springs, motors and viscous friction about the axis of a joint.

The angle phi has the sine s and the cosine c, which are forms of the natural coordinates. Its increment is that of

    X = s1 c0 - c1 s0 = c_mean (s1 - s0) - s_mean (c1 - c0),   Y = c1 c0 + s1 s0,
    phi1 - phi0 = 2 atan(p),   p = X / (|(X, Y)| + Y),

below half a turn in a step, whatever the lengths of (s, c) at both ends are. So the discrete gradient of phi is

    D = kappa (c_mean g_s - s_mean g_c),   kappa = (phi1 - phi0) / X,   D . (Z1 - Z0) = phi1 - phi0,

with the gradients g at Z_mean. They are those of invariants: -D f has neither a resultant nor a moment on both bodies
together. With

    f = k ((phi0 + phi1) / 2 - phi_rest) + d (phi1 - phi0) / h - u(t + h / 2)

its work is -(V1 - V0) - d (phi1 - phi0)^2 / h + u (phi1 - phi0), exactly. phi0 counts full turns: it is the angle next
to the winding of the start. Nothing is divided by a difference: kappa = 2 a / (|(X, Y)| + Y) with a = atan(p) / p, for
small p by its series.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory, atan, select, sqrt
from rbdae.kernels.bodies.gather import gather_positions
from rbdae.kernels.bodies.natural import place
from rbdae.kernels.conserving.forms import step_forms, step_load
from rbdae.kernels.forces.elements import angle_of, turns
from rbdae.kernels.forces.internal_states import gather_force_states
from rbdae.kernels.memory import element_memory, elements, force_states, head, states

SMALL = 0.01
"""Of p^2: series below, in which the last term is below round-off."""


def _arc(x: float) -> Any:
    """atan(p) / p and its derivative with respect to x = p^2 < `SMALL`, by their series."""
    value = 0.0 * x
    slope = 0.0 * x
    for n in range(9):
        k = 8 - n
        slope = value - x * slope
        value = 1.0 / (2.0 * k + 1.0) - x * value
    return value, -slope


def _ratio(p: float) -> Any:
    """a = atan(p) / p, and its derivative with respect to p^2."""
    small = p * p < SMALL
    near, near_slope = _arc(select(small, p * p, 0.0))
    q = select(small, 1.0, p)
    far = atan(q) / q
    return select(small, near, far), select(small, near_slope, 0.5 * (1.0 / (1.0 + q * q) - far) / (q * q))


def start_angle(m: Memory, i: int) -> Any:
    """phi0 of one element with a winding. Reads `step_forms` and `force_states`."""
    c = element_memory(m)
    angle = angle_of(c.q[0] - c.r[0], c.q[1] - c.r[1])
    return angle + turns(angle, force_states(m)[elements(m)[i].state])


def angle_increment(m: Memory) -> Any:
    """phi1 - phi0. Reads `step_forms`."""
    c = element_memory(m)
    x = 2.0 * (c.q[1] * c.r[0] - c.q[0] * c.r[1])
    y = c.q[0] * c.q[0] + c.q[1] * c.q[1] - c.r[0] * c.r[0] - c.r[1] * c.r[1]
    return 2.0 * atan(x / (sqrt(x * x + y * y) + y))


def angle_law(m: Memory, i: int, h: float) -> None:
    """w and C of `rbdae.kernels.conserving.forces` for one element. Reads `step_forms`, `force_states` and the load."""
    e = elements(m)[i]
    c = element_memory(m)
    s = c.q[0]  # means of both ends, and half of the increments
    k = c.q[1]
    ds = c.r[0]
    dk = c.r[1]
    X = 2.0 * (k * ds - s * dk)
    Y = s * s + k * k - ds * ds - dk * dk
    length = sqrt(X * X + Y * Y)
    n = 1.0 / (length + Y)
    p = n * X
    a, slope = _ratio(p)
    kappa = 2.0 * a * n
    phi = kappa * X
    if e.force != 0:
        c.x[0] = 0.5 * phi
        if e.winding == 1:
            c.x[0] += start_angle(m, i)
        c.x[1] = phi / h
        step_load(m, i, h)
    f = e.damping[0, 0] / h * phi - e.sign * c.u[0]
    if e.winding == 1:
        f += e.stiffness[0, 0] * (start_angle(m, i) + 0.5 * phi - e.rest[0])
    T = kappa * f
    c.w[0] = T * k
    c.w[1] = -T * s
    stiffness = 0.5 * e.stiffness[0, 0] + e.damping[0, 0] / h
    if e.force != 0:
        stiffness -= e.sign * c.X[0, 0]
    for b in range(2):
        dX = k - dk if b == 0 else ds - s  # with respect to s1 and c1
        dY = s - ds if b == 0 else k - dk
        sum_rate = (X * dX + Y * dY) / length + dY
        rate = 2.0 * n * n * (2.0 * slope * p * (dX - p * sum_rate) - a * sum_rate)  # of kappa
        dT = f * rate + kappa * stiffness * (kappa * dX + rate * X)
        c.C[0, b] = k * dT
        c.C[1, b] = -s * dT
    c.C[0, 1] += 0.5 * T
    c.C[1, 0] -= 0.5 * T


def advance_windings(m: Memory, y: Array, out: Array) -> None:
    """The windings at the positions of out, after a step from y or a part of it: phi0 and the increment from there.
    Reads the natural coordinates of the start."""
    gather_force_states(m, y)
    gather_positions(m, out)
    place(m)
    h = head(m)
    for b in range(h.n_bodies):
        s = states(m)[b]
        for k in range(3):
            s.xd[k] = 0.5 * (s.x[k] - s.pxd[k])
            s.x[k] = 0.5 * (s.x[k] + s.pxd[k])
        for k in range(9):
            s.dd[k] = 0.5 * (s.d[k] - s.ddd[k])
            s.d[k] = 0.5 * (s.d[k] + s.ddd[k])
    for i in range(h.n_elements):
        e = elements(m)[i]
        if e.winding == 1:
            step_forms(m, i)
            out[h.states_at + e.state] = start_angle(m, i) + angle_increment(m)
