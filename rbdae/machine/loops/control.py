"""Steps with an error estimate: the first step size, acceptance, and the next step size, as in Hairer's codes.

[HNW93] section II.4: (4.8) to (4.13), the starting algorithm on page 169, and the stabilised controller of section IV.2
of [HW96] (`BETA`); the codes ``dopri5.f`` and ``dop853.f`` of 1996 and later (subroutines ``HINIT``, ``DOPCOR``,
``DP86CO``). A method gives ``stages``, ``error`` and ``complete``, the numbers ``ORDER`` and where it leaves the rates
at the end of the step, ``RATES_NEW``.

Different from them: attempts whose results are not finite are rejected, each time with the shortest step that is
allowed (in Fortran that is up to the compiler); rejections before the first accepted step are counted, too; there is
no test for stiffness; the last step ends at the end of the interval to the last digit.
"""

from __future__ import annotations

from math import isfinite, sqrt

from rbdae.machine.language.words import Address, Function, Ints, Vec, each, evaluate
from rbdae.machine.loops.memory import (
    AFTER_REJECTION,
    ARGUMENT,
    ATOL,
    BAD,
    BAD_T,
    BEGUN,
    BETA,
    BUDGET,
    CALLBACK,
    CALLBACK_NOT_FINITE,
    DIRECTION,
    DONE,
    EVALUATIONS,
    EVER_BAD,
    EXPONENT,
    FURTHER,
    GROWS,
    H_DONE,
    H_MAX,
    HEAD,
    K1,
    LANES,
    MOVED,
    OLD_ERROR,
    RATES_NOT_FINITE,
    REJECTED,
    REJECTION,
    RTOL,
    SAFE,
    SHRINK,
    SHRINKS,
    STALE,
    T_END,
    T_NEW,
    TOO_SMALL,
    Y_NEW,
    H,
    M,
    T,
    Y,
)

UROUND = 2.3e-16
"""Hairer's rounding unit."""

FLAT = 1e-10
TINY = 1e-6
LINEAR = 1e-15
"""Hairer's thresholds for the first step."""

LEAST_ERROR = 1e-4
"""Of the previous step, in the stabilised controller."""

RATES_NEW = K1
"""Bound to the method's own."""

ORDER = 5


