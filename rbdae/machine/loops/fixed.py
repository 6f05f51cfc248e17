"""Implicit steps of fixed size by Newton's method with three machine functions of a scheme, and the work of a run.

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

``step`` is all of that in one function (`whole`) for models that have it. If it does not return 0, nothing has changed,
and the other functions do the work.

The work of a run whose states are there (`works`): the unknowns of its steps are found again, and ``work_of``, a
machine function with the arguments of the others, gives out[0], the work of a step with the unknowns u.
"""

from __future__ import annotations

from math import isfinite

from rbdae.machine.language.words import Address, Function, Vec, each, evaluate, room
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.control import finite
from rbdae.machine.loops.memory import StepMemory

ALMOST = 1e-9
"""A last step whose size differs by less than this part of a step is a whole one."""

# ---------------------------------------------------------------- vectors, beside `Y` and `Y_NEW`
BETWEEN = at.ARGUMENT
"""The state between two stages."""
WEIGHTS = at.SCALED
"""The sizes of the stages, relative to that of the step."""
FURTHER = at.FURTHER
"""Unknowns after the next iteration; results of a function."""
U = at.K1
"""A vector for each stage of the last step, and one for a state within it: the unknowns, two numbers for `advance` and
for a step in one function, and the unknowns to begin the next step with."""
STAGES = 5
"""At most, of a step."""
VECTORS = U + STAGES + 1
"""In all."""

# ---------------------------------------------------------------- a step

EXACT = 1e-11
"""What the balances of an accepted step may lack, relative to its increments, by the estimate of a wrong tangent."""


NEAR = 0.1
"""Size of the first correction of a step up to which the unknowns of the next one are extrapolated,"""

FEW = 3
"""and its most iterations: with a tangent that is wrong what they leave would have the same sign in every step."""

FAR = 1.0
"""Size of a first correction from which nothing is extrapolated."""


def iterate(s: StepMemory, t: float, y: Vec, h: float, u: Vec) -> int:
    """Newton's method from the unknowns u; the last correction is applied."""
    here = u
    there = s.vectors[FURTHER * s.m :]
    before = 0.0
    status = at.NOT_CONVERGED
    turned = False
    for k in range(s.most):
        s.evaluations += 1
        s.budget -= 1
        if evaluate(s.newton, s.newton_context, s.direction * t, y, here, s.direction * h, there) != 0:
            status = at.CALLBACK
            break
        correction = there[s.unknowns]
        if not isfinite(correction):
            if k == 0:
                status = at.STEP_NOT_FINITE
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


def begin(s: StepMemory, t: float, y: Vec, h: float, u: Vec) -> int:
    """The unknowns u as the scheme predicts them."""
    further = s.vectors[FURTHER * s.m :]
    if evaluate(s.predict, s.predict_context, s.direction * t, y, u, s.direction * h, further) != 0:
        return at.CALLBACK
    for i in range(s.unknowns):
        u[i] = further[i]
    return at.DONE


def state_at(s: StepMemory, t: float, y: Vec, h: float, u: Vec, r: float, out: Vec) -> int:
    """The state (n,) at t + r h, in or at the end of a step of the scheme."""
    u[s.unknowns] = r
    if evaluate(s.advance, s.advance_context, s.direction * t, y, u, s.direction * h, out) != 0:
        return at.CALLBACK
    return at.DONE if finite(out, s.n) else at.STEP_NOT_FINITE


# ---------------------------------------------------------------- a step in one function

UNKNOWNS = 1
STATES = 1
"""Bound to those of a model."""

SAYS = 2
"""Numbers between the unknowns and those to begin with."""


def newton(context: Address, t: float, y: Vec, u: Vec, h: float, out: Vec) -> int:
    """Bound to straight code of a model, as is `advance`."""
    return 0


def advance(context: Address, t: float, y: Vec, u: Vec, h: float, out: Vec) -> int:
    """Bound to straight code of a model."""
    return 0


def whole(words: Address, t: float, y: Vec, yd: Vec, c: float, out: Vec) -> int:
    """All of a step, as `stage` takes it where Newton's method converges, else 1. The straight code becomes part of it:
    what belongs to the start of the step is computed once, and unknowns stay in registers.

    `yd` has n unknowns of the step before, the tolerance, the most iterations, and n unknowns to begin with; it becomes
    those of the step, the size of the first correction, the iterations, and those to begin the next step with.
    """
    n = UNKNOWNS
    u = room(UNKNOWNS + 1)
    further = room(UNKNOWNS + 1)
    begins = yd[n + SAYS :]
    for i in range(UNKNOWNS):
        u[i] = begins[i]
    first = 0.0
    before = 0.0
    k = 0.0
    done = False
    while not done:
        if k >= yd[n + 1] or newton(words, t, y, u, c, further) != 0:
            return 1
        for i in range(UNKNOWNS):
            u[i] = further[i]
        correction = further[UNKNOWNS]
        if k == 0.0:
            first = correction
            before = correction
        k += 1.0
        done = correction <= yd[n] and correction * correction <= EXACT * before
        before = correction
    u[UNKNOWNS] = 1.0
    if advance(words, t, y, u, c, out) != 0 or not finite(out, STATES):
        return 1
    part = 1.0 if first <= NEAR and k <= FEW else 0.0
    for i in range(UNKNOWNS):
        change = u[i] - yd[i]
        yd[i] = u[i]
        begins[i] = u[i] + part * change
    yd[n] = first
    yd[n + 1] = k
    return 0


