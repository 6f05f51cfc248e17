"""Steps with an error estimate: the first step size, acceptance, and the next step size, as in Hairer's codes.

[HNW93] section II.4: (4.8) to (4.13), the starting algorithm on page 169, and the stabilised controller of section IV.2
of [HW96] (`beta`); the codes ``dopri5.f`` and ``dop853.f`` of 1996 and later (subroutines ``HINIT``, ``DOPCOR``,
``DP86CO``). A method gives ``stages``, ``error`` and ``complete``, the numbers ``ORDER`` and where it leaves the rates
at the end of the step, ``RATES_NEW``.

Different from them: attempts whose results are not finite are rejected, each time with the shortest step that is
allowed (in Fortran that is up to the compiler); rejections before the first accepted step are counted, too; there is
no test for stiffness; the last step ends at the end of the interval to the last digit.
"""

from __future__ import annotations

from math import isfinite, sqrt

from rbdae.machine.language.words import Address, Function, Vec, each, evaluate
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.memory import StepMemory

UROUND = 2.3e-16
"""Hairer's rounding unit."""

FLAT = 1e-10
TINY = 1e-6
LINEAR = 1e-15
"""Hairer's thresholds for the first step."""

LEAST_ERROR = 1e-4
"""Of the previous step, in the stabilised controller."""

RATES_NEW = at.K1
"""Bound to the method's own."""

ORDER = 5


def stages(rhs: Function, context: Address, s: StepMemory) -> int:
    """Evaluate the stages of a step of size h from (t, Y) and leave its end in Y_NEW; bound to a method's."""
    return at.DONE


def error(s: StepMemory) -> float:
    """The error of the step in tolerances; not finite where Y_NEW or a stage is not. Bound to a method's."""
    return 0.0


def complete(rhs: Function, context: Address, s: StepMemory) -> int:
    """Leave the rates at the end of an accepted step in RATES_NEW; bound to a method's."""
    return at.DONE


def total(v: Vec, m: int) -> float:
    """The sum of the entries."""
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    for i in range(0, m, at.LANES):
        a += v[i]
        b += v[i + 1]
        c += v[i + 2]
        d += v[i + 3]
    return (a + b) + (c + d)


def finite(v: Vec, n: int) -> bool:
    """Whether the first n entries are finite."""
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    for i in range(0, n - 3, 4):  # four sums, which do not wait for one another
        a += 0.0 * v[i]
        b += 0.0 * v[i + 1]
        c += 0.0 * v[i + 2]
        d += 0.0 * v[i + 3]
    for i in range(n - n % 4, n):
        a += 0.0 * v[i]
    return (a + b) + (c + d) == 0.0


def rates(rhs: Function, context: Address, s: StepMemory, t: float, place: int, into: int) -> int:
    """Evaluate the right-hand side at a vector, into a vector."""
    m = s.m
    s.evaluations += 1
    s.budget -= 1
    y = s.vectors[place * m :]
    out = s.vectors[into * m :]
    if evaluate(rhs, context, s.direction * t, y, y, 0.0, out) == 0:
        if s.direction < 0.0:
            for i in each(m):
                out[i] = -out[i]
        return at.DONE
    return at.CALLBACK if finite(y, m) else at.CALLBACK_NOT_FINITE


def first_step(rhs: Function, context: Address, s: StepMemory) -> int:
    """The first step size: an explicit Euler step shows how fast the rates change."""
    m = s.m
    y = s.vectors[at.Y * m :]
    f0 = s.vectors[at.K1 * m :]
    f1 = s.vectors[at.FURTHER * m :]
    x = s.vectors[at.ARGUMENT * m :]
    atol = s.vectors[at.ATOL * m :]
    dnf = 0.0
    dny = 0.0
    for i in range(m):
        scale = atol[i] + s.rtol * abs(y[i])
        dnf += (f0[i] / scale) ** 2
        dny += (y[i] / scale) ** 2
    h = TINY
    if dnf > FLAT and dny > FLAT:
        h = sqrt(dny / dnf) * 0.01
    h = min(h, s.h_max)
    for i in range(m):
        x[i] = y[i] + h * f0[i]
    status = rates(rhs, context, s, s.t + h, at.ARGUMENT, at.FURTHER)
    if status != at.DONE:
        return status
    der2 = 0.0
    for i in range(m):
        der2 += ((f1[i] - f0[i]) / (atol[i] + s.rtol * abs(y[i]))) ** 2
    der12 = max(sqrt(der2) / h, sqrt(dnf))
    h1 = max(TINY, h * 1e-3)
    if der12 > LINEAR:
        h1 = (0.01 / der12) ** (1.0 / ORDER)
    if isfinite(der2):  # else Euler's step is tried
        h = min(100.0 * h, h1, s.h_max)
    s.h = h
    return at.DONE


