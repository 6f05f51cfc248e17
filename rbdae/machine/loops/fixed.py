"""A loop of implicit steps of fixed size: Newton's method with three machine functions of a scheme.

``newton`` makes the unknowns of a step after one more iteration of those before, and the relative size of the
correction, or of what the balances lacked before it if that is more; ``advance`` the state at the end of the step, or
within it; ``predict`` the unknowns to begin with. All of them have the arguments (t, y, u, h, out), with the state y at
the start of the step; back in time (direction) t and h change their signs.

A step is accepted only if its balances hold: if its last size c, whose correction is applied, is at most tolerance, and
q c is at most `EXACT`, q being c over the size before. What balances lack after a correction is q c with a tangent that
is wrong by the part q, and q^2 c by Newton's method. In the first iteration, with no size before, c has to be at most
`EXACT`. Corrections that no longer fall, at round-off, have q = 1.

A step may consist of several stages, steps of the scheme of the sizes WEIGHTS (`rbdae.machine.loops.composition`). A
stage begins with its unknowns in the step before. Where it does not converge, it begins again with ``predict``.
"""

from __future__ import annotations

from math import isfinite

from rbdae.machine.language.words import Vec, evaluate
from rbdae.machine.loops import fixed_memory as at
from rbdae.machine.loops.fixed_memory import FixedMemory

EXACT = 1e-11
"""What the balances of an accepted step may lack, relative to its increments, by the estimate of a wrong tangent."""


def iterate(s: FixedMemory, t: float, y: Vec, h: float, u: Vec) -> int:
    """Newton's method from the unknowns u; the last correction is applied."""
    here = u
    there = s.vectors[at.FURTHER * s.m :]
    before = 0.0
    status = at.NOT_CONVERGED
    turned = False
    for k in range(s.most):
        s.iterations += 1
        s.budget -= 1
        if evaluate(s.newton, s.newton_context, s.direction * t, y, here, s.direction * h, there) != 0:
            status = at.CALLBACK
            break
        correction = there[s.unknowns]
        s.correction = correction
        if not isfinite(correction):
            status = at.NOT_FINITE
            break
        free = here
        here = there
        there = free
        turned = not turned
        if correction <= s.tolerance:
            if k == 0:
                before = correction
            if correction * correction <= EXACT * before:
                status = at.DONE
                break
        before = correction
    if turned:
        for i in range(s.unknowns):
            u[i] = here[i]
    return status


def begin(s: FixedMemory, t: float, y: Vec, h: float, u: Vec) -> int:
    """The unknowns u as the scheme predicts them."""
    further = s.vectors[at.FURTHER * s.m :]
    if evaluate(s.predict, s.predict_context, s.direction * t, y, u, s.direction * h, further) != 0:
        return at.CALLBACK
    for i in range(s.unknowns):
        u[i] = further[i]
    return at.DONE


def state_at(s: FixedMemory, t: float, y: Vec, h: float, u: Vec, r: float, out: Vec) -> int:
    """The state (n,) at t + r h, in or at the end of a step of the scheme."""
    u[s.unknowns] = r
    if evaluate(s.advance, s.advance_context, s.direction * t, y, u, s.direction * h, out) != 0:
        return at.CALLBACK
    zero = 0.0
    other = 0.0
    for i in range(0, s.n - 1, 2):  # two sums, so that neither waits for the other
        zero += 0.0 * out[i]
        other += 0.0 * out[i + 1]
    if s.n % 2 == 1:
        zero += 0.0 * out[s.n - 1]
    return at.DONE if zero + other == 0.0 else at.NOT_FINITE


def composed(s: FixedMemory, t: float, y: Vec, h: float, known: bool, own: bool, out: Vec) -> int:
    """All stages of a step of size h from the state y (n,), which stays, to that at its end in `out`.

    Parameters
    ----------
    known : whether the unknowns of the stages are there to begin with
    own : whether they are kept, or those of a state within the step are made, from which nothing begins
    """
    m = s.m
    here = y
    there = out
    other = s.vectors[at.BETWEEN * m :]
    if s.stages % 2 == 0:
        there = other
        other = out
    for k in range(s.stages):
        part = s.vectors[at.WEIGHTS * m + k] * h
        place = at.U + k if own else at.U + s.stages
        u = s.vectors[place * m :]
        status = at.NOT_CONVERGED
        if known:
            status = iterate(s, t, here, part, u)
            if status == at.CALLBACK:
                return status
        if status != at.DONE:
            status = begin(s, t, here, part, u)
            if status == at.DONE:
                status = iterate(s, t, here, part, u)
        if status == at.DONE:
            status = state_at(s, t, here, part, u, 1.0, there)
        if status != at.DONE:
            return status
        here = there
        there = other
        other = here
        t += part
    return at.DONE


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
