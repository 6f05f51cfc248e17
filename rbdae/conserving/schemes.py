"""The schemes by name: a table, a line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from rbdae.compiler.jit import Entry
from rbdae.conserving import entries


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    """One integration scheme of fixed step size, implicit, of second order if `summary` does not say otherwise.

    Parameters
    ----------
    name, summary, source : its name in the literature, one line, paper and equation
    newton, advance, work : its kernels, see `rbdae.conserving.entries`
    forces : whether it has discrete forms of drives and of applied forces
    """

    name: str
    summary: str
    source: str
    newton: Entry
    advance: Entry
    work: Entry
    forces: bool = True


SCHEMES: dict[str, Scheme] = {
    s.name: s
    for s in (
        Scheme(
            "QUAT.EM-R",
            "energy and momentum, in quaternions, with every joint",
            "[BS09] (51) with Rodrigues parameters of the increment",
            entries.newton_rodrigues,
            entries.advance_rodrigues,
            entries.work_rodrigues,
        ),
        Scheme(
            "QUAT.EM",
            "energy; momentum without joints, else to second order",
            "[BS09] (51)",
            entries.newton_paper,
            entries.advance_paper,
            entries.work_paper,
        ),
        Scheme(
            "DIR.EM",
            "energy and momentum, in directors, with every joint",
            "[BS09], section 5, after [BS01]",
            entries.newton_rodrigues,
            entries.advance_rodrigues,
            entries.work_rodrigues,
        ),
        Scheme(
            "QUAT.VI",
            "momentum; a symplectic map: energy errs without a trend; without applied forces",
            "[BS09], Appendix E",
            entries.newton_variational,
            entries.advance_variational,
            entries.work_rodrigues,
            forces=False,
        ),
        Scheme(
            "ALGO.C1",
            "momentum; energy of bodies without forces",
            "[SW91]",
            entries.newton_exponential,
            entries.advance_exponential,
            entries.work_exponential,
        ),
        Scheme(
            "ALGO.C1 (energy)",
            "energy; momentum without joints, else to second order",
            "[SW91], arms times 2 tan(theta / 2) / theta",
            entries.newton_energy,
            entries.advance_energy,
            entries.work_exponential,
        ),
        Scheme(
            "MIDPOINT",
            "energy and momentum, with every joint: the steps of QUAT.EM-R",
            "[GR95], section 11, with Rodrigues parameters b = h Om_mean / 2 of the increment, (183)",
            entries.newton_rodrigues,
            entries.advance_rodrigues,
            entries.work_rodrigues,
        ),
        Scheme(
            "MIDPOINT (conformal)",
            "energy; momentum without joints, else to second order: the steps of QUAT.EM",
            "[GR95], section 11, with the conformal vector c = h Om_mean of the increment, (256)",
            entries.newton_paper,
            entries.advance_paper,
            entries.work_paper,
        ),
        Scheme(
            "MIDPOINT (310)",
            "momentum without joints, else to second order; energy to second order",
            "[GR95] (309), (331), (340), (310)",
            entries.newton_momenta,
            entries.advance_momenta,
            entries.work_paper,
        ),
        Scheme(
            "MIDPOINT (326)",
            "energy; of first order, and momentum, too",
            "[GR95] (309), (331), (340), (326)",
            entries.newton_velocities,
            entries.advance_velocities,
            entries.work_paper,
        ),
    )
}
