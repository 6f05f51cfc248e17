"""Internal constraints of the bodies: those g(a) of the chart, or of directors those of the columns of R.

Y Y^T = I says [NS] (19) of the rows of R with Y = R, and (44), Remark 4.6, of its columns with Y = R^T. Both are the
same manifold, R^T (R R^T - I) R = 0. Coordinate velocities have charts whose constraints are quadratic in a: with
dg/da = J(a) they are g, J(a) w and J(a) wdot + J(w) w at the three levels. With directors J^T la is La Y with the
symmetric matrix La of the six multipliers; La of the columns is R^T La R of the rows there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import moving
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE
from rbdae.rotations.chart import numbered
from rbdae.rotations.vectors import frame


def _as_chart(m: Memory, v: Array) -> Array:
    """Parameters, or their rates, as the chart's constraints take them: of directors Y or its rate."""
    return frame(v).ravel() if m.head.columns == 1 else v[: numbered(m.head.chart).n]


def constraints(m: Memory, a: Array) -> Array:
    """g(a)."""
    g: Any = numbered(m.head.chart).internal_constraints
    return g(_as_chart(m, a))


def rates(m: Memory, a: Array, v: Array) -> Array:
    """dg/da v."""
    rate: Any = numbered(m.head.chart).internal_rate
    return rate(_as_chart(m, a), _as_chart(m, v))


def gradient(m: Memory, s: Any) -> Array:
    """G_int = dg/da of one body: a column is the rate along a unit vector."""
    return np.array([rates(m, s.a, e) for e in np.eye(numbered(m.head.chart).n)]).T


def internal_residual(m: Memory, out: Array, row: int, level: int) -> None:
    """Internal constraints at the level of positions (0), of velocities or momenta (1), or of accelerations (2). With
    momenta of quaternions that of velocities is q . p = 0, [BS09] (40)."""
    momenta = m.head.momenta == 1 and m.head.kind == QUATERNION_RATE
    for o, s in moving(m) if m.head.kind != ANGULAR else ():
        v, vd = (s.p, s.pd) if momenta else (s.w, s.wd)
        if level == 0:
            found = constraints(m, s.a)
        else:
            found = rates(m, s.a, v) if level == 1 else rates(m, s.a, vd) + rates(m, v, s.w)
        out[row + o.il : row + o.il + o.ni] = found
