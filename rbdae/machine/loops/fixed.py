"""A loop of implicit steps of fixed size (`rbdae.machine.loops.fixed_stages`), the rows of output times, and the work
of a run: its states are there, the unknowns of its steps are found again.

``work_of`` is a machine function with the arguments of the others: out[0] is the work of a step of the scheme with the
unknowns u.
"""

from __future__ import annotations

from rbdae.machine.language.words import Vec, evaluate
from rbdae.machine.loops import fixed_memory as at
from rbdae.machine.loops.fixed_memory import FixedMemory
from rbdae.machine.loops.fixed_stages import composed, state_at, taken


def within(s: FixedMemory, r: float, out: Vec) -> int:
    """The state y (n,) at t + r h_done in the last step. With stages, whose states are of order two, it is the end of a
    step of its own, from the end that is farther away: of the order of the method, and with its invariants."""
    m = s.m
    y = s.vectors[(1 - s.end) * m :]
    if s.stages == 1:
        return state_at(s, s.t, y, s.h_done, s.vectors[at.U * m :], r, out)
    t = s.t
    h = r * s.h_done
    if r < 0.5:
        y = s.vectors[s.end * m :]
        t += s.h_done
        h -= s.h_done
    return composed(s, t, y, h, False, False, out)


def attempt(s: FixedMemory) -> int:
    """Take a step; after a failure its start is still there."""
    m = s.m
    t = s.t_new
    t_new = s.t0 + (s.steps + 1) * s.h
    h = s.h
    if t_new > s.t_end - at.ALMOST * s.h:
        if t_new > s.t_end + at.ALMOST * s.h:
            h = s.t_end - t
        t_new = s.t_end
    s.t = t
    known = s.known != 0 and h == s.h_done
    y = s.vectors[s.end * m :]
    end = s.vectors[(1 - s.end) * m :]
    status = composed(s, t, y, h, known, True, end)
    if status != at.DONE:
        return status
    s.h_done = h
    s.t_new = t_new
    s.known = 1
    s.end = 1 - s.end
    return at.DONE


def outputs(s: FixedMemory, times: Vec, rows: Vec) -> int:
    """Fill the rows of the output times up to the end of the last step."""
    n = s.n
    k = s.outputs
    while k < s.times and times[k] <= s.t_new:
        out = rows[k * n :]
        if times[k] == s.t_new:
            end = s.vectors[s.end * s.m :]
            for i in range(n):
                out[i] = end[i]
        else:
            r = (times[k] - s.t) / s.h_done
            status = within(s, r, out)
            if status != at.DONE:
                return status
        k += 1
        s.outputs = k
    return at.DONE


def stride(s: FixedMemory, times: Vec, steps_t: Vec, steps_y: Vec) -> None:
    """Steps in one function, from row to row, until something else is to be done: the first and the last step, output
    times, and what the other functions do."""
    n = s.n
    m = s.m
    u = s.vectors[at.U * m :]
    end = s.vectors[(1 - s.end) * m :]
    start = s.vectors[s.end * m :]
    before = start
    y = start
    h = s.h
    first = s.rows
    t = s.t_new
    while s.rows < s.room and s.steps < s.max_steps and s.budget > 0:
        t_new = s.t0 + (s.steps + 1) * h
        if t_new > s.t_end - at.ALMOST * h:
            break
        if s.outputs < s.times and times[s.outputs] <= t_new:
            break
        row = steps_y[s.rows * n :]
        if not taken(s, t, y, h, u, row):
            break
        steps_t[s.rows] = t_new
        s.rows += 1
        s.steps += 1
        s.t = t
        t = t_new
        before = y
        y = row
    if s.rows > first:
        for i in range(n):
            end[i] = y[i]
        for i in range(n):
            start[i] = before[i]
        s.t_new = t
        s.end = 1 - s.end


