"""A loop of implicit steps of fixed size: Newton's method with three machine functions of a scheme.

``newton`` makes the unknowns of a step after one more iteration of those before, and the relative size of the
correction, or of what the balances lacked before it if that is more; ``advance`` the state at the end of the step, or
within it; ``predict`` the unknowns to begin with. All of them have the arguments (t, y, u, h, out), with the state y at
the start of the step; back in time (DIRECTION) t and h change their signs.

A step is accepted only if its balances hold: if its last size c, whose correction is applied, is at most TOLERANCE, and
q c is at most `EXACT`, q being c over the size before. What balances lack after a correction is q c with a tangent that
is wrong by the part q, and q^2 c by Newton's method. In the first iteration, with no size before, c has to be at most
`EXACT`. Corrections that no longer fall, at round-off, have q = 1.

A step may consist of several stages, steps of the scheme of the sizes WEIGHTS (`rbdae.machine.loops.composition`). A
stage begins with its unknowns in the step before. Where it does not converge, it begins again with ``predict``.
"""

from __future__ import annotations

from math import isfinite

from rbdae.machine.language.words import Address, Function, Ints, Vec, evaluate
from rbdae.machine.loops.fixed_memory import (
    ALMOST,
    BETWEEN,
    BUDGET,
    CALLBACK,
    CORRECTION,
    DIRECTION,
    DONE,
    END,
    FINISHED,
    FULL,
    FURTHER,
    H_DONE,
    HEAD,
    ITERATIONS,
    KNOWN,
    MAX_STEPS,
    MOST,
    NOT_CONVERGED,
    NOT_FINITE,
    OUTPUTS,
    PAUSED,
    ROOM,
    ROWS,
    STAGES,
    STEPS,
    T0,
    T_END,
    T_NEW,
    TIMES,
    TOLERANCE,
    TOO_MANY,
    UNKNOWNS,
    WEIGHTS,
    H,
    M,
    N,
    T,
    U,
)

EXACT = 1e-11
"""What the balances of an accepted step may lack, relative to its increments, by the estimate of a wrong tangent."""


def iterate(newton: Function, context: Address, s: Ints, w: Vec, t: float, y: Vec, h: float, u: Vec) -> int:
    """Newton's method from the unknowns u; the last correction is applied."""
    here = u
    there = w[HEAD + FURTHER * s[M] :]
    before = 0.0
    status = NOT_CONVERGED
    turned = False
    for k in range(s[MOST]):
        s[ITERATIONS] += 1
        s[BUDGET] -= 1
        if evaluate(newton, context, w[DIRECTION] * t, y, here, w[DIRECTION] * h, there) != 0:
            status = CALLBACK
            break
        correction = there[s[UNKNOWNS]]
        w[CORRECTION] = correction
        if not isfinite(correction):
            status = NOT_FINITE
            break
        free = here
        here = there
        there = free
        turned = not turned
        if correction <= w[TOLERANCE]:
            if k == 0:
                before = correction
            if correction * correction <= EXACT * before:
                status = DONE
                break
        before = correction
    if turned:
        for i in range(s[UNKNOWNS]):
            u[i] = here[i]
    return status


def begin(predict: Function, context: Address, s: Ints, w: Vec, t: float, y: Vec, h: float, u: Vec) -> int:
    """The unknowns u as the scheme predicts them."""
    further = w[HEAD + FURTHER * s[M] :]
    if evaluate(predict, context, w[DIRECTION] * t, y, u, w[DIRECTION] * h, further) != 0:
        return CALLBACK
    for i in range(s[UNKNOWNS]):
        u[i] = further[i]
    return DONE


def at(
    advance: Function, context: Address, s: Ints, w: Vec, t: float, y: Vec, h: float, u: Vec, r: float, out: Vec
) -> int:
    """The state (n,) at t + r h, in or at the end of a step of the scheme."""
    u[s[UNKNOWNS]] = r
    if evaluate(advance, context, w[DIRECTION] * t, y, u, w[DIRECTION] * h, out) != 0:
        return CALLBACK
    zero = 0.0
    other = 0.0
    for i in range(0, s[N] - 1, 2):  # two sums, so that neither waits for the other
        zero += 0.0 * out[i]
        other += 0.0 * out[i + 1]
    if s[N] % 2 == 1:
        zero += 0.0 * out[s[N] - 1]
    return DONE if zero + other == 0.0 else NOT_FINITE


def composed(
    newton: Function,
    newton_context: Address,
    advance: Function,
    advance_context: Address,
    predict: Function,
    predict_context: Address,
    s: Ints,
    w: Vec,
    t: float,
    y: Vec,
    h: float,
    known: bool,
    own: bool,
    out: Vec,
) -> int:
    """All stages of a step of size h from the state y (n,), which stays, to that at its end in `out`.

    Parameters
    ----------
    known : whether the unknowns of the stages are there to begin with
    own : whether they are kept, or those of a state within the step are made, from which nothing begins
    """
    m = s[M]
    here = y
    there = out
    other = w[HEAD + BETWEEN * m :]
    if s[STAGES] % 2 == 0:
        there = other
        other = out
    for k in range(s[STAGES]):
        part = w[HEAD + WEIGHTS * m + k] * h
        place = U + k if own else U + s[STAGES]
        u = w[HEAD + place * m :]
        status = NOT_CONVERGED
        if known:
            status = iterate(newton, newton_context, s, w, t, here, part, u)
            if status == CALLBACK:
                return status
        if status != DONE:
            status = begin(predict, predict_context, s, w, t, here, part, u)
            if status == DONE:
                status = iterate(newton, newton_context, s, w, t, here, part, u)
        if status == DONE:
            status = at(advance, advance_context, s, w, t, here, part, u, 1.0, there)
        if status != DONE:
            return status
        here = there
        there = other
        other = here
        t += part
    return DONE


