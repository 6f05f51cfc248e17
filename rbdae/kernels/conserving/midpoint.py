"""The rotation in a step of [GR95], section 11, as printed: equilibrium in the middle of the step.

R1 = R0 F^2 (313), R_h = R0 F, vect(F) = e = n sin(theta / 2) (323), and Om_h = 2 e / h (317). With the moment m of the
forces on the directors of R_h and with h_k = R_k J Om_k, the balance (306) and the average (310) are

    h1 - h0 = h m,    (h0 + h1) / 2 = R_h J Om_h.

Without h1 they are (331), from which e follows (the sign of x~ lambda is that of (301); (306) has the other one):

    (4 / h^2) R0 F J e - (2 / h) h0 - m = 0.

The paper has two ends of the step, which contradict each other, `Momenta` and `Velocities`.

The conformal vector c = 4 n tan(theta / 4) (253) gives no other scheme: 2 c / (4 - c0) in (330) is 2 e by (254), so
that (332) is (331). But it is the better unknown, b = c / 2. F is rational in it, (259) with (254),

    N F = (1 - b . b / 4) I + b^ + b b^T / 2,    N e = b,    N = 1 + b . b / 4,

and regular up to a full turn in a step, where e0 = sqrt(1 - e . e) ends at half a turn. Rows are (331) times
(h^2 / 2) N F^T R0^T: 2 J b - N F^T (h J Om0 + L^T F_d), with L = F.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array
from rbdae.kernels.conserving.bodies import Paper, combination


class Momenta(Paper):
    """h1 = (4 / h) R_h J e - h0, which is (310). The scheme is symmetric, of order two; energy errs by O(h^2)."""

    def arms(self) -> tuple[Any, Any, Any]:
        """The directors of R_h."""
        t = 1.0 / (2.0 - self.e0)
        return t * self.e0, t, t * 0.5

    def half(self) -> Array:
        """N F^T, whose least singular value is at least 1."""
        return combination(self.e0, -1.0, 0.5, self.b)

    def rotation(self, weight: Array, forces: Array, torque: Array) -> Array:
        """(331)."""
        return self.o.inertia @ self.b * 2.0 - self.half() @ (self.c * 2.0 + self.moment(weight, torque))

    def least(self, e0: Any) -> Any:
        """No singular value is below 1."""
        return 1.0

    def mean(self) -> Array:
        """The average of momenta, by the change of the angular velocity: an error of J^-1 does not add up."""
        V, n = self.half(), 2.0 - self.e0
        h1 = V @ (self.o.inertia @ (self.b / n) * 2.0 - V @ self.c / n) / n
        return self.om + self.o.inertia_inverse @ ((h1 - self.c) * 0.5)


class Velocities(Momenta):
    """Om1 = 4 e / h - Om0, which is (326). As F e = e, the rotational energy changes by
    2 Om_h . (F J Om_h - J Om0) = 2 (R_h e) . m, the work of all forces, as R1 - R0 = R_h (F - F^T) = 2 (R_h e)^ R_h:
    energy is exact. The balance (306) is not kept: h1 - h0 - h m is of order h^2 in a step. The scheme is of order one,
    and not symmetric."""

    def mean(self) -> Array:
        """e."""
        return self.b / (2.0 - self.e0)
