"""The work of a run of fixed steps, step by step: its states are there, the unknowns of its steps are found again.

``work`` is a machine function with the arguments of the others (`rbdae.machine.loops.fixed`): out[0] is the work of a
step of the scheme with the unknowns u.
"""

from __future__ import annotations

from rbdae.machine.language.words import Address, Function, Ints, Vec, evaluate
from rbdae.machine.loops.fixed import at, composed
from rbdae.machine.loops.fixed_memory import (
    BETWEEN,
    BUDGET,
    CALLBACK,
    DIRECTION,
    DONE,
    FINISHED,
    FURTHER,
    H_DONE,
    HEAD,
    KNOWN,
    OUTPUTS,
    PAUSED,
    ROWS,
    STAGES,
    STEPS,
    TIMES,
    UNKNOWNS,
    WEIGHTS,
    WORK,
    M,
    N,
    U,
)


def along(
    newton: Function,
    newton_context: Address,
    advance: Function,
    advance_context: Address,
    predict: Function,
    predict_context: Address,
    work: Function,
    work_context: Address,
    s: Ints,
    w: Vec,
    t: float,
    h: float,
    known: bool,
    out: Vec,
) -> int:
    """The step of size h from (t, Y), and its work in out[0]."""
    m = s[M]
    y = w[HEAD + BETWEEN * m :]
    start = w[HEAD:]
    further = w[HEAD + FURTHER * m :]
    status = composed(
        newton, newton_context, advance, advance_context, predict, predict_context,
        s, w, t, start, h, known, True, w[HEAD + m :],
    )  # fmt: skip
    if status != DONE:
        return status
    for i in range(s[N]):
        y[i] = start[i]
    total = 0.0
    for k in range(s[STAGES]):
        part = w[HEAD + WEIGHTS * m + k] * h
        u = w[HEAD + (U + k) * m :]
        u[s[UNKNOWNS]] = 1.0
        if evaluate(work, work_context, w[DIRECTION] * t, y, u, w[DIRECTION] * part, further) != 0:
            return CALLBACK
        total += further[0]
        status = at(advance, advance_context, s, w, t, y, part, u, 1.0, further)
        if status != DONE:
            return status
        for i in range(s[N]):
            y[i] = further[i]
        t += part
    out[0] = total
    return DONE


def between(
    newton: Function,
    newton_context: Address,
    advance: Function,
    advance_context: Address,
    predict: Function,
    predict_context: Address,
    work: Function,
    work_context: Address,
    s: Ints,
    w: Vec,
    t: float,
    h: float,
    r: float,
    ends: Vec,
    out: Vec,
) -> int:
    """In out[0], which has the work of the step of size h from t, that up to t + r h; both ends are given. With stages
    it is that of a step of its own, from the end that is farther away, as the state there is; else a share."""
    whole = out[0]
    if s[STAGES] == 1 or r == 0.0:
        out[0] = r * whole
        return DONE
    start = w[HEAD:]
    size = r * h
    before = 0.0
    first = 0
    if r < 0.5:
        t += h
        size -= h
        before = whole
        first = s[N]
    for i in range(s[N]):
        start[i] = ends[first + i]
    s[KNOWN] = 0
    status = along(
        newton, newton_context, advance, advance_context, predict, predict_context, work, work_context,
        s, w, t, size, False, out,
    )  # fmt: skip
    out[0] += before
    return status


def works(
    newton: Function,
    newton_context: Address,
    advance: Function,
    advance_context: Address,
    predict: Function,
    predict_context: Address,
    work: Function,
    work_context: Address,
    s: Ints,
    w: Vec,
    times: Vec,
    rows: Vec,
    steps_t: Vec,
    steps_y: Vec,
    sizes: Vec,
) -> int:
    """Fill the rows (k,) with the work from the first step to the output times, rising, within the run; called again,
    it continues. There are ``s[ROWS]`` steps, the first at the start, of the `sizes` of the steps from them on."""
    n = s[N]
    start = w[HEAD:]
    done = w[HEAD + (U + s[STAGES]) * s[M] :]
    while s[STEPS] + 1 < s[ROWS]:
        if s[BUDGET] <= 0:
            return PAUSED
        k = s[STEPS]
        t = steps_t[k]
        h = sizes[k]
        ends = steps_y[k * n :]
        for i in range(n):
            start[i] = ends[i]
        known = s[KNOWN] != 0 and h == w[H_DONE]
        status = along(
            newton, newton_context, advance, advance_context, predict, predict_context, work, work_context,
            s, w, t, h, known, done,
        )  # fmt: skip
        if status != DONE:
            return status
        w[H_DONE] = h
        s[KNOWN] = 1
        whole = done[0]
        while s[OUTPUTS] < s[TIMES] and times[s[OUTPUTS]] < steps_t[k + 1]:
            r = (times[s[OUTPUTS]] - t) / (steps_t[k + 1] - t)
            done[0] = whole
            status = between(
                newton, newton_context, advance, advance_context, predict, predict_context, work, work_context,
                s, w, t, h, r, ends, done,
            )  # fmt: skip
            if status != DONE:
                return status
            rows[s[OUTPUTS]] = w[WORK] + done[0]
            s[OUTPUTS] += 1
        w[WORK] += whole
        s[STEPS] += 1
    while s[OUTPUTS] < s[TIMES]:
        rows[s[OUTPUTS]] = w[WORK]
        s[OUTPUTS] += 1
    return FINISHED
