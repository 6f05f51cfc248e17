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
from rbdae.rotations.vectors import axial, skew


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

    def finish(self, weight: Array, joints: Array) -> None:
        """P1 = P0 + h w + j / h and y1 at the end, from the forces of the step: R1 (y1 - ..) = R0 (y0 + ..)."""
        self.P1 = self.P0 + self.o.weight * self.h + quotient(joints[0], self.h)
        e0, dR = 1.0 / sqrt(self.n2), self.C * 2.0 + np.eye(3)
        e, N = self.b * e0, self.R0.T @ weight[1:].T
        y = self.R0.T @ self.torque(joints) * 0.5 + self.c + mean_moment(N, e0, e) * 0.25
        self.y1 = quotient(dR.T @ y + mean_moment(dR.T @ N, e0, -e) * 0.25, self.h) * 2.0

    @property
    def rates(self) -> Array:
        """(v, Om) that belong to P1 and y1, or Om of a body with a pivot."""
        Om = self.o.inertia_inverse @ self.y1
        return np.concatenate([self.P1 / self.o.mass, Om]) if self.o.nt == 3 else Om

    def moved(self, rates: Array) -> Array:
        """The rates of the natural coordinates at the end that belong to (v, Om)."""
        v = rates[:-3] if self.o.nt == 3 else np.zeros(3, dtype=object)
        return np.vstack([v, ((self.R0 + self.R0 @ self.C * 2.0) @ skew(rates[-3:])).T])

    def momenta_of(self, rates: Array, forces: Array) -> Array:
        """M (v, Om) less natural forces (4, 3) at the end."""
        R1 = self.R0 + self.R0 @ self.C * 2.0
        turning = self.o.inertia @ rates[-3:] - axial(R1.T @ forces[1:].T)
        return np.concatenate([rates[:-3] * self.o.mass - forces[0], turning]) if self.o.nt == 3 else turning

    def change(self, rates: Array) -> None:
        """The momenta of a change of (v, Om) are added."""
        if self.o.nt == 3:
            self.P1 = self.P1 + rates[:-3] * self.o.mass
        self.y1 = self.y1 + self.o.inertia @ rates[-3:]

    def position(self, r: Any) -> tuple[Array, Array]:
        """x, and P, which is linear in time."""
        return super().position(r)[0], self.P0 + (self.P1 - self.P0) * r

    def angular_momentum(self, r: Any) -> Array:
        """J Om, which is linear in time."""
        return quotient(self.c, self.h) * (2.0 * (1.0 - r)) + self.y1 * r
