"""Where the bodies are at the end, to 1e-13, from rbdae and from C."""

from __future__ import annotations

import numpy as np

import rbdae

from . import by_c
from .mechanisms import Array, Mechanism
from .missing import Missing

TOLERANCE = 1e-13


def reference(mechanism: Mechanism) -> tuple[Array, float | None]:
    """(n_bodies, 3) positions of the centres at the end, and how much C's differ, over the length; None without C."""
    solution = rbdae.solve(
        mechanism.problem,
        (0.0, mechanism.t_end),
        solver="scipy:DOP853",
        rtol=TOLERANCE,
        atol=TOLERANCE,
        t_eval=[0.0, mechanism.t_end],
    )
    if not solution.success:
        raise ArithmeticError(solution.message)
    found = mechanism.centres(solution.y[-1])
    try:
        address, context = by_c.rhs(mechanism)
    except Missing:
        return found, None
    other = mechanism.centres(by_c.looped("dop853", address, context, mechanism, TOLERANCE)())
    difference = error(mechanism, other, found)
    if difference > 0.1 * min(mechanism.targets):
        raise ArithmeticError(f"{mechanism.name}: the references of rbdae and of C differ by {difference:.1e}")
    return found, difference


def error(mechanism: Mechanism, centres: Array, expected: Array) -> float:
    """The largest distance of a centre from where it should be, over the mechanism's length."""
    return float(np.max(np.linalg.norm(centres - expected, axis=1))) / mechanism.length
