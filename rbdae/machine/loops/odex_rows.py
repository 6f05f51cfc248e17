"""The rows of an extrapolation table: Gragg's modified mid-point rule, smoothed at its end; [HNW93] section II.9."""

from __future__ import annotations

from math import sqrt

from rbdae.machine.language.words import Address, Function, each
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.control import rates, total
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
