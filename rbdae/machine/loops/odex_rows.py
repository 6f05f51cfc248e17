"""The rows of an extrapolation table: Gragg's modified mid-point rule, smoothed at its end; [HNW93] section II.9."""

from __future__ import annotations

from math import sqrt

from rbdae.machine.language.words import Address, Function, Ints, Vec, each
from rbdae.machine.loops.control import rates, total
from rbdae.machine.loops.memory import (
    ATOL,
    DONE,
    EXPONENT,
    GROWS,
    H_MAX,
    HEAD,
    K1,
    OLD_ERROR,
    RTOL,
    SAFE,
    SCALED,
    SHRINKS,
    VECTORS,
    H,
    M,
    N,
    T,
    Y,
)

ROWS = 9
"""The most rows of the table: order 18."""

BEFORE = K1 + 1
HERE = K1 + 2
SLOPE = K1 + 3
END = K1 + 4
"""Two states of a row one after the other, the rates there; those at the end of an accepted step."""

TABLE = VECTORS
"""The last row, the most extrapolated state first."""

FURTHER_ROWS = 2
"""Rows that dense output has beside those of the step."""

MIDDLE = VECTORS + ROWS
"""Coefficients of the dense output, at most 2 (ROWS + FURTHER_ROWS) - 3."""

MEMORY = MIDDLE + 2 * (ROWS + FURTHER_ROWS) - 3
"""Vectors in all."""

LESS_ERROR = 0.65
"""The factor of tolerance in a step size, SAFE1."""


def steps_of(j: int) -> int:
    """The number of steps in row j = 1, 2, ..."""
    return 2 * j


def work_of(j: int) -> float:
    """The evaluations of the rows up to j."""
    return j * (j + 1.0) + 1.0


def start_row(s: Ints, w: Vec, h: float) -> None:
    """The first step of a row with steps of size h, by Euler's rule."""
    m = s[M]
    y = w[HEAD + Y * m :]
    k1 = w[HEAD + K1 * m :]
    before = w[HEAD + BEFORE * m :]
    here = w[HEAD + HERE * m :]
    for i in each(m):
        before[i] = y[i]
        here[i] = y[i] + h * k1[i]


def leap(s: Ints, w: Vec, h: float) -> None:
    """A step of the mid-point rule over two step sizes, from the state before with the rates here."""
    m = s[M]
    before = w[HEAD + BEFORE * m :]
    here = w[HEAD + HERE * m :]
    slope = w[HEAD + SLOPE * m :]
    for i in each(m):
        x = before[i] + 2.0 * h * slope[i]
        before[i] = here[i]
        here[i] = x


def extrapolate(s: Ints, w: Vec, j: int) -> None:
    """Row j from the row before and its first entry."""
    m = s[M]
    for k in range(j - 1):
        l = j - 1 - k
        ratio = (1.0 * steps_of(j)) / steps_of(l)
        factor = 1.0 / (ratio * ratio - 1.0)
        new = w[HEAD + (TABLE + l) * m :]
        old = w[HEAD + (TABLE + l - 1) * m :]
        for i in each(m):
            old[i] = new[i] + factor * (new[i] - old[i])


def row_error(s: Ints, w: Vec) -> float:
    """The difference of the first two entries of a row in tolerances, root mean square."""
    m = s[M]
    y = w[HEAD + Y * m :]
    best = w[HEAD + TABLE * m :]
    second = w[HEAD + (TABLE + 1) * m :]
    atol = w[HEAD + ATOL * m :]
    scaled = w[HEAD + SCALED * m :]
    rtol = w[RTOL]
    for i in each(m):
        scale = atol[i] + rtol * max(abs(y[i]), abs(best[i]))
        scaled[i] = ((best[i] - second[i]) / scale) ** 2
    return sqrt(total(scaled, m) / s[N])


def row(rhs: Function, context: Address, s: Ints, w: Vec, j: int) -> int:
    """Row j of the table. From the second on, its error to OLD_ERROR, and the step size for it to EXPONENT."""
    m = s[M]
    n = steps_of(j)
    h = w[H] / n
    start_row(s, w, h)
    for i in range(1, n):
        status = rates(rhs, context, s, w, w[T] + i * h, HERE, SLOPE)
        if status != DONE:
            return status
        leap(s, w, h)
    status = rates(rhs, context, s, w, w[T] + w[H], HERE, SLOPE)
    if status != DONE:
        return status
    before = w[HEAD + BEFORE * m :]
    here = w[HEAD + HERE * m :]
    slope = w[HEAD + SLOPE * m :]
    first = w[HEAD + (TABLE + j - 1) * m :]
    for i in each(m):
        first[i] = 0.5 * (before[i] + here[i] + h * slope[i])
    if j == 1:
        return DONE
    extrapolate(s, w, j)
    err = row_error(s, w)
    power = 1.0 / (2 * j - 1)
    least = (1.0 / w[SHRINKS]) ** power
    factor = (err / LESS_ERROR) ** power / w[SAFE]
    factor = min(1.0 / (w[GROWS] * least), max(least, factor))
    w[OLD_ERROR] = err
    w[EXPONENT] = min(w[H] / factor, w[H_MAX])
    return DONE
