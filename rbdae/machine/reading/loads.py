"""Forces and torques of joints on their bodies at rows of states, from those of their primitive constraints, and which
of their components redundant equations leave undetermined."""

from __future__ import annotations

from rbdae.machine.language.words import Address, Function, Ints, Vec, evaluate
from rbdae.machine.reading.motion import cross, frames

SIDE = 4
"""Whole numbers of one side of a joint: its first primitive, the one after its last, 0 or 1 for the side, and
the place of the body in memory, -1 for the ground."""

UNKNOWNS, BODIES, PRIMITIVES, JOINTS, DIFFERENTIAL, INTERNAL, ROWS, CONSTRAINTS, AMBIGUOUS, NULL = range(10)
"""Places of the sizes of a model: numbers of unknowns, bodies, primitives and joints; where multipliers begin among
rates; numbers of internal multipliers, of joint equations, of all constraints on positions; whether joint equations may
follow from others; how many do."""

MOVED = 1e-6
"""Components that unit multipliers move by more are not unique; forces count times the model's length."""

PER_VIOLATION = 100.0
MOST_MOVED = 1e-2
"""The same where the constraints are violated: rows that follow from the others do so as far as these hold."""


def multipliers(
    natural: Function, natural_context: Address, rates: Function, rates_context: Address,
    least: Function, least_context: Address, positions: Function, positions_context: Address,
    m: int, s: Ints, t: Vec, y: Vec, sizes: Vec, w: Vec, Z: Vec, la: Vec, null: Vec, sure: Vec,
) -> int:  # fmt: skip
    """Natural coordinates Z and multipliers la of m states; of joint equations that may follow from others those of
    least norm, as the kernel `least_norm` gives them. The number of rows done, less than m if a function has failed.

    Parameters
    ----------
    sizes : of the joint equations
    w : memory for rates and sizes, then for what `least` or `positions` gives
    null : (m, dependent rows, rows), bases of multipliers times their sizes that give no force
    sure : (m, 3): the smallest sine between rows, squared, and the need of a row that follows from others; the largest
        violation of a constraint on positions over its size
    """
    n_la = s[INTERNAL] + s[ROWS]
    given = w[s[DIFFERENTIAL] :]
    out = given[n_la + s[ROWS] :]
    for i in range(m):
        x = y[i * s[UNKNOWNS] :]
        if evaluate(natural, natural_context, t[i], x, x, 0.0, Z[24 * s[BODIES] * i :]) != 0:
            return i
        if evaluate(rates, rates_context, t[i], x, x, 0.0, w) != 0:
            return i
        a = la[n_la * i :]
        for k in range(n_la):
            a[k] = given[k]
        if s[AMBIGUOUS] == 0:
            continue
        for k in range(s[ROWS]):
            given[n_la + k] = sizes[k]
        if evaluate(least, least_context, t[i], x, given, 0.0, out) != 0:
            return i
        for k in range(n_la):
            a[k] = out[k]
        basis = null[s[NULL] * s[ROWS] * i :]
        for k in range(s[NULL] * s[ROWS]):
            basis[k] = out[n_la + k]
        sure[3 * i] = out[n_la + s[NULL] * s[ROWS]]
        sure[3 * i + 1] = out[n_la + s[NULL] * s[ROWS] + 1]
        if evaluate(positions, positions_context, t[i], x, x, 0.0, out) != 0:
            return i
        violation = 0.0
        zero = 0.0
        for k in range(s[CONSTRAINTS]):
            g = abs(out[k])
            zero += 0.0 * g
            if k >= s[CONSTRAINTS] - s[ROWS]:
                g = g / sizes[k - s[CONSTRAINTS] + s[ROWS]]
            violation = max(violation, g)
        sure[3 * i + 2] = violation + zero
    return m


def side_loads(side: Ints, at: Vec, Z: Vec, F: Vec, w: Vec) -> None:
    """Force and torque, w[6:12], of one side of a joint about its point `at` in the body's frame; F (primitives, 2, 6)
    has forces, and torques about the references of the bodies."""
    arm = w[3:]
    force = w[6:]
    torque = w[9:]
    for j in range(3):
        force[j] = 0.0
        torque[j] = 0.0
        arm[j] = at[j]
        if side[3] >= 0:
            d = Z[24 * side[3] + 3 :]
            arm[j] = at[0] * d[j] + at[1] * d[3 + j] + at[2] * d[6 + j]
    for p in range(side[0], side[1]):
        f = F[12 * p + 6 * side[2] :]
        for j in range(3):
            force[j] += f[j]
            torque[j] += f[3 + j]
    cross(arm, force, w)
    for j in range(3):
        torque[j] -= w[j]