def stages(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Evaluate the stages of a step of size H from (T, Y) and leave its end in Y_NEW; bound to a method's."""
    return DONE


def error(s: Ints, w: Vec) -> float:
    """The error of the step in tolerances; not finite where Y_NEW or a stage is not. Bound to a method's."""
    return 0.0


def complete(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Leave the rates at the end of an accepted step in RATES_NEW; bound to a method's."""
    return DONE


def total(v: Vec, m: int) -> float:
    """The sum of the entries."""
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    for i in range(0, m, LANES):
        a += v[i]
        b += v[i + 1]
        c += v[i + 2]
        d += v[i + 3]
    return (a + b) + (c + d)


def finite(v: Vec, m: int) -> bool:
    """Whether all entries are finite; m is a multiple of `LANES`, and each lane has a sum of its own."""
    a = 0.0
    b = 0.0
    c = 0.0
    d = 0.0
    for i in range(0, m, LANES):
        a += 0.0 * v[i]
        b += 0.0 * v[i + 1]
        c += 0.0 * v[i + 2]
        d += 0.0 * v[i + 3]
    return (a + b) + (c + d) == 0.0


def rates(rhs: Function, context: Address, s: Ints, w: Vec, t: float, at: int, into: int) -> int:
    """Evaluate the right-hand side at a vector, into a vector."""
    m = s[M]
    s[EVALUATIONS] += 1
    s[BUDGET] -= 1
    y = w[HEAD + at * m :]
    out = w[HEAD + into * m :]
    if evaluate(rhs, context, w[DIRECTION] * t, y, y, 0.0, out) == 0:
        if w[DIRECTION] < 0.0:
            for i in each(m):
                out[i] = -out[i]
        return DONE
    return CALLBACK if finite(y, m) else CALLBACK_NOT_FINITE


def first_step(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """The first step size: an explicit Euler step shows how fast the rates change."""
    m = s[M]
    y = w[HEAD + Y * m :]
    f0 = w[HEAD + K1 * m :]
    f1 = w[HEAD + FURTHER * m :]
    x = w[HEAD + ARGUMENT * m :]
    atol = w[HEAD + ATOL * m :]
    dnf = 0.0
    dny = 0.0
    for i in range(m):
        scale = atol[i] + w[RTOL] * abs(y[i])
        dnf += (f0[i] / scale) ** 2
        dny += (y[i] / scale) ** 2
    h = TINY
    if dnf > FLAT and dny > FLAT:
        h = sqrt(dny / dnf) * 0.01
    h = min(h, w[H_MAX])
    for i in range(m):
        x[i] = y[i] + h * f0[i]
    status = rates(rhs, context, s, w, w[T] + h, ARGUMENT, FURTHER)
    if status != DONE:
        return status
    der2 = 0.0
    for i in range(m):
        der2 += ((f1[i] - f0[i]) / (atol[i] + w[RTOL] * abs(y[i]))) ** 2
    der12 = max(sqrt(der2) / h, sqrt(dnf))
    h1 = max(TINY, h * 1e-3)
    if der12 > LINEAR:
        h1 = (0.01 / der12) ** (1.0 / ORDER)
    if isfinite(der2):  # else Euler's step is tried
        h = min(100.0 * h, h1, w[H_MAX])
    w[H] = h
    return DONE


def begin(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """The first stage at the start of the run, and the first step size unless there is one."""
    status = rates(rhs, context, s, w, w[T], Y, K1)
    if status != DONE:
        return status
    if not finite(w[HEAD + K1 * s[M] :], s[M]):
        note(s, w, w[T])
        return RATES_NOT_FINITE
    if w[H] == 0.0:
        status = first_step(rhs, context, s, w)
        if status == CALLBACK_NOT_FINITE:
            w[H] = TINY
        elif status != DONE:
            return status
    s[BEGUN] = 1
    return DONE


def advance(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Make the end of the last step the start of the next one."""
    m = s[M]
    y = w[HEAD + Y * m :]
    end = w[HEAD + Y_NEW * m :]
    k1 = w[HEAD + K1 * m :]
    last = w[HEAD + RATES_NEW * m :]
    for i in each(m):
        y[i] = end[i]
    w[T] = w[T_NEW]
    if s[STALE] != 0:
        status = rates(rhs, context, s, w, w[T], Y, K1)
        if status != DONE:
            return status
        s[STALE] = 0
    else:
        for i in each(m):
            k1[i] = last[i]
    s[MOVED] = 0
    if not finite(k1, m):
        note(s, w, w[T])
        return RATES_NOT_FINITE
    return DONE


def note(s: Ints, w: Vec, t: float) -> None:
    """Something was not finite."""
    s[BAD] = 1
    s[EVER_BAD] = 1
    w[BAD_T] = t


def reject(s: Ints, w: Vec, h: float) -> int:
    """The next attempt has size h."""
    w[H] = h
    s[REJECTED] += 1
    s[AFTER_REJECTION] = 1
    return REJECTION


def attempt(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Try a step: DONE with the step from (T, Y) to (T_NEW, Y_NEW), or REJECTION, or why it cannot be tried."""
    status = DONE
    if s[BEGUN] == 0:
        status = begin(rhs, context, s, w)
    elif s[SHRINK] != 0:
        s[SHRINK] = 0
        note(s, w, w[T] + w[H])
        return reject(s, w, w[H] / w[SHRINKS])
    elif s[MOVED] != 0:
        status = advance(rhs, context, s, w)
    if status != DONE:
        return status
    t = w[T]
    h = w[H]
    if 0.1 * abs(h) <= abs(t) * UROUND:
        return TOO_SMALL
    last = t + 1.01 * h > w[T_END]
    if last:
        h = w[T_END] - t
        w[H] = h
    status = stages(rhs, context, s, w)
    if status != DONE:
        return status
    err = error(s, w)
    if not isfinite(err):
        note(s, w, t + h)
        return reject(s, w, h / w[SHRINKS])
    fac11 = err ** w[EXPONENT]
    if err > 1.0:
        return reject(s, w, h / min(w[SHRINKS], fac11 / w[SAFE]))
    status = complete(rhs, context, s, w)
    if status != DONE:
        return status
    fac = fac11
    if w[BETA] != 0.0:
        fac = fac11 / w[OLD_ERROR] ** w[BETA]
    h_new = min(h / max(w[GROWS], min(w[SHRINKS], fac / w[SAFE])), w[H_MAX])
    if s[AFTER_REJECTION] != 0:
        h_new = min(h_new, h)
    w[OLD_ERROR] = max(err, LEAST_ERROR)
    w[T_NEW] = w[T_END] if last else t + h
    w[H_DONE] = h
    w[H] = h_new
    s[AFTER_REJECTION] = 0
    s[BAD] = 0
    s[MOVED] = 1
    return DONE
