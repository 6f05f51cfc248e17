"""The square system [G; S] of closed loops, not too large: S is constant, the selected independent velocities.

A spanning tree of joints is solved body by body (`trees`), so that w = T mu + w_0 with its quasi-velocities mu. The
joint equations that close loops, and S, are then

    K mu = [-g_I - G_c w_0],    K = [G_c] T,
           [  nu - S w_0  ]         [ S ]

square and as large as the tree has freedoms. K = L Q by Householder's reflections, which is stable without a choice of
pivots, whatever the position and S are.

With spatial velocities S P stands in the place of S, P = R^-T: it turns with the bodies.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from rbdae.graph.functions import Array, Memory, is_zero, select, sqrt
from rbdae.kernels.constraints.gradients import moving_sides
from rbdae.kernels.linear.small import inverse
from rbdae.kernels.memory import bodies, closing_rows, head, primitives, states, velocity_selection
from rbdae.kernels.null_space.trees import Tree, row_of


def selection(m: Memory) -> Array:
    """S (nnu, nv), or S P where velocities are spatial."""
    S = velocity_selection(m)
    if head(m).spatial == 0:
        return S
    S = S.astype(states(m)[0].d.dtype)
    for o, s in zip(bodies(m)[:-1], states(m)[:-1], strict=True):
        turning = slice(o.iv + o.nt, o.iv + o.nt + 3)
        S[:, turning] = S[:, turning] @ inverse(s.d.reshape(3, 3))  # d has the rows of R^T
    return S


@final
class Loops:
    """[G; S] at the placed bodies. Reads the gradients and S."""

    def __init__(self, m: Memory) -> None:
        self._m, h = m, head(m)
        self._first, self._n_motions, self._n_v = h.n_v - h.n_nu, h.n_closing + h.n_nu, h.n_v
        self._tree = Tree(m)
        self._places = [*(int(row[2]) for row in closing_rows(m)), *range(self._first, h.n_v)]

    def factorise(self) -> None:
        """The factors of the tree, and of K."""
        self._tree.factorise()
        S = selection(self._m)
        closing = np.zeros((len(closing_rows(self._m)), self._n_v), dtype=states(self._m)[0].d.dtype)
        for out, (i, k, _) in zip(closing, closing_rows(self._m), strict=True):
            for side, *_ in moving_sides(self._m, primitives(self._m)[i]):
                at, row = row_of(self._m, i, side, k)
                out[at] += row
        self._rows = np.vstack([closing, S])
        self._K = _LQ(np.array([self._tree.solve_transposed(row)[self._first :] for row in self._rows]))

    def solve(self, x: Array) -> Array:
        """[G; S]^-1 x."""
        known = x[: self._first]
        w = self._tree.solve(np.concatenate([known, np.zeros(self._n_motions, dtype=x.dtype)]))
        mu = self._K.solved(x[self._places] - self._rows @ w)
        return self._tree.solve(np.concatenate([known, mu]))

    def solve_transposed(self, x: Array) -> Array:
        """[G; S]^-T x: the multipliers of the joints, then T^T x."""
        z = self._K.solved_transposed(self._tree.solve_transposed(x)[self._first :])
        out = self._tree.solve_transposed(x - self._rows.T @ z)[: self._n_v]
        out[self._places] = z
        return out

    def frame_rates(self) -> Array:
        """Sdot w: nothing."""
        return np.zeros(head(self._m).n_nu)

    def select(self, vd: Array) -> Array:
        """S vdot."""
        return selection(self._m) @ vd[: self._n_v]


@final
class _LQ:
    """K = L Q: L below the diagonal of `_K`, the vectors v of the reflections above it; the reciprocals of the diagonal
    of L, and 2 / |v|^2 of each reflection, 0 where a row needs none."""

    def __init__(self, K: Array) -> None:
        self._K, self._pivots, self._factors = K, list[Any](), list[Any]()
        for k, row in enumerate(K):
            d, rest = row[k], sum(x * x for x in row[k + 1 :])
            if is_zero(rest):
                self._pivots.append(1.0 / d)
                self._factors.append(0.0)
                continue
            size = sqrt(d * d + rest)
            pivot = select(d > 0.0, -size, size)
            row[k] = d - pivot
            self._pivots.append(1.0 / pivot)
            self._factors.append(1.0 / (size * size - pivot * d))
            for other in K[k + 1 :]:
                self._reflect(k, other)

    def _reflect(self, k: int, x: Array) -> None:
        """x becomes its image in reflection k."""
        if not is_zero(self._factors[k]):
            v = self._K[k, k:]
            x[k:] -= v * ((v @ x[k:]) * self._factors[k])

    def solved(self, x: Array) -> Array:
        """K^-1 x."""
        x = x.copy()
        for i, pivot in enumerate(self._pivots):
            x[i] = (x[i] - sum(self._K[i, :i] * x[:i])) * pivot
        for k in reversed(range(len(x))):
            self._reflect(k, x)
        return x

    def solved_transposed(self, x: Array) -> Array:
        """K^-T x."""
        x = x.copy()
        for k in range(len(x)):
            self._reflect(k, x)
        for i in reversed(range(len(x))):
            x[i] = (x[i] - sum(self._K[i + 1 :, i] * x[i + 1 :])) * self._pivots[i]
        return x
