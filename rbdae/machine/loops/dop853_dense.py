"""Dense output of DOP853, of order 7: stages 14 to 16, and a polynomial over the step.

[HNW93] (6.15) to (6.17) of section II.6, and the code ``dop853.f``.
"""

from __future__ import annotations

from rbdae.machine.loops import dop853_tableau as c
from rbdae.machine.loops.control import rates
from rbdae.machine.loops.dop853 import K6, K7, K8, K9, K10, K11, K12, K13, K14, K15, K16
from rbdae.machine.loops.memory import ARGUMENT, CONT, DONE, H_DONE, HEAD, K1, Y_NEW, M, N, T, Y
from rbdae.machine.native.words import Address, Function, Ints, Vec, each


def dense(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Stages 14 to 16, and the coefficients of the dense output."""
    m = s[M]
    t = w[T]
    h = w[H_DONE]
    y = w[HEAD + Y * m :]
    x = w[HEAD + ARGUMENT * m :]
    k1 = w[HEAD + K1 * m :]
    k6 = w[HEAD + K6 * m :]
    k7 = w[HEAD + K7 * m :]
    k8 = w[HEAD + K8 * m :]
    k9 = w[HEAD + K9 * m :]
    k10 = w[HEAD + K10 * m :]
    k11 = w[HEAD + K11 * m :]
    k12 = w[HEAD + K12 * m :]
    k13 = w[HEAD + K13 * m :]
    k14 = w[HEAD + K14 * m :]
    k15 = w[HEAD + K15 * m :]
    for i in each(m):
        one = c.A14_1 * k1[i] + c.A14_7 * k7[i] + c.A14_8 * k8[i] + c.A14_9 * k9[i]
        two = c.A14_10 * k10[i] + c.A14_11 * k11[i] + c.A14_12 * k12[i] + c.A14_13 * k13[i]
        x[i] = y[i] + h * (one + two)
    status = rates(rhs, context, s, w, t + c.C14 * h, ARGUMENT, K14)
    if status != DONE:
        return status
    for i in each(m):
        one = c.A15_1 * k1[i] + c.A15_6 * k6[i] + c.A15_7 * k7[i] + c.A15_8 * k8[i]
        two = c.A15_11 * k11[i] + c.A15_12 * k12[i] + c.A15_13 * k13[i] + c.A15_14 * k14[i]
        x[i] = y[i] + h * (one + two)
    status = rates(rhs, context, s, w, t + c.C15 * h, ARGUMENT, K15)
    if status != DONE:
        return status
    for i in each(m):
        one = c.A16_1 * k1[i] + c.A16_6 * k6[i] + c.A16_7 * k7[i] + c.A16_8 * k8[i]
        two = c.A16_9 * k9[i] + c.A16_13 * k13[i] + c.A16_14 * k14[i] + c.A16_15 * k15[i]
        x[i] = y[i] + h * (one + two)
    status = rates(rhs, context, s, w, t + c.C16 * h, ARGUMENT, K16)
    if status != DONE:
        return status
    coefficients(s, w)
    return DONE


def coefficients(s: Ints, w: Vec) -> None:
    """The coefficients of the dense output."""
    m = s[M]
    h = w[H_DONE]
    y = w[HEAD + Y * m :]
    end = w[HEAD + Y_NEW * m :]
    k1 = w[HEAD + K1 * m :]
    k6 = w[HEAD + K6 * m :]
    k7 = w[HEAD + K7 * m :]
    k8 = w[HEAD + K8 * m :]
    k9 = w[HEAD + K9 * m :]
    k10 = w[HEAD + K10 * m :]
    k11 = w[HEAD + K11 * m :]
    k12 = w[HEAD + K12 * m :]
    k13 = w[HEAD + K13 * m :]
    k14 = w[HEAD + K14 * m :]
    k15 = w[HEAD + K15 * m :]
    k16 = w[HEAD + K16 * m :]
    c0 = w[HEAD + (CONT + 0) * m :]
    c1 = w[HEAD + (CONT + 1) * m :]
    c2 = w[HEAD + (CONT + 2) * m :]
    c3 = w[HEAD + (CONT + 3) * m :]
    c4 = w[HEAD + (CONT + 4) * m :]
    c5 = w[HEAD + (CONT + 5) * m :]
    c6 = w[HEAD + (CONT + 6) * m :]
    for i in each(m):
        difference = end[i] - y[i]
        slope = h * k1[i] - difference
        c0[i] = difference
        c1[i] = slope
        c2[i] = difference - h * k13[i] - slope
        one = c.D4_1 * k1[i] + c.D4_6 * k6[i] + c.D4_7 * k7[i] + c.D4_8 * k8[i]
        two = c.D4_9 * k9[i] + c.D4_10 * k10[i] + c.D4_11 * k11[i] + c.D4_12 * k12[i]
        three = c.D4_13 * k13[i] + c.D4_14 * k14[i] + c.D4_15 * k15[i] + c.D4_16 * k16[i]
        c3[i] = h * (one + two + three)
        one = c.D5_1 * k1[i] + c.D5_6 * k6[i] + c.D5_7 * k7[i] + c.D5_8 * k8[i]
        two = c.D5_9 * k9[i] + c.D5_10 * k10[i] + c.D5_11 * k11[i] + c.D5_12 * k12[i]
        three = c.D5_13 * k13[i] + c.D5_14 * k14[i] + c.D5_15 * k15[i] + c.D5_16 * k16[i]
        c4[i] = h * (one + two + three)
        one = c.D6_1 * k1[i] + c.D6_6 * k6[i] + c.D6_7 * k7[i] + c.D6_8 * k8[i]
        two = c.D6_9 * k9[i] + c.D6_10 * k10[i] + c.D6_11 * k11[i] + c.D6_12 * k12[i]
        three = c.D6_13 * k13[i] + c.D6_14 * k14[i] + c.D6_15 * k15[i] + c.D6_16 * k16[i]
        c5[i] = h * (one + two + three)
        one = c.D7_1 * k1[i] + c.D7_6 * k6[i] + c.D7_7 * k7[i] + c.D7_8 * k8[i]
        two = c.D7_9 * k9[i] + c.D7_10 * k10[i] + c.D7_11 * k11[i] + c.D7_12 * k12[i]
        three = c.D7_13 * k13[i] + c.D7_14 * k14[i] + c.D7_15 * k15[i] + c.D7_16 * k16[i]
        c6[i] = h * (one + two + three)


def interpolate(s: Ints, w: Vec, theta: float, out: Vec) -> None:
    """y (n,) at T + theta H_DONE."""
    m = s[M]
    rest = 1.0 - theta
    y = w[HEAD + Y * m :]
    c0 = w[HEAD + (CONT + 0) * m :]
    c1 = w[HEAD + (CONT + 1) * m :]
    c2 = w[HEAD + (CONT + 2) * m :]
    c3 = w[HEAD + (CONT + 3) * m :]
    c4 = w[HEAD + (CONT + 4) * m :]
    c5 = w[HEAD + (CONT + 5) * m :]
    c6 = w[HEAD + (CONT + 6) * m :]
    for i in range(s[N]):
        inner = c3[i] + theta * (c4[i] + rest * (c5[i] + theta * c6[i]))
        out[i] = y[i] + theta * (c0[i] + rest * (c1[i] + theta * (c2[i] + rest * inner)))
