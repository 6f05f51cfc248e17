"""From y and yd to the working memory of the bodies, and back."""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.memory import bodies, head, multipliers, states


def read_body(m: Memory, b: int, y: Array, i: int, x: Array, w: Array, n: int) -> None:
    """x and w[:n] of one body from its numbers in y, which begin at i; without x where it has a pivot."""
    nt = bodies(m)[b].nt
    x[:nt] = y[i : i + nt]
    w[:n] = y[i + nt : i + nt + n]


def write_body(m: Memory, b: int, x: Array, w: Array, n: int, out: Array, i: int) -> None:
    """The way back: to out, from i on."""
    nt = bodies(m)[b].nt
    out[i : i + nt] = x[:nt]
    out[i + nt : i + nt + n] = w[:n]


def clear_forces(m: Memory) -> None:
    """No natural forces, not even weights."""
    for b in range(head(m).n_bodies + 1):
        states(m)[b].fx[:] = 0.0
        states(m)[b].fd[:] = 0.0


def gather_positions(m: Memory, y: Array) -> None:
    """Positions x, a of all bodies from y[:nq]."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        read_body(m, b, y, o.iq, states(m)[b].x, states(m)[b].a, o.na)


def gather_velocities(m: Memory, y: Array, offset: int) -> None:
    """Velocities (or momenta) of all bodies from y[offset:offset + nv]."""
    for b in range(head(m).n_bodies):
        o, s = bodies(m)[b], states(m)[b]
        x, w = _unknown(m, (s.xd, s.px), (s.w, s.p))
        read_body(m, b, y, offset + o.iv, x, w, o.nr)


def gather_accelerations(m: Memory, yd: Array, offset: int) -> None:
    """Accelerations (or rates of the momenta) of all bodies from yd[offset:offset + nv]."""
    for b in range(head(m).n_bodies):
        o, s = bodies(m)[b], states(m)[b]
        x, w = _unknown(m, (s.xdd, s.pxd), (s.wd, s.pd))
        read_body(m, b, yd, offset + o.iv, x, w, o.nr)


def _unknown(m: Memory, x: Any, w: Any) -> Any:
    """Of velocities and momenta those that are unknowns. Spatial angular velocities are in the place of momenta."""
    return x[head(m).momenta], w[head(m).chained]


def clear_accelerations(m: Memory) -> None:
    """Zero accelerations, or rates of the momenta: gddot is then g_II."""
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        for rates in (s.xdd, s.pxd, s.wd, s.pd):
            rates[:] = 0.0


def gather_multipliers(m: Memory, y: Array, offset: int) -> None:
    """The multipliers from y[offset:offset + nla]."""
    n = head(m).n_la
    multipliers(m)[:n] = y[offset : offset + n]


def gather_natural(m: Memory, Z: Array) -> None:
    """Natural coordinates of all bodies from Z: (x, d, xdot, ddot), 24 numbers each."""
    for b in range(head(m).n_bodies):
        s, z = states(m)[b], Z[24 * b : 24 * b + 24]
        s.x[:], s.d[:], s.xd[:], s.dd[:] = z[:3], z[3:12], z[12:15], z[15:]


def collect_velocities(m: Memory, out: Array) -> None:
    """out[:nv] = (xd, w) of all bodies."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        write_body(m, b, states(m)[b].xd, states(m)[b].w, o.nr, out, o.iv)
