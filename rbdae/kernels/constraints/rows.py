"""The constraint rows of a formulation at one level: internal constraints of the bodies, then joints.

At the acceleration level of formulations that are `stabilised` they have Baumgarte's terms, gddot + 2 alpha gdot +
beta^2 g: alpha and beta are the first two of `rbdae.kernels.memory.formulation_parameters`.
"""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.internal_constraints import internal_residual
from rbdae.kernels.constraints.primitives import primitive_residual
from rbdae.kernels.memory import formulation_parameters, head


def constraint_rows(m: Memory, out: Array, row: int, level: int) -> None:
    """out[row:row + nla] = the constraints at one level, at level 2 with Baumgarte's terms. Reads the vectors of the
    primitives up to this level."""
    h = head(m)
    internal_residual(m, out, row, level)
    primitive_residual(m, out, row, level)
    if level < 2 or h.stabilised == 0:
        return
    alpha, beta = formulation_parameters(m)[:2]
    for lower, factor in ((0, beta * beta), (1, 2.0 * alpha)):
        g = np.zeros(h.n_la, dtype=out.dtype)
        internal_residual(m, g, 0, lower)
        primitive_residual(m, g, 0, lower)
        out[row : row + h.n_la] += g * factor
