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


def unmoved(
    m: int, first: int, total: int, n_joints: int, n_null: int, length: float, pulls: Vec, frames: Vec, limits: Vec,
    own: Vec, in_space: Vec,
) -> None:  # fmt: skip
    """own, in_space (2 n_joints, 6) become 0 where a component of force times length, or of torque, in the joint's
    frame or in space, exceeds limits (m) in one of m rows: the root of the sum of squares over `n_null` cases. `pulls`
    are (2 n_joints, 2, m, n_null, 3), `frames` (n_joints, total, 3, 3), from the row `first` on."""
    for k in range(n_joints):
        for side in range(2):
            for c in range(2):
                scale = 1.0 if c == 1 else length * length
                at = 12 * k + 6 * side + 3 * c
                f = pulls[3 * m * n_null * (4 * k + 2 * side + c) :]
                for a in range(3):
                    i = 0
                    while i < m and own[at + a] + in_space[at + a] > 0.0:
                        g = f[3 * n_null * i :]
                        E = frames[9 * (total * k + first + i) + a :]
                        limit = limits[i] * limits[i]
                        x = 0.0
                        u = 0.0
                        for j in range(n_null):
                            x += g[3 * j + a] * g[3 * j + a]
                            s = E[0] * g[3 * j] + E[3] * g[3 * j + 1] + E[6] * g[3 * j + 2]
                            u += s * s
                        if not scale * x <= limit:
                            in_space[at + a] = 0.0
                        if not scale * u <= limit:
                            own[at + a] = 0.0
                        i += 1
