"""The kernels of the schemes: `predict`, for each scheme `newton` and `advance`, and `work` for each increment.

All of them have the signature of a residual, (t, y, yd, c, out), with the state y at the start of the step and its size
c; yd are the unknowns of the step.
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Array, Memory, address, vector_at
from rbdae.compiler.jit import entry, jit, stage
from rbdae.kernels.conserving import steps, work
from rbdae.kernels.conserving.increments import (
    ENERGY,
    EXPONENTIAL,
    MOMENTA,
    PAPER,
    RODRIGUES,
    VARIATIONAL,
    VELOCITIES,
)
from rbdae.kernels.equations import set_state
from rbdae.kernels.linear.accelerations import accelerations
from rbdae.kernels.memory import head, multipliers


@stage("ifi", "multipliers", optional=True)
def _add_multipliers(m: Memory, t: float, y_at: Address) -> None:
    """The multipliers of the state y at t, by elimination: of second order as the state is. Those of a step belong to
    no time and are of first order."""
    y = vector_at(y_at)
    set_state(m, t, y)
    accelerations(m)
    h = head(m)
    la = multipliers(m)
    for i in range(h.n_la):
        y[h.multipliers_at + i] = la[i]


@jit
def _advance(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array, scheme: int) -> None:
    steps.advance(m, t, y, yd, c, out, scheme)
    h = head(m)
    if out.shape[0] > h.multipliers_at:
        _add_multipliers(m, t + yd[h.n_body_unknowns + h.n_rows] * c, address(out))


@entry("ityyto")
def predict(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The unknowns with which the first step begins; yd is not read."""
    steps.predict(m, t, y, c, out)


@entry("ityyto")
def newton_rodrigues(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """One iteration of QUAT.EM-R."""
    steps.newton(m, t, y, yd, c, out, RODRIGUES)


@entry("ityyto")
def advance_rodrigues(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The end of a step of QUAT.EM-R."""
    _advance(m, t, y, yd, c, out, RODRIGUES)


@entry("ityyto")
def newton_paper(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """One iteration of QUAT.EM."""
    steps.newton(m, t, y, yd, c, out, PAPER)


@entry("ityyto")
def advance_paper(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The end of a step of QUAT.EM."""
    _advance(m, t, y, yd, c, out, PAPER)


@entry("ityyto")
def newton_exponential(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """One iteration of ALGO.C1."""
    steps.newton(m, t, y, yd, c, out, EXPONENTIAL)


@entry("ityyto")
def advance_exponential(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The end of a step of ALGO.C1."""
    _advance(m, t, y, yd, c, out, EXPONENTIAL)


@entry("ityyto")
def newton_energy(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """One iteration of ALGO.C1 with the arms for which work is exact."""
    steps.newton(m, t, y, yd, c, out, ENERGY)


@entry("ityyto")
def advance_energy(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The end of a step of that."""
    _advance(m, t, y, yd, c, out, ENERGY)


@entry("ityyto")
def newton_momenta(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """One iteration of [GR95] (331) with the average of momenta."""
    steps.newton(m, t, y, yd, c, out, MOMENTA)


@entry("ityyto")
def advance_momenta(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The end of a step of that, (310)."""
    _advance(m, t, y, yd, c, out, MOMENTA)


@entry("ityyto")
def newton_velocities(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """One iteration of [GR95] (331) with the average of angular velocities."""
    steps.newton(m, t, y, yd, c, out, VELOCITIES)


@entry("ityyto")
def advance_velocities(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The end of a step of that, (326)."""
    _advance(m, t, y, yd, c, out, VELOCITIES)


@entry("ityyto")
def newton_variational(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """One iteration of QUAT.VI."""
    steps.newton(m, t, y, yd, c, out, VARIATIONAL)


@entry("ityyto")
def advance_variational(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The end of a step of QUAT.VI."""
    _advance(m, t, y, yd, c, out, VARIATIONAL)


@entry("ityyto")
def work_rodrigues(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """out[0] = the work of what has no potential in a step with the increments of RODRIGUES."""
    work.work(m, t, y, yd, c, out, RODRIGUES)


@entry("ityyto")
def work_paper(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The same with those of PAPER, which MOMENTA and VELOCITIES have, too."""
    work.work(m, t, y, yd, c, out, PAPER)


@entry("ityyto")
def work_exponential(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The same with those of EXPONENTIAL and ENERGY."""
    work.work(m, t, y, yd, c, out, EXPONENTIAL)
