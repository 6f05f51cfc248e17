"""The joints and drives in a step: g(z1, t1) = 0 and -G(z_mean)^T mu, with mu = h^2 la / 2 as unknowns.

G is linear in the natural coordinates, so G(z_mean) (z1 - z0) = g(z1) - g(z0): the discrete derivative of [BS09] (53).

Of q(z) = s(t) (OFFSET, LENGTH) the force -G(z_mean)^T la has the work -la (s(t1) - s(t0)), as G(z_mean) (z1 - z0) is
the increment of q. Of a prescribed angle (ANGLE), with the direction a(s) = e1 cos s + e2 sin s of the first body and
the direction b of the second one, G is that of the direction half way, a((s0 + s1) / 2). Both products a(s0) . b and
a(s1) . b vanish at their ends, where b is a quarter turn from a: the increment of a_mean . b is 2 sin((s1 - s0) / 2) or
its opposite, and the work again a multiplier times s1 - s0.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from rbdae.graph.functions import Array, Memory, cos, sin
from rbdae.kernels.constraints.drives import ANGLE, LENGTH, drive_values
from rbdae.kernels.memory import drives, head, primitives


@final
class Primitive:
    """A primitive constraint: coefficients A, B of its vectors P and Q by body, (2, 4), with A at the end of the step
    in `A1`; its kept equations and their rows among those of the joints; its right-hand side at the end."""

    def __init__(self, m: Memory, p: Any) -> None:
        self.linear, self.bodies, self.scale = p.linear == 1, p.body, p.scale
        self.A = self.A1 = p.A.reshape(2, 4)
        self.B, self.offset = p.B.reshape(2, 4), p.offset
        self.kept = [k for k in range(p.n) if p.keep[k] == 1]
        self.rows = [p.row - head(m).n_internal + k for k in self.kept]

    def drive(self, e: Any, before: Any) -> None:
        """The values of a drive at the end of the step, and its angle at the start."""
        now = e.value
        if e.kind == ANGLE:
            self.A, self.A1 = (self.A.copy() for _ in range(2))
            for A, s in ((self.A, (before + now[0]) * 0.5), (self.A1, now[0])):
                A[0, 1:] = e.e1 * cos(s) + e.e2 * sin(s)
        else:
            self.offset = now[:1] * now[:1] * 0.5 if e.kind == LENGTH else now.copy()

    def at_end(self, z: list[Array], d: list[Array]) -> Array:
        """g(z1, t1), z1 = z + d."""
        P = self._sum(self.A1, z) + self._sum(self.A1, d)
        g = P if self.linear else np.array([P @ (self._sum(self.B, z) + self._sum(self.B, d)) * self.scale])
        return g[self.kept] - self.offset[self.kept]

    def along(self, z: list[Array], rates: list[Array]) -> Array:
        """G(z) times rates or increments of the natural coordinates."""
        Pd = self._sum(self.A, rates)
        if not self.linear:
            Pd = np.array([Pd @ self._sum(self.B, z) + self._sum(self.A, z) @ self._sum(self.B, rates)]) * self.scale
        return Pd[self.kept]

    def pull_back(self, z: list[Array], mu: Array, forces: list[Array]) -> None:
        """Subtract G(z)^T mu, with mu of all joints, from natural forces."""
        if not self.kept:
            return
        if self.linear:
            on_P = np.zeros(3, dtype=object)
            on_P[self.kept] = mu[self.rows]
        else:
            f = mu[self.rows[0]] * self.scale
            on_P, on_Q = self._sum(self.B, z) * f, self._sum(self.A, z) * f
        for side, b in enumerate(self.bodies):
            forces[b] = forces[b] - np.outer(self.A[side], on_P)
            if not self.linear:
                forces[b] = forces[b] - np.outer(self.B[side], on_Q)

    def _sum(self, c: Array, z: list[Array]) -> Array:
        """sum c_k Z_k."""
        one, two = self.bodies
        return c[0] @ z[one] + c[1] @ z[two]


def primitives_of(m: Memory, t: Any, h: Any) -> list[Primitive]:
    """The primitives in a step of size h from t."""
    found = [Primitive(m, p) for p in primitives(m)[: head(m).n_primitives]]
    for i, e in enumerate(drives(m)[: head(m).n_drives]):
        drive_values(m, i, t)
        before = e.value[0] + 0.0
        drive_values(m, i, t + h)
        found[e.primitive].drive(e, before)
    return found


def driven(m: Memory, found: list[Primitive]) -> list[Primitive]:
    """Those that are driven."""
    return [found[e.primitive] for e in drives(m)[: head(m).n_drives]]
