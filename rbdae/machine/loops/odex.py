"""ODEX: extrapolation of Gragg's modified mid-point rule (GBS), of variable order.

[HNW93] section II.9, and the code ``odex.f``: the order and the step size with the least work per unit step. Rows of
the table are by 2, 4, 6, ... steps of the mid-point rule, smoothed at its end.

Dense output is by derivatives at the middle of the step, which is repeated where it is asked for, in place of storing
all rates of all steps, with 2, 6, 10, ... steps, whose rows all have a point in the middle, and two rows more than its
own. So its error is below that of the step, which need not be shorter for it.

Different from ``odex.f``: its test for stability in the first steps of a row is left out; the first step size is that
of `rbdae.machine.loops.control`; the factor of safety 0.94 is the option `safety`, 0.9.
"""

from __future__ import annotations

from math import isfinite, sqrt

from rbdae.machine.language.words import Address, Function, Vec, each
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.control import TINY, UROUND, note, prepared, rates, reject, total
from rbdae.machine.loops.memory import StepMemory

ROWS = 9
"""The most rows of the table: order 18."""

BEFORE = at.K1 + 1
HERE = at.K1 + 2
SLOPE = at.K1 + 3
END = at.K1 + 4
"""Two states of a row one after the other, the rates there; those at the end of an accepted step."""

TABLE = at.VECTORS
"""The last row, the most extrapolated state first."""

FURTHER_ROWS = 2
"""Rows that dense output has beside those of the step."""

MIDDLE = at.VECTORS + ROWS
"""Coefficients of the dense output, at most 2 (ROWS + FURTHER_ROWS) - 3."""

MEMORY = MIDDLE + 2 * (ROWS + FURTHER_ROWS) - 3
"""Vectors in all."""

LESS_ERROR = 0.65
"""The factor of tolerance in a step size, SAFE1."""


FEWER = 0.8
MORE = 0.9
"""The order falls, or rises, if the work per unit step does so by these, FAC3 and FAC4."""


# ---------------------------------------------------------------- rows of the table


def steps_of(j: int) -> int:
    """The number of steps in row j = 1, 2, ..."""
    return 2 * j


def work_of(j: int) -> float:
    """The evaluations of the rows up to j."""
    return j * (j + 1.0) + 1.0


def start_row(s: StepMemory, h: float) -> None:
    """The first step of a row with steps of size h, by Euler's rule."""
    m = s.m
    y = s.vectors[at.Y * m :]
    k1 = s.vectors[at.K1 * m :]
    before = s.vectors[BEFORE * m :]
    here = s.vectors[HERE * m :]
    for i in each(m):
        before[i] = y[i]
        here[i] = y[i] + h * k1[i]


def leap(s: StepMemory, h: float) -> None:
    """A step of the mid-point rule over two step sizes, from the state before with the rates here."""
    m = s.m
    before = s.vectors[BEFORE * m :]
    here = s.vectors[HERE * m :]
    slope = s.vectors[SLOPE * m :]
    for i in each(m):
        x = before[i] + 2.0 * h * slope[i]
        before[i] = here[i]
        here[i] = x


def extrapolate(s: StepMemory, j: int) -> None:
    """Row j from the row before and its first entry."""
    m = s.m
    for k in range(j - 1):
        l = j - 1 - k
        ratio = (1.0 * steps_of(j)) / steps_of(l)
        factor = 1.0 / (ratio * ratio - 1.0)
        new = s.vectors[(TABLE + l) * m :]
        old = s.vectors[(TABLE + l - 1) * m :]
        for i in each(m):
            old[i] = new[i] + factor * (new[i] - old[i])


def row_error(s: StepMemory) -> float:
    """The difference of the first two entries of a row in tolerances, root mean square."""
    m = s.m
    y = s.vectors[at.Y * m :]
    best = s.vectors[TABLE * m :]
    second = s.vectors[(TABLE + 1) * m :]
    atol = s.vectors[at.ATOL * m :]
    scaled = s.vectors[at.SCALED * m :]
    rtol = s.rtol
    for i in each(m):
        scale = atol[i] + rtol * max(abs(y[i]), abs(best[i]))
        scaled[i] = ((best[i] - second[i]) / scale) ** 2
    return sqrt(total(scaled, m) / s.n)


def row(rhs: Function, context: Address, s: StepMemory, j: int) -> int:
    """Row j of the table. From the second on, its error to old_error, and the step size for it to exponent."""
    m = s.m
    n = steps_of(j)
    h = s.h / n
    start_row(s, h)
    for i in range(1, n):
        status = rates(rhs, context, s, s.t + i * h, HERE, SLOPE)
        if status != at.DONE:
            return status
        leap(s, h)
    status = rates(rhs, context, s, s.t + s.h, HERE, SLOPE)
    if status != at.DONE:
        return status
    before = s.vectors[BEFORE * m :]
    here = s.vectors[HERE * m :]
    slope = s.vectors[SLOPE * m :]
    first = s.vectors[(TABLE + j - 1) * m :]
    for i in each(m):
        first[i] = 0.5 * (before[i] + here[i] + h * slope[i])
    if j == 1:
        return at.DONE
    extrapolate(s, j)
    err = row_error(s)
    power = 1.0 / (2 * j - 1)
    least = (1.0 / s.shrinks) ** power
    factor = (err / LESS_ERROR) ** power / s.safe
    factor = min(1.0 / (s.grows * least), max(least, factor))
    s.old_error = err
    s.exponent = min(s.h / factor, s.h_max)
    return at.DONE


