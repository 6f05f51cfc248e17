"""Kernels that measure, for switches that loops in machine code ask where a measure leaves its bounds."""

from __future__ import annotations

import numpy as np

from rbdae.compiler.jit import Entry
from rbdae.machine.function import Shapes
from rbdae.multibody.traced import traced
from rbdae.multibody.workspace import Workspace
from rbdae.problem.contract import Quiet


def measured(
    workspace: Workspace, kernel: Entry, n: int, *, low: float = -np.inf, high: float = np.inf
) -> Quiet | None:
    """Bounds of the n numbers that a kernel ``f(t, y, out)`` computes; None without code of this model, or with laws in
    Python."""
    if not workspace.memory.traced or workspace.code_calls_python:
        return None
    shapes: Shapes = {"y": (workspace.layout.n,), "out": (n,)}
    found = traced(workspace, kernel, shapes, generic=lambda: workspace.compiled(kernel))
    return None if found is None else Quiet(found.bare(), n, low, high)
