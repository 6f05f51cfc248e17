"""The table of schemes by name, one line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from rbdae.conserving.entries import steps_of, work_of
from rbdae.kernels.conserving import increments as of
from rbdae.kernels.entry import Entry


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    """An implicit integration scheme with fixed step size, of second order unless `summary` says otherwise.

    Parameters
    ----------
    name, summary, source : its name in the literature, one line, paper and equation
    newton, advance, work : its kernels, see `rbdae.conserving.entries`
    forces : whether it has discrete forms of drives and applied forces
    """

    name: str
    summary: str
    source: str
    newton: Entry
    advance: Entry
    work: Entry
    forces: bool = True


_rodrigues, _work_rodrigues = steps_of(of.RODRIGUES, "rodrigues"), work_of(of.RODRIGUES, "rodrigues")
_paper, _work_paper = steps_of(of.PAPER, "paper"), work_of(of.PAPER, "paper")
_exponential, _work_exponential = steps_of(of.EXPONENTIAL, "exponential"), work_of(of.EXPONENTIAL, "exponential")
_energy = steps_of(of.ENERGY, "energy")
_momenta = steps_of(of.MOMENTA, "momenta")
_velocities = steps_of(of.VELOCITIES, "velocities")
_variational = steps_of(of.VARIATIONAL, "variational")

SCHEMES: dict[str, Scheme] = {
    s.name: s
    for s in (
        Scheme(
            "QUAT.EM-R",
            "energy and momentum, in quaternions, with every joint",
            "[BS09] (51) with Rodrigues parameters of the increment",
            *_rodrigues,
            _work_rodrigues,
        ),
        Scheme(
            "QUAT.EM",
            "energy; momentum without joints, else to second order",
            "[BS09] (51)",
            *_paper,
            _work_paper,
        ),
        Scheme(
            "DIR.EM",
            "energy and momentum, in directors, with every joint",
            "[BS09], section 5, after [BS01]",
            *_rodrigues,
            _work_rodrigues,
        ),
        Scheme(
            "QUAT.VI",
            "momentum; a symplectic map: energy errs without a trend; without applied forces",
            "[BS09], Appendix E",
            *_variational,
            _work_rodrigues,
            forces=False,
        ),
        Scheme(
            "ALGO.C1",
            "momentum; energy of bodies without forces",
            "[SW91]",
            *_exponential,
            _work_exponential,
        ),
        Scheme(
            "ALGO.C1 (energy)",
            "energy; momentum without joints, else to second order",
            "[SW91], arms times 2 tan(theta / 2) / theta",
            *_energy,
            _work_exponential,
        ),
        Scheme(
            "MIDPOINT",
            "energy and momentum, with every joint: the steps of QUAT.EM-R",
            "[GR95], section 11, with Rodrigues parameters b = h Om_mean / 2 of the increment, (183)",
            *_rodrigues,
            _work_rodrigues,
        ),
        Scheme(
            "MIDPOINT (conformal)",
            "energy; momentum without joints, else to second order: the steps of QUAT.EM",
            "[GR95], section 11, with the conformal vector c = h Om_mean of the increment, (256)",
            *_paper,
            _work_paper,
        ),
        Scheme(
            "MIDPOINT (310)",
            "momentum without joints, else to second order; energy to second order",
            "[GR95] (309), (331), (340), (310)",
            *_momenta,
            _work_paper,
        ),
        Scheme(
            "MIDPOINT (326)",
            "energy; of first order, and momentum, too",
            "[GR95] (309), (331), (340), (326)",
            *_velocities,
            _work_paper,
        ),
    )
}
