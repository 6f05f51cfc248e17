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

from typing import Any, NamedTuple, final

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.constraints.gradients import side_rows, velocities_at
from rbdae.kernels.linear.small import inverse
from rbdae.kernels.memory import bodies, head, primitives, rows, states, tree_velocities
from rbdae.kernels.null_space.spherical_trees import ROOT


def row_of(m: Memory, i: int, side: int, k: int) -> tuple[slice, Array]:
    """Row k of one side of a primitive, which is not fixed: its places among the velocities, and its entries."""
    o = bodies(m)[primitives(m)[i].body[side]]
    return velocities_at(o), side_rows(rows(m)[i], side, k + 1, o)[k]


class _Block(NamedTuple):
    """X^-1, Y, Z X^-1 and V^-1 of a body."""

    X: Array
    Y: Array
    Z: Array
    V: Array

    @classmethod
    def of(cls, A: Array) -> _Block:
        """The factors of A (6, 6)."""
        X, Y = inverse(A[:3, :3]), A[:3, 3:]
        Z = A[3:, :3] @ X
        return cls(X, Y, Z, inverse(A[3:, 3:] - Z @ Y))

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
        self._m, h = m, head(m)
        self._n_v, self._n_known = h.n_v, h.n_v + h.n_closing
        self._order = [tree_velocities(m)[k].visit for k in range(h.n_bodies)]
        self._blocks: dict[int, _Block] = {}

    def factorise(self) -> None:
        """The factors of each body."""
        m = self._m
        for b, (o, e) in enumerate(zip(bodies(m)[:-1], tree_velocities(m), strict=True)):
            if e.parent != ROOT:
                A = np.zeros((6, 6), dtype=states(m)[b].d.dtype)
                for i in range(e.n_rows):
                    A[_in_block(e, i)] = side_rows(rows(m)[e.primitive[i]], e.side[i], 3, o)[e.equation[i]]
                for i, row in enumerate(self._turned(b)):
                    A[_in_block(e, e.n_rows + i)] = row
                self._blocks[b] = _Block.of(A)

    def _turned(self, b: int) -> Array:
        """The rows S_b along (xdot, Omega)."""
        e = tree_velocities(self._m)[b]
        S = e.S[: e.n_free]
        return np.hstack([S[:, :3] @ states(self._m)[b].d.reshape(3, 3), S[:, 3:]])

    def solve(self, x: Array) -> Array:
        """The velocities w for x: right-hand sides of the joints, then nu."""
        m, B, w = self._m, bodies(self._m), np.zeros(self._n_v, dtype=x.dtype)
        for b in self._order:
            e, at = tree_velocities(m)[b], velocities_at(B[b])
            if e.parent == ROOT:
                w[at] = x[e.nu : e.nu + at.stop - at.start]
                continue
            known = np.zeros(6, dtype=x.dtype)
            for i in range(e.n_rows):
                t = x[e.row[i]]
                if B[e.parent].fixed == 0:
                    above, row = row_of(m, e.primitive[i], 1 - e.side[i], e.equation[i])
                    t = t - row @ w[above]
                known[_in_block(e, i)] = t
            for i in range(e.n_free):
                known[_in_block(e, e.n_rows + i)] = x[e.nu + i]
            w[at] = self._blocks[b].solved(known)
        return w

    def solve_transposed(self, x: Array) -> Array:
        """The multipliers of the joints, then T^T x, for forces x on the velocities w; children first."""
        m, B, x = self._m, bodies(self._m), x.copy()
        z = np.zeros(self._n_known, dtype=x.dtype)
        for b in reversed(self._order):
            e, at = tree_velocities(m)[b], velocities_at(B[b])
            if e.parent == ROOT:
                z[e.nu : e.nu + at.stop - at.start] = x[at]
                continue
            found = self._blocks[b].solved_transposed(x[at])
            for i in range(e.n_free):
                z[e.nu + i] = found[_in_block(e, e.n_rows + i)]
            for i in range(e.n_rows):
                t = z[e.row[i]] = found[_in_block(e, i)]
                if B[e.parent].fixed == 0:
                    above, row = row_of(m, e.primitive[i], 1 - e.side[i], e.equation[i])
                    x[above] -= row * t
        return z

    def frame_rates(self) -> Array:
        """Sdot w."""
        out = np.zeros(head(self._m).n_nu, dtype=states(self._m)[0].d.dtype)
        for o, s, e in self._hanging():
            out[o.inu : o.inu + e.n_free] = e.S[: e.n_free, :3] @ (s.dd.reshape(3, 3) @ s.xd)
        return out

    def select(self, vd: Array) -> Array:
        """S vdot."""
        out = np.zeros(head(self._m).n_nu, dtype=vd.dtype)
        for b, (o, e) in enumerate(zip(bodies(self._m)[:-1], tree_velocities(self._m), strict=True)):
            own = vd[velocities_at(o)]
            mine = own if e.parent == ROOT else self._turned(b) @ own
            out[o.inu : o.inu + len(mine)] = mine
        return out

    def _hanging(self) -> list[tuple[Any, Any, Any]]:
        m = self._m
        every = zip(bodies(m)[:-1], states(m)[:-1], tree_velocities(m), strict=True)
        return [(o, s, e) for o, s, e in every if e.parent != ROOT]


def _in_block(e: Any, i: int) -> int:
    """The number of an equation among the six of its body, by the place of its row in the factors."""
    place: int = e.place[i]
    return place if place < 3 else place - 3
