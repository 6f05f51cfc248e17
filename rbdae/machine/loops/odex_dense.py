"""Dense output of extrapolated steps, by derivatives at the middle of the step; [HNW93] section II.9.

The step is repeated where it is asked for, in place of storing all rates of all steps, with 2, 6, 10, ... steps, whose
rows all have a point in the middle, and two rows more than its own. So its error is below that of the step, which need
not be shorter for it.
"""

from __future__ import annotations

from rbdae.machine.language.words import Address, Function, Vec, each
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.control import rates
from rbdae.machine.loops.memory import StepMemory
from rbdae.machine.loops.odex_rows import END, FURTHER_ROWS, HERE, MIDDLE, SLOPE, leap, start_row


def dense_steps_of(j: int) -> int:
    """The number of steps in row j of dense output."""
    return 4 * j - 2


def weight(j: int, first: int, k: int) -> float:
    """The weight of row j in the extrapolation of the rows from `first` to k."""
    out = 1.0
    n = 1.0 * dense_steps_of(j)
    for l in range(first, k + 1):
        if l != j:
            o = 1.0 * dense_steps_of(l)
            out *= n * n / (n * n - o * o)
    return out


def share(s: StepMemory, j: int, i: int, rates_at: int, most: int) -> None:
    """What the rates at point i of row j give to the derivatives at the middle: central differences over two
    steps, as H^q y^(q), for 1 <= q <= `most`."""
    m = s.m
    n = dense_steps_of(j)
    away = abs(2 * i - n) // 2
    f = s.vectors[rates_at * m :]
    h = s.h_done
    for q in range(away + 1, min(most, n // 2 + 1) + 1, 2):
        # the binomial of q - 1 over the distance from the end of the difference
        factor = h * weight(j, (q + 1) // 2, s.code + FURTHER_ROWS)
        for _ in range(q - 1):
            factor *= 0.5 * n
        place = (q - 1 - away) // 2
        for l in range(place):
            factor *= -(q - 1.0 - l) / (l + 1.0)
        if i < n // 2 and (q - 1) % 2 == 1:
            factor = -factor
        out = s.vectors[(MIDDLE + q) * m :]
        for e in each(m):
            out[e] += factor * f[e]


def dense(rhs: Function, context: Address, s: StepMemory) -> int:
    """The rows of the last step once more, for derivatives at its middle; then the coefficients."""
    m = s.m
    k = s.code + FURTHER_ROWS
    most = 2 * k - 4
    for q in range(most + 1):
        out = s.vectors[(MIDDLE + q) * m :]
        for i in each(m):
            out[i] = 0.0
    middle = s.vectors[MIDDLE * m :]
    here = s.vectors[HERE * m :]
    status = at.DONE
    for j in range(1, k + 1):
        n = dense_steps_of(j)
        h = s.h_done / n
        start_row(s, h)
        share(s, j, 0, at.K1, most)
        for i in range(1, n + 1):
            if i == n // 2:
                factor = weight(j, 1, k)
                for e in each(m):
                    middle[e] += factor * here[e]
            if status == at.DONE:
                status = rates(rhs, context, s, s.t + i * h, HERE, SLOPE)
                share(s, j, i, SLOPE, most)
                leap(s, h)
    coefficients(s, most)
    return status


def coefficients(s: StepMemory, most: int) -> None:
    """Of y + x (c0 + z (c1 + x c2)) + (x z)^2 sum a_q (x - 1/2)^q with z = 1 - x, from H^q y^(q) in the middle."""
    m = s.m
    h = s.h_done
    y = s.vectors[at.Y * m :]
    end = s.vectors[at.Y_NEW * m :]
    k1 = s.vectors[at.K1 * m :]
    last = s.vectors[END * m :]
    c0 = s.vectors[at.CONT * m :]
    c1 = s.vectors[(at.CONT + 1) * m :]
    c2 = s.vectors[(at.CONT + 2) * m :]
    for i in each(m):
        difference = end[i] - y[i]
        slope = h * k1[i] - difference
        c0[i] = difference
        c1[i] = slope
        c2[i] = difference - h * last[i] - slope
    factorial = 1.0
    for q in range(most + 1):
        factorial *= max(1.0, 1.0 * q)
        a = s.vectors[(MIDDLE + q) * m :]
        if q == 0:
            for i in each(m):
                a[i] -= y[i] + 0.5 * (c0[i] + 0.5 * (c1[i] + 0.5 * c2[i]))
        elif q == 1:
            for i in each(m):
                a[i] -= c0[i] + 0.25 * c2[i]
        elif q == 2:
            for i in each(m):
                a[i] += 2.0 * c1[i] + c2[i]
        elif q == 3:
            for i in each(m):
                a[i] += 6.0 * c2[i]
        scale = 16.0 / factorial
        for i in each(m):
            a[i] *= scale
        if q >= 2:
            b = s.vectors[(MIDDLE + q - 2) * m :]
            for i in each(m):
                a[i] += 8.0 * b[i]
        if q >= 4:
            d = s.vectors[(MIDDLE + q - 4) * m :]
            for i in each(m):
                a[i] -= 16.0 * d[i]


def interpolate(s: StepMemory, theta: float, out: Vec) -> None:
    """y (n,) at t + theta h_done."""
    m = s.m
    n = s.n
    most = 2 * (s.code + FURTHER_ROWS) - 4
    z = 1.0 - theta
    x = theta - 0.5
    y = s.vectors[at.Y * m :]
    c0 = s.vectors[at.CONT * m :]
    c1 = s.vectors[(at.CONT + 1) * m :]
    c2 = s.vectors[(at.CONT + 2) * m :]
    for i in range(n):
        out[i] = 0.0
    for k in range(most + 1):
        a = s.vectors[(MIDDLE + most - k) * m :]
        for i in range(n):
            out[i] = a[i] + x * out[i]
    for i in range(n):
        out[i] = y[i] + theta * (c0[i] + z * (c1[i] + theta * (c2[i] + z * out[i])))
