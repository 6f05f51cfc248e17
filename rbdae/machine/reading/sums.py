"""Energies and momenta from rows of Z, by tables with `WIDTH` numbers a body."""

from __future__ import annotations

from math import copysign

from rbdae.machine.language.words import Vec
from rbdae.machine.reading.motion import cross, dot, turning

MASS = 0
"""Of a body that is free to move; 0 of one with a pivot."""
TENSOR = 1
"""The inertia J, nine numbers, or Euler's tensor E of director rates."""
RADIAL = 10
"""J0 of quaternion rates, the inertia of a change of the norm."""
WEIGHT = 11
"""The force of the weight on x, three numbers."""
WEIGHT_D = 14
"""The same on the directors, nine numbers."""
CENTER = 23
"""The centre of mass of a body with a pivot, three numbers, from the pivot."""
PIVOT_MASS = 26
"""The mass of a body with a pivot; 0 of a free one."""
WIDTH = 27

ANGULAR = 0
"""Velocities Omega: T = Omega . J Omega / 2."""
DIRECTORS = 1
"""Rates of the directors: T = sum_ij E_ij ddot_i . ddot_j / 2."""
QUATERNIONS = 2
"""Rates of a quaternion p: T = |p|^4 (Omega . J Omega + J0 (tr W / 3)^2) / 2, with |p|^6 = det R."""


def quadratic(a: Vec, u: Vec, v: Vec) -> float:
    """u . A v of a matrix of nine numbers."""
    return float(
        u[0] * (a[0] * v[0] + a[1] * v[1] + a[2] * v[2])
        + u[1] * (a[3] * v[0] + a[4] * v[1] + a[5] * v[2])
        + u[2] * (a[6] * v[0] + a[7] * v[1] + a[8] * v[2])
    )


def rotational(kind: int, scaled: bool, b: Vec, z: Vec, w: Vec) -> float:
    """Twice the kinetic energy of a rotation in the velocities of a formulation; `scaled` says whether the norm of a
    quaternion counts, which momenta have taken away (M4^-1)."""
    if kind == DIRECTORS:
        e = b[TENSOR:]
        r1 = z[15:]
        r2 = z[18:]
        r3 = z[21:]
        own = float(e[0] * dot(r1, r1) + e[4] * dot(r2, r2) + e[8] * dot(r3, r3))
        return own + float((e[1] + e[3]) * dot(r1, r2) + (e[2] + e[6]) * dot(r1, r3) + (e[5] + e[7]) * dot(r2, r3))
    det = turning(z, w)
    spin = quadratic(b[TENSOR:], w, w)
    if kind == ANGULAR:
        return spin
    stretch = w[3] / 3.0
    both = spin + float(b[RADIAL] * stretch * stretch)
    if scaled:
        size = copysign(abs(det) ** (1.0 / 3.0), det)
        both = both * float(size * size)
    return both


def energies(
    m: int, n: int, kind: int, scaled: bool, table: Vec, level: float, Z: Vec, P: Vec, n_P: int, w: Vec, out: Vec
) -> None:
    """out (m, 2) = kinetic and potential energies of n bodies; P (m, n_P) has the potentials of the forces, `level`
    the constant part of the weight's. `w` is memory for 12 numbers."""
    for i in range(m):
        twice = 0.0
        V = -level
        for k in range(n):
            b = table[WIDTH * k :]
            z = Z[24 * (n * i + k) :]
            twice += b[MASS] * dot(z[12:], z[12:]) + rotational(kind, scaled, b, z, w)
            V -= dot(b[WEIGHT:], z)
            for j in range(0, 9, 3):
                V -= dot(b[WEIGHT_D + j :], z[3 + j :])
        for k in range(n_P):
            V += P[n_P * i + k]
        out[2 * i] = 0.5 * twice
        out[2 * i + 1] = V


def momenta(m: int, n: int, kind: int, table: Vec, Z: Vec, w: Vec, out: Vec) -> None:
    """out (m, 6) = linear momentum, and angular momentum about the origin of space; of director rates sum_i d_i x p_i
    with p_i = sum_j E_ij ddot_j, of others R J Omega. `w` is memory for 24 numbers."""
    v = w[12:]
    p = w[15:]
    c = w[18:]
    for i in range(m):
        total = out[6 * i :]
        for k in range(6):
            total[k] = 0.0
        for k in range(n):
            b = table[WIDTH * k :]
            z = Z[24 * (n * i + k) :]
            e = b[TENSOR:]
            for j in range(3):
                if b[PIVOT_MASS] != 0.0:
                    v[j] = b[CENTER] * z[15 + j] + b[CENTER + 1] * z[18 + j] + b[CENTER + 2] * z[21 + j]
                    p[j] = b[PIVOT_MASS] * v[j]
                else:
                    p[j] = b[MASS] * z[12 + j]
                total[j] += p[j]
            cross(z, p, c)
            for j in range(3):
                total[3 + j] += c[j]
            if kind == DIRECTORS:
                for a in range(3):
                    for j in range(3):
                        p[j] = e[3 * a] * z[15 + j] + e[3 * a + 1] * z[18 + j] + e[3 * a + 2] * z[21 + j]
                    cross(z[3 + 3 * a :], p, c)
                    for j in range(3):
                        total[3 + j] += c[j]
            else:
                det = turning(z, w)
                for j in range(3):
                    p[j] = e[3 * j] * w[0] + e[3 * j + 1] * w[1] + e[3 * j + 2] * w[2] + 0.0 * det
                for j in range(3):
                    total[3 + j] += p[0] * z[3 + j] + p[1] * z[6 + j] + p[2] * z[9 + j]
