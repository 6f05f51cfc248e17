"""The applied forces in a step, on the mean natural coordinates: their work is the change of their potential.

A form q that is at most quadratic in Z has the discrete gradient g(Z_mean), g(Z_mean) . (Z1 - Z0) = q1 - q0. With the
displacement s(q) of an element and its potential V(s) the force is -f D, with the discrete gradient D . (Z1 - Z0) =
s1 - s0 of the displacement and, for all displacements,

    f = k ((s0 + s1) / 2 - s_rest) + d (s1 - s0) / h - u(t + h / 2, (s0 + s1) / 2, (s1 - s0) / h).

    s = q, or s = P:        D = g(Z_mean)
    s = sqrt(q):            D = g(Z_mean) / (s0 + s1)
    s = angle of (c, s):    D = kappa (c_mean g_s - s_mean g_c) / 2,   kappa = (phi1 - phi0) / X,
                            X = s1 c0 - c1 s0,   Y = c1 c0 + s1 s0,   phi1 - phi0 = 2 atan(p),   p = X / (|(X, Y)| + Y)

The last holds below half a turn in a step, whatever the lengths of (s, c) at both ends are; it is a gradient of
invariants: -f D has neither a resultant nor a moment on both bodies together. phi0 counts full turns: it is the angle
next to the winding of the start. Nothing is divided by a difference: kappa = 2 a / (|(X, Y)| + Y) with a = atan(p) / p,
for small p by its series.

The user's forces are F(t + h / 2, Z_mean, (Z1 - Z0) / h), the function at the mean. Their work is F . (Z1 - Z0), and
the change of momentum is that of F at Z_mean, which belongs to no rigid body. With a potential V they are a discrete
gradient, [Gon96]: Gonzalez' keeps energy by a correction along Z1 - Z0, and with V as a function of invariants also
momentum, by one along their gradients. Here it has no invariants of its own, but a direction without their moment:

    F = F_mean + lambda D,   lambda = (V0 - V1 - F_mean . dZ) / (D . dZ),   dZ = Z1 - Z0,

with F_mean at t + h / 2, Z_mean and no rates, and both V at t + h / 2. D is dZ without its common motion. Over the
eight vectors z of Z at the mean, with the points x about the middle of both, and their increments dz,

    D = dz - om x z,   A om = sum z x dz,   A = sum (z . z I - z z^T).

om is that of least squares of |dz - om x z|, so sum z x D = 0, and the forces D on x are opposite: D has neither a
resultant nor a moment on both bodies together. D . dZ = D . D is zero only where all of dZ is a common motion of the
means, that is where no scalar product of the vectors changes; then the V of invariants does not change either.

The kinetic energy changes by the work of these forces. Parts with a potential give V0 - V1 of that, `work_of` the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, final

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array, Memory, arctan2, atan, select, sqrt
from rbdae.kernels.forces.elements import Along, ByFunction, Force, all_forces, forms, turns
from rbdae.kernels.records import ANGLE, POINT, ROOT
from rbdae.rotations.vectors import reciprocal

SMALL = 0.01
"""Of p^2: series below, in which the last term is below round-off."""

FLOOR = 1e-16
"""Of D . D, in units of sum z . z: increments below 1e-8 of the size of z get no correction. There V0 - V1 - F_mean .
dZ, of the third order in dZ, is far below round-off. Lengths (m) and directors (1) are taken alike."""


def forces_in_step(m: Memory, h: Any, halves: list[Array]) -> Iterator[Force]:
    """All applied forces of a step of size h. The bodies are at their mean natural coordinates, with the mean rates,
    the time is that of the middle; `halves` (4, 3) of each body are half of the increments."""
    return all_forces(m, partial(AlongInStep, h=h, halves=halves), partial(ByFunctionInStep, h=h, halves=halves))


def work_of(force: Force, h: Any) -> Any:
    """The work in a step of what has no potential: of dampers and loads, and of the user's forces."""
    return force.work() if isinstance(force, ByFunctionInStep) else force.unconserved() * h


