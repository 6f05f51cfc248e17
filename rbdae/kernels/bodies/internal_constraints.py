"""Internal constraints of the bodies: those g(a) of the chart, or of directors those of the columns of R.

Y Y^T = I says [NS] (19) of the rows of R with Y = R, and (44), Remark 4.6, of its columns with Y = R^T. Both are the
same manifold, R^T (R R^T - I) R = 0. Coordinate velocities have charts whose constraints are quadratic in a: with
dg/da = J(a) they are g, J(a) w and J(a) wdot + J(w) w at the three levels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.memory import bodies, head, states
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE
from rbdae.rotations.chart import numbered
from rbdae.rotations.vectors import frame


def _as_chart(m: Memory, v: Array) -> Array:
    """Parameters, or their rates, as the chart's constraints take them: of directors Y or its rate."""
    n = numbered(head(m).chart).n
    return frame(v).ravel() if head(m).columns == 1 else v[:n]


def constraints(m: Memory, a: Array) -> Array:
    """g(a)."""
    g: Any = numbered(head(m).chart).internal_constraints
    return g(_as_chart(m, a))


def rates(m: Memory, a: Array, v: Array) -> Array:
    """dg/da v."""
    rate: Any = numbered(head(m).chart).internal_rate
    return rate(_as_chart(m, a), _as_chart(m, v))


def gradient(m: Memory, b: int) -> Array:
    """G_int = dg/da: a column is the rate along a unit vector."""
    return np.array([rates(m, states(m)[b].a, e) for e in np.eye(bodies(m)[b].na)]).T


def internal_residual(m: Memory, out: Array, row: int, level: int) -> None:
    """Internal constraints at the level of positions (0), of velocities or momenta (1), or of accelerations (2)."""
    if head(m).kind != ANGULAR:
        for b in range(head(m).n_bodies):
            o = bodies(m)[b]
            out[row + o.il : row + o.il + o.ni] = _at_level(m, b, level)


def _at_level(m: Memory, b: int, level: int) -> Array:
    """The constraints of one body. With momenta of quaternions that of velocities is q . p = 0, [BS09] (40)."""
    s = states(m)[b]
    if level == 0:
        return constraints(m, s.a)
    momenta = head(m).momenta == 1 and head(m).kind == QUATERNION_RATE
    v, vd = (s.p, s.pd) if momenta else (s.w, s.wd)
    return rates(m, s.a, v) if level == 1 else rates(m, s.a, vd) + rates(m, v, s.w)


def add_internal_corrections(m: Memory, mu: Array, offset: int, out: Array) -> None:
    """out[:nq] += G_int^T mu with angular velocities; mu from mu[offset:], body by body."""
    n = head(m).chart_internal
    for b in range(head(m).n_bodies if n > 0 else 0):
        o, first = bodies(m)[b], offset + n * b
        i = o.iq + o.nt
        out[i : i + o.na] += gradient(m, b).T @ mu[first : first + n]


def add_internal_forces(m: Memory, b: int, la: Array, out: Array, row: int) -> None:
    """out[row:row + nr] += G_int^T la of one body with coordinate velocities, for all multipliers la."""
    o = bodies(m)[b]
    out[row : row + o.nr] += gradient(m, b).T @ la[o.il : o.il + o.ni]
