"""A loop of implicit steps of fixed size: Newton's method with three machine functions of a scheme, the rows of output
times, and the work of a run.

``newton`` makes the unknowns of a step after one more iteration of those before, and the relative size of the
correction, or of what the balances lacked before it if that is more; ``advance`` the state at the end of the step, or
within it; ``predict`` the unknowns to begin with. All of them have the arguments (t, y, u, h, out), with the state y at
the start of the step; back in time (direction) t and h change their signs.

A step is accepted only if its balances hold: if its last size c, whose correction is applied, is at most tolerance, and
q c is at most `EXACT`, q being c over the size before. What balances lack after a correction is q c with a tangent that
is wrong by the part q, and q^2 c by Newton's method. In the first iteration, with no size before, c has to be at most
`EXACT`. Corrections that no longer fall, at round-off, have q = 1.

A step may consist of several stages, steps of the scheme of the sizes WEIGHTS. A stage begins with its unknowns in the
step before and their last change once more, if this is small (`NEAR`): about one iteration less. Where it does not
converge, it begins again with those of the step before, and then with ``predict``.

``step`` is all of that in one function for models that have it (`rbdae.machine.implicit_step`). If it does not return
0, nothing has changed, and the other functions do the work.

The work of a run whose states are there: the unknowns of its steps are found again, and ``work_of``, a machine function
with the arguments of the others, gives out[0], the work of a step of the scheme with the unknowns u.
"""

from __future__ import annotations

from math import isfinite

from rbdae.machine.language.words import Address, Function, Vec, evaluate
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.memory import OWN_WORDS, LoopMemory

ALMOST = 1e-9
"""A last step whose size differs by less than this part of a step is a whole one."""


class FixedMemory(LoopMemory):
    """The numbers of a loop of fixed steps, and the machine functions of its scheme with their contexts."""

    newton: Function
    newton_context: Address
    advance: Function
    advance_context: Address
    predict: Function
    predict_context: Address
    step: Function
    """All of a step, where `whole` says that there is such a function."""
    step_context: Address
    work_of: Function
    work_of_context: Address
    unknowns: int
    """Number of unknowns of a step."""
    iterations: int
    """Of Newton's method, in all steps."""
    most: int
    """Iterations in one step."""
    known: int
    """Whether the unknowns of a step of the same size are there, to begin the next one with."""
    stages: int
    """Number of steps of the scheme in a step."""
    end: int
    """Which of the first two vectors has the state at the end of the last step; the other one has that at its start."""
    whole: int
    t0: float
    tolerance: float
    """Relative size of a correction, and of what the balances lack, at which the iteration may end."""
    correction: float
    """Relative size of the last correction, or of what the balances lacked before it if that is more."""
    first: float
    """Relative size of the first correction of the last step."""
    work: float
    """Of what has no potential, up to the start of the step at hand."""


# ---------------------------------------------------------------- vectors
FURTHER = 2
"""Unknowns after the next iteration; what a function makes."""
BETWEEN = 3
"""The state between two stages."""
WEIGHTS = 4
"""The sizes of the stages, relative to that of the step."""
U = 5
"""A vector for each stage of the last step, and one for a state within it: the unknowns, two numbers for `advance` and
for a step in one function, and the unknowns to begin the next step with."""


def size(stages: int) -> int:
    """How many there are."""
    return U + stages + 1


# ---------------------------------------------------------------- what the loop says
NOT_CONVERGED = OWN_WORDS
NOT_FINITE = OWN_WORDS + 1
"""A correction or a state is not finite."""

# ---------------------------------------------------------------- a step

EXACT = 1e-11
"""What the balances of an accepted step may lack, relative to its increments, by the estimate of a wrong tangent."""


NEAR = 0.1
"""Size of the first correction of a step up to which the unknowns of the next one are extrapolated,"""

FEW = 3
"""and its most iterations: with a tangent that is wrong what they leave would have the same sign in every step."""

FAR = 1.0
"""Size of a first correction from which nothing is extrapolated."""


