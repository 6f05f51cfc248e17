"""The increment of a rotation in a step, R1 = R0 dR(b), as a function of b = h Om_mean / 2.

Om_mean is the mean of the material angular velocities at both ends. The schemes of the family f(theta) n = h Om_mean
differ by the quaternion of the increment alone, which need not be of unit length:

=========== ========================== ================================================
RODRIGUES   f = 2 tan(theta / 2)       (1, b)
PAPER       f = 4 tan(theta / 4)       (1 - b . b / 4, b)
EXPONENTIAL f = theta                  (cos |b|, sin |b| / |b| b)
=========== ========================== ================================================

MOMENTA and VELOCITIES have the increment of PAPER: 2 b is then the conformal vector c of the increment, whatever the
velocities are (`rbdae.kernels.conserving.midpoint`).

A force on natural coordinates has the arms L = l0 I + l1 b^ + l2 b b^T, in the frame of the start of the step: its
moment is the sum of L e_k x R0^T f_k. For the mean directors, L = (I + dR) / 2, momentum is exact; for those at the
mean quaternion of [BS09] (51), and for those scaled by 2 tan(theta / 2) / f (ENERGY), the work is. MOMENTA and
VELOCITIES have the directors of half of the increment, L = F with F F = dR.
"""

from __future__ import annotations

from math import pi
from typing import Any

from rbdae.graph.functions import Array, Memory, select
from rbdae.kernels.memory import states
from rbdae.rotations.coefficients import ALPHA

RODRIGUES = 0
PAPER = 1
EXPONENTIAL = 2
ENERGY = 3
"""The exponential map with arms for which work is exact."""
VARIATIONAL = 4
"""The increment of RODRIGUES, with another balance (`rbdae.kernels.conserving.variational`)."""
MOMENTA = 5
"""[GR95] (331) with the average (310) of momenta."""
VELOCITIES = 6
"""[GR95] (331) with the average (326) of angular velocities."""

_SHORT = 0.99
"""Of the half increment at half a turn: what a step may take."""


def widest(scheme: int) -> Any:
    """b . b of the largest increment that a step may take: almost half a turn. Schemes with the increment of
    RODRIGUES, where it is infinite, have none."""
    if scheme in (EXPONENTIAL, ENERGY):
        return (0.5 * pi * _SHORT) ** 2
    return (2.0 * _SHORT) ** 2


_BEYOND = 10.0
"""Of b . b: more than a turn, where the exponential map is taken as constant. No step may go there, only iterates."""

_SINE = ALPHA[:12]
"""sin(x) / x as a series in x^2: exact to rounding up to half a turn, a step's most."""

_SLOPE = tuple(k * c for k, c in enumerate(ALPHA[:13]))[1:]
"""Its derivative."""


def half_increment(m: Memory, b: int) -> Any:
    """The unknown b of a body."""
    return states(m)[b].wd


def increment(m: Memory, b: int) -> Any:
    """(e0, g, e0', g', n2, v): the quaternion (e0, g b), its derivatives with respect to b . b, its squared length, and
    v of the matrix e0 I + g b^ + v b b^T, from whose frame the balance is seen."""
    return states(m)[b].Vd[0]


def arms(m: Memory, b: int) -> Any:
    """(l0, l1, l2, l0', l1', l2'): the arms of forces with their derivatives with respect to b . b."""
    return states(m)[b].Vd[1]


def _series(c: tuple[float, ...], s: float) -> Any:
    """A polynomial with 12 coefficients, by halves: no sum waits long for another."""
    s2 = s * s
    s4 = s2 * s2
    one = c[0] + c[1] * s + s2 * (c[2] + c[3] * s)
    two = c[4] + c[5] * s + s2 * (c[6] + c[7] * s)
    three = c[8] + c[9] * s + s2 * (c[10] + c[11] * s)
    return one + s4 * (two + s4 * three)


def _exponential(s: float, e: Array) -> None:
    x2 = select(s < _BEYOND, s, _BEYOND)
    e[1] = _series(_SINE, x2)
    e[3] = _series(_SLOPE, x2)
    e[0] = e[1] + 2.0 * x2 * e[3]
    e[2] = -0.5 * e[1]
    e[4] = 1.0


