"""The square system [G; S] of large closed loops, sparse: factors over a pattern that is made once for a selection.

With A = [G; S], rows in an order of elimination, and W = diag(l^2, 1), l a length of each body,

    A x = b:    x = W A^T z,  (A W A^T) z = b,        A^T z = x:  (A W A^T) z = A W x.

A W A^T is positive definite, so that every order of elimination is stable: there is no pivot to choose. It has the
condition of A squared. Corrections by the residual of A x = b give the accuracy of an elimination of A itself
(docs/decisions.md).
"""

from __future__ import annotations

from typing import final

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.constraints.gradients import moving_sides, side_rows
from rbdae.kernels.linear.elimination import Factors, Rows
from rbdae.kernels.linear.small import inverse
from rbdae.kernels.memory import (
    head,
    primitives,
    rows,
    square_column,
    square_place,
    square_start,
    square_turning,
    states,
    velocity_metric,
    velocity_selection,
)

CORRECTIONS = 2


@final
class SparseLoops:
    """[G; S] at the placed bodies. Reads the gradients and S."""

    def __init__(self, m: Memory) -> None:
        self._m, h = m, head(m)
        self._n, self._first = h.n_v, h.n_v - h.n_nu
        start, column = square_start(m), square_column(m)
        self._columns = [column[start[i] : start[i + 1]] for i in range(self._n)]
        self._places = square_place(m)
        self._W = velocity_metric(m)[h.n_v + h.n_nu :]

    def factorise(self) -> None:
        """L and D of A W A^T, the products of rows that share a body."""
        m = self._m
        joints = [
            (np.hstack([side_rows(r, side, p.n, o) for side, _, o in moving_sides(m, p)]), p)
            for p, r in zip(primitives(m), rows(m), strict=True)
        ]
        equations = [*(G[k] for G, p in joints for k in range(p.n) if p.keep[k] == 1), *self._selection()]
        self._A = [equations[i] for i in np.argsort(self._places)]
        at = [dict(zip(columns.tolist(), a, strict=True)) for columns, a in zip(self._columns, self._A, strict=True)]
        met: dict[int, list[int]] = {}  # rows by the columns that they have
        products: Rows = [{} for _ in at]
        for i, a in enumerate(at):
            for j in {i, *(j for c in a for j in met.setdefault(c, []))}:
                products[i][j] = products[j][i] = sum(x * self._W[c] * at[j][c] for c, x in a.items() if c in at[j])
            for c in a:
                met[c].append(i)
        self._factors = Factors(products, [(i,) for i in range(self._n)])

    def _selection(self) -> list[Array]:
        """The rows of S, or of S P where velocities are spatial, P = R^-T: three numbers of a body at a time."""
        m, out = self._m, []
        for i in range(head(m).n_nu):
            columns = self._columns[self._places[self._first + i]]
            parts = velocity_selection(m)[i][columns].reshape(-1, 3)
            if head(m).spatial != 0:
                turning = square_turning(m)[columns[::3]]
                inverses = [inverse(states(m)[b].d.reshape(3, 3)) if b >= 0 else np.eye(3) for b in turning]
                parts = np.array([part @ C for part, C in zip(parts, inverses, strict=True)])
            out.append(parts.ravel())
        return out

    def _times(self, x: Array) -> Array:
        """A x."""
        return np.array([a @ x[at] for at, a in zip(self._columns, self._A, strict=True)], dtype=x.dtype)

    def _transposed_times(self, z: Array) -> Array:
        """A^T z."""
        out = np.zeros(self._n, dtype=z.dtype)
        for at, a, t in zip(self._columns, self._A, z, strict=True):
            out[at] += a * t
        return out

    def solve(self, x: Array) -> Array:
        """[G; S]^-1 x."""
        b = x[np.argsort(self._places)]
        out = self._transposed_times(self._factors.solved(b)) * self._W
        for _ in range(CORRECTIONS):
            out = out + self._transposed_times(self._factors.solved(b - self._times(out))) * self._W
        return out

    def solve_transposed(self, x: Array) -> Array:
        """[G; S]^-T x."""
        x = x[: self._n]
        z = self._factors.solved(self._times(x * self._W))
        for _ in range(CORRECTIONS):
            z = z + self._factors.solved(self._times((x - self._transposed_times(z)) * self._W))
        return z[self._places]

    def frame_rates(self) -> Array:
        """Sdot w: nothing."""
        return np.zeros(head(self._m).n_nu)

    def select(self, vd: Array) -> Array:
        """S vdot."""
        columns = [self._columns[place] for place in self._places[self._first :]]
        return np.array([s @ vd[at] for at, s in zip(columns, self._selection(), strict=True)], dtype=vd.dtype)
