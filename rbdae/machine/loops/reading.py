"""Reading runs: a machine function for every row, and polynomials of y over a step.

A row has the same bits alone and among others, because nothing goes from row to row. The polynomials are those of
`rbdae.solving.dense`, where plain rounds settle.
"""

from __future__ import annotations

from math import isfinite

from rbdae.machine.language.words import Address, Function, Vec, evaluate

FIRST, LAST = 5, 17
"""Numbers of points of the first and of the last level; each has all but one of the points of the next one doubled."""

ROUNDS = 16
SETTLED = 0.01
ENOUGH = 1.0
LACK = 100.0
HOPELESS = 1e4
"""See `rbdae.solving.dense`."""


def each_row(
    function: Function, context: Address, m: int, t: Vec, y: Vec, n_y: int, yd: Vec, n_yd: int, out: Vec, n: int
) -> int:
    """out (m, n) = function(t, y, yd) row by row, y (m, n_y) and yd (m, n_yd); the number of rows done, which is less
    than m if the function has failed."""
    for i in range(m):
        if evaluate(function, context, t[i], y[i * n_y :], yd[i * n_yd :], 0.0, out[i * n :]) != 0:
            return i
    return m


def inner(n: int, k: int, d: int, h: float, y: Vec, scale: Vec, table: Vec, c: Vec, states: Vec, lack: Vec) -> float:
    """States at the n points from k coefficients of the rates, and what the integral lacks of the state at the end; the
    largest change of the states inside, in tolerances."""
    rise = table[n:]
    integrate = table[2 * n + n * n :]
    for j in range(d):
        total = 0.0
        for i in range(k):
            total += integrate[(n - 1) * n + i] * c[i * d + j]
        lack[j] = y[d + j] - y[j] - h * total
    change = 0.0
    for p in range(1, n - 1):
        for j in range(d):
            total = 0.0
            for i in range(k):
                total += integrate[p * n + i] * c[i * d + j]
            new = y[j] + h * total + rise[p] * lack[j]
            change = max(change, abs(new - states[p * d + j]) / scale[j])
            states[p * d + j] = new
    return change


def fitted(n: int, d: int, table: Vec, values: Vec, c: Vec) -> None:
    """The n coefficients of rates at the n points."""
    fit = table[2 * n :]
    for i in range(n):
        for j in range(d):
            total = 0.0
            for p in range(n):
                total += fit[i * n + p] * values[p * d + j]
            c[i * d + j] = total


def cubic(n: int, d: int, h: float, y: Vec, ends: Vec, table: Vec, values: Vec) -> None:
    """The rates of the cubic through states and rates at the n points."""
    for p in range(n):
        u = table[p]
        for j in range(d):
            slope = 6.0 * u * (1.0 - u) * (y[d + j] - y[j]) / h
            values[p * d + j] = slope + (1.0 - u) * (1.0 - 3.0 * u) * ends[j] + u * (3.0 * u - 2.0) * ends[d + j]


def settled(
    rates: Function, context: Address, n: int, k: int, d: int, t: float, h: float, y: Vec, scale: Vec, ends: Vec,
    table: Vec, c: Vec, states: Vec, values: Vec, lack: Vec, full: Vec, out: Vec,
) -> float:  # fmt: skip
    """Rounds until they settle; the last change in tolerances, infinite if rates are not finite, -1 after a failure."""
    inner(n, k, d, h, y, scale, table, c, states, lack)
    first = 1e300
    change = 1e300
    for _ in range(ROUNDS):
        zero = 0.0
        for j in range(d):
            values[j] = ends[j]
            values[(n - 1) * d + j] = ends[d + j]
        for p in range(1, n - 1):
            for j in range(d):
                full[j] = states[p * d + j]
            if evaluate(rates, context, t + h * table[p], full, full, 0.0, out) != 0:
                return -1.0
            for j in range(d):
                values[p * d + j] = out[j]
                zero += 0.0 * out[j]
        if not isfinite(zero):
            return 1e300
        fitted(n, d, table, values, c)
        change = inner(n, n, d, h, y, scale, table, c, states, lack)
        first = min(first, change)
        if change < SETTLED or change > HOPELESS * first:
            break
    return change


def collocate(
    rates: Function, context: Address, n_y: int, d: int, t: float, t_end: float, y: Vec, scale: Vec, tables: Vec,
    c: Vec, lack: Vec, w: Vec,
) -> int:  # fmt: skip
    """Coefficients c of the rates of a step, and what their integral lacks of the state at the end.

    Parameters
    ----------
    rates, context : a machine function for the rates (at least d) at (t, y), y (n_y) with zeros beyond d
    t, t_end, y, scale : the ends, (2, d), and tolerances (d)
    tables : of each level points, rise, fit, integrals, see `rbdae.solving.dense`
    w : memory, n_y zeros at its beginning

    Returns
    -------
    int
        How many coefficients there are; 0 where rounds do not settle, -1 if the function has failed
    """
    h = t_end - t
    full = w
    ends = w[n_y:]
    states = w[n_y + 2 * d :]
    values = w[n_y + (2 + LAST) * d :]
    out = w[n_y + (2 + 2 * LAST) * d :]
    for side in range(2):
        for j in range(d):
            full[j] = y[side * d + j]
        if evaluate(rates, context, t if side == 0 else t_end, full, full, 0.0, out) != 0:
            return -1
        for j in range(d):
            ends[side * d + j] = out[j]
    at = 0
    n = FIRST
    known = 0
    while n <= LAST:
        table = tables[at:]
        if known == 0:
            cubic(n, d, h, y, ends, table, values)
            fitted(n, d, table, values, c)
            known = n
        change = settled(rates, context, n, known, d, t, h, y, scale, ends, table, c, states, values, lack, full, out)
        if change < 0.0:
            return -1
        tail = 0.0
        left = 0.0
        for j in range(d):
            tail = max(tail, abs(c[(n - 1) * d + j]) / scale[j], abs(c[(n - 2) * d + j]) / scale[j])
            left = max(left, abs(lack[j]) / scale[j])
        if change < SETTLED and h * tail / (2.0 * n) < SETTLED:
            return n if left < LACK * ENOUGH else 0
        known = n if change < ENOUGH else 0
        at += 2 * n + 2 * n * n
        n = 2 * n - 1
    return 0


def along(m: int, k: int, d: int, t: float, h: float, y: Vec, c: Vec, lack: Vec, times: Vec, w: Vec, out: Vec) -> None:
    """out (m, d) = y at times of the step; `w` is memory for k numbers: integrals of Legendre polynomials from -1 to s
    over a step of length 1."""
    for i in range(m):
        u = (times[i] - t) / h
        s = 2.0 * u - 1.0
        rise = u * u * (3.0 - 2.0 * u)
        w[0] = 0.5 * (s + 1.0)
        before = 1.0
        here = s
        for p in range(1, k):
            last = before
            before = here
            here = ((2 * p + 1) * s * before - p * last) / (p + 1)
            w[p] = 0.5 * (here - last) / (2 * p + 1)
        for j in range(d):
            total = 0.0
            for p in range(k):
                total += w[p] * c[p * d + j]
            out[i * d + j] = y[j] + h * total + rise * lack[j]
