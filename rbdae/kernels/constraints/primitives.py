"""The primitive constraints g(Z, t) of joints over the natural coordinates Z = (x, d1, d2, d3) of two bodies, (8, 3).

With P = A Z and Q = B Z they are

* linear (coincidence, 3 equations):  P - s(t) = 0;
* bilinear (dot-1, dot-2, distance):  scale P . Q - c(t) = 0;
* a combination:                      h(q_1, ..., q_m) = 0 of bilinear q_j = P_j . Q_j - c_j, by a law h.

The first two are at most quadratic in Z, so the Hessian is constant. Rates follow by Leibniz' rule, also where A
depends on the time ([NS], sections 2 and 5, (5) for g_I and g_II).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.user_functions import call_user_function, user_function

FLOOR = 1e-20
"""Of squared increments of the parts of a combination, in units of what they are: smaller ones get no correction."""


def natural(m: Memory, p: Array, order: int) -> Array:
    """Z of the bodies of a primitive (order 0), its first or its second rate."""
    names = (("x", "d"), ("xd", "dd"), ("xdd", "ddd"))[order]
    return np.concatenate([getattr(m.states[b], name) for b in p.body for name in names]).reshape(8, 3)


def primitive_vectors(m: Memory, order: int) -> None:
    """P and Q of all primitives with rates up to the order (0, 1, 2). Reads the natural coordinates up to it."""
    for p, r in zip(m.primitives, m.rows, strict=True):
        Z, *rates = (natural(m, p, k) for k in range(order + 1))
        if p.law != 0:
            r.P[: order + 1], r.F[:] = _combined(p, Z, *rates)
            continue
        r.P[:] = p.A @ Z
        if order > 0:
            r.Pd[:] = p.A @ rates[0] + p.Ad @ Z
        if order > 1:
            r.Pdd[:] = p.A @ rates[1] + p.Ad @ rates[0] * 2.0 + p.Add @ Z
        if p.linear == 0:
            r.Q[:], *found = (p.B @ each for each in (Z, *rates))
            for out, rate in zip((r.Qd, r.Qdd), found, strict=False):
                out[:] = rate


def _combined(p: Array, Z: Array, *rates: Array) -> tuple[list[Any], Array]:
    """g of a combination with as many rates as there are of Z, and dg/dZ (8, 3)."""
    A, B, q, J = _parts(p, Z)
    h, dh, ddh = (_law(p, order, q) for order in range(3))
    g = [h[0]]
    if rates:
        qd = np.tensordot(J, rates[0], 2)
        g.append(dh @ qd)
    if len(rates) > 1:
        qdd = np.tensordot(J, rates[1], 2) + np.sum((A @ rates[0]) * (B @ rates[0]), axis=1) * 2.0
        g.append(dh @ qdd + qd @ (ddh.reshape(len(q), -1) @ qd))
    return g, np.tensordot(dh, J, 1)


def _parts(p: Array, Z: Array) -> tuple[Array, Array, Array, Array]:
    """A and B (m, 8) of the parts of a combination, their values q (m,) at Z, and dq/dZ (m, 8, 3)."""
    m = user_function(p.law).n_in
    A, B = np.swapaxes([(p.A, p.B), *p.more][:m], 0, 1)
    P, Q = A @ Z, B @ Z
    return A, B, np.sum(P * Q, axis=1) - p.offset[:m], A[:, :, None] * Q[:, None] + B[:, :, None] * P[:, None]


def _law(p: Array, order: int, q: Array) -> Array:
    """h (1,), dh (m,), or its second derivatives (m m,) at q."""
    function: Any = user_function(p.law)
    for _ in range(order):
        function = function.slope
    out = np.zeros(function.n_out, dtype=object)
    time = next((each for each in q if hasattr(each, "recorder")), 0.0)  # which it does not read
    call_user_function(function.address, time, q, out)
    return out


def mean_gradients(m: Memory) -> None:
    """The gradients of combinations in a step, of which the natural coordinates are the means and their rates half of
    the increments: G dZ is the increment of g, by [Gon96] on q. Follows `primitive_vectors`."""
    for p, r in zip(m.primitives, m.rows, strict=True):
        if p.law == 0:
            continue
        A, B, q, J = _parts(p, natural(m, p, 0))
        d = natural(m, p, 1)
        q, half = q + np.sum((A @ d) * (B @ d), axis=1), np.tensordot(J, d, 2)
        dh = _law(p, 1, q)
        lost = (_law(p, 0, q + half) - _law(p, 0, q - half))[0] * 0.5 - dh @ half
        r.F[:] = np.tensordot(dh + half * (lost / (half @ half + FLOOR * (1.0 + q @ q))), J, 1)


def partial_rates(m: Memory, out: Array, row: int, scale: float) -> None:
    """out[row:] += scale times the rate of g at rest, which is g_I of the joints. Reads Q."""
    for p, r in zip(m.primitives, m.rows, strict=True):
        at = row + p.row
        out[at : at + p.n] -= p.offset_rate[: p.n] * scale
        if p.moving == 1:
            out[at] += (p.Ad @ natural(m, p, 0)) @ r.Q * (scale * p.scale)


def primitive_residual(m: Memory, out: Array, row: int, level: int) -> None:
    """The joint constraints of positions (0), velocities (1), accelerations (2). Reads P, Q with rates up to it."""
    for p, r in zip(m.primitives, m.rows, strict=True):
        at = row + p.row
        offset = (p.offset, p.offset_rate, p.offset_acceleration)[level]
        if p.law != 0:
            out[at] = r.P[level]
        elif p.linear == 1:
            out[at : at + 3] = (r.P, r.Pd, r.Pdd)[level] - offset
        elif level == 0:
            out[at] = (r.P @ r.Q) * p.scale - offset[0]
        elif level == 1:
            out[at] = (r.P @ r.Qd + r.Pd @ r.Q) * p.scale - offset[0]
        else:
            out[at] = (r.P @ r.Qdd + (r.Pd @ r.Qd) * 2.0 + r.Pdd @ r.Q) * p.scale - offset[0]


def gradient_times(p: Array, r: Array, la: Array) -> Array:
    """G^T la of a primitive on its bodies, (2, 12): (fx, fd) of each. Reads P, Q and F."""
    if p.law != 0:
        return (r.F * la[0]).reshape(2, 12)
    if p.linear == 1:
        return np.outer(p.A, la).reshape(2, 12)
    f = la[0] * p.scale
    return (np.outer(p.A, r.Q * f) + np.outer(p.B, r.P * f)).reshape(2, 12)


def primitive_forces(m: Memory) -> None:
    """Add -G^T la of the joints to the natural forces, without dropped rows. Reads the multipliers, P and Q."""
    S = m.states
    for p, r in zip(m.primitives, m.rows, strict=True):
        of_joint = gradient_times(p, r, m.multipliers[p.row : p.row + p.n] * np.array(p.keep[: p.n]))
        for b, f in zip(p.body, of_joint, strict=True):
            S[b].fx[:] = S[b].fx - f[:3]
            S[b].fd[:] = S[b].fd - f[3:]
