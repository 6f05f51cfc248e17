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

from typing import Any

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array, Memory, sqrt
from rbdae.kernels.constraints.primitives import gradient_times
from rbdae.kernels.forces.elements import Along


def reaction_load(m: Memory, k: int, la: Array) -> Array:
    """(f, c) (6,) of friction k by multipliers la. Reads d, P and Q."""
    e = m.frictions[k]
    F = np.zeros((4, 3))  # on x and the directors of the second body
    for p, r in zip(m.primitives[e.first : e.last], m.rows[e.first : e.last], strict=True):
        F = F - gradient_times(p, r, la[p.row : p.row + p.n] * np.array(p.keep[: p.n]))[1].reshape(4, 3)
    return np.concatenate([F[0], _across(m, e, F) if e.moments == 1 else 0.0 * F[0]])


def _across(m: Memory, e: Any, F: Array) -> Array:
    """c of the forces F on x and the directors of the second body: F[0] acts at its reference point, so that it has the
    moment of minus the arm of the joint's point."""
    D1, D2 = (m.states[b].d.reshape(3, 3) for b in e.body)
    M = cross(D2, F[1:] - np.outer(e.point, F[0])).sum(axis=0)
    return cross(M, e.axis @ D1) / e.length


def normal_force(m: Memory, k: int, load: Array) -> tuple[Any, Array]:
    """N of friction k for a load (f, c), and its derivatives (6,) by it."""
    e = m.frictions[k]
    f, c = load[:3], load[3:]
    least = 0.25 * e.floor * e.floor
    if e.moments == 0:
        N = sqrt(f @ f + 4.0 * least)
        return N, np.concatenate([f / N, 0.0 * c])
    one, two = 0.5 * f + c, 0.5 * f - c
    N1, N2 = sqrt(one @ one + least), sqrt(two @ two + least)
    one, two = one / N1, two / N2
    return N1 + N2, np.concatenate([0.5 * (one + two), one - two])


def friction_forces(m: Memory) -> None:
    """Add the friction under the reactions by `multipliers` to the natural forces. Reads P and Q; writes `normals`."""
    for k in range(m.head.n_frictions):
        m.normals[k], _ = normal_force(m, k, reaction_load(m, k, m.multipliers))
    add_friction(m)


def add_friction(m: Memory) -> None:
    """Add the friction under the normal forces that are in `normals`."""
    for k in range(m.head.n_frictions):
        Along(m, m.frictions[k].element).act()
