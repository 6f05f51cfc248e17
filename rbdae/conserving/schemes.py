"""The schemes by name: a table, a line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from rbdae.compiler.jit import Entry
from rbdae.conserving import entries


@final
@dataclass(frozen=True, slots=True, eq=False)
class Scheme:
    """One integration scheme of fixed step size, implicit, of second order.

    Parameters
    ----------
    name, summary, source : its name in the literature, one line, paper and equation
    newton, advance : its kernels, see `rbdae.conserving.entries`
    """

    name: str
    summary: str
    source: str
    newton: Entry
    advance: Entry


SCHEMES: dict[str, Scheme] = {
    s.name: s
    for s in (
        Scheme(
            "QUAT.EM-R",
            "energy and momentum, in quaternions, with every joint",
            "[BS09] (51) with Rodrigues parameters of the increment",
            entries.newton_rodrigues,
            entries.advance_rodrigues,
        ),
        Scheme(
            "QUAT.EM",
            "energy; momentum without joints, else to second order",
            "[BS09] (51)",
            entries.newton_paper,
            entries.advance_paper,
        ),
        Scheme(
            "DIR.EM",
            "energy and momentum, in directors, with every joint",
            "[BS09], section 5, after [BS01]",
            entries.newton_rodrigues,
            entries.advance_rodrigues,
        ),
        Scheme(
            "ALGO.C1",
            "momentum; energy of bodies without forces",
            "[SW91]",
            entries.newton_exponential,
            entries.advance_exponential,
        ),
        Scheme(
            "ALGO.C1 (energy)",
            "energy; momentum without joints, else to second order",
            "[SW91], arms times 2 tan(theta / 2) / theta",
            entries.newton_energy,
            entries.advance_energy,
        ),
    )
}

__all__ = ["SCHEMES", "Scheme"]
