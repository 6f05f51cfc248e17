"""ODEX: extrapolation of Gragg's modified mid-point rule (GBS), of variable order.

[HNW93] section II.9, and the code ``odex.f``: the order and the step size with the least work per unit step. The
numbers of steps are 2, 4, 6, ...; for dense output see `rbdae.machine.loops.odex_dense`.

Different from ``odex.f``: its test for stability in the first steps of a row is left out; the first step size is that
of `rbdae.machine.loops.control`; the factor of safety 0.94 is the option `safety`, 0.9.
"""

from __future__ import annotations

from math import isfinite

from rbdae.machine.language.words import Address, Function, each
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.control import TINY, UROUND, advance, begin, note, rates, reject
from rbdae.machine.loops.memory import StepMemory
from rbdae.machine.loops.odex_rows import END, ROWS, TABLE, row, steps_of, work_of

FEWER = 0.8
MORE = 0.9
"""The order falls, or rises, if the work per unit step does so by these, FAC3 and FAC4."""


def first_target(s: StepMemory) -> int:
    """The row in which the first step is expected to converge."""
    k = 2
    least = s.rtol
    while k < ROWS - 1 and least < 10.0 ** (-(k + 0.5) / 0.6):
        k += 1
    return k


def too_far(j: int, k: int, err: float) -> bool:
    """Whether convergence up to row k + 1 is not to be expected after row j."""
    ratio = steps_of(k + 1) / 2.0
    if j == k - 1:
        ratio *= steps_of(k) / 2.0
    return j > k or (j >= k - 1 and err > ratio * ratio)


def attempt(rhs: Function, context: Address, s: StepMemory) -> int:
    """Try a step: DONE with the step from (t, Y) to (t_new, Y_NEW), or REJECTION, or why it cannot be tried."""
    status = at.DONE
    if s.begun == 0:
        status = begin(rhs, context, s)
    elif s.shrink != 0:
        s.shrink = 0
        note(s, s.t + s.h)
        return reject(s, 0.5 * s.h)
    elif s.moved != 0:
        status = advance(rhs, context, s)
    if status != at.DONE:
        return status
    if s.order == 0:
        s.order = first_target(s)
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
    rhs: Function,
    context: Address,
    s: StepMemory,
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
