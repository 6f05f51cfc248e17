"""The loop over steps, whatever makes them: rows, output times, limits. A method is bound to the open names.

Nothing in here depends on where it has been left: a run in several calls has the same bits as one in a single call.
"""

from __future__ import annotations

from rbdae.machine.loops.memory import (
    BUDGET,
    DENSE_NOT_FINITE,
    DONE,
    FINISHED,
    FULL,
    H_DONE,
    HEAD,
    LEAST_STEP,
    MAX_STALLED,
    MAX_STEPS,
    OUTPUTS,
    PAUSED,
    REJECTION,
    ROOM,
    ROWS,
    STALLED,
    STANDS_STILL,
    STEPS,
    T_END,
    T_NEW,
    TIMES,
    TOO_MANY,
    Y_NEW,
    M,
    N,
    T,
)
from rbdae.machine.native.words import Address, Function, Ints, Vec


def attempt(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Try a step, see `rbdae.machine.loops.control`; bound to a method's."""
    return DONE


def dense(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Prepare the dense output of the last step; bound to a method's."""
    return DONE


def interpolate(s: Ints, w: Vec, theta: float, out: Vec) -> None:
    """y (n,) at T + theta H_DONE; bound to a method's."""


def outputs(rhs: Function, context: Address, s: Ints, w: Vec, times: Vec, rows: Vec) -> int:
    """Fill the rows of the output times up to the end of the last step."""
    n = s[N]
    k = s[OUTPUTS]
    prepared = False
    while k < s[TIMES] and times[k] <= w[T_NEW]:
        out = rows[k * n :]
        if times[k] == w[T_NEW]:
            end = w[HEAD + Y_NEW * s[M] :]
            for i in range(n):
                out[i] = end[i]
        else:
            if not prepared:
                status = dense(rhs, context, s, w)
                if status != DONE:
                    return status
                prepared = True
            interpolate(s, w, (times[k] - w[T]) / w[H_DONE], out)
            zero = 0.0
            for i in range(n):
                zero += 0.0 * out[i]
            if zero != 0.0:
                return DENSE_NOT_FINITE
        k += 1
        s[OUTPUTS] = k
    return DONE


def run(rhs: Function, context: Address, s: Ints, w: Vec, times: Vec, rows: Vec, steps_t: Vec, steps_y: Vec) -> int:
    """Take steps until the end, or until the caller has something to do; called again, it continues.

    Parameters
    ----------
    rhs, context : a machine function
    s, w : see `rbdae.machine.loops.memory`
    times, rows : output times and their states, (k,) and (k, n)
    steps_t, steps_y : where accepted steps are written, with space for ``s[ROOM]`` of them

    Returns
    -------
    int
        FINISHED, FULL (no space for another step), PAUSED (the budget is used up), or why it stopped
    """
    n = s[N]
    while True:
        if s[STALLED] >= s[MAX_STALLED]:
            return STANDS_STILL
        if s[STEPS] > 0 and w[T_NEW] >= w[T_END]:
            return FINISHED
        if s[STEPS] >= s[MAX_STEPS]:
            return TOO_MANY
        if s[ROWS] >= s[ROOM]:
            return FULL
        if s[BUDGET] <= 0:
            return PAUSED
        status = attempt(rhs, context, s, w)
        if status == REJECTION:
            continue
        if status != DONE:
            return status
        s[STALLED] = s[STALLED] + 1 if w[T_NEW] - w[T] <= w[LEAST_STEP] else 0
        s[STEPS] += 1
        status = outputs(rhs, context, s, w, times, rows)
        if status != DONE:
            return status
        end = w[HEAD + Y_NEW * s[M] :]
        row = steps_y[s[ROWS] * n :]
        for i in range(n):
            row[i] = end[i]
        steps_t[s[ROWS]] = w[T_NEW]
        s[ROWS] += 1
