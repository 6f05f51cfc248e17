"""The loop over steps, whatever makes them: rows, output times, limits. A method is bound to the open names.

Nothing in here depends on where it has been left: a run in several calls has the same bits as one in a single call.
"""

from __future__ import annotations

from rbdae.machine.language.words import Address, Function, Ints, Vec
from rbdae.machine.loops.correction import CHANGED, project
from rbdae.machine.loops.correction import DRIFTED as DRIFT
from rbdae.machine.loops.memory import (
    ASKED,
    BUDGET,
    DENSE_NOT_FINITE,
    DIRECTION,
    DONE,
    DRIFTED,
    EVENTS,
    FINISHED,
    FULL,
    H_DONE,
    HEAD,
    LEAST_STEP,
    MAX_STALLED,
    MAX_STEPS,
    MEASURED,
    MOVING,
    NOT_PROJECTED,
    OUTPUTS,
    PAUSED,
    PROJECTS,
    REJECTION,
    RESTART_DRIFT,
    ROOM,
    ROWS,
    STALE,
    STALLED,
    STANDS_STILL,
    STEPS,
    T_END,
    T_NEW,
    T_TRIED,
    TAKES_BACK,
    TIMES,
    TO_RESTART,
    TOO_MANY,
    UNPROJECTED,
    Y_NEW,
    M,
    N,
    T,
)
from rbdae.machine.loops.watching import asks


def attempt(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Try a step, see `rbdae.machine.loops.control`; bound to a method's."""
    return DONE


def dense(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Prepare the dense output of the last step; bound to a method's."""
    return DONE


def interpolate(s: Ints, w: Vec, theta: float, out: Vec) -> None:
    """y (n,) at T + theta H_DONE; bound to a method's."""


def outputs(
    s: Ints, w: Vec, times: Vec, rows: Vec, near: Function, near_context: Address, anywhere: Function, p: Vec
) -> int:
    """Fill the rows of the output times before the end of the last step, whose dense output is prepared; projected if
    the run is."""
    n = s[N]
    k = s[OUTPUTS]
    while k < s[TIMES] and times[k] < w[T_NEW]:
        out = rows[k * n :]
        interpolate(s, w, (times[k] - w[T]) / w[H_DONE], out)
        zero = 0.0
        for i in range(n):
            zero += 0.0 * out[i]
        if zero != 0.0:
            return DENSE_NOT_FINITE
        if s[PROJECTS] != 0:
            w[T_TRIED] = times[k]
            status = project(near, near_context, anywhere, s, p, w[DIRECTION] * times[k], out)
            if status != DONE:
                return status
        k += 1
        s[OUTPUTS] = k
    return DONE


def completed(
    rhs: Function,
    context: Address,
    s: Ints,
    w: Vec,
    times: Vec,
    rows: Vec,
    near: Function,
    near_context: Address,
    anywhere: Function,
    p: Vec,
) -> int:
    """Project the end of an accepted step, if the run is projected, and fill the outputs in it. A step whose projection
    fails is taken back."""
    status = DONE
    inside = s[OUTPUTS] < s[TIMES] and times[s[OUTPUTS]] < w[T_NEW]
    if inside:
        status = dense(rhs, context, s, w)
    if status == DONE and s[PROJECTS] != 0:
        w[T_TRIED] = w[T_NEW]
        end = w[HEAD + Y_NEW * s[M] :]
        if s[EVENTS] != 0:
            kept = w[HEAD + UNPROJECTED * s[M] :]
            for i in range(s[N]):
                kept[i] = end[i]
        status = project(near, near_context, anywhere, s, p, w[DIRECTION] * w[T_NEW], end)
        if p[CHANGED] != 0.0 and s[TAKES_BACK] == 0:
            s[STALE] = 1
        elif p[CHANGED] != 0.0 and p[DRIFT] > w[RESTART_DRIFT]:
            s[DRIFTED] = 1
    if status == DONE and inside:
        status = outputs(s, w, times, rows, near, near_context, anywhere, p)
    if status >= NOT_PROJECTED:
        w[T_NEW] = w[T]
    return status


def written(s: Ints, w: Vec, times: Vec, rows: Vec, steps_t: Vec, steps_y: Vec) -> None:
    """The end of the last step to its rows."""
    n = s[N]
    end = w[HEAD + Y_NEW * s[M] :]
    k = s[OUTPUTS]
    while k < s[TIMES] and times[k] == w[T_NEW]:
        out = rows[k * n :]
        for i in range(n):
            out[i] = end[i]
        k += 1
    s[OUTPUTS] = k
    row = steps_y[s[ROWS] * n :]
    for i in range(n):
        row[i] = end[i]
    steps_t[s[ROWS]] = w[T_NEW]
    s[ROWS] += 1


def is_watched(s: Ints, w: Vec) -> bool:
    """Whether the end of the last step is looked at: limits come before switches, not before events."""
    ends = w[T_NEW] >= w[T_END] or s[STEPS] >= s[MAX_STEPS]
    return not (s[MEASURED] + s[MOVING] == 0 or (s[EVENTS] == 0 and ends))


def run(
    rhs: Function,
    context: Address,
    s: Ints,
    w: Vec,
    times: Vec,
    rows: Vec,
    steps_t: Vec,
    steps_y: Vec,
    near: Function,
    near_context: Address,
    anywhere: Function,
    p: Vec,
    measure: Function,
    measure_context: Address,
    v: Vec,
) -> int:
    """Take steps until the end, or until the caller has something to do; called again, it continues.

    Parameters
    ----------
    rhs, context : a machine function
    s, w : see `rbdae.machine.loops.memory`
    times, rows : output times and their states, (k,) and (k, n)
    steps_t, steps_y : where accepted steps are written, with space for ``s[ROOM]`` of them
    near, near_context, anywhere, p : of the projection, see `rbdae.machine.loops.correction`
    measure, measure_context, v : of what is watched, see `rbdae.machine.loops.watching`

    Returns
    -------
    int
        FINISHED, FULL (no space for another step), PAUSED (the budget is used up), ASKED, TO_RESTART, or why it stopped
    """
    while True:
        if s[STALLED] >= s[MAX_STALLED]:
            return STANDS_STILL
        if s[STEPS] > 0 and w[T_NEW] >= w[T_END]:
            return FINISHED
        if s[STEPS] >= s[MAX_STEPS]:
            return TOO_MANY
        if s[DRIFTED] != 0:
            s[DRIFTED] = 0
            return TO_RESTART
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
        status = completed(rhs, context, s, w, times, rows, near, near_context, anywhere, p)
        if status != DONE:
            return status
        written(s, w, times, rows, steps_t, steps_y)
        if is_watched(s, w) and asks(measure, measure_context, s, v, w[DIRECTION] * w[T_NEW], w[HEAD + Y_NEW * s[M] :]):
            return ASKED