def within(
    newton: Function,
    newton_context: Address,
    advance: Function,
    advance_context: Address,
    predict: Function,
    predict_context: Address,
    s: Ints,
    w: Vec,
    r: float,
    out: Vec,
) -> int:
    """The state y (n,) at T + r H_DONE in the last step. With stages, whose states are of order two, it is the end of a
    step of its own, from the end that is farther away: of the order of the method, and with its invariants."""
    m = s[M]
    y = w[HEAD + (1 - s[END]) * m :]
    if s[STAGES] == 1:
        return at(advance, advance_context, s, w, w[T], y, w[H_DONE], w[HEAD + U * m :], r, out)
    t = w[T]
    h = r * w[H_DONE]
    if r < 0.5:
        y = w[HEAD + s[END] * m :]
        t += w[H_DONE]
        h -= w[H_DONE]
    return composed(
        newton, newton_context, advance, advance_context, predict, predict_context, s, w, t, y, h, False, False, out
    )


def attempt(
    newton: Function,
    newton_context: Address,
    advance: Function,
    advance_context: Address,
    predict: Function,
    predict_context: Address,
    s: Ints,
    w: Vec,
) -> int:
    """Take a step; after a failure its start is still there."""
    m = s[M]
    t = w[T_NEW]
    t_new = w[T0] + (s[STEPS] + 1) * w[H]
    h = w[H]
    if t_new > w[T_END] - ALMOST * w[H]:
        if t_new > w[T_END] + ALMOST * w[H]:
            h = w[T_END] - t
        t_new = w[T_END]
    w[T] = t
    known = s[KNOWN] != 0 and h == w[H_DONE]
    y = w[HEAD + s[END] * m :]
    end = w[HEAD + (1 - s[END]) * m :]
    status = composed(
        newton, newton_context, advance, advance_context, predict, predict_context, s, w, t, y, h, known, True, end
    )
    if status != DONE:
        return status
    w[H_DONE] = h
    w[T_NEW] = t_new
    s[KNOWN] = 1
    s[END] = 1 - s[END]
    return DONE


def outputs(
    newton: Function,
    newton_context: Address,
    advance: Function,
    advance_context: Address,
    predict: Function,
    predict_context: Address,
    s: Ints,
    w: Vec,
    times: Vec,
    rows: Vec,
) -> int:
    """Fill the rows of the output times up to the end of the last step."""
    n = s[N]
    k = s[OUTPUTS]
    while k < s[TIMES] and times[k] <= w[T_NEW]:
        out = rows[k * n :]
        if times[k] == w[T_NEW]:
            end = w[HEAD + s[END] * s[M] :]
            for i in range(n):
                out[i] = end[i]
        else:
            r = (times[k] - w[T]) / w[H_DONE]
            status = within(newton, newton_context, advance, advance_context, predict, predict_context, s, w, r, out)
            if status != DONE:
                return status
        k += 1
        s[OUTPUTS] = k
    return DONE


def run(
    newton: Function,
    newton_context: Address,
    advance: Function,
    advance_context: Address,
    predict: Function,
    predict_context: Address,
    s: Ints,
    w: Vec,
    times: Vec,
    rows: Vec,
    steps_t: Vec,
    steps_y: Vec,
) -> int:
    """Take steps until the end, or until the caller has something to do; called again, it continues.

    Parameters
    ----------
    newton, advance, predict : machine functions, each followed by its context
    s, w : see `rbdae.machine.loops.fixed_memory`
    times, rows : output times and their states, (k,) and (k, n)
    steps_t, steps_y : where steps are written, with space for ``s[ROOM]`` of them
    """
    n = s[N]
    while True:
        if w[T_NEW] >= w[T_END]:
            return FINISHED
        if s[STEPS] >= s[MAX_STEPS]:
            return TOO_MANY
        if s[ROWS] >= s[ROOM]:
            return FULL
        if s[BUDGET] <= 0:
            return PAUSED
        status = attempt(newton, newton_context, advance, advance_context, predict, predict_context, s, w)
        if status != DONE:
            return status
        s[STEPS] += 1
        end = w[HEAD + s[END] * s[M] :]
        row = steps_y[s[ROWS] * n :]
        for i in range(n):
            row[i] = end[i]
        steps_t[s[ROWS]] = w[T_NEW]
        s[ROWS] += 1
        status = outputs(newton, newton_context, advance, advance_context, predict, predict_context, s, w, times, rows)
        if status != DONE:
            return status
