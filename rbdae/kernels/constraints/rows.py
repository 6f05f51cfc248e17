"""The constraint rows of a formulation at one level: internal constraints of the bodies, then joints.

At the acceleration level of formulations that are `stabilised` with Baumgarte's terms, gddot + 2 alpha gdot + beta^2 g:
alpha and beta are the first two of `rbdae.kernels.memory.formulation_parameters`.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.internal_constraints import internal_residual
from rbdae.kernels.constraints.primitives import primitive_residual
from rbdae.kernels.memory import constraint_values, formulation_parameters, head


def constraint_rows(m: Memory, out: Array, row: int, level: int) -> None:
    """out[row:row + nla] = the constraints at one level, at level 2 with Baumgarte's terms. Reads the vectors of the
    primitives up to this level."""
    internal_residual(m, out, row, level)
    primitive_residual(m, out, row, level)
    if level == 2:
        _add_baumgarte_rows(m, out, row)


def _factor(m: Memory, level: int) -> Any:
    """beta^2 of g, 2 alpha of gdot."""
    parameters = formulation_parameters(m)
    return parameters[1] * parameters[1] if level == 0 else 2.0 * parameters[0]


def _add_baumgarte_rows(m: Memory, out: Array, row: int) -> None:
    """2 alpha gdot + beta^2 g. Stages are shared by all problems of a process: those of other formulations come here,
    too, once one is stabilised."""
    h = head(m)
    if h.stabilised == 0:
        return
    g = constraint_values(m)
    for level in range(2):
        f = _factor(m, level)
        internal_residual(m, g, 0, level)
        primitive_residual(m, g, 0, level)
        for i in range(h.n_la):
            out[row + i] += f * g[i]