def unmoved(s: Ints, n_null: int, length: float, limit: float, pulls: Vec, E: Vec, own: Vec, in_space: Vec) -> None:
    """own, in_space (2, 6) of a joint become 0 where a component of force times length, or of torque, in the joint's
    frame E or in space, exceeds a limit: the root of the sum of squares over `n_null` cases, pulls (n_null, sides, 6).
    """
    for c in range(4):
        scale = 1.0 if c == 1 or c == 3 else length * length
        for a in range(3):
            x = 0.0
            u = 0.0
            for q in range(n_null):
                g = pulls[12 * s[JOINTS] * q + 3 * c :]
                x += g[a] * g[a]
                f = E[a] * g[0] + E[3 + a] * g[1] + E[6 + a] * g[2]
                u += f * f
            if not scale * x <= limit * limit:
                in_space[3 * c + a] = 0.0
            if not scale * u <= limit * limit:
                own[3 * c + a] = 0.0


def reactions(
    forces: Function, forces_context: Address, m: int, first: int, total: int, n_null: int, length: float, s: Ints,
    sides: Ints, at: Vec, places: Ints, axes: Vec, sizes: Vec, t: Vec, Z: Vec, la: Vec, null: Vec, sure: Vec, w: Vec,
    out: Vec, turned: Vec, own: Vec, in_space: Vec,
) -> int:  # fmt: skip
    """Forces and torques of all joints at m rows, and their uniqueness; the number of rows done, less than m if the
    function has failed.

    Parameters
    ----------
    forces : F (primitives, 2, 6) of Z and multipliers of joint equations
    sides, at : two sides for each joint, and its points in the bodies' frames, about which torques are
    places, axes : first bodies of joints, and the joints' frames in them
    sizes, null, n_null, sure : see `multipliers`; `n_null` bases of a row
    w : memory for 12 numbers, multipliers, F, and n_null (sides, 6)
    out : (sides, 2, total, 3); rows from `first` on
    turned : (joints, total, 3, 3), frames in space
    own, in_space : (sides, 6), 0 where a component in the joint's frame or in space is not unique
    """
    n_sides = 2 * s[JOINTS]
    width = 24 * s[BODIES]
    scaled = w[12:]
    F = scaled[s[ROWS] :]
    pulls = F[12 * s[PRIMITIVES] :]
    for i in range(m):
        z = Z[width * i :]
        frames(1, first + i, total, s[JOINTS], width, places, 3, axes, z, turned)
        joint_la = la[(s[INTERNAL] + s[ROWS]) * i + s[INTERNAL] :]
        if evaluate(forces, forces_context, t[i], z, joint_la, 0.0, F) != 0:
            return i
        for k in range(n_sides):
            side_loads(sides[SIDE * k :], at[3 * k :], z, F, w)
            for j in range(3):
                out[3 * (2 * k * total + first + i) + j] = w[6 + j]
                out[3 * ((2 * k + 1) * total + first + i) + j] = w[9 + j]
        if n_null == 0:
            continue
        for q in range(n_null):
            for k in range(s[ROWS]):
                scaled[k] = null[(n_null * i + q) * s[ROWS] + k] / sizes[k]
            if evaluate(forces, forces_context, t[i], z, scaled, 0.0, F) != 0:
                return i
            for k in range(n_sides):
                side_loads(sides[SIDE * k :], at[3 * k :], z, F, w)
                for j in range(6):
                    pulls[6 * (n_sides * q + k) + j] = w[6 + j]
        limit = MOVED + PER_VIOLATION * sure[3 * i + 2]
        if limit > MOST_MOVED:
            limit = MOST_MOVED
        for k in range(s[JOINTS]):
            E = turned[9 * (total * k + first + i) :]
            unmoved(s, n_null, length, limit, pulls[12 * k :], E, own[12 * k :], in_space[12 * k :])
    return m