def begin(rhs: Function, context: Address, s: StepMemory) -> int:
    """The first stage at the start of the run, and the first step size unless there is one."""
    status = rates(rhs, context, s, s.t, at.Y, at.K1)
    if status != at.DONE:
        return status
    if not finite(s.vectors[at.K1 * s.m :], s.m):
        note(s, s.t)
        return at.RATES_NOT_FINITE
    if s.h == 0.0:
        status = first_step(rhs, context, s)
        if status == at.CALLBACK_NOT_FINITE:
            s.h = TINY
        elif status != at.DONE:
            return status
    s.begun = 1
    return at.DONE


def advance(rhs: Function, context: Address, s: StepMemory) -> int:
    """Make the end of the last step the start of the next one."""
    m = s.m
    y = s.vectors[at.Y * m :]
    end = s.vectors[at.Y_NEW * m :]
    k1 = s.vectors[at.K1 * m :]
    last = s.vectors[RATES_NEW * m :]
    for i in each(m):
        y[i] = end[i]
    s.t = s.t_new
    if s.stale != 0:
        status = rates(rhs, context, s, s.t, at.Y, at.K1)
        if status != at.DONE:
            return status
        s.stale = 0
    else:
        for i in each(m):
            k1[i] = last[i]
    s.moved = 0
    if not finite(k1, m):
        note(s, s.t)
        return at.RATES_NOT_FINITE
    return at.DONE


def note(s: StepMemory, t: float) -> None:
    """Something was not finite."""
    s.bad = 1
    s.ever_bad = 1
    s.bad_t = t


def reject(s: StepMemory, h: float) -> int:
    """The next attempt has size h."""
    s.h = h
    s.rejected += 1
    s.after_rejection = 1
    return at.REJECTION


def prepared(rhs: Function, context: Address, s: StepMemory, shorter: float) -> int:
    """The start of a step: DONE, or REJECTION of a last attempt whose callback has failed where its arguments were not
    finite, or why no step can be tried."""
    if s.begun == 0:
        return begin(rhs, context, s)
    if s.shrink != 0:
        s.shrink = 0
        note(s, s.t + s.h)
        return reject(s, shorter)
    return advance(rhs, context, s) if s.moved != 0 else at.DONE


def attempt(rhs: Function, context: Address, s: StepMemory) -> int:
    """Try a step: DONE with the step from (t, Y) to (t_new, Y_NEW), or REJECTION, or why it cannot be tried."""
    status = prepared(rhs, context, s, s.h / s.shrinks)
    if status != at.DONE:
        return status
    t = s.t
    h = s.h
    if 0.1 * abs(h) <= abs(t) * UROUND:
        return at.TOO_SMALL
    last = t + 1.01 * h > s.t_end
    if last:
        h = s.t_end - t
        s.h = h
    status = stages(rhs, context, s)
    if status != at.DONE:
        return status
    err = error(s)
    if not isfinite(err):
        note(s, t + h)
        return reject(s, h / s.shrinks)
    fac11 = err**s.exponent
    if err > 1.0:
        return reject(s, h / min(s.shrinks, fac11 / s.safe))
    status = complete(rhs, context, s)
    if status != at.DONE:
        return status
    fac = fac11
    if s.beta != 0.0:
        fac = fac11 / s.old_error**s.beta
    h_new = min(h / max(s.grows, min(s.shrinks, fac / s.safe)), s.h_max)
    if s.after_rejection != 0:
        h_new = min(h_new, h)
    s.old_error = max(err, LEAST_ERROR)
    s.t_new = s.t_end if last else t + h
    s.h_done = h
    s.h = h_new
    s.after_rejection = 0
    s.bad = 0
    s.moved = 1
    return at.DONE
