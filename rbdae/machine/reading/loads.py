"""Forces and torques of joints on their bodies, from those of their primitive constraints."""

from __future__ import annotations

from rbdae.machine.language.words import Ints, Vec
from rbdae.machine.reading.motion import cross

SIDE = 4
"""Numbers that say what one side of a joint is: its first primitive, the one after its last, 0 or 1 for the side, and
the place of the body in memory, -1 for the ground."""


def reactions(
    m: int, first: int, total: int, n: int, n_primitives: int, n_sides: int, sides: Ints, at: Vec, Z: Vec, F: Vec,
    w: Vec, out: Vec,
) -> None:  # fmt: skip
    """out (n_sides, 2, total, 3): rows from `first` on get force and torque, the torque about the joint's point `at`
    (n_sides, 3) in the body's frame; F (m, n_primitives, 2, 6) has forces, and torques about the references of n
    bodies. `w` is memory for 12 numbers."""
    arm = w[3:]
    force = w[6:]
    torque = w[9:]
    for k in range(n_sides):
        s = sides[SIDE * k :]
        u = at[3 * k :]
        forces = out[(2 * k) * 3 * total + 3 * first :]
        torques = out[(2 * k + 1) * 3 * total + 3 * first :]
        for i in range(m):
            for j in range(3):
                force[j] = 0.0
                torque[j] = 0.0
                arm[j] = u[j]
                if s[3] >= 0:
                    d = Z[24 * (n * i + s[3]) + 3 :]
                    arm[j] = u[0] * d[j] + u[1] * d[3 + j] + u[2] * d[6 + j]
            for p in range(s[0], s[1]):
                f = F[12 * (n_primitives * i + p) + 6 * s[2] :]
                for j in range(3):
                    force[j] += f[j]
                    torque[j] += f[3 + j]
            cross(arm, force, w)
            for j in range(3):
                forces[3 * i + j] = force[j]
                torques[3 * i + j] = torque[j] - w[j]
