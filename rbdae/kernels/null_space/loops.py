"""The square system [G; S] of closed loops: S is constant, the selected independent velocities.

With A = [G; S], A x = b and A^T z = f are solved by L D L^T (`rbdae.kernels.linear.elimination`) of

    [0 A^T] [x]   [f]            [W^-1 A^T] [x]   [f]
    [A  0 ] [z] = [b]     or     [ A    0 ] [z] = [b].

* The first one has pivots of one or two velocities and as many equations, in an order of few operations that is chosen
  for a problem (`rbdae.multibody.memory.saddle_order`): L U of A. What is left for a few rows of S at the end is
  inverted at a time, so that the order serves whatever is selected. It holds while the sum of the squares of all
  reciprocal pivots is below `LARGEST`, in units of the mechanism's size.
* The second one serves every position, and large systems: with all velocities before the equations there is no pivot to
  choose, since A W A^T is positive definite; W = diag(l^2, 1), l a length of each body. It has the solutions for
  (0, b) and (f, 0), and the condition of A squared. Corrections by the residual give the accuracy of an elimination of
  A itself (docs/decisions.md).

With spatial velocities S P stands in the place of S, P = R^-T: it turns with the bodies.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from rbdae.graph.functions import Array, Memory, is_zero, sqrt
from rbdae.kernels.bodies.gather import moving
from rbdae.kernels.constraints.gradients import moving_sides, side_rows
from rbdae.kernels.linear.elimination import Factors, Pivot, Rows, inverse_of_pivot
from rbdae.kernels.linear.saddle import LARGEST, extent, points_of
from rbdae.rotations.vectors import frame, reciprocal

CORRECTIONS = 2


def _inverse(pivot: Pivot, A: Array) -> tuple[Array, list[Any]]:
    """The inverse of a pivot. That of [0 K^T; K 0] is by Gram and Schmidt, where no pivot has to be chosen: with E K =
    Q orthogonal K^-1 is Q^T E."""
    n = len(pivot) // 2
    if n < 3:
        return inverse_of_pivot(pivot, A)
    done: list[Array] = []
    for row in np.hstack([A[n:, :n], np.eye(n)]):
        for q in done:
            row = row - q * (q[:n] @ row[:n])
        done.append(row * (1.0 / sqrt(row[:n] @ row[:n])))
    Q, E = np.hsplit(np.array(done), 2)
    zero = np.zeros((n, n))
    return np.block([[zero, Q.T @ E], [E.T @ Q, zero]]), []


@final
class Loops:
    """[G; S] at the placed bodies. Reads the gradients and S."""

    def __init__(self, m: Memory) -> None:
        self._m, h = m, m.head
        self._n, self._n_joints = h.n_v, h.n_v - h.n_nu
        start, column, place = m.square_start, m.square_column, m.square_place
        self._columns = [column[start[k] : start[k + 1]] for k in place]
        self._turning = {o.iv + o.nt: s for o, s in moving(m)}  # the bodies whose Omega begins in a column

    def rows(self) -> Rows:
        """A, by rows and columns."""
        m = self._m
        joints = [
            (np.hstack([side_rows(r, side, p.n, o) for side, _, o in moving_sides(m, p)]), p)
            for p, r in zip(m.primitives, m.rows, strict=True)
        ]
        equations = [*(G[k] for G, p in joints for k in range(p.n) if p.keep[k] == 1), *self._selection()]
        return [
            {j: x for j, x in zip(at.tolist(), row, strict=True) if not is_zero(x)}
            for at, row in zip(self._columns, equations, strict=True)
        ]

    def _selection(self) -> list[Array]:
        """The rows of S, or of S P where velocities are spatial: a one where that is all, else three numbers a body."""
        m, out = self._m, []
        for s, columns in zip(m.velocity_selection, self._columns[self._n_joints :], strict=True):
            if len(columns) == 1:
                out.append(np.ones(1))
                continue
            parts = s[columns].reshape(-1, 3)
            if m.head.spatial != 0:
                turned = [self._turning.get(k) for k in columns[::3].tolist()]
                inverses = [np.eye(3) if s is None else reciprocal(frame(s.d)) for s in turned]
                parts = np.array([part @ C for part, C in zip(parts, inverses, strict=True)])
            out.append(parts.ravel())
        return out

    def factorise(self) -> None:
        """The factors."""
        n, W = self._n, self._m.velocity_metric[self._n + self._m.head.n_nu :]
        self._A, self._exact = self.rows(), True
        if len(self._m.square_order):
            self._factors = Factors(self.bordered(self._A), self._m.square_order, _inverse)
            if self._factors.growth(self.units()) <= LARGEST:
                return
        self._exact = False
        symmetric = self.bordered(self._A)
        for k in range(n):
            symmetric[k][k] = 1.0 / W[k]
        equations = n + np.argsort(self._m.square_place)
        self._factors = Factors(symmetric, [(int(k),) for k in (*range(n), *equations)])

    def bordered(self, A: Rows) -> Rows:
        """[0 A^T; A 0]."""
        out: Rows = [{} for _ in range(2 * self._n)]
        for i, row in enumerate(A):
            for j, x in row.items():
                out[self._n + i][j] = out[j][self._n + i] = x
        return out

    def units(self) -> Array:
        """Factors of x and z, as squares, that make the first matrix one of numbers of size one without a unit."""
        m, square = self._m, extent(self._m)
        velocities = [1.0 if k - k % 3 in self._turning else square for k in range(self._n)]
        joints = [1.0 / square ** points_of(p) for p in m.primitives for k in range(p.n) if p.keep[k] == 1]
        selected = [1.0 / velocities[at[-1]] for at in self._columns[self._n_joints :]]
        return np.array([*velocities, *joints, *selected], dtype=object)

    def solve(self, b: Array) -> Array:
        """A^-1 b."""
        x = self._solved(np.zeros(self._n), b)[: self._n]
        for _ in range(0 if self._exact else CORRECTIONS):
            rest = [t - sum(a * x[j] for j, a in row.items()) for t, row in zip(b, self._A, strict=True)]
            x = x + self._solved(np.zeros(self._n), np.array(rest))[: self._n]
        return x

    def solve_transposed(self, f: Array) -> Array:
        """A^-T f."""
        f = f[: self._n]
        z = self._solved(f, np.zeros(self._n))[self._n :]
        for _ in range(0 if self._exact else CORRECTIONS):
            rest = f.copy()
            for t, row in zip(z, self._A, strict=True):
                for j, a in row.items():
                    rest[j] = rest[j] - a * t
            z = z + self._solved(rest, np.zeros(self._n))[self._n :]
        return z

    def _solved(self, f: Array, b: Array) -> Array:
        return self._factors.solved(np.concatenate([f, b]).astype(object))

    def frame_rates(self) -> Array:
        """Sdot w: nothing."""
        return np.zeros(self._m.head.n_nu)

    def select(self, vd: Array) -> Array:
        """S vdot."""
        columns = self._columns[self._n_joints :]
        return np.array([s @ vd[at] for at, s in zip(columns, self._selection(), strict=True)], dtype=vd.dtype)
