"""DOP853 step by step: Dormand & Prince's explicit Runge-Kutta method of order 8(5,3), with dense output of order 7.

[HNW93] section II.5, II.6 and the code ``dop853.f``. Stages 14 to 16 are evaluated where dense output is asked for.
"""

from __future__ import annotations

from math import sqrt

from rbdae.machine.loops import dop853_tableau as c
from rbdae.machine.loops.control import rates, total
from rbdae.machine.loops.memory import (
    ARGUMENT,
    ATOL,
    DONE,
    FURTHER,
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

K2 = K1 + 1
K3 = K1 + 2
K4 = K1 + 3
K5 = K1 + 4
K6 = K1 + 5
K7 = K1 + 6
K8 = K1 + 7
K9 = K1 + 8
K10 = K1 + 9
K11 = K2
K12 = K3
K13 = K4
K14 = K5
"""These take the place of stages that are no longer needed."""
K15 = K1 + 10
K16 = K1 + 11

ORDER = 8
EXPONENT = 1.0 / 8.0
BETA = 0.0
BETA_IN_EXPONENT = 0.2
RATES_NEW = K13
SHRINKS = 0.333
GROWS = 6.0


def first_stages(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Stages 2 to 7."""
    m = s[M]
    t = w[T]
    h = w[H]
    y = w[HEAD + Y * m :]
    x = w[HEAD + ARGUMENT * m :]
    k1 = w[HEAD + K1 * m :]
    k2 = w[HEAD + K2 * m :]
    k3 = w[HEAD + K3 * m :]
    k4 = w[HEAD + K4 * m :]
    k5 = w[HEAD + K5 * m :]
    k6 = w[HEAD + K6 * m :]
    for i in each(m):
        x[i] = y[i] + h * (c.A2_1 * k1[i])
    status = rates(rhs, context, s, w, t + c.C2 * h, ARGUMENT, K2)
    if status != DONE:
        return status
    for i in each(m):
        x[i] = y[i] + h * (c.A3_1 * k1[i] + c.A3_2 * k2[i])
    status = rates(rhs, context, s, w, t + c.C3 * h, ARGUMENT, K3)
    if status != DONE:
        return status
    for i in each(m):
        x[i] = y[i] + h * (c.A4_1 * k1[i] + c.A4_3 * k3[i])
    status = rates(rhs, context, s, w, t + c.C4 * h, ARGUMENT, K4)
    if status != DONE:
        return status
    for i in each(m):
        x[i] = y[i] + h * (c.A5_1 * k1[i] + c.A5_3 * k3[i] + c.A5_4 * k4[i])
    status = rates(rhs, context, s, w, t + c.C5 * h, ARGUMENT, K5)
    if status != DONE:
        return status
    for i in each(m):
        x[i] = y[i] + h * (c.A6_1 * k1[i] + c.A6_4 * k4[i] + c.A6_5 * k5[i])
    status = rates(rhs, context, s, w, t + c.C6 * h, ARGUMENT, K6)
    if status != DONE:
        return status
    for i in each(m):
        x[i] = y[i] + h * (c.A7_1 * k1[i] + c.A7_4 * k4[i] + c.A7_5 * k5[i] + c.A7_6 * k6[i])
    status = rates(rhs, context, s, w, t + c.C7 * h, ARGUMENT, K7)
    if status != DONE:
        return status
    return DONE


def stages(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Stages 2 to 12, and the end of the step."""
    status = first_stages(rhs, context, s, w)
    if status != DONE:
        return status
    return later_stages(rhs, context, s, w)


def later_stages(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Stages 8 to 12, and the end of the step."""
    m = s[M]
    t = w[T]
    h = w[H]
    y = w[HEAD + Y * m :]
    x = w[HEAD + ARGUMENT * m :]
    end = w[HEAD + Y_NEW * m :]
    k1 = w[HEAD + K1 * m :]
    k4 = w[HEAD + K4 * m :]
    k5 = w[HEAD + K5 * m :]
    k6 = w[HEAD + K6 * m :]
    k7 = w[HEAD + K7 * m :]
    k8 = w[HEAD + K8 * m :]
    k9 = w[HEAD + K9 * m :]
    k10 = w[HEAD + K10 * m :]
    k11 = w[HEAD + K11 * m :]
    k12 = w[HEAD + K12 * m :]
    for i in each(m):
        x[i] = y[i] + h * (c.A8_1 * k1[i] + c.A8_4 * k4[i] + c.A8_5 * k5[i] + c.A8_6 * k6[i] + c.A8_7 * k7[i])
    status = rates(rhs, context, s, w, t + c.C8 * h, ARGUMENT, K8)
    if status != DONE:
        return status
    for i in each(m):
        one = c.A9_1 * k1[i] + c.A9_4 * k4[i] + c.A9_5 * k5[i] + c.A9_6 * k6[i]
        two = c.A9_7 * k7[i] + c.A9_8 * k8[i]
        x[i] = y[i] + h * (one + two)
    status = rates(rhs, context, s, w, t + c.C9 * h, ARGUMENT, K9)
    if status != DONE:
        return status
    for i in each(m):
        one = c.A10_1 * k1[i] + c.A10_4 * k4[i] + c.A10_5 * k5[i] + c.A10_6 * k6[i]
        two = c.A10_7 * k7[i] + c.A10_8 * k8[i] + c.A10_9 * k9[i]
        x[i] = y[i] + h * (one + two)
    status = rates(rhs, context, s, w, t + c.C10 * h, ARGUMENT, K10)
    if status != DONE:
        return status
    for i in each(m):
        one = c.A11_1 * k1[i] + c.A11_4 * k4[i] + c.A11_5 * k5[i] + c.A11_6 * k6[i]
        two = c.A11_7 * k7[i] + c.A11_8 * k8[i] + c.A11_9 * k9[i] + c.A11_10 * k10[i]
        x[i] = y[i] + h * (one + two)
    status = rates(rhs, context, s, w, t + c.C11 * h, ARGUMENT, K11)
    if status != DONE:
        return status
    for i in each(m):
        one = c.A12_1 * k1[i] + c.A12_4 * k4[i] + c.A12_5 * k5[i] + c.A12_6 * k6[i] + c.A12_7 * k7[i]
        two = c.A12_8 * k8[i] + c.A12_9 * k9[i] + c.A12_10 * k10[i] + c.A12_11 * k11[i]
        x[i] = y[i] + h * (one + two)
    status = rates(rhs, context, s, w, t + h, ARGUMENT, K12)
    if status != DONE:
        return status
    for i in each(m):
        one = c.B1 * k1[i] + c.B6 * k6[i] + c.B7 * k7[i] + c.B8 * k8[i]
        two = c.B9 * k9[i] + c.B10 * k10[i] + c.B11 * k11[i] + c.B12 * k12[i]
        end[i] = y[i] + h * (one + two)
    return DONE


def error(s: Ints, w: Vec) -> float:
    """The error in tolerances: that of order 5, corrected by that of order 3; not finite where Y_NEW is not."""
    m = s[M]
    y = w[HEAD + Y * m :]
    end = w[HEAD + Y_NEW * m :]
    fifth = w[HEAD + SCALED * m :]
    third = w[HEAD + FURTHER * m :]
    atol = w[HEAD + ATOL * m :]
    k1 = w[HEAD + K1 * m :]
    k6 = w[HEAD + K6 * m :]
    k7 = w[HEAD + K7 * m :]
    k8 = w[HEAD + K8 * m :]
    k9 = w[HEAD + K9 * m :]
    k10 = w[HEAD + K10 * m :]
    k11 = w[HEAD + K11 * m :]
    k12 = w[HEAD + K12 * m :]
    rtol = w[RTOL]
    for i in each(m):
        scale = atol[i] + rtol * max(abs(y[i]), abs(end[i]))
        one = c.B1 * k1[i] + c.B6 * k6[i] + c.B7 * k7[i] + c.B8 * k8[i]
        two = c.B9 * k9[i] + c.B10 * k10[i] + c.B11 * k11[i] + c.B12 * k12[i]
        three = -c.F1 * k1[i] - c.F9 * k9[i] - c.F12 * k12[i]
        e3 = one + two + three
        one = c.E1 * k1[i] + c.E6 * k6[i] + c.E7 * k7[i] + c.E8 * k8[i]
        two = c.E9 * k9[i] + c.E10 * k10[i] + c.E11 * k11[i] + c.E12 * k12[i]
        e5 = one + two
        third[i] = (e3 / scale) ** 2
        fifth[i] = (e5 / scale) ** 2 + 0.0 * end[i]
    err = total(fifth, m)
    both = err + 0.01 * total(third, m)
    if both <= 0.0:
        both = 1.0
    out: float = w[H] * err * sqrt(1.0 / (s[N] * both))
    return out


def complete(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Stage 13: the rates at the end of the step, where the next one begins."""
    return rates(rhs, context, s, w, w[T] + w[H], Y_NEW, K13)
