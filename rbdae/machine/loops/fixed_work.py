"""The work of a run of fixed steps, step by step: its states are there, the unknowns of its steps are found again.

``work_of`` is a machine function with the arguments of the others (`rbdae.machine.loops.fixed_stages`): out[0] is the
work of a step of the scheme with the unknowns u.
"""

from __future__ import annotations

from rbdae.machine.language.words import Vec, evaluate
from rbdae.machine.loops import fixed_memory as at
from rbdae.machine.loops.fixed_memory import FixedMemory
from rbdae.machine.loops.fixed_stages import composed, state_at


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
