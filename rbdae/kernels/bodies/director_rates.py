"""Bodies with ddot, the rates of the directors, as velocity, or with the momentum that belongs to them.

G_int^T la of the internal constraints (`internal_constraints`) is La Y with the symmetric matrix La of their six
multipliers; La of the columns is R^T La R of the rows there.
"""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory, select
from rbdae.kernels.bodies.velocities import mass
from rbdae.kernels.memory import bodies, head, states
from rbdae.kernels.records import DIRECTOR_RATE
from rbdae.rotations.vectors import axial, frame, reciprocal, skew, stacked


def place(m: Memory, k: int, n: int) -> int:
    """The place of Y_kn among the nine numbers of the directors."""
    return 3 * k + n if head(m).columns == 1 else 3 * n + k


def symmetric(l: Array, il: int, scale: float, out: Array) -> None:
    """out[:3, :3] = the symmetric matrix of six numbers from il on, with `scale` times those beside the diagonal."""
    x, y, z = l[il : il + 3]
    xy, zx, yz = l[il + 3 : il + 6] * scale
    out[:3, :3] = np.array([[x, xy, zx], [xy, y, yz], [zx, yz, z]])


POLAR_STEPS = 6
"""Newton's method for the polar factor is converged after them if the stretch is between 0.3 and 3.4."""


def turn_with_rotation(m: Memory, b: int, angular: float) -> None:
    """R of D = R S to the directors, and om^ R to their rates, if `angular` is 1: the spatial om, that of ddot D^-1,
    stays. Reads a and w; writes them, with momenta p."""
    s = states(m)[b]
    D = frame(s.a)
    om = 0.5 * axial(frame(s.w) @ reciprocal(D).T)
    for _ in range(POLAR_STEPS):
        D = 0.5 * (D + reciprocal(D))
    turned = stacked(D), stacked(skew(om) @ D)
    for at, new in zip((s.a, s.w), turned, strict=True):
        at[:] = np.array([select(angular > 0.5, x, y) for x, y in zip(new, at, strict=True)])
    if head(m).momenta == 1:
        s.p[:] = mass(DIRECTOR_RATE, bodies(m)[b], s, s.w)