def run(s: FixedMemory, times: Vec, rows: Vec, steps_t: Vec, steps_y: Vec) -> int:
    """Take steps until the end, or until the caller has something to do; called again, it continues.

    Parameters
    ----------
    s : see `rbdae.machine.loops.fixed_memory`
    times, rows : output times and their states, (k,) and (k, n)
    steps_t, steps_y : where steps are written, with space for ``s.room`` of them
    """
    n = s.n
    while True:
        if s.whole != 0 and s.stages == 1 and s.known != 0 and s.h_done == s.h:
            stride(s, times, steps_t, steps_y)
        if s.t_new >= s.t_end:
            return at.FINISHED
        if s.steps >= s.max_steps:
            return at.TOO_MANY
        if s.rows >= s.room:
            return at.FULL
        if s.budget <= 0:
            return at.PAUSED
        status = attempt(s)
        if status != at.DONE:
            return status
        s.steps += 1
        end = s.vectors[s.end * s.m :]
        row = steps_y[s.rows * n :]
        for i in range(n):
            row[i] = end[i]
        steps_t[s.rows] = s.t_new
        s.rows += 1
        status = outputs(s, times, rows)
        if status != at.DONE:
            return status


def along(s: FixedMemory, t: float, h: float, known: bool, out: Vec) -> int:
    """The step of size h from t and the first vector, and its work in out[0]."""
    m = s.m
    y = s.vectors[at.BETWEEN * m :]
    start = s.vectors
    further = s.vectors[at.FURTHER * m :]
    status = composed(s, t, start, h, known, True, s.vectors[m:])
    if status != at.DONE:
        return status
    for i in range(s.n):
        y[i] = start[i]
    total = 0.0
    for k in range(s.stages):
        part = s.vectors[at.WEIGHTS * m + k] * h
        u = s.vectors[(at.U + k) * m :]
        u[s.unknowns] = 1.0
        if evaluate(s.work_of, s.work_of_context, s.direction * t, y, u, s.direction * part, further) != 0:
            return at.CALLBACK
        total += further[0]
        status = state_at(s, t, y, part, u, 1.0, further)
        if status != at.DONE:
            return status
        for i in range(s.n):
            y[i] = further[i]
        t += part
    out[0] = total
    return at.DONE


def between(s: FixedMemory, t: float, h: float, r: float, ends: Vec, out: Vec) -> int:
    """In out[0], which has the work of the step of size h from t, that up to t + r h; both ends are given. With stages
    it is that of a step of its own, from the end that is farther away, as the state there is; else a share."""
    whole = out[0]
    if s.stages == 1 or r == 0.0:
        out[0] = r * whole
        return at.DONE
    start = s.vectors
    size = r * h
    before = 0.0
    first = 0
    if r < 0.5:
        t += h
        size -= h
        before = whole
        first = s.n
    for i in range(s.n):
        start[i] = ends[first + i]
    s.known = 0
    status = along(s, t, size, False, out)
    out[0] += before
    return status


def works(s: FixedMemory, times: Vec, rows: Vec, steps_t: Vec, steps_y: Vec, sizes: Vec) -> int:
    """Fill the rows (k,) with the work from the first step to the output times, rising, within the run; called again,
    it continues. There are ``s.rows`` steps, the first at the start, of the `sizes` of the steps from them on."""
    n = s.n
    start = s.vectors
    done = s.vectors[(at.U + s.stages) * s.m :]
    while s.steps + 1 < s.rows:
        if s.budget <= 0:
            return at.PAUSED
        k = s.steps
        t = steps_t[k]
        h = sizes[k]
        ends = steps_y[k * n :]
        for i in range(n):
            start[i] = ends[i]
        known = s.known != 0 and h == s.h_done
        status = along(s, t, h, known, done)
        if status != at.DONE:
            return status
        s.h_done = h
        s.known = 1
        whole = done[0]
        while s.outputs < s.times and times[s.outputs] < steps_t[k + 1]:
            r = (times[s.outputs] - t) / (steps_t[k + 1] - t)
            done[0] = whole
            status = between(s, t, h, r, ends, done)
            if status != at.DONE:
                return status
            rows[s.outputs] = s.work + done[0]
            s.outputs += 1
        s.work += whole
        s.steps += 1
    while s.outputs < s.times:
        rows[s.outputs] = s.work
        s.outputs += 1
    return at.FINISHED
