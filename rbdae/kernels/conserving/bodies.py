"""A body in a step: the increment of its rotation, the balance of its momenta, and its state at the end.

The unknowns of a body are dx = x1 - x0 and b = h Om_mean / 2, with the mean of the material angular velocities at both
ends. With the forces F on natural coordinates, already multiplied by h^2 / 2, and the quaternion (e0, e) of the
increment R1 = R0 dR(b), E+- = e0 I +- e^:

    M (dx - h v0) - F_x                                   = 0
    E+ (2 J b - h J Om0 / 2) - E- (h J Om0 / 2 + L^T F_d) = 0

The second one is R1 J Om1 - R0 J Om0 = h m times h / 2, seen from half of the rotation, e0 dR - e^ dR = E+: there its
tangent has positive diagonal blocks up to half a turn in a step, so that no rows have to be exchanged.

The schemes of the family f(theta) n = h Om_mean differ by the quaternion of the increment alone, which need not be of
unit length:

=========== ========================== ================================================
Rodrigues   f = 2 tan(theta / 2)       (1, b)
Paper       f = 4 tan(theta / 4)       (1 - b . b / 4, b)
Exponential f = theta                  (cos |b|, sin |b| / |b| b)
=========== ========================== ================================================

A force has the arms L = l0 I + l1 b^ + l2 b b^T in the frame of the start: its moment is the sum of L e_k x R0^T f_k.
For the mean directors, L = (I + dR) / 2, momentum is exact; for those at the mean quaternion of [BS09] (51), and for
those scaled by 2 tan(theta / 2) / f (`Energy`), the work is.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array, Memory, select, sqrt
from rbdae.rotations.coefficients import ALPHA
from rbdae.rotations.vectors import axial, product, skew

_SHORT = 0.99
"""Of the half increment at half a turn: what a step may take."""

HALF_A_TURN = 1e200
"""What a balance lacks, squared, where an increment is half a turn or more: its rows say nothing."""

_BEYOND = 10.0
"""Of b . b: more than a turn, where the exponential map is taken as constant. No step may go there, only iterates."""

_SINE = ALPHA[:12]
"""sin(x) / x as a series in x^2: exact to rounding up to half a turn, a step's most."""

_SLOPE = tuple(k * c for k, c in enumerate(ALPHA[:13]))[1:]
"""Its derivative."""


def combination(a: Any, c: Any, d: Any, b: Array) -> Array:
    """a I + c b^ + d b b^T."""
    return np.eye(3) * a + skew(b) * c + np.outer(b, b) * d


def quotient(x: Array, h: Any) -> Array:
    """x / h rounded as a quotient is.

    Code of one model multiplies by 1 / h: velocities times h would come back with the same relative error in each
    step, and energy would drift by it.
    """
    q = x / h
    return q + (x - q * h) / h


def _series(c: tuple[float, ...], s: Any) -> Any:
    """A polynomial with 12 coefficients, by halves: no sum waits long for another."""
    s2 = s * s
    s4 = s2 * s2
    one = s * c[1] + c[0] + s2 * (s * c[3] + c[2])
    two = s * c[5] + c[4] + s2 * (s * c[7] + c[6])
    three = s * c[9] + c[8] + s2 * (s * c[11] + c[10])
    return one + s4 * (two + s4 * three)


def _within(b: Array) -> Any:
    """b . b, up to more than a turn."""
    s = b @ b
    return select(s < _BEYOND, s, _BEYOND)


