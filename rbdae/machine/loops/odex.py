"""ODEX: extrapolation of Gragg's modified mid-point rule (GBS), of variable order.

[HNW93] section II.9, and the code ``odex.f``: the order and the step size with the least work per unit step. The
numbers of steps are 2, 4, 6, ...; for dense output see `rbdae.machine.loops.odex_dense`.

Different from ``odex.f``: its test for stability in the first steps of a row is left out; the first step size is that
of `rbdae.machine.loops.control`; the factor of safety 0.94 is the option `safety`, 0.9.
"""

from __future__ import annotations

from math import isfinite

from rbdae.machine.language.words import Address, Function, Ints, Vec, each
from rbdae.machine.loops.control import TINY, UROUND, advance, begin, note, rates, reject
from rbdae.machine.loops.memory import (
    AFTER_REJECTION,
    BAD,
    BEGUN,
    CODE,
    DONE,
    EXPONENT,
    H_DONE,
    H_MAX,
    HEAD,
    MOVED,
    OLD_ERROR,
    RTOL,
    SHRINK,
    T_END,
    T_NEW,
    TOO_SMALL,
    Y_NEW,
    H,
    M,
    T,
)
from rbdae.machine.loops.memory import ORDER as TARGET
from rbdae.machine.loops.odex_rows import END, ROWS, TABLE, row, steps_of, work_of

FEWER = 0.8
MORE = 0.9
"""The order falls, or rises, if the work per unit step does so by these, FAC3 and FAC4."""


def first_target(w: Vec) -> int:
    """The row in which the first step is expected to converge."""
    k = 2
    least = w[RTOL]
    while k < ROWS - 1 and least < 10.0 ** (-(k + 0.5) / 0.6):
        k += 1
    return k


def too_far(j: int, k: int, err: float) -> bool:
    """Whether convergence up to row k + 1 is not to be expected after row j."""
    ratio = steps_of(k + 1) / 2.0
    if j == k - 1:
        ratio *= steps_of(k) / 2.0
    return j > k or (j >= k - 1 and err > ratio * ratio)


def attempt(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Try a step: DONE with the step from (T, Y) to (T_NEW, Y_NEW), or REJECTION, or why it cannot be tried."""
    status = DONE
    if s[BEGUN] == 0:
        status = begin(rhs, context, s, w)
    elif s[SHRINK] != 0:
        s[SHRINK] = 0
        note(s, w, w[T] + w[H])
        return reject(s, w, 0.5 * w[H])
    elif s[MOVED] != 0:
        status = advance(rhs, context, s, w)
    if status != DONE:
        return status
    if s[TARGET] == 0:
        s[TARGET] = first_target(w)
        s[CODE] = 0
    if 0.1 * abs(w[H]) <= abs(w[T]) * UROUND:
        return TOO_SMALL
    last = w[T] + 1.01 * w[H] > w[T_END]
    if last:
        w[H] = w[T_END] - w[T]
    return table(rhs, context, s, w, last)


def table(rhs: Function, context: Address, s: Ints, w: Vec, last: bool) -> int:
    """Rows until one converges, or none will."""
    h = w[H]
    k = s[TARGET]
    any_row = last or s[CODE] == 0
    # work per unit step and step size of the rows j, j - 1 and j - 2
    work = 0.0
    work1 = 0.0
    work2 = 0.0
    size = h
    size1 = h
    size2 = h
    worst = 1e300
    j = 1
    status = row(rhs, context, s, w, j)
    while status == DONE:
        j += 1
        status = row(rhs, context, s, w, j)
        if status != DONE:
            return status
        err = w[OLD_ERROR]
        if not isfinite(err) or err * UROUND >= 1.0:
            note(s, w, w[T] + h)
            return reject(s, w, 0.5 * h)
        if j > 2 and err >= worst:
            return reject(s, w, 0.5 * h)
        worst = max(4.0 * err, 1.0)
        work2 = work1
        work1 = work
        work = work_of(j) / w[EXPONENT]
        size2 = size1
        size1 = size
        size = w[EXPONENT]
        if err <= 1.0 and (any_row or j >= k - 1):
            return accepted(rhs, context, s, w, j, last, work, work1, work2, size, size1, size2)
        if too_far(j, k, err) or j >= ROWS:
            return rejected(s, w, j, work, work1, work2, size, size1)
    return status


def rejected(s: Ints, w: Vec, j: int, work: float, work1: float, work2: float, size: float, size1: float) -> int:
    """No row up to j has converged: the order and size of the next attempt."""
    k = min(s[TARGET], j)
    best = size
    here = work
    less = work1
    if k < j:
        best = size1
        here = work1
        less = work2
    if k > 2 and less < FEWER * here:
        k -= 1
    s[TARGET] = max(2, min(k, ROWS - 1))
    return reject(s, w, min(best, w[H]))


def next_order(s: Ints, j: int, work: float, work1: float, work2: float) -> int:
    """The row in which the next step is to converge, after row j has."""
    k = s[TARGET]
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
    if s[AFTER_REJECTION] != 0:
        wanted = max(2, min(wanted, j))
    return max(2, wanted)


def accepted(
    rhs: Function,
    context: Address,
    s: Ints,
    w: Vec,
    j: int,
    last: bool,
    work: float,
    work1: float,
    work2: float,
    size: float,
    size1: float,
    size2: float,
) -> int:
    """Row j has converged: the end of the step with its rates, the order and size of the next one."""
    m = s[M]
    h = w[H]
    best = w[HEAD + TABLE * m :]
    end = w[HEAD + Y_NEW * m :]
    for i in each(m):
        end[i] = best[i]
    w[T_NEW] = w[T_END] if last else w[T] + h
    status = rates(rhs, context, s, w, w[T] + h, Y_NEW, END)
    if status != DONE:
        return status
    k = s[TARGET]
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
    step = min(step, w[H_MAX])
    if s[AFTER_REJECTION] != 0:
        step = min(step, h)
    s[TARGET] = wanted
    s[CODE] = j
    w[H_DONE] = h
    w[H] = max(step, TINY * h)
    s[AFTER_REJECTION] = 0
    s[BAD] = 0
    s[MOVED] = 1
    return DONE


__all__ = ["attempt"]