@final
class AlongInStep(Along):
    """A law along quantities at their means, with discrete gradients J g."""

    def __init__(self, m: Memory, i: int, h: Any, halves: list[Array]) -> None:
        self._h, self._halves = h, halves
        super().__init__(m, i)

    def quantities(self) -> tuple[Array, Array, Array]:
        e = self.e
        d = np.concatenate([self._halves[b] for b in e.body])
        q, r = forms(e, self.products, self.z, d)  # r has half of the increments
        if e.shaping != POINT:
            q = q + forms(e, self.products, d, 0.0 * d)[0]
        s, J = self._means(q, r)
        return s, J, J @ r * (2.0 / self._h)

    def _means(self, q: Array, r: Array) -> tuple[Array, Array]:
        """The means of the quantities, of forms with means q and half increments r, and D by g."""
        if self.e.shaping == ROOT:
            before, after = sqrt(q[0] - r[0]), sqrt(q[0] + r[0])
            return np.array([(before + after) * 0.5]), np.array([[1.0 / (before + after)]])
        if self.e.shaping != ANGLE:
            return q, np.eye(len(q))
        (s, c), (ds, dc) = q, r
        X, Y = (c * ds - s * dc) * 2.0, s * s + c * c - ds * ds - dc * dc
        n = 1.0 / (sqrt(X * X + Y * Y) + Y)
        kappa = _ratio((n * X) * (n * X)) * n * 2.0
        mean = kappa * X * 0.5
        if self.e.winding == 1:
            start = arctan2(s - ds, c - dc)
            mean = start + turns(start, self.m.force_states[self.e.state]) + mean
        return np.array([mean]), np.array([[kappa * c, -kappa * s]])

    @property
    def at_end(self) -> Any:
        """An angle at the end of the step."""
        return self.s[0] + self.sd[0] * (0.5 * self._h)


def _ratio(x: Any) -> Any:
    """atan(p) / p of x = p^2."""
    small = x < SMALL
    near, value = select(small, x, 0.0), 0.0 * x
    for k in range(8, -1, -1):
        value = 1.0 / (2.0 * k + 1.0) - near * value
    p = sqrt(select(small, 1.0, x))
    return select(small, value, atan(p) / p)


@final
class ByFunctionInStep(ByFunction):
    """A user's force in the middle of the step."""

    def __init__(self, m: Memory, i: int, h: Any, halves: list[Array]) -> None:
        super().__init__(m, i)
        self._h, self._d = h, np.concatenate([halves[b] for b in self.bodies])

    def natural(self) -> Array:
        F = super().natural()
        return F + self._correction() if self.e.potential != 0 else F

    def work(self) -> Any:
        """F . dZ; with a potential (F - F without rates) . dZ, and what V changes by at rest in the time from the
        middle of the step, where its gradient is taken, to both ends."""
        F, d = super().natural(), self._d
        if self.e.potential == 0:
            return np.sum(F * d) * 2.0
        done = np.sum((F - self.without_rates()) * d) * 2.0
        for sign in (1.0, -1.0):
            end = self.z + d * sign
            done += (self.potential_at(end, self._h * (0.5 * sign)) - self.potential_at(end)) * sign
        return done

    def _correction(self) -> Array:
        z, dz = _centred(self.z), _centred(self._d * 2.0)
        size = np.sum(z * z)
        om = reciprocal(np.eye(3) * size - z.T @ z) @ cross(z, dz).sum(axis=0)
        D = dz - cross(np.broadcast_to(om, z.shape), z)
        lost = self.potential_at(self.z - self._d) - self.potential_at(self.z + self._d)
        lost -= np.sum(self.without_rates() * self._d) * 2.0
        return D * (lost / (np.sum(D * D) + FLOOR * size))


def _centred(Z: Array) -> Array:
    """Eight vectors, with the points about their middle."""
    z = Z.copy()
    z[0] = (z[0] - z[4]) * 0.5
    z[4] = -z[0]
    return z