class Rodrigues:
    """A body in quaternions, with momenta p = 2 q o (0, J Om) or velocities Om: QUAT.EM-R.

    Attributes
    ----------
    o : its record
    dx0, c, om : h v0, h J Om0 / 2, h Om0 / 2 at the start
    dx, b : its unknowns
    z0, d : (4, 3) natural coordinates (x, d1, d2, d3) at the start, and half of their increments
    """

    widest: float | None = None
    """b . b of the largest increment that a step may take, almost half a turn; None where that is infinite."""
    slopes: tuple[tuple[Any, Array], ...] = ()
    """Numbers of the increment with their derivatives by b, where these have fewer operations than calculus makes."""
    at_start = False
    """Whether forces of joints belong to the start of the step, not to its middle."""

    def __init__(self, m: Memory, b: int, h: Any) -> None:
        s = m.states[b]
        self.o, self.h, self.momenta = m.bodies[b], h, m.head.momenta == 1
        self.a, self.R0, self.z0 = s.a[:4].copy(), s.d.reshape(3, 3).T.copy(), np.vstack([s.x, s.d.reshape(3, 3)])
        self.dx0, self.P0 = np.zeros(3, dtype=object), s.px.copy()
        if self.o.nt == 3:
            self.dx0 = (self.P0 / self.o.mass if self.momenta else s.xd) * h
        self.c, self.om = self.spin(s)

    def spin(self, s: Any) -> tuple[Array, Array]:
        """h J Om0 / 2 and h Om0 / 2 from the working memory of the body."""
        if self.momenta:
            c = product(self.a * np.array([1.0, -1.0, -1.0, -1.0]), s.p[:4])[1:] * (0.25 * self.h)
            return c, self.o.inertia_inverse @ c
        om = s.w[:3] * (0.5 * self.h)
        return self.o.inertia @ om, om

    def take(self, u: Array) -> None:
        """The unknowns (dx, b), or b of a body with a pivot."""
        self.dx, self.b = u[:-3] if len(u) > 3 else np.zeros(3, dtype=object), u[-3:]
        self.e0, self.g, self.n2 = self.increment(self.b)
        self.C = self.turn(self.b)
        self.d = np.vstack([self.dx * 0.5, (self.R0 @ self.C).T])

    # ------------------------------------------------------------ the increment

    def increment(self, b: Array) -> tuple[Any, Any, Any]:
        """(e0, g, n2): the quaternion (e0, g b) and its squared length."""
        return 1.0, 1.0, b @ b + 1.0

    def arms(self) -> tuple[Any, Any, Any]:
        """(l0, l1, l2) of forces."""
        t = 1.0 / self.n2
        return t, t, t

    def turn(self, b: Array) -> Array:
        """(dR - I) / 2."""
        e0, g, n2 = self.increment(b)
        f = g * g / n2
        return combination(-f * (b @ b), e0 * g / n2, f, b)

    # ------------------------------------------------------------ the balance

    def balance(self, weight: Array, forces: Array, torque: Array) -> Array:
        """The rows of a body: those of the translation, if it has one, then those of the rotation. `weight` and
        `forces` (4, 3) are h^2 / 2 times the natural forces, the latter with their `torque`."""
        rotation = self.rotation(weight[1:].T, forces[1:].T, torque)
        if self.o.nt == 0:
            return rotation
        return np.concatenate([(self.dx - self.dx0) * self.o.mass - weight[0] - forces[0], rotation])

    def rotation(self, weight: Array, forces: Array, torque: Array) -> Array:
        """The rows of the rotation; columns of the matrices are forces on directors."""
        y, z = self.o.inertia @ self.b * 2.0 - self.c, self.c + self.moment(weight, torque)
        return (y - z) * self.e0 + cross(self.b, y + z) * self.g

    def moment(self, weight: Array, torque: Array) -> Array:
        """L^T F in the frame of the start. That of the weight, which is constant, in b: a fifth of the operations."""
        b, N, (l0, l1, l2) = self.b, self.R0.T @ weight, self.arms()
        own = axial(N) * l0 + (N.T @ b - b * np.trace(N)) * l1 + cross(b, N @ b) * l2
        return own + self.R0.T @ torque

    def torque(self, forces: Array) -> Array:
        """The moment of natural forces on the directors, in space."""
        return np.sum([cross(*pair) for pair in zip(self.levers(), forces[1:], strict=True)], axis=0)

    def levers(self) -> Array:
        """R0 L e_k by rows: the mean directors."""
        return self.z0[1:] + self.d[1:]

    def lacking(self, rows: Array) -> Any:
        """The lack of the balances, r . M^-1 r of their residuals r: the square of an increment, with the masses of
        `weights`.

        Rows see the rotational balance by a matrix, E-. Its least singular value is e0, which in the maps other than
        `Rodrigues` vanishes at half a turn: there a row is zero and its balance is not. So the rows are divided by it.
        """
        turning = (rows[-3:] * rows[-3:]) @ (1.0 / np.diag(self.o.inertia))
        if self.widest is not None:
            small = self.b @ self.b < self.widest
            turning = select(small, turning / self.least(select(small, self.e0, 1.0)), HALF_A_TURN)
        return turning + rows[:-3] @ rows[:-3] / self.o.mass if self.o.nt == 3 else turning

    def least(self, e0: Any) -> Any:
        """The square of the least singular value of the matrix by which rows see the balance."""
        return e0 * e0

    @property
    def weights(self) -> Array:
        """Masses of the squares of the unknowns."""
        J = np.diag(self.o.inertia) * 4.0
        return np.concatenate([[self.o.mass] * 3, J]) if self.o.nt == 3 else J

    # ------------------------------------------------------------ the end

    def position(self, r: Any) -> tuple[Array, Array]:
        """x, and the velocity or momentum of the translation, at the part r of the step: between the ends v is linear
        in time, and dx its integral."""
        f = self.dx - self.dx0
        v = quotient(self.dx0 + f * (r * 2.0), self.h)
        return self.z0[0] + (self.dx0 + f * r) * r, v * self.o.mass if self.momenta else v

    def end(self, r: Any) -> tuple[Array, Array]:
        """The quaternion, and the angular velocity or p, at the part r of the step."""
        b = (self.om + (self.b - self.om) * r) * r
        e0, g, _ = self.increment(b)
        q = product(self.a, np.array([e0, *(b * g)]))
        q = q / sqrt(q @ q)
        if not self.momenta:
            return q, quotient(self.om + (self.mean() - self.om) * (r * 2.0), self.h) * 2.0
        return q, product(q, np.array([0.0, *self.angular_momentum(r)])) * 2.0

    def mean(self) -> Array:
        """h (Om0 + Om1) / 4."""
        return self.b

    def angular_momentum(self, r: Any) -> Array:
        """J Om at the part r of the step, without the inverse of J, whose error would be the same in each step."""
        return quotient(self.c + (self.o.inertia @ self.mean() - self.c) * (r * 2.0), self.h) * 2.0


