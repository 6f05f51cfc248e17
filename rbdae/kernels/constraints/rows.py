"""The constraint rows of a formulation at one level: internal constraints of the bodies, then joints.

At the acceleration level with Baumgarte's terms where the head has them:

    gddot + 2 alpha gdot + beta^2 g,    head.damping = 2 alpha, head.stiffness = beta^2.
"""

from __future__ import annotations

from typing import Any

from rbdae.compiler.access import Address, Array, Memory, address, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies.internal_constraints import internal_residual, internal_tangent
from rbdae.kernels.constraints.primitive_tangents import scatter_primitive_rows
from rbdae.kernels.constraints.primitives import primitive_residual
from rbdae.kernels.memory import head
from rbdae.kernels.scratch import constraint_values


@jit
def constraint_rows(m: Memory, out_at: Address, row: int, level: int) -> None:
    """out[row:row + nla] = the constraints at one level, at level 2 with Baumgarte's terms. Reads the vectors of the
    primitives up to this level."""
    internal_residual(m, out_at, row, level)
    primitive_residual(m, out_at, row, level)
    if level == 2:
        _add_baumgarte_rows(m, out_at, row)


@jit
def _without_gains(h: Array) -> Any:
    """Stages are shared by all problems of a process: one without gains comes here, too, once another one has them."""
    return h.damping == 0.0 and h.stiffness == 0.0


@stage("iii", "baumgarte", optional=True)
def _add_baumgarte_rows(m: Memory, out_at: Address, row: int) -> None:
    """2 alpha gdot + beta^2 g."""
    out = vector_at(out_at)
    h = head(m)
    if _without_gains(h):
        return
    g = constraint_values(m)
    for level in range(2):
        f = h.stiffness if level == 0 else h.damping
        internal_residual(m, address(g), 0, level)
        primitive_residual(m, address(g), 0, level)
        for i in range(h.n_la):
            out[row + i] += f * g[i]


@jit
def scatter_constraint_rows(m: Memory, row: int, level: int, c: float) -> None:
    """Their tangent; c is the factor of the rates. Reads the gradients and the tangents of the natural coordinates
    up to this level."""
    internal_tangent(m, row, level, c, 1.0)
    scatter_primitive_rows(m, row, level, c, 1.0)
    if level == 2:
        _scatter_baumgarte_rows(m, row)


@stage("ii", "baumgarte", optional=True)
def _scatter_baumgarte_rows(m: Memory, row: int) -> None:
    """The tangent of 2 alpha gdot + beta^2 g."""
    h = head(m)
    if _without_gains(h):
        return
    for level in range(2):
        f = h.stiffness if level == 0 else h.damping
        internal_tangent(m, row, level, 0.0, f)
        scatter_primitive_rows(m, row, level, 0.0, f)