def iterate(s: FixedMemory, t: float, y: Vec, h: float, u: Vec) -> int:
    """Newton's method from the unknowns u; the last correction is applied."""
    here = u
    there = s.vectors[FURTHER * s.m :]
    before = 0.0
    status = NOT_CONVERGED
    turned = False
    for k in range(s.most):
        s.iterations += 1
        s.budget -= 1
        if evaluate(s.newton, s.newton_context, s.direction * t, y, here, s.direction * h, there) != 0:
            status = at.CALLBACK
            break
        correction = there[s.unknowns]
        if not isfinite(correction):
            if k == 0:
                status = NOT_FINITE
            break  # else the iterates have gone far off
        s.correction = correction
        if k == 0:
            s.first = correction
        if k >= FEW:
            s.first = FAR
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
    further = s.vectors[FURTHER * s.m :]
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
    return at.DONE if zero + other == 0.0 else NOT_FINITE


def taken(s: FixedMemory, t: float, y: Vec, h: float, u: Vec, out: Vec) -> bool:
    """Whether a step in one function has come to its end; else nothing has changed."""
    n = s.unknowns
    u[n] = s.tolerance
    u[n + 1] = 1.0 * s.most
    if evaluate(s.step, s.step_context, s.direction * t, y, u, s.direction * h, out) != 0:
        return False
    s.first = u[n]
    used = int(u[n + 1])
    s.iterations += used
    s.budget -= used
    return True


def stage(s: FixedMemory, t: float, y: Vec, h: float, known: bool, u: Vec, out: Vec) -> int:
    """A step of the scheme from the state y (n,) to `out`. The unknowns to begin the next one with come after those of
    this one in u; meanwhile those of the step before are there."""
    if known and s.whole != 0 and taken(s, t, y, h, u, out):
        return at.DONE
    n = s.unknowns
    first = u[n + 2 :]
    status = NOT_CONVERGED
    part = 0.0
    if known:
        for i in range(n):
            x = first[i]
            first[i] = u[i]
            u[i] = x
        status = iterate(s, t, y, h, u)
        if status == at.DONE and s.first <= NEAR:
            part = 1.0
        if status != at.DONE and status != at.CALLBACK:
            for i in range(n):
                u[i] = first[i]
            status = iterate(s, t, y, h, u)
        if status == at.CALLBACK:
            return status
    if status != at.DONE:
        status = begin(s, t, y, h, u)
        if status == at.DONE:
            status = iterate(s, t, y, h, u)
    if status == at.DONE:
        status = state_at(s, t, y, h, u, 1.0, out)
    if part > 0.0:
        for i in range(n):
            first[i] = u[i] + (u[i] - first[i])
    else:
        for i in range(n):
            first[i] = u[i]
    return status


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
    other = s.vectors[BETWEEN * m :]
    if s.stages % 2 == 0:
        there = other
        other = out
    for k in range(s.stages):
        part = s.vectors[WEIGHTS * m + k] * h
        place = U + k if own else U + s.stages
        u = s.vectors[place * m :]
        status = stage(s, t, here, part, known, u, there)
        if status != at.DONE:
            return status
        here = there
        there = other
        other = here
        t += part
    return at.DONE


# ---------------------------------------------------------------- the loop


def within(s: FixedMemory, r: float, out: Vec) -> int:
    """The state y (n,) at t + r h_done in the last step. With stages, whose states are of order two, it is the end of a
    step of its own, from the end that is farther away: of the order of the method, and with its invariants."""
    m = s.m
    y = s.vectors[(1 - s.end) * m :]
    if s.stages == 1:
        return state_at(s, s.t, y, s.h_done, s.vectors[U * m :], r, out)
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
    if t_new > s.t_end - ALMOST * s.h:
        if t_new > s.t_end + ALMOST * s.h:
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
    u = s.vectors[U * m :]
    end = s.vectors[(1 - s.end) * m :]
    start = s.vectors[s.end * m :]
    before = start
    y = start
    h = s.h
    first = s.rows
    t = s.t_new
    while s.rows < s.room and s.steps < s.max_steps and s.budget > 0:
        t_new = s.t0 + (s.steps + 1) * h
        if t_new > s.t_end - ALMOST * h:
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
    y = s.vectors[BETWEEN * m :]
    start = s.vectors
    further = s.vectors[FURTHER * m :]
    status = composed(s, t, start, h, known, True, s.vectors[m:])
    if status != at.DONE:
        return status
    for i in range(s.n):
        y[i] = start[i]
    total = 0.0
    for k in range(s.stages):
        part = s.vectors[WEIGHTS * m + k] * h
        u = s.vectors[(U + k) * m :]
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
    done = s.vectors[(U + s.stages) * s.m :]
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
