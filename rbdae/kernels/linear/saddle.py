"""The saddle-point system [M G^T; G 0] (vdot, la) = (f, s): its matrix, order of elimination, solution.

Of each body w = N beta + Pi s (`reductions`), so that three rates beta are left beside xdot, and the matrix

    [ m        H_x^T ]
    [    J     H^T   ],     H = G_w N,  J = N^T M N,
    [ H_x  H   0     ]

is symmetric and sparse. Two orders of elimination (`elimination`) serve it:

* bodies before joints. The pivots of joint equations are those of the Schur complement -G M^-1 G^T, which is definite:
  no position is bad for it. Where a mechanism passes a singular position, they fall to zero and rise again:
  d = sigma^2, the square of the sine between the gradient of a joint equation and those before it, in the metric of
  M^-1. An equation is suspended, with multiplier zero, while its pivot is below its floor: the pivot counts as
  infinite, and what is solved is the system without the equation. The Jacobians follow by the same factors.
* for loops, an order of least fill anywhere, with pivots of one, two and four rows, which
  `rbdae.multibody.memory.saddle_order` chooses for a problem. It holds while the sum of the squares of all reciprocal
  pivots is below `LARGEST`, in units of the mechanism's inertia and size; elsewhere the first order does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Self, final

import numpy as np

from rbdae.graph.functions import Array, Memory, is_zero, select
from rbdae.kernels.bodies.euler_parameter_forms import generalised_force
from rbdae.kernels.constraints.gradients import moving_sides, side_rows, velocities_at
from rbdae.kernels.constraints.primitives import gradient_times
from rbdae.kernels.linear import reductions
from rbdae.kernels.linear.elimination import Factors, Pivot, Rows
from rbdae.kernels.linear.reductions import mass_times, particular, reduction
from rbdae.kernels.records import ANGULAR
from rbdae.rotations.vectors import frame

SUSPENDED = 1e200
"""The pivot of a suspended equation: infinite, but with finite products."""

LARGEST = 1e12
"""Of the sum of the squares of all reciprocal pivots."""


def shares(m: Memory, pulled: int) -> list[Any]:
    """|p|^2 of each body where forces are 2 L^T n of [SNS15], for there N^T W = |p|^2 N^T G^T; else 1."""
    h = m.head
    moment = pulled == 1 and h.forms == 1 and h.pull_back == "moment" and h.unit_norm == 0
    return [s.a[:4] @ s.a[:4] if moment else 1.0 for s in m.states[:-1]]


def reduce_bodies(m: Memory, pulled: int) -> list[Array]:
    """N and Ji of all bodies (`reductions`), where `pulled` is 1 as the formulation takes it. Returns their J."""
    unit, out = pulled == 1 and m.head.unit_norm == 1, []
    for b, (o, s) in enumerate(zip(m.bodies[:-1], m.states[:-1], strict=True)):
        s.N[: o.nr], J, s.Ji[:] = reduction(m, b)
        if unit:
            J, s.Ji[:] = o.inertia, o.inertia_inverse
        out.append(J)
    return out


def reduce_gradients(m: Memory) -> None:
    """H = Gw N of both sides of each primitive."""
    for p, r in zip(m.primitives, m.rows, strict=True):
        for side, b, o in moving_sides(m, p):
            r.H[side, : p.n] = r.Gw[side, : p.n, : o.nr] @ m.states[b].N[: o.nr]


def extent(m: Memory) -> Any:
    """The square of the bodies' radius of gyration."""
    B = m.bodies[:-1]
    return sum(np.trace(o.inertia) for o in B) / sum(o.mass for o in B)


def points_of(p: Any) -> int:
    """How many of its two factors are vectors between points: the power of lengths in its equations."""
    return 1 if p.linear == 1 else sum(not is_zero(c[0]) or not is_zero(c[4]) for c in (p.A, p.B))


