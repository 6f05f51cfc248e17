"""The projection onto the constraints after accepted steps, in the loop: of the state there, and of outputs.

It is a machine function ``near(context, t, y, info, c, out)`` for states near the constraints: y, projected, to `out`,
and behind it the numbers below. Where its result does not count, the caller's own function ``anywhere`` with the same
arguments projects; it leaves in ``out[n]`` whether y has changed.

The memory `p` has numbers at the places below, then `info`, which says how to project, then `out`, from `result` on.
"""

from __future__ import annotations

from math import isfinite

from rbdae.machine.language.words import Address, Function, Vec, evaluate
from rbdae.machine.loops.memory import DONE, NOT_PROJECTED, PROJECTED_NOT_FINITE

# ---------------------------------------------------------------- out, behind y
OFF = 0
"""1 where the state is off the constraints, else 0: then there is nothing to do."""
ITERATIONS = 1
"""Of Newton's method."""
COUNTS = 2
"""1 where the result counts, else 0."""
N_MORE = 5
"""The numbers behind y; the last two, violations of positions and of velocities, are for others than loops."""

# ---------------------------------------------------------------- p
COUNT = 0
"""Corrections, without those that the caller has made."""
SKIPPED = 1
"""States that needed none."""
NEWTON = 2
"""Newton iterations in all."""
LARGEST = 3
"""The largest correction of an unknown."""
TOTAL = 4
"""The sum of the largest ones."""
CHANGED = 5
"""Whether the last state has changed."""
INFO = 8
"""Where `info` begins."""


def project(near: Function, context: Address, anywhere: Function, n: int, result: int, p: Vec, t: float, y: Vec) -> int:
    """Project y (n,) in place."""
    info = p[INFO:]
    out = p[result:]
    p[CHANGED] = 0.0
    status = evaluate(near, context, t, y, info, 0.0, out)
    if status == DONE:
        if out[n + OFF] == 0.0:
            p[SKIPPED] += 1.0
            return DONE
        largest = 0.0
        zero = 0.0
        for i in range(n):
            moved = abs(out[i] - y[i])
            largest = moved if moved > largest else largest
            zero += 0.0 * out[i]
        if out[n + COUNTS] == 1.0 and zero == 0.0:
            for i in range(n):
                y[i] = out[i]
            p[COUNT] += 1.0
            p[NEWTON] += out[n + ITERATIONS]
            p[TOTAL] += largest
            p[LARGEST] = largest if largest > p[LARGEST] else p[LARGEST]
            p[CHANGED] = 1.0
            return DONE
    if evaluate(anywhere, context, t, y, info, 0.0, out) != 0:
        return NOT_PROJECTED
    for i in range(n):
        if not isfinite(out[i]):
            return PROJECTED_NOT_FINITE
        y[i] = out[i]
    p[CHANGED] = out[n]
    return DONE
