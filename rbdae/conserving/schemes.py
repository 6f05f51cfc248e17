"""The table of schemes by name, one line each, and their kernels.

All kernels have the signature of a residual, (t, y, yd, c, out), with the state y at the start of the step and its size
c; yd are the unknowns of the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import final

from rbdae.formulations.explicit import add_multipliers
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.conserving import steps
from rbdae.kernels.conserving.bodies import Energy, Exponential, Paper, Rodrigues
from rbdae.kernels.conserving.midpoint import Momenta, Velocities
from rbdae.kernels.conserving.variational import Variational
from rbdae.kernels.entry import Entry, entry
from rbdae.kernels.equations import set_state
from rbdae.kernels.linear.accelerations import accelerations


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    """An implicit integration scheme with fixed step size, of second order unless `summary` says otherwise.

    Parameters
    ----------
    name, summary, source : its name in the literature, one line, paper and equation
    newton, advance, work : kernels of one iteration of a step, of the end of a step, and out[0] = the work of drives
        and of forces without a potential in a step
    forces : whether it has discrete forms of drives and applied forces
    """

    name: str
    summary: str
    source: str
    newton: Entry
    advance: Entry
    work: Entry
    forces: bool = True


KINDS: dict[Entry, tuple[str, type[Rodrigues]]] = {}
"""What each of the kernels `newton` and `advance` is, and its kind of bodies."""


@cache
def _kernels(kind: type[Rodrigues]) -> tuple[Entry, Entry, Entry]:
    """`newton`, `advance` and `work` of the steps of a kind of bodies, as entries with names of their own."""

    def newton(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
        steps.newton(m, t, y, yd, c, out, kind)

    def advance(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
        steps.advance(m, t, y, yd, c, out, kind)
        h = m.head
        if len(out) > h.multipliers_at:
            # those of the state, by elimination, of second order like it: those of a step belong to no time
            set_state(m, t + yd[h.n_body_unknowns + h.n_rows] * c, out)
            accelerations(m)
            add_multipliers(m, out)

    def work(m: Memory, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
        steps.work(m, t, y, yd, c, out, kind)

    def named(kernel: Callable[..., None]) -> Entry:
        kernel.__qualname__ = f"{kernel.__name__}_{kind.__name__.lower()}"
        return entry("ityyto")(kernel)

    kernels = named(newton), named(advance), named(work)
    KINDS.update({kernels[0]: ("newton", kind), kernels[1]: ("advance", kind)})
    return kernels


SCHEMES: dict[str, Scheme] = {
    s.name: s
    for s in (
        Scheme(
            "QUAT.EM-R",
            "energy and momentum, in quaternions, with every joint",
            "[BS09] (51) with Rodrigues parameters of the increment",
            *_kernels(Rodrigues),
        ),
        Scheme("QUAT.EM", "energy; momentum without joints, else to second order", "[BS09] (51)", *_kernels(Paper)),
        Scheme(
            "DIR.EM",
            "energy and momentum, in directors, with every joint",
            "[BS09], section 5, after [BS01]",
            *_kernels(Rodrigues),
        ),
        Scheme(
            "QUAT.VI",
            "momentum; a symplectic map: energy errs without a trend; without applied forces",
            "[BS09], Appendix E",
            *_kernels(Variational),
            forces=False,
        ),
        Scheme("ALGO.C1", "momentum; energy of bodies without forces", "[SW91]", *_kernels(Exponential)),
        Scheme(
            "ALGO.C1 (energy)",
            "energy; momentum without joints, else to second order",
            "[SW91], arms times 2 tan(theta / 2) / theta",
            *_kernels(Energy),
        ),
        Scheme(
            "MIDPOINT",
            "energy and momentum, with every joint: the steps of QUAT.EM-R",
            "[GR95], section 11, with Rodrigues parameters b = h Om_mean / 2 of the increment, (183)",
            *_kernels(Rodrigues),
        ),
        Scheme(
            "MIDPOINT (conformal)",
            "energy; momentum without joints, else to second order: the steps of QUAT.EM",
            "[GR95], section 11, with the conformal vector c = h Om_mean of the increment, (256)",
            *_kernels(Paper),
        ),
        Scheme(
            "MIDPOINT (310)",
            "momentum without joints, else to second order; energy to second order",
            "[GR95] (309), (331), (340), (310)",
            *_kernels(Momenta),
        ),
        Scheme(
            "MIDPOINT (326)",
            "energy; of first order, and momentum, too",
            "[GR95] (309), (331), (340), (326)",
            *_kernels(Velocities),
        ),
    )
}