def _energy_arms(e: Array, a: Array) -> None:
    """The arms of the exponential map times 2 tan(theta / 2) / theta = e1 / e0."""
    a[0] = e[0] * e[1]
    a[1] = e[1] * e[1]
    a[2] = e[1] * a[1] / e[0]
    a[3] = e[0] * e[3] + e[1] * e[2]
    a[4] = 2.0 * e[1] * e[3]
    a[5] = (3.0 * a[1] * e[3] - a[2] * e[2]) / e[0]


def set_increment(m: Memory, b: int, scheme: int) -> None:
    """`increment` and `arms` of a body. Reads `half_increment`."""
    v = half_increment(m, b)
    e = increment(m, b)
    a = arms(m, b)
    s = v[0] * v[0] + v[1] * v[1] + v[2] * v[2]
    e[5] = 0.0
    if scheme == PAPER or scheme >= MOMENTA:
        n = 1.0 + 0.25 * s
        e[0] = 1.0 - 0.25 * s
        e[1] = 1.0
        e[2] = -0.25
        e[3] = 0.0
        e[4] = n * n
        if scheme >= MOMENTA:
            e[5] = 0.5
            a[1] = 1.0 / n
            a[0] = a[1] * e[0]
            a[2] = 0.5 * a[1]
            a[4] = -0.25 * a[1] / n
            a[3] = a[4] * e[0] - 0.25 * a[1]
            a[5] = 0.5 * a[4]
            return
        a[1] = 1.0 / (n * n)
        a[0] = a[1] * e[0]
        a[2] = 0.5 * a[1]
        a[4] = -0.5 * a[1] / n
        a[3] = a[4] * e[0] - 0.25 * a[1]
        a[5] = 0.5 * a[4]
        return
    if scheme in (RODRIGUES, VARIATIONAL):
        e[0] = 1.0
        e[1] = 1.0
        e[2] = 0.0
        e[3] = 0.0
        e[4] = 1.0 + s
        t = 1.0 / (1.0 + s)
        if scheme == VARIATIONAL:  # forces of joints belong to the start
            for k in range(6):
                a[k] = 1.0 if k == 0 else 0.0
            return
        for k in range(3):
            a[k] = t
            a[3 + k] = -t * t
        return
    _exponential(s, e)
    if scheme == ENERGY:
        _energy_arms(e, a)
        return
    a[0] = e[0] * e[0]
    a[1] = e[0] * e[1]
    a[2] = e[1] * e[1]
    a[3] = 2.0 * e[0] * e[2]
    a[4] = e[2] * e[1] + e[0] * e[3]
    a[5] = 2.0 * e[1] * e[3]


def combination(a: float, c: float, d: float, b: Array, out: Array) -> None:
    """out[:3, :3] = a I + c b^ + d b b^T."""
    for i in range(3):
        for j in range(3):
            out[i, j] = d * b[i] * b[j]
        out[i, i] += a
    out[0, 1] -= c * b[2]
    out[0, 2] += c * b[1]
    out[1, 0] += c * b[2]
    out[1, 2] -= c * b[0]
    out[2, 0] -= c * b[1]
    out[2, 1] += c * b[0]


def rotation_less_identity(m: Memory, b: int, out: Array) -> None:
    """out[:3, :3] = dR - I."""
    v = half_increment(m, b)
    e = increment(m, b)
    f = 2.0 * e[1] * e[1] / e[4]
    combination(-f * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), 2.0 * e[0] * e[1] / e[4], f, v, out)


def quotient(x: float, h: float) -> Any:
    """x / h rounded as a quotient is.

    Code of one model multiplies by 1 / h: velocities times h would come back with the same relative error in each
    step, and energy would drift by it.
    """
    q = x / h
    return q + (x - q * h) / h


def frame_of_start(m: Memory, b: int, f: Array, N: Array) -> None:
    """N = R0^T (f_1 f_2 f_3): natural forces in the frame of the start."""
    d = states(m)[b].ddd
    for k in range(3):
        for a in range(3):
            N[k, a] = d[3 * k] * f[3 * a] + d[3 * k + 1] * f[3 * a + 1] + d[3 * k + 2] * f[3 * a + 2]


def vector_of(N: Array, out: Array) -> None:
    """out = vect N = (N_32 - N_23, ..)."""
    for i in range(3):
        j = (i + 1) % 3
        k = (i + 2) % 3
        out[i] = N[k, j] - N[j, k]
