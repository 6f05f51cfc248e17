"""From y and yd to the working memory of the bodies, and back.

The unknowns of a body are numbers of its translation, of which there are none where it has a pivot, then of its
rotation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rbdae.graph.functions import Array, Memory


def moving(m: Memory) -> Iterator[tuple[Any, Any]]:
    """The records and the working memory of the bodies that move."""
    return zip(m.bodies[:-1], m.states[:-1], strict=True)


def write_body(o: Any, x: Array, w: Array, out: Array, i: int) -> None:
    """The numbers of one body to out, from i on: x where it has no pivot, and w."""
    both = np.concatenate([x[: o.nt], w])
    out[i : i + len(both)] = both


def clear_forces(m: Memory) -> None:
    """No natural forces, not even weights."""
    for s in m.states:
        s.fx[:] = 0.0
        s.fd[:] = 0.0


def gather_positions(m: Memory, y: Array) -> None:
    """Positions x, a of all bodies from y[:nq]."""
    for o, s in moving(m):
        i = o.iq + o.nt
        s.x[: o.nt], s.a[: o.na] = y[o.iq : i], y[i : i + o.na]


def gather_velocities(m: Memory, y: Array, offset: int) -> None:
    """Velocities, or momenta, of all bodies from y[offset:offset + nv]; spatial omega is in the place of momenta."""
    for o, s in moving(m):
        _read(o, y, offset, s.px if m.head.momenta == 1 else s.xd, s.p if m.head.chained == 1 else s.w)


def gather_material(m: Memory, v: Array) -> None:
    """xdot and w of all bodies from v[:nv], whatever the unknowns are."""
    for o, s in moving(m):
        _read(o, v, 0, s.xd, s.w)


def gather_accelerations(m: Memory, yd: Array, offset: int) -> None:
    """Accelerations (or rates of the momenta) of all bodies from yd[offset:offset + nv]."""
    for o, s in moving(m):
        _read(o, yd, offset, s.pxd if m.head.momenta == 1 else s.xdd, s.pd if m.head.chained == 1 else s.wd)


def _read(o: Any, y: Array, offset: int, x: Array, w: Array) -> None:
    i = offset + o.iv
    x[: o.nt], w[: o.nr] = y[i : i + o.nt], y[i + o.nt : i + o.nt + o.nr]


def clear_accelerations(m: Memory) -> None:
    """Zero accelerations, or rates of the momenta: gddot is then g_II."""
    for _, s in moving(m):
        for rates in (s.xdd, s.pxd, s.wd, s.pd):
            rates[:] = 0.0


def gather_multipliers(m: Memory, y: Array, offset: int) -> None:
    """The multipliers from y[offset:offset + nla]."""
    n = m.head.n_la
    m.multipliers[:n] = y[offset : offset + n]


def collect_velocities(m: Memory, out: Array) -> None:
    """out[:nv] = (xd, w) of all bodies."""
    for o, s in moving(m):
        write_body(o, s.xd, s.w[: o.nr], out, o.iv)


# ---------------------------------------------------------------- internal states s of forces


def gather_force_states(m: Memory, y: Array) -> None:
    """s of all forces from y."""
    h = m.head
    m.force_states[: h.n_states] = y[h.states_at : h.states_at + h.n_states]


def collect_state_rates(m: Memory, out: Array) -> None:
    """sdot in its rows of out. Follows `applied_forces`."""
    h = m.head
    out[h.states_at : h.states_at + h.n_states] = m.force_state_rates[: h.n_states]


def states_residual(m: Memory, yd: Array, out: Array) -> None:
    """sdot - f in its rows of out, of algebraic unknowns -f. Follows `applied_forces`."""
    h = m.head
    for i in range(h.n_states):
        given = 0.0 if m.algebraic[i] == 1 else yd[h.states_at + i]
        out[h.states_at + i] = given - m.force_state_rates[i]