class Paper(Rodrigues):
    """QUAT.EM, [BS09] (51)."""

    widest = (2.0 * _SHORT) ** 2

    def increment(self, b: Array) -> tuple[Any, Any, Any]:
        """(1 - b . b / 4, b)."""
        s = b @ b * 0.25
        return 1.0 - s, 1.0, (s + 1.0) * (s + 1.0)

    def arms(self) -> tuple[Any, Any, Any]:
        """The directors at the mean quaternion."""
        t = 1.0 / self.n2
        return t * self.e0, t, t * 0.5

    def levers(self) -> Array:
        """Those directors."""
        return (self.R0 @ combination(*self.arms(), self.b)).T


class Exponential(Rodrigues):
    """ALGO.C1, [SW91]."""

    widest = (0.5 * pi * _SHORT) ** 2

    def take(self, u: Array) -> None:
        """The slopes of the series are there: a third of the operations of an iteration."""
        super().take(u)
        slope = _series(_SLOPE, _within(self.b)) * 2.0
        self.slopes = (self.e0, -self.b * self.g), (self.g, self.b * slope)

    def increment(self, b: Array) -> tuple[Any, Any, Any]:
        """(cos |b|, sin |b| / |b| b) of unit length."""
        s = _within(b)
        g = _series(_SINE, s)
        return g + s * _series(_SLOPE, s) * 2.0, g, 1.0

    def arms(self) -> tuple[Any, Any, Any]:
        """The mean directors."""
        return self.e0 * self.e0, self.e0 * self.g, self.g * self.g


class Energy(Exponential):
    """ALGO.C1 with arms for which work is exact: times 2 tan(theta / 2) / theta = g / e0."""

    def arms(self) -> tuple[Any, Any, Any]:
        """Those of the exponential map, scaled."""
        g2 = self.g * self.g
        return self.e0 * self.g, g2, self.g * g2 / self.e0

    def levers(self) -> Array:
        """The mean directors, scaled."""
        return super().levers() * (self.g / self.e0)