# ---------------------------------------------------------------- stages


def taken(s: StepMemory, t: float, y: Vec, h: float, u: Vec, out: Vec) -> bool:
    """Whether a step in one function has come to its end; else nothing has changed."""
    n = s.unknowns
    u[n] = s.tolerance
    u[n + 1] = 1.0 * s.most
    if evaluate(s.step, s.step_context, s.direction * t, y, u, s.direction * h, out) != 0:
        return False
    s.first = u[n]
    used = int(u[n + 1])
    s.evaluations += used
    s.budget -= used
    return True


def stage(s: StepMemory, t: float, y: Vec, h: float, known: bool, u: Vec, out: Vec) -> int:
    """A step of the scheme from the state y (n,) to `out`. The unknowns to begin the next one with come after those of
    this one in u; meanwhile those of the step before are there."""
    if known and s.step != 0 and taken(s, t, y, h, u, out):
        return at.DONE
    n = s.unknowns
    first = u[n + SAYS :]
    status = at.NOT_CONVERGED
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


def composed(s: StepMemory, t: float, y: Vec, h: float, known: bool, own: bool, out: Vec) -> int:
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
        if s.work_of != 0:
            done = s.vectors[FURTHER * m :]
            u[s.unknowns] = 1.0
            if evaluate(s.work_of, s.work_of_context, s.direction * t, here, u, s.direction * part, done) != 0:
                return at.CALLBACK
            s.work += done[0]
        here = there
        there = other
        other = here
        t += part
    return at.DONE


# ---------------------------------------------------------------- what `rbdae.machine.loops.loop` asks for


def attempt(rhs: Function, context: Address, s: StepMemory) -> int:
    """Take a step; after a failure its start is still there."""
    m = s.m
    y = s.vectors[at.Y * m :]
    end = s.vectors[at.Y_NEW * m :]
    if s.moved != 0:
        for i in each(m):
            y[i] = end[i]
        s.t = s.t_new
        s.moved = 0
    t_new = s.t0 + (s.steps + 1) * s.h
    h = s.h
    if t_new > s.t_end - ALMOST * s.h:
        if t_new > s.t_end + ALMOST * s.h:
            h = s.t_end - s.t
        t_new = s.t_end
    status = composed(s, s.t, y, h, s.known != 0 and h == s.h_done, True, end)
    if status != at.DONE:
        return status
    s.h_done = h
    s.t_new = t_new
    s.known = 1
    s.moved = 1
    return at.DONE


def interpolate(s: StepMemory, theta: float, out: Vec) -> int:
    """The state y (n,) at t + theta h_done in the last step. With stages, whose states are of order two, it is the end
    of a step of its own, from the end that is farther away: of the order of the method, and with its invariants."""
    m = s.m
    if s.stages == 1:
        return state_at(s, s.t, s.vectors[at.Y * m :], s.h_done, s.vectors[U * m :], theta, out)
    h = theta * s.h_done
    if theta < 0.5:
        return composed(s, s.t + s.h_done, s.vectors[at.Y_NEW * m :], h - s.h_done, False, False, out)
    return composed(s, s.t, s.vectors[at.Y * m :], h, False, False, out)


# ---------------------------------------------------------------- the work of a run


def works(s: StepMemory, sizes: Vec) -> int:
    """Fill the rows (k,) of the output times with the work from the first step to them, within the run; called again,
    it continues. There are ``s.rows`` steps, the first at the start, of the `sizes` of the steps from them on.

    The work up to a time within a step is a share of the step's; with stages it is that of a step of its own, from the
    end that is farther away, as the state there is.
    """
    m = s.m
    times = s.output_times
    rows = s.output_rows
    steps_t = s.steps_t
    steps_y = s.steps_y
    y = s.vectors[at.Y * m :]
    end = s.vectors[at.Y_NEW * m :]
    while s.steps + 1 < s.rows:
        if s.budget <= 0:
            return at.PAUSED
        k = s.steps
        t = steps_t[k]
        h = sizes[k]
        for i in range(s.n):
            y[i] = steps_y[k * s.n + i]
        s.work = 0.0
        status = composed(s, t, y, h, s.known != 0 and h == s.h_done, True, end)
        if status != at.DONE:
            return status
        s.h_done = h
        s.known = 1
        whole = s.work
        while s.outputs < s.times and times[s.outputs] < steps_t[k + 1]:
            r = (times[s.outputs] - t) / (steps_t[k + 1] - t)
            s.work = r * whole
            if s.stages > 1 and r > 0.0:
                s.work = 0.0
                if r < 0.5:
                    s.work = whole
                    status = composed(s, t + h, steps_y[(k + 1) * s.n :], r * h - h, False, False, end)
                else:
                    status = composed(s, t, y, r * h, False, False, end)
                if status != at.DONE:
                    return status
            rows[s.outputs] = s.total + s.work
            s.outputs += 1
        s.total += whole
        s.steps += 1
    while s.outputs < s.times:
        rows[s.outputs] = s.total
        s.outputs += 1
    return at.FINISHED
