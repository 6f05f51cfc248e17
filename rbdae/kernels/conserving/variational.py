"""QUAT.VI, the variational integrator of [BS09], Appendix E, in momenta: bodies with joints and weight.

The discrete Lagrangian of a step of size h from q0 to q1 = q0 o (e0, e), with V at q_mean = (q0 + q1) / 2, is

    L_d = (2 / h) e . J e - h V(q_mean),

and the momenta at its ends are p0 = -D1 L_d + mu0 q0, p1 = D2 L_d - mu1 q1 with multipliers for which q . p = 0. With
p = 2 q o (0, y), y = J Om, and the variations delta q = q o (0, eta) / 2 of either end,

    y0 = (2 / h) (e0 J e + e x J e) - (h / 4) s(e, N0),    y1 = (2 / h) (e0 J e - e x J e) + (h / 4) s(-e, N1),
    s(e, N) = (1 + e0) vect N + (N + N^T - tr(N) I) e,

with the natural forces N_k = R_k^T (f_1 f_2 f_3), vect N = (N_32 - N_23, ..). The second line is the first one seen
from the other end, where the increment is (e0, -e). In space R1 (e0 J e - e x J e) = R0 (e0 J e + e x J e), so
that R1 (y1 - (h / 4) s(-e, N1)) = R0 (y0 + (h / 4) s(e, N0)): momentum changes by the moments alone, however well e is
known. The steps are a symplectic map, and reversible; energy errs by O(h^2), without a trend.

Without forces a spin has h Om = 2 e0 |e| = sin(theta): there is no step if h Om > 1.

The unknown is b = e / e0 (`Rodrigues`), with w = 1 / (1 + b . b) = e0^2. Times h / 2 the first line is

    w (J b + b x J b) - s(e0 b, h^2 N0 / 2) / 4 - h J Om0 / 2 = 0,

and twice that are the rows. Joints are further constraints of (E1):
p0 = -D1 L_d + h G(q0)^T la, g(q1) = 0, and p1 = D2 L_d - G(q1)^T nu with G(q1) M^-1 p1 = 0. The next step's multipliers
take up nu, so that positions are those of (E1), and momenta are on the constraints.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array, sqrt
from rbdae.kernels.conserving.bodies import Rodrigues, quotient
from rbdae.rotations.vectors import axial, product


def mean_moment(N: Array, e0: Any, e: Array) -> Array:
    """s(e, N)."""
    return (N + N.T) @ e - e * np.trace(N) + axial(N) * (e0 + 1.0)


class Variational(Rodrigues):
    """QUAT.VI of one body."""

    at_start = True

    def rotation(self, weight: Array, forces: Array, torque: Array) -> Array:
        """The first line; the forces are those of joints, at the start."""
        w = 1.0 / self.n2
        e0 = sqrt(w)
        Jb = self.o.inertia @ self.b
        turned = ((Jb + cross(self.b, Jb)) * w - self.c) * 2.0 - self.R0.T @ torque
        return turned - mean_moment(self.R0.T @ weight, e0, self.b * e0) * 0.5

    def levers(self) -> Array:
        """Forces of joints belong to the start."""
        return self.z0[1:]

    def lacking(self, rows: Array) -> Any:
        """What the balance lacks from the frame of the other schemes, times I - b^."""
        return super().lacking(np.concatenate([rows[:-3], rows[-3:] - cross(self.b, rows[-3:])]))

    def finish(self, weight: Array, joints: Array, torque: Array) -> Array:
        """P1 = P0 + h w + j / h and y1 at the end, from the forces of the step: R1 (y1 - ..) = R0 (y0 + ..)."""
        P1 = self.P0 + self.o.weight * self.h + quotient(joints[0], self.h)
        e0, dR = 1.0 / sqrt(self.n2), self.C * 2.0 + np.eye(3)
        e, N = self.b * e0, self.R0.T @ weight[1:].T
        y = self.R0.T @ torque * 0.5 + self.c + mean_moment(N, e0, e) * 0.25
        return np.concatenate([P1, quotient(dR.T @ y + mean_moment(dR.T @ N, e0, -e) * 0.25, self.h) * 2.0])

    def take_momenta(self, end: Array) -> None:
        """P1 and y1."""
        self.P1, self.y1 = end[:3], end[3:]

    def change(self, velocities: Array) -> None:
        """The momenta of a change of (xdot, qdot), or qdot of a body with a pivot, are added."""
        q, _ = self.end(1.0)
        turning = product(q * np.array([1.0, -1.0, -1.0, -1.0]), velocities[-4:])[1:] * 2.0
        if self.o.nt == 3:
            self.P1 = self.P1 + velocities[:3] * self.o.mass
        self.y1 = self.y1 + self.o.inertia @ turning

    def position(self, r: Any) -> tuple[Array, Array]:
        """x, and P, which is linear in time."""
        return super().position(r)[0], self.P0 + (self.P1 - self.P0) * r

    def angular_momentum(self, r: Any) -> Array:
        """J Om, which is linear in time."""
        return quotient(self.c, self.h) * (2.0 * (1.0 - r)) + self.y1 * r
