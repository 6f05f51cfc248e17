"""DOPRI5 step by step: Dormand & Prince's explicit Runge-Kutta method of order 5(4), with dense output of order 4.

[HNW93] table II.5.2, (6.12) of section II.6 (with Shampine's coefficients, as the code), and the code ``dopri5.f``.
"""

from __future__ import annotations

from math import sqrt

from rbdae.machine.loops.control import rates, total
from rbdae.machine.loops.memory import (
    ARGUMENT,
    ATOL,
    CONT,
    DONE,
    H_DONE,
    HEAD,
    K1,
    RTOL,
    SCALED,
    Y_NEW,
    H,
    M,
    N,
    T,
    Y,
)
from rbdae.machine.native.words import Address, Function, Ints, Vec, each

C2 = 1.0 / 5.0
C3 = 3.0 / 10.0
C4 = 4.0 / 5.0
C5 = 8.0 / 9.0
A2_1 = 1.0 / 5.0
A3_1 = 3.0 / 40.0
A3_2 = 9.0 / 40.0
A4_1 = 44.0 / 45.0
A4_2 = -56.0 / 15.0
A4_3 = 32.0 / 9.0
A5_1 = 19372.0 / 6561.0
A5_2 = -25360.0 / 2187.0
A5_3 = 64448.0 / 6561.0
A5_4 = -212.0 / 729.0
A6_1 = 9017.0 / 3168.0
A6_2 = -355.0 / 33.0
A6_3 = 46732.0 / 5247.0
A6_4 = 49.0 / 176.0
A6_5 = -5103.0 / 18656.0
B1 = 35.0 / 384.0
B3 = 500.0 / 1113.0
B4 = 125.0 / 192.0
B5 = -2187.0 / 6784.0
B6 = 11.0 / 84.0
E1 = 71.0 / 57600.0
E3 = -71.0 / 16695.0
E4 = 71.0 / 1920.0
E5 = -17253.0 / 339200.0
E6 = 22.0 / 525.0
E7 = -1.0 / 40.0
D1 = -12715105075.0 / 11282082432.0
D3 = 87487479700.0 / 32700410799.0
D4 = -10690763975.0 / 1880347072.0
D5 = 701980252875.0 / 199316789632.0
D6 = -1453857185.0 / 822651844.0
D7 = 69997945.0 / 29380423.0

K2 = K1 + 1
K3 = K1 + 2
K4 = K1 + 3
K5 = K1 + 4
K6 = K1 + 5
K7 = K1 + 6

ORDER = 5
BETA = 0.04
EXPONENT = 0.2
BETA_IN_EXPONENT = 0.75
RATES_NEW = K7
SHRINKS = 0.2
GROWS = 10.0


