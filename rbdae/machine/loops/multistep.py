"""Steps that a library takes: its function of a step in place of stages, its derivatives in place of a dense output.

The function, with the signature of a machine function, does by `c` what `TAKE_STEP`, `TAKE_BACK` and `DERIVATIVES` say.
A multistep code interpolates by a polynomial of its order; its derivatives at the end of the step are the coefficients.
"""

from __future__ import annotations

from rbdae.machine.language.words import Address, Function, Vec, evaluate
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.control import finite
from rbdae.machine.loops.memory import StepMemory

TAKE_STEP = 0.0
"""One step, which ends at t at the latest: the state to y; the time, the library's word, the order to out."""
TAKE_BACK = -1.0
"""Continue at t from the state y, with the history."""
DERIVATIVES = 1.0
"""With k added: the k-th derivative at t to out."""

MOST = 19
"""The highest derivative for which there is memory."""


def attempt(rhs: Function, context: Address, s: StepMemory) -> int:
    """Take a step."""
    m = s.m
    new = s.vectors[at.Y_NEW * m :]
    out = s.vectors[at.FURTHER * m :]
    if s.stale != 0 and s.takes_back != 0:
        status = evaluate(rhs, context, s.t_new, new, s.vectors, TAKE_BACK, out)
        if status < 0:
            s.code = status
            return at.GAVE_UP
    s.stale = 0
    if evaluate(rhs, context, s.t_end, new, s.vectors, TAKE_STEP, out) != 0:
        return at.GAVE_UP
    s.code = int(out[1])
    if s.code < 0:
        return at.GAVE_UP
    s.order = int(out[2])
    s.t = s.t_new
    s.t_new = out[0]
    s.h_done = s.t_new - s.t
    s.h = s.h_done
    s.budget -= 1
    s.evaluations += 1
    return at.DONE if finite(new, s.n) else at.STATE_NOT_FINITE


def dense(rhs: Function, context: Address, s: StepMemory) -> int:
    """The derivatives at the end of the step."""
    for k in range(min(s.order, MOST) + 1):
        if evaluate(rhs, context, s.t_new, s.vectors, s.vectors, DERIVATIVES + k, s.vectors[(at.K1 + k) * s.m :]) != 0:
            return at.DENSE_NOT_FINITE
    return at.DONE


def interpolate(s: StepMemory, theta: float, out: Vec) -> int:
    """y (n,) at t + theta h_done, by Taylor's formula from t_new."""
    n = s.n
    m = s.m
    order = min(s.order, MOST)
    x = (theta - 1.0) * s.h_done
    last = s.vectors[(at.K1 + order) * m :]
    for i in range(n):
        out[i] = last[i]
    for k in range(order):
        j = order - 1 - k
        factor = x / (j + 1)
        term = s.vectors[(at.K1 + j) * m :]
        for i in range(n):
            out[i] = term[i] + factor * out[i]
    return at.DONE
