"""The kernels of the schemes: `predict`, and for each scheme `newton` and `advance`.

All of them have the signature of a residual, (t, y, yd, c, out), with the state y at the start of the step and its size
c; yd are the unknowns of the step.
"""

from __future__ import annotations

from rbdae.compiler.access import Array, Memory
from rbdae.compiler.jit import entry
from rbdae.kernels.conserving import steps
from rbdae.kernels.conserving.increments import ENERGY, EXPONENTIAL, PAPER, RODRIGUES


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
    steps.advance(m, t, y, yd, c, out, RODRIGUES)


@entry("ityyto")
def newton_paper(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """One iteration of QUAT.EM."""
    steps.newton(m, t, y, yd, c, out, PAPER)


@entry("ityyto")
def advance_paper(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The end of a step of QUAT.EM."""
    steps.advance(m, t, y, yd, c, out, PAPER)


@entry("ityyto")
def newton_exponential(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """One iteration of ALGO.C1."""
    steps.newton(m, t, y, yd, c, out, EXPONENTIAL)


@entry("ityyto")
def advance_exponential(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The end of a step of ALGO.C1."""
    steps.advance(m, t, y, yd, c, out, EXPONENTIAL)


@entry("ityyto")
def newton_energy(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """One iteration of ALGO.C1 with the arms for which work is exact."""
    steps.newton(m, t, y, yd, c, out, ENERGY)


@entry("ityyto")
def advance_energy(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
    """The end of a step of that."""
    steps.advance(m, t, y, yd, c, out, ENERGY)
