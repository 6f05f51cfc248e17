"""The user's forces in a step: F(t + h / 2, Z_mean, (Z1 - Z0) / h), the function at the mean.

Their work is F . (Z1 - Z0), and the change of momentum is that of F at Z_mean, which belongs to no rigid body. What
they have of a potential is exact where it is quadratic in Z, else of second order; with a `potential` they are
corrected (`rbdae.kernels.conserving.user_potentials`), and the work of what has it is V0 - V1.
"""

from __future__ import annotations

from rbdae.compiler.access import Memory
from rbdae.compiler.jit import jit, stage
from rbdae.compiler.user_functions import call_user_function
from rbdae.kernels.conserving.user_potentials import add_tangent, correction
from rbdae.kernels.forces.elements import gather
from rbdae.kernels.memory import element_memory, elements, head


@jit
def _mean(m: Memory, i: int, h: float) -> None:
    """Z_mean and (Z1 - Z0) / h of one element. Reads half of the increments as velocities."""
    gather(m, i)
    Z = element_memory(m).Z
    for k in range(24):
        Z[24 + k] = 2.0 / h * Z[24 + k]


@stage("iif", "user-forces")
def user_force(m: Memory, i: int, h: float) -> None:
    """h^2 / 2 times F of one element."""
    _mean(m, i, h)
    e = elements(m)[i]
    c = element_memory(m)
    for k in range(24):
        c.F[k] = 0.0  # what the function leaves out is not what another one has written
    call_user_function(e.force, head(m).time, c.Z, c.F)
    if e.potential != 0:
        correction(m, i, h)
        for k in range(24):
            c.F[k] += c.f[0] * c.g[1, k]
    for k in range(24):
        c.F[k] = 0.5 * h * h * c.F[k]


@stage("iif", "user-forces")
def user_tangent(m: Memory, i: int, h: float) -> None:
    """K = -dF/dZ1 = -(dF/dZ / 2 + dF/dZdot / h), times h^2 / 2, and the tangent of the correction."""
    _mean(m, i, h)
    e = elements(m)[i]
    c = element_memory(m)
    for k in range(1152):
        c.user[k] = 0.0
    call_user_function(e.jacobian, head(m).time, c.Z, c.user)
    for k in range(24):
        for j in range(24):
            c.K[k, j] = -0.25 * h * h * c.user[24 * k + j] - 0.5 * h * c.user[576 + 24 * k + j]
    if e.potential != 0:
        add_tangent(m, i, h)
