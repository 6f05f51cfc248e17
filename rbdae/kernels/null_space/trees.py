"""The square system [G; S] of a tree, body by body, in O(n).

A body b hangs from its parent p by a joint of c equations. Its 6 - c quasi-velocities are components of its twist
in its own frame, nu_b = S_b (R_b^T xdot_b, Omega_b). The constant rows S_b and the equations of the joint are
independent in every position of the joint (a hinge: its axis, on Omega). So

    [G_b       ] w_b = [-g_I - G_p w_p]
    [S_b(R_b^T)]       [     nu_b     ]

is a 6 x 6 system for w_b = (xdot_b, Omega_b), parents first: T of [NS] (11) and Table 2, joint by joint, and right off
the constraint manifold, too. A root has nu = (xdot, Omega). The rows S turn with the bodies, so that S depends on q.

Three rows that move the body come first, in an order that follows from the joint's kind. The others turn it only, but
for drives of distances. So the blocks are 3 x 3, their inverses cofactors, and nothing is chosen on the way:

    [X Y]       [1    0] [X Y]
    [Z W] w  =  [ZX^-1 1] [0 V] w,    V = W - Z X^-1 Y
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, final

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.constraints.gradients import side_rows, velocities_at
from rbdae.kernels.null_space.spherical_trees import ROOT
from rbdae.rotations.vectors import reciprocal


class _Block(NamedTuple):
    """X^-1, Y, Z X^-1 and V^-1 of a body."""

    X: Array
    Y: Array
    Z: Array
    V: Array

    @classmethod
    def of(cls, A: Array) -> _Block:
        """The factors of A (6, 6)."""
        X, Y = reciprocal(A[:3, :3].T), A[:3, 3:]
        Z = A[3:, :3] @ X
        return cls(X, Y, Z, reciprocal((A[3:, 3:] - Z @ Y).T))

    def solved(self, x: Array) -> Array:
        """A^-1 x."""
        turning = self.V @ (x[3:] - self.Z @ x[:3])
        return np.concatenate([self.X @ (x[:3] - self.Y @ turning), turning])

    def solved_transposed(self, x: Array) -> Array:
        """A^-T x."""
        moving = self.X.T @ x[:3]
        turning = self.V.T @ (x[3:] - self.Y.T @ moving)
        return np.concatenate([moving - self.Z.T @ turning, turning])


@final
class Tree:
    """[G; S] at the placed bodies. Reads the gradients."""

    def __init__(self, m: Memory) -> None:
        self._m, self._n = m, m.head.n_v
        self._bodies = [*zip(m.bodies[:-1], m.states[:-1], m.tree_velocities, strict=True)]
        self._blocks: dict[int, _Block] = {}

    def _equations(self, e: Any) -> Iterator[tuple[int, Array, tuple[slice, Array] | None]]:
        """The number of each joint equation of a body, its entries, and place and entries for a moving parent."""
        m, above = self._m, self._m.bodies[e.parent]
        for i in range(e.n_rows):
            r, side, k = m.rows[e.primitive[i]], e.side[i], e.equation[i]
            own = np.hstack([r.Gx[side, k], r.Gw[side, k, :3]])
            parent = None if above.fixed == 1 else (velocities_at(above), side_rows(r, 1 - side, k + 1, above)[k])
            yield e.row[i], own, parent

    def factorise(self) -> None:
        """The factors of each body."""
        for b, (_, s, e) in enumerate(self._bodies):
            if e.parent != ROOT:
                A = np.zeros((6, 6), dtype=s.d.dtype)
                A[e.place] = [*(own for _, own, _ in self._equations(e)), *_turned(s, e)]
                self._blocks[b] = _Block.of(A)

    def solve(self, x: Array) -> Array:
        """The velocities w for x: right-hand sides of the joints, then nu."""
        w = np.zeros(self._n, dtype=x.dtype)
        for b, (o, _, e) in enumerate(self._bodies):
            at = velocities_at(o)
            if e.parent == ROOT:
                w[at] = x[e.nu : e.nu + at.stop - at.start]
                continue
            known = np.zeros(6, dtype=x.dtype)
            joints = [x[n] - (above[1] @ w[above[0]] if above else 0.0) for n, _, above in self._equations(e)]
            known[e.place] = [*joints, *x[e.nu : e.nu + e.n_free]]
            w[at] = self._blocks[b].solved(known)
        return w

    def solve_transposed(self, x: Array) -> Array:
        """The multipliers of the joints, then T^T x, for forces x on the velocities w; children first."""
        x, z = x.copy(), np.zeros(self._n, dtype=x.dtype)
        for b, (o, _, e) in reversed([*enumerate(self._bodies)]):
            at = velocities_at(o)
            if e.parent == ROOT:
                z[e.nu : e.nu + at.stop - at.start] = x[at]
                continue
            found = self._blocks[b].solved_transposed(x[at])[e.place]
            z[e.nu : e.nu + e.n_free] = found[e.n_rows :]
            for t, (n, _, above) in zip(found[: e.n_rows], self._equations(e), strict=True):
                z[n] = t
                if above:
                    x[above[0]] -= above[1] * t
        return z

    def frame_rates(self) -> Array:
        """Sdot w."""
        out = np.zeros(self._m.head.n_nu, dtype=self._m.states[0].d.dtype)
        for o, s, e in self._bodies:
            if e.parent != ROOT:
                out[o.inu : o.inu + e.n_free] = e.S[: e.n_free, :3] @ (s.dd.reshape(3, 3) @ s.xd)
        return out

    def select(self, vd: Array) -> Array:
        """S vdot."""
        out = np.zeros(self._m.head.n_nu, dtype=vd.dtype)
        for o, s, e in self._bodies:
            own = vd[velocities_at(o)]
            mine = own if e.parent == ROOT else _turned(s, e) @ own
            out[o.inu : o.inu + len(mine)] = mine
        return out


def _turned(s: Any, e: Any) -> Array:
    """The rows S of a body along (xdot, Omega)."""
    S = e.S[: e.n_free]
    return np.hstack([S[:, :3] @ s.d.reshape(3, 3), S[:, 3:]])
