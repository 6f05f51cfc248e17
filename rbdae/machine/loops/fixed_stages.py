"""A step of a loop of fixed steps: Newton's method with three machine functions of a scheme.

``newton`` makes the unknowns of a step after one more iteration of those before, and the relative size of the
correction, or of what the balances lacked before it if that is more; ``advance`` the state at the end of the step, or
within it; ``predict`` the unknowns to begin with. All of them have the arguments (t, y, u, h, out), with the state y at
the start of the step; back in time (direction) t and h change their signs.

A step is accepted only if its balances hold: if its last size c, whose correction is applied, is at most tolerance, and
q c is at most `EXACT`, q being c over the size before. What balances lack after a correction is q c with a tangent that
is wrong by the part q, and q^2 c by Newton's method. In the first iteration, with no size before, c has to be at most
`EXACT`. Corrections that no longer fall, at round-off, have q = 1.

A step may consist of several stages, steps of the scheme of the sizes WEIGHTS (`rbdae.machine.loops.composition`). A
stage begins with its unknowns in the step before and their last change once more, if this is small (`NEAR`): about one
iteration less. Where it does not converge, it begins again with those of the step before, and then with ``predict``.

``step`` is all of that in one function for models that have it (`rbdae.machine.implicit_step`). If it does not return
0, nothing has changed, and the other functions do the work.
"""

from __future__ import annotations

from math import isfinite

from rbdae.machine.language.words import Vec, evaluate
from rbdae.machine.loops import fixed_memory as at
from rbdae.machine.loops.fixed_memory import FixedMemory

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
        if not isfinite(correction):
            if k == 0:
                status = at.NOT_FINITE
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
        status = stage(s, t, here, part, known, u, there)
        if status != at.DONE:
            return status
        here = there
        there = other
        other = here
        t += part
    return at.DONE
