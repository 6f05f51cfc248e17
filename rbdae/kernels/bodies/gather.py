"""From y and yd to the working memory of the bodies."""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.memory import bodies, head, multipliers, states


def read_body(m: Memory, b: int, y: Array, i: int, x: Array, w: Array, n: int) -> None:
    """x and w[:n] of one body from its numbers in y, which begin at i; without x where it has a pivot."""
    if bodies(m)[b].nt == 3:
        for k in range(3):
            x[k] = y[i + k]
        i += 3
    for k in range(n):
        w[k] = y[i + k]


def write_body(m: Memory, b: int, x: Array, w: Array, n: int, out: Array, i: int) -> None:
    """The way back: to out, from i on."""
    if bodies(m)[b].nt == 3:
        for k in range(3):
            out[i + k] = x[k]
        i += 3
    for k in range(n):
        out[i + k] = w[k]


def clear_forces(m: Memory) -> None:
    """No natural forces, not even weights."""
    for b in range(head(m).n_bodies + 1):
        s = states(m)[b]
        for k in range(3):
            s.fx[k] = 0.0
        for k in range(9):
            s.fd[k] = 0.0


def gather_positions(m: Memory, y: Array) -> None:
    """Positions x, a of all bodies from y[:nq]."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        read_body(m, b, y, o.iq, states(m)[b].x, states(m)[b].a, o.na)


def gather_velocities(m: Memory, y: Array, offset: int) -> None:
    """Velocities (or momenta) of all bodies from y[offset:offset + nv]."""
    _gather_rates(m, y, offset, 1)


def gather_accelerations(m: Memory, yd: Array, offset: int) -> None:
    """Accelerations (or rates of the momenta) of all bodies from yd[offset:offset + nv]."""
    _gather_rates(m, yd, offset, 2)


def _gather_rates(m: Memory, y: Array, offset: int, order: int) -> None:
    """The velocities (order 1) or accelerations (2) of all bodies."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        x, w = _rates(m, b, order)
        read_body(m, b, y, offset + o.iv, x, w, o.nr)


def _rates(m: Memory, b: int, order: int) -> Any:
    """The velocities (order 1) or accelerations (2) of one body that are unknowns, or its momenta or their rates."""
    s = states(m)[b]
    if head(m).chained == 0:
        if order == 1:
            return s.xd, s.w
        return s.xdd, s.wd
    if head(m).momenta == 0:
        if order == 1:
            return s.xd, s.p
        return s.xdd, s.pd
    if order == 1:
        return s.px, s.p
    return s.pxd, s.pd


def clear_accelerations(m: Memory) -> None:
    """Zero accelerations, or rates of the momenta: gddot is then g_II."""
    S = states(m)
    for b in range(head(m).n_bodies):
        s = S[b]
        for k in range(3):
            s.xdd[k] = 0.0
            s.pxd[k] = 0.0
        for k in range(9):
            s.wd[k] = 0.0
            s.pd[k] = 0.0


def gather_multipliers(m: Memory, y: Array, offset: int) -> None:
    """The multipliers from y[offset:offset + nla]."""
    la = multipliers(m)
    for i in range(head(m).n_la):
        la[i] = y[offset + i]


def gather_natural(m: Memory, Z: Array) -> None:
    """Natural coordinates of all bodies from Z: (x, d, xdot, ddot), 24 numbers each."""
    S = states(m)
    for b in range(head(m).n_bodies):
        s = S[b]
        i = 24 * b
        for k in range(3):
            s.x[k] = Z[i + k]
            s.xd[k] = Z[i + 12 + k]
        for k in range(9):
            s.d[k] = Z[i + 3 + k]
            s.dd[k] = Z[i + 15 + k]


def collect_velocities(m: Memory, out: Array) -> None:
    """out[:nv] = (xd, w) of all bodies."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        write_body(m, b, states(m)[b].xd, states(m)[b].w, o.nr, out, o.iv)
