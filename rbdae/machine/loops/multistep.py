"""Steps that a library takes: its function of a step in place of stages, its derivatives in place of a dense output.

The function, with the signature of a machine function, does by `c` what `TAKE_STEP`, `TAKE_BACK` and `DERIVATIVES` say.
A multistep code interpolates by a polynomial of its order; its derivatives at the end of the step are the coefficients.
"""

from __future__ import annotations

from rbdae.machine.language.words import Address, Function, Ints, Vec, evaluate
from rbdae.machine.loops.memory import (
    BUDGET,
    CODE,
    DENSE_NOT_FINITE,
    DONE,
    EVALUATIONS,
    FURTHER,
    GAVE_UP,
    H_DONE,
    HEAD,
    K1,
    ORDER,
    STALE,
    STATE_NOT_FINITE,
    T_END,
    T_NEW,
    TAKES_BACK,
    Y_NEW,
    H,
    M,
    N,
    T,
)

TAKE_STEP = 0.0
"""One step, which ends at t at the latest: the state to y; the time, the library's word, the order to out."""
TAKE_BACK = -1.0
"""Continue at t from the state y."""
DERIVATIVES = 1.0
"""With k added: the k-th derivative at t to out."""

MOST = 19
"""The highest derivative for which there is memory."""


def attempt(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """Take a step."""
    n = s[N]
    m = s[M]
    new = w[HEAD + Y_NEW * m :]
    out = w[HEAD + FURTHER * m :]
    if s[STALE] != 0 and s[TAKES_BACK] != 0:
        status = evaluate(rhs, context, w[T_NEW], new, w, TAKE_BACK, out)
        if status < 0:
            s[CODE] = status
            return GAVE_UP
    s[STALE] = 0
    if evaluate(rhs, context, w[T_END], new, w, TAKE_STEP, out) != 0:
        return GAVE_UP
    s[CODE] = int(out[1])
    if s[CODE] < 0:
        return GAVE_UP
    s[ORDER] = int(out[2])
    w[T] = w[T_NEW]
    w[T_NEW] = out[0]
    w[H_DONE] = w[T_NEW] - w[T]
    w[H] = w[H_DONE]
    s[BUDGET] -= 1
    s[EVALUATIONS] += 1
    zero = 0.0
    for i in range(n):
        zero += 0.0 * new[i]
    return DONE if zero == 0.0 else STATE_NOT_FINITE


def dense(rhs: Function, context: Address, s: Ints, w: Vec) -> int:
    """The derivatives at the end of the step."""
    for k in range(min(s[ORDER], MOST) + 1):
        if evaluate(rhs, context, w[T_NEW], w, w, DERIVATIVES + k, w[HEAD + (K1 + k) * s[M] :]) != 0:
            return DENSE_NOT_FINITE
    return DONE


def interpolate(s: Ints, w: Vec, theta: float, out: Vec) -> None:
    """y (n,) at T + theta H_DONE, by Taylor's formula from T_NEW."""
    n = s[N]
    m = s[M]
    order = min(s[ORDER], MOST)
    x = (theta - 1.0) * w[H_DONE]
    last = w[HEAD + (K1 + order) * m :]
    for i in range(n):
        out[i] = last[i]
    for k in range(order):
        j = order - 1 - k
        factor = x / (j + 1)
        term = w[HEAD + (K1 + j) * m :]
        for i in range(n):
            out[i] = term[i] + factor * out[i]


__all__ = ["DERIVATIVES", "MOST", "TAKE_BACK", "TAKE_STEP", "attempt", "dense", "interpolate"]