def stages(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Stages 2 to 7; the last of them belongs to the end of the step."""
    m = s[M]
    t = w[T]
    h = w[H]
    y = w[HEAD + Y * m :]
    x = w[HEAD + ARGUMENT * m :]
    end = w[HEAD + Y_NEW * m :]
    k1 = w[HEAD + K1 * m :]
    k2 = w[HEAD + K2 * m :]
    k3 = w[HEAD + K3 * m :]
    k4 = w[HEAD + K4 * m :]
    k5 = w[HEAD + K5 * m :]
    k6 = w[HEAD + K6 * m :]
    for i in each(m):
        x[i] = y[i] + h * (A2_1 * k1[i])
    status = rates(rhs, context, s, w, t + C2 * h, ARGUMENT, K2)
    if status != DONE:
        return status
    for i in each(m):
        x[i] = y[i] + h * (A3_1 * k1[i] + A3_2 * k2[i])
    status = rates(rhs, context, s, w, t + C3 * h, ARGUMENT, K3)
    if status != DONE:
        return status
    for i in each(m):
        x[i] = y[i] + h * (A4_1 * k1[i] + A4_2 * k2[i] + A4_3 * k3[i])
    status = rates(rhs, context, s, w, t + C4 * h, ARGUMENT, K4)
    if status != DONE:
        return status
    for i in each(m):
        x[i] = y[i] + h * (A5_1 * k1[i] + A5_2 * k2[i] + A5_3 * k3[i] + A5_4 * k4[i])
    status = rates(rhs, context, s, w, t + C5 * h, ARGUMENT, K5)
    if status != DONE:
        return status
    for i in each(m):
        x[i] = y[i] + h * (A6_1 * k1[i] + A6_2 * k2[i] + A6_3 * k3[i] + A6_4 * k4[i] + A6_5 * k5[i])
    status = rates(rhs, context, s, w, t + h, ARGUMENT, K6)
    if status != DONE:
        return status
    for i in each(m):
        end[i] = y[i] + h * (B1 * k1[i] + B3 * k3[i] + B4 * k4[i] + B5 * k5[i] + B6 * k6[i])
    return rates(rhs, context, s, w, t + h, Y_NEW, K7)


def error(s: Ints, w: Vec) -> float:
    """The error in tolerances, root mean square; not finite where Y_NEW is not."""
    m = s[M]
    h = w[H]
    y = w[HEAD + Y * m :]
    end = w[HEAD + Y_NEW * m :]
    scaled = w[HEAD + SCALED * m :]
    atol = w[HEAD + ATOL * m :]
    k1 = w[HEAD + K1 * m :]
    k3 = w[HEAD + K3 * m :]
    k4 = w[HEAD + K4 * m :]
    k5 = w[HEAD + K5 * m :]
    k6 = w[HEAD + K6 * m :]
    k7 = w[HEAD + K7 * m :]
    rtol = w[RTOL]
    for i in each(m):
        scale = atol[i] + rtol * max(abs(y[i]), abs(end[i]))
        e = h * (E1 * k1[i] + E3 * k3[i] + E4 * k4[i] + E5 * k5[i] + E6 * k6[i] + E7 * k7[i])
        scaled[i] = (e / scale) ** 2 + 0.0 * end[i]
    return sqrt(total(scaled, m) / s[N])


def complete(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Nothing is left to do: stage 7 is the first of the next step."""
    return DONE


def dense(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """The coefficients of the dense output."""
    m = s[M]
    h = w[H_DONE]
    y = w[HEAD + Y * m :]
    end = w[HEAD + Y_NEW * m :]
    k1 = w[HEAD + K1 * m :]
    k3 = w[HEAD + K3 * m :]
    k4 = w[HEAD + K4 * m :]
    k5 = w[HEAD + K5 * m :]
    k6 = w[HEAD + K6 * m :]
    k7 = w[HEAD + K7 * m :]
    c0 = w[HEAD + CONT * m :]
    c1 = w[HEAD + (CONT + 1) * m :]
    c2 = w[HEAD + (CONT + 2) * m :]
    c3 = w[HEAD + (CONT + 3) * m :]
    for i in each(m):
        difference = end[i] - y[i]
        slope = h * k1[i] - difference
        c0[i] = difference
        c1[i] = slope
        c2[i] = difference - h * k7[i] - slope
        c3[i] = h * (D1 * k1[i] + D3 * k3[i] + D4 * k4[i] + D5 * k5[i] + D6 * k6[i] + D7 * k7[i])
    return DONE


def interpolate(s: Ints, w: Vec, theta: float, out: Vec) -> None:
    """y (n,) at T + theta H_DONE."""
    m = s[M]
    rest = 1.0 - theta
    y = w[HEAD + Y * m :]
    c0 = w[HEAD + CONT * m :]
    c1 = w[HEAD + (CONT + 1) * m :]
    c2 = w[HEAD + (CONT + 2) * m :]
    c3 = w[HEAD + (CONT + 3) * m :]
    for i in range(s[N]):
        out[i] = y[i] + theta * (c0[i] + rest * (c1[i] + theta * (c2[i] + rest * c3[i])))
