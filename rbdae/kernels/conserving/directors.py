"""Bodies in director momenta in a step: DIR.EM, of [BS09] and the references there.

With the nine momenta p_A = sum_B E_AB ddot_B of a body, forces f_A, which are those of -G(z_mean)^T la, too, and the
multipliers La = La^T of d_A . d_B = delta_AB,

    (d1 - d0)_A / h = sum_B (E^-1)_AB (p0 + p1)_B / 2,    (p1 - p0)_A / h = f_A - sum_B La_AB d_mean,B.

A vector w gives d_mean the virtual displacement w x d_mean, in which La does no work. So sum_A d_mean,A x the second
line is free of La, and the increment d1 - d0 = 2 b x d_mean (`Rodrigues`) keeps all products d_A . d_B: three
unknowns, three equations

    sum_A d_mean,A x (sum_B E_AB (d1 - d0)_B - h p0_A - h^2 / 2 f_A) = 0,    p1 = 2 E (d1 - d0) / h - p0.

In the frame of R0, d_mean,A = L e_A with L^-1 = I - b^ and (L u) x (L v) = det L L^-T (u x v). Without the factor
det L L^-T, and because L^-1 (2 b x L e_B) = 2 b x e_B, the balance is

    2 J b - sum_A e_A x (I - b^) w_A = 0,    w_A = R0^T (h p0_A + h^2 / 2 f_A):

linear in b at fixed forces, with the matrix 2 J + tr(N) I - N of N = (w_1 w_2 w_3). A rigid body has N = h Om0^ E and,
in principal axes, diagonal entries 2 J_i and the determinant 8 det J + 2 h^2 sum_i J_i Om_i^2 E_j E_k: nothing has to
be exchanged at any step size if E is positive definite.

The inverse of E is not needed: an indefinite one, of an inertia that no real body has, is no obstacle.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Array
from rbdae.kernels.conserving.bodies import Rodrigues, quotient
from rbdae.rotations.vectors import axial, skew


class Directors(Rodrigues):
    """DIR.EM of one body; P (3, 3) has the momenta p_A as columns."""

    def spin(self, s: Any) -> tuple[Array, Array]:
        """h J Om0 / 2, the half of sum_A e_A x R0^T h p0_A."""
        self.P = s.p.reshape(3, 3).T.copy()
        c = axial(self.R0.T @ self.P) * (0.5 * self.h)
        return c, self.o.inertia_inverse @ c

    def rotation(self, weight: Array, forces: Array, torque: Array) -> Array:
        """J b by E, as in p1: the last digit of J would be the same error in each step."""
        b, E, N = self.b, self.o.euler, self.R0.T @ (self.P * self.h + weight + forces)
        return axial(skew(b) @ E * 2.0 - N) - N @ b + b * np.trace(N)

    def torque(self, forces: Array) -> Array:
        """The balance takes forces on directors as they are."""
        return np.zeros(0)

    def end(self, r: Any) -> tuple[Array, Array]:
        """d and p: p is linear in time, the increment quadratic."""
        P = quotient(self.d[1:].T @ self.o.euler, self.h) * (r * 4.0) + self.P * (1.0 - r * 2.0)
        D = self.R0 + self.R0 @ self.turn((self.om + (self.b - self.om) * r) * r) * 2.0
        D = D - D @ (D.T @ D - np.eye(3)) * 0.5  # what rounding takes from D^T D = I
        return D.T.ravel(), P.T.ravel()
