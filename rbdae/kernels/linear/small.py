"""Linear algebra of a few numbers."""

from __future__ import annotations

from rbdae.compiler.jit import jit


@jit
def dot(x, y, n):
    t = x[0] * y[0]
    for k in range(1, n):
        t += x[k] * y[k]
    return t
