"""Kernels of the schemes: `predict`, `newton` and `advance` for each scheme, and the work for each increment.

All have the signature of a residual, (t, y, yd, c, out), with the state y at the start of the step and its size c; yd
are the unknowns of the step.
"""

from __future__ import annotations

from collections.abc import Callable

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.conserving import steps, work
from rbdae.kernels.entry import Entry, entry
from rbdae.kernels.equations import set_state
from rbdae.kernels.linear.accelerations import accelerations
from rbdae.kernels.memory import head, multipliers


def _add_multipliers(m: Memory, t: float, y: Array) -> None:
    """Add the multipliers of the state y at t, by elimination: of second order like the state. The multipliers of a
    step belong to no time and are of first order."""
    set_state(m, t, y)
    accelerations(m)
    h = head(m)
    la = multipliers(m)
    for i in range(h.n_la):
        y[h.multipliers_at + i] = la[i]


def _advance(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array, scheme: int) -> None:
    steps.advance(m, t, y, yd, c, out, scheme)
    h = head(m)
    if out.shape[0] > h.multipliers_at:
        _add_multipliers(m, t + yd[h.n_body_unknowns + h.n_rows] * c, out)


@entry("ityyto")
def predict(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """Initial guess for the unknowns of the first step; yd is not read."""
    steps.predict(m, t, y, c, out)


def _entry(kernel: Callable[..., None], of: str) -> Entry:
    """A local kernel as an entry with a name of its own."""
    kernel.__qualname__ = f"{kernel.__name__}_{of}"
    return entry("ityyto")(kernel)


def steps_of(scheme: int, of: str) -> tuple[Entry, Entry]:
    """One iteration of the steps of a scheme, and the end of a step."""

    def newton(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
        steps.newton(m, t, y, yd, c, out, scheme)

    def advance(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
        _advance(m, t, y, yd, c, out, scheme)

    return _entry(newton, of), _entry(advance, of)


def work_of(scheme: int, of: str) -> Entry:
    """out[0] = the work of drives and of forces without a potential in a step with a scheme's increments."""

    def work_in(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
        work.work(m, t, y, yd, c, out, scheme)

    return _entry(work_in, of)