# ---------------------------------------------------------------- order and step size


def too_far(j: int, k: int, err: float) -> bool:
    """Whether convergence up to row k + 1 is not to be expected after row j."""
    ratio = steps_of(k + 1) / 2.0
    if j == k - 1:
        ratio *= steps_of(k) / 2.0
    return j > k or (j >= k - 1 and err > ratio * ratio)


def attempt(rhs: Function, context: Address, s: StepMemory) -> int:
    """Try a step: DONE with the step from (t, Y) to (t_new, Y_NEW), or REJECTION, or why it cannot be tried."""
    status = prepared(rhs, context, s, 0.5 * s.h)
    if status != at.DONE:
        return status
    if s.order == 0:  # the row in which the first step is expected to converge
        s.order = 2
        while s.order < ROWS - 1 and s.rtol < 10.0 ** (-(s.order + 0.5) / 0.6):
            s.order += 1
        s.code = 0
    if 0.1 * abs(s.h) <= abs(s.t) * UROUND:
        return at.TOO_SMALL
    last = s.t + 1.01 * s.h > s.t_end
    if last:
        s.h = s.t_end - s.t
    return table(rhs, context, s, last)


def table(rhs: Function, context: Address, s: StepMemory, last: bool) -> int:
    """Rows until one converges, or none will."""
    h = s.h
    k = s.order
    any_row = last or s.code == 0
    # work per unit step and step size of the rows j, j - 1 and j - 2
    work = 0.0
    work1 = 0.0
    work2 = 0.0
    size = h
    size1 = h
    size2 = h
    worst = 1e300
    j = 1
    status = row(rhs, context, s, j)
    while status == at.DONE:
        j += 1
        status = row(rhs, context, s, j)
        if status != at.DONE:
            return status
        err = s.old_error
        if not isfinite(err) or err * UROUND >= 1.0:
            note(s, s.t + h)
            return reject(s, 0.5 * h)
        if j > 2 and err >= worst:
            return reject(s, 0.5 * h)
        worst = max(4.0 * err, 1.0)
        work2 = work1
        work1 = work
        work = work_of(j) / s.exponent
        size2 = size1
        size1 = size
        size = s.exponent
        if err <= 1.0 and (any_row or j >= k - 1):
            return accepted(rhs, context, s, j, last, work, work1, work2, size, size1, size2)
        if too_far(j, k, err) or j >= ROWS:
            return rejected(s, j, work, work1, work2, size, size1)
    return status


def rejected(s: StepMemory, j: int, work: float, work1: float, work2: float, size: float, size1: float) -> int:
    """No row up to j has converged: the order and size of the next attempt."""
    k = min(s.order, j)
    best = size
    here = work
    less = work1
    if k < j:
        best = size1
        here = work1
        less = work2
    if k > 2 and less < FEWER * here:
        k -= 1
    s.order = max(2, min(k, ROWS - 1))
    return reject(s, min(best, s.h))


def next_order(s: StepMemory, j: int, work: float, work1: float, work2: float) -> int:
    """The row in which the next step is to converge, after row j has."""
    k = s.order
    wanted = j
    if j == 2:
        wanted = min(3, ROWS - 1)
    elif j <= k:
        if work1 < FEWER * work:
            wanted = j - 1
        if work < MORE * work1:
            wanted = min(j + 1, ROWS - 1)
    else:
        wanted = j - 1
        if j > 3 and work2 < FEWER * work1:
            wanted = j - 2
        if work < MORE * (work2 if wanted == j - 2 else work1):
            wanted = min(j, ROWS - 1)
    if s.after_rejection != 0:
        wanted = max(2, min(wanted, j))
    return max(2, wanted)


def accepted(
    rhs: Function, context: Address, s: StepMemory, j: int, last: bool, work: float, work1: float, work2: float,
    size: float, size1: float, size2: float,
) -> int:  # fmt: skip
    """Row j has converged: the end of the step with its rates, the order and size of the next one."""
    m = s.m
    h = s.h
    best = s.vectors[TABLE * m :]
    end = s.vectors[at.Y_NEW * m :]
    for i in each(m):
        end[i] = best[i]
    s.t_new = s.t_end if last else s.t + h
    status = rates(rhs, context, s, s.t + h, at.Y_NEW, END)
    if status != at.DONE:
        return status
    k = s.order
    wanted = next_order(s, j, work, work1, work2)
    step = size
    if wanted == j + 1:
        step = size * work_of(wanted) / work_of(j)
        if j < k and work < MORE * work1:
            step = size * work_of(min(wanted + 1, ROWS)) / work_of(j)
    elif wanted == j - 1:
        step = size1
    elif wanted == j - 2:
        step = size2
    step = min(step, s.h_max)
    if s.after_rejection != 0:
        step = min(step, h)
    s.order = wanted
    s.code = j
    s.h_done = h
    s.h = max(step, TINY * h)
    s.after_rejection = 0
    s.bad = 0
    s.moved = 1
    return at.DONE


# ---------------------------------------------------------------- dense output


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


def interpolate(s: StepMemory, theta: float, out: Vec) -> int:
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
    return at.DONE
