"""Whether the caller has to be asked about an accepted state: not while all measures stay within their bounds, at the
end of a run also a little later (`margin`).

The `memory` has the lower and upper bounds of the n measures, and their values at the last two states.
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat
from rbdae.machine.language.words import Vec, evaluate
from rbdae.machine.loops.memory import StepMemory

LOW, HIGH, VALUES, BEFORE = range(4)
"""Rows of the memory: bounds, values at the last state and at the one before."""


def memory(n: int) -> Mat:
    """That of n measures, without numbers yet."""
    out = np.empty((4, n))
    out.fill(np.nan)
    return out


def asks(s: StepMemory, t: float, y: Vec) -> bool:
    """Whether a measure is out of its bounds, or cannot be had."""
    n = s.measured
    v = s.watched
    high = v[n:]
    values = v[2 * n :]
    before = v[3 * n :]
    for i in range(n):
        before[i] = values[i]
    if evaluate(s.measure, s.measure_context, t, y, v, 0.0, values) != 0:
        return True
    later = s.margin / s.h_done if s.t_new >= s.t_end else 0.0
    out = False
    for i in range(n):
        value = values[i]
        out = out or not (value >= v[i] and value <= high[i])
        if later > 0.0:
            value += (value - before[i]) * later
            out = out or not (value >= v[i] and value <= high[i])
    return out