@final
class Saddle:
    """The system at the moved bodies. Reads the gradients; writes N and Ji of the bodies, and H.

    Unknowns are numbered body by body, six of each, then the joint equations by their slots.

    Attributes
    ----------
    pivots, sizes : of the joint equations by their slots, where bodies come before joints; the squares of the rows of G
        in the metric of M^-1, which are the pivots of those without another one before; 1 for dropped ones

    Parameters
    ----------
    pulled : 1 where the columns of the joints are the directions of the formulation's forces, and not G^T
    alike : whether bodies turn alike about all axes
    """

    def __init__(self, m: Memory, pulled: int, *, alike: bool = False) -> None:
        self.m = m
        self.first = 6 * m.head.n_bodies
        self.joints = [*zip(m.primitives, m.rows, strict=True)] if m.head.n_rows > 0 else []
        self._J = reduce_bodies(m, pulled)
        if alike:
            for b, (o, s) in enumerate(zip(m.bodies[:-1], m.states[:-1], strict=True)):
                self._J[b] = np.eye(3) * (np.trace(o.inertia) / 3.0)
                s.Ji[:] = np.eye(3) * (3.0 / np.trace(o.inertia))
        reduce_gradients(m)
        self.shares = shares(m, pulled)

    def body(self, b: int) -> tuple[slice, slice]:
        """The places of xdot and beta of a body."""
        return slice(6 * b, 6 * b + self.m.bodies[b].nt), slice(6 * b + 3, 6 * b + 6)

    def places(self, p: Any) -> list[int]:
        """The places of the equations of a primitive."""
        return [self.first + k for k in p.slot[: p.n]]

    def matrix(self) -> Rows:
        """[M G^T; G 0]."""
        m = self.m
        out: Rows = [{} for _ in range(self.first + m.head.n_rows)]

        def enter(i: int, j: int, value: Any) -> None:
            if not is_zero(value):
                out[i][j] = out[j][i] = value

        for b, (o, J, share) in enumerate(zip(m.bodies[:-1], self._J, self.shares, strict=True)):
            x, beta = self.body(b)
            for i in range(x.start, x.stop):
                enter(i, i, o.mass)
            for i, j in zip((0, 1, 1, 2, 2, 2), (0, 0, 1, 0, 1, 2), strict=True):
                enter(beta.start + i, beta.start + j, J[i, j] / share)
        for p, r in self.joints:
            for k, i in enumerate(self.places(p)):
                if p.keep[k] == 0:
                    enter(i, i, -1.0)
                    continue
                for side, b, o in moving_sides(m, p):
                    for at, values in zip(self.body(b), (r.Gx[side, k, : o.nt], r.H[side, k]), strict=True):
                        for j, value in enumerate(values, at.start):
                            enter(i, j, value)
        return out

    def _bodies_first(self) -> Iterator[Pivot]:
        """The order that serves any position."""
        for b in range(self.first // 6):
            x, beta = self.body(b)
            yield from ((i,) for i in range(x.start, x.stop))
            yield tuple(range(beta.start, beta.stop))
        yield from ((self.first + k,) for k in range(self.m.head.n_rows))

    def _inverse(self, rows: Rows, pivot: Pivot, A: Array) -> tuple[Array, list[Any]]:
        m, b, k = self.m, pivot[0] // 6, pivot[0] - self.first
        if k < 0:
            return m.states[b].Ji * self.shares[b] if len(pivot) == 3 else 1.0 / A, []
        if k == 0:  # the bodies are eliminated
            self.sizes = [-row.get(i, 0.0) for i, row in enumerate(rows[self.first :], self.first)]
        d = self.pivots[k] = select(abs(A[0, 0]) < m.pivot_floor[k], SUSPENDED, -A[0, 0])
        h = m.head
        vanishes = select(h.singular == 0, k + 1, h.singular)
        h.singular = select(abs(d) > 1e-13 * abs(self.sizes[k]), h.singular, vanishes)
        return np.array([[-1.0 / d]], dtype=object), []

    def factorised(self, order: Sequence[Pivot] = ()) -> Self:
        """The same with factors, by an order of least fill where that holds; without one bodies come before joints.
        Writes head.singular: 0, or 1 + the place of the first vanishing pivot of joints (redundant or singular
        constraints)."""
        self.m.head.singular = 0
        if len(order):
            self.factors = Factors(self.matrix(), order)
            if self.factors.growth(self.units()) <= LARGEST:
                return self
        rows, self.pivots = self.matrix(), np.zeros(self.m.head.n_rows, dtype=object)
        self.factors = Factors(rows, self._bodies_first(), partial(self._inverse, rows))
        return self

    def units(self) -> Array:
        """Factors of the unknowns that make the matrix one of numbers without a unit, of the size of one: lengths are
        counted by the bodies' radius of gyration, inertias by their mean."""
        m, B = self.m, self.m.bodies[:-1]
        inertia, square = sum(np.trace(o.inertia) for o in B) / len(B), extent(m)
        out = np.full(self.first + m.head.n_rows, 1.0 / inertia, dtype=object)  # their squares
        for b in range(len(B)):
            out[self.body(b)[0]] = square / inertia
        for p, _ in self.joints:
            for k in range(p.n):
                out[self.first + p.slot[k]] = inertia / square ** points_of(p)
        return out


def factorise(m: Memory, pulled: int, order: Sequence[Pivot] = ()) -> Saddle:
    """The factors, kept in the memory for the solutions that follow."""
    out = m.saddle = Saddle(m, pulled).factorised(order)
    return out


def solve_saddle(m: Memory) -> None:
    """vdot to `solution`, la to `multipliers`. Reads `right_hand_side` (f), `constraint_side` (s) and the factors."""
    f, side, vd = m.right_hand_side, m.constraint_side, m.solution
    loads = []
    for b, (o, s) in enumerate(zip(m.bodies[:-1], m.states[:-1], strict=True)):
        turning = slice(o.iv + o.nt, o.iv + o.nt + o.nr)
        vd[o.iv : o.iv + o.nt], vd[turning], load = 0.0, 0.0, f[turning]
        if m.head.kind != ANGULAR:
            vd[turning] = particular(m, b, side[o.il : o.il + o.ni])
            load = s.N[: o.nr].T @ (load - mass_times(m, b, vd[turning]))
        loads.append((f[o.iv : o.iv + o.nt], load))
    add_joints(m, loads)


def add_joints(m: Memory, loads: Sequence[tuple[Array, Array]] = ()) -> None:
    """The multipliers, and what the joints, and forces along xdot and beta of each body, do to `solution`, which is
    that of bodies without them. Reads as `solve_saddle` does."""
    S, vd, la, side = m.saddle, m.solution, m.multipliers, m.constraint_side
    b = np.zeros(S.first + m.head.n_rows, dtype=vd.dtype)
    for k, (force, moment) in enumerate(loads):
        x, beta = S.body(k)
        b[x], b[beta] = force, moment / S.shares[k]
    for p, r in S.joints:
        of_sides = [side_rows(r, i, p.n, o) @ vd[velocities_at(o)] for i, _, o in moving_sides(m, p)]
        b[S.places(p)] = side[p.row : p.row + p.n] - sum(of_sides)
    found = S.factors.solved(b)
    for p, _ in S.joints:
        la[p.row : p.row + p.n] = found[S.places(p)]
    for k, (o, s) in enumerate(zip(m.bodies[:-1], m.states[:-1], strict=True)):
        x, beta = S.body(k)
        i = o.iv + o.nt
        vd[o.iv : i] += found[x]
        vd[i : i + o.nr] += s.N[: o.nr] @ found[beta]
    if m.head.kind != ANGULAR:
        internal_multipliers(m)


def internal_multipliers(m: Memory) -> None:
    """la_int from G_int^T la_int = f - M vdot - W la of the joints. W = G^T, but for the forms of [SNS15], which pull
    the joints' natural forces G_Z^T la back in another way: on the constraint manifold W and G^T differ by multiples of
    p, that is by the multiplier of the unit norm. Writes `multipliers`."""
    h, f, vd, la = m.head, m.right_hand_side, m.solution, m.multipliers
    in_another_way = h.pull_back in ("moment", "inhomogeneous")
    parts = [slice(o.iv + o.nt, o.iv + o.nt + o.nr) for o in m.bodies[:-1]]
    F = [f[part] - mass_times(m, b, vd[part]) for b, part in enumerate(parts)]
    for p, r in zip(m.primitives, m.rows, strict=True):
        own = la[p.row : p.row + p.n]
        natural = gradient_times(p, r, own * np.array(p.keep[: p.n])) if in_another_way else None
        for side, b, o in moving_sides(m, p):
            if natural is None:
                F[b] = F[b] - r.Gw[side, : p.n, : o.nr].T @ own
            else:
                F[b] = F[b] - generalised_force(h.pull_back, m.states[b].a[:4], frame(natural[side, 3:]))
    for b, o in enumerate(m.bodies[:-1]):
        la[o.il : o.il + o.ni] = reductions.internal_multipliers(m, b, F[b])
