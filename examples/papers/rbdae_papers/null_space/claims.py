"""The conclusions of [NS] section 7 on Examples A, B and C, judged by the numbers of a study."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Final, Literal, TypeAlias, final

from rbdae.study import Comparison
from rbdae_papers.null_space.multiples import ratios

Form: TypeAlias = str
Measure: TypeAlias = Literal["evaluations", "energy"]

Q42: Final[Form] = "null-space, quaternion, angular"
D25: Final[Form] = "null-space, directors, angular"
Q40: Final[Form] = "index-0, quaternion, coordinate"
D23: Final[Form] = "index-0, directors, coordinate"
E66: Final[Form] = "index-0, euler-313, angular"

_NAMES: Final[dict[Form, str]] = {
    Q42: "null space in quaternions",
    D25: "null space in directors",
    Q40: "index-0 form in quaternions",
    D23: "index-0 form in directors",
    E66: "form in Euler angles",
}
_SENTENCES: Final[dict[Measure, str]] = {
    "evaluations": "takes {much} times the evaluations of the {under}",
    "energy": "has {much} times the error of energy of the {under}, at equal tolerances",
}
_ROUNDING = 1e-15
"""Errors of the energy below this are rounding."""


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper, with the ratios that judge it.

    Attributes
    ----------
    place : its place in the paper
    says : the paper's words
    pairs : pairs of forms for ratios of work or error of energy
    least, most : limits of the ratios for which the sentence holds
    what : ``"evaluations"`` for one error, or ``"energy"``, its error at equal tolerances
    why : the reason if runs differ from the sentence
    """

    place: str
    says: str
    pairs: tuple[tuple[Form, Form], ...]
    least: float = 1.0
    most: float = math.inf
    what: Measure = "evaluations"
    why: str = ""


_SUPERIOR: Final = (
    "In all examples, the null space descriptions are superior to the absolute index-0 descriptions. This is the case, "
    "independent of the special time integration method"
)
_SLIGHTLY: Final = (
    "the quaternionic null space method [...] behaves slightly better than the rotation-free null space method [...]. "
    "Likewise, the quaternionic absolute index-0 method"
)
_BETTER = ((D25, Q42), (D23, Q40))
_ABSOLUTE = ((Q40, Q42), (D23, D25))
_EULER = ((E66, Q42), (E66, D25))

CLAIMS: Final[dict[str, tuple[Claim, ...]]] = {
    "A": (
        Claim("section 7, Figures 13 and 14", _SUPERIOR, _ABSOLUTE),
        Claim("section 7", _SLIGHTLY, _BETTER),
        Claim(
            "section 7",
            "both [...] are competitive to the (minimal, three-dimensional) Euler parametrisation",
            ((Q42, E66), (D25, E66)),
            least=0.0,
            most=2.0,
        ),
        Claim(
            "section 7, Figure 10",
            "both null space formalisms [...] display a much better energy conservation",
            _ABSOLUTE,
            least=2.0,
            what="energy",
        ),
    ),
    "B": (
        Claim("section 7", _SUPERIOR, _ABSOLUTE),
        Claim(
            "section 7, Figure 15 (b), there with 1e-5 rad/s, here with 1e-3",
            "For very small initial disturbances [...] the absolute index-0 formalisms completely fail",
            _ABSOLUTE,
            least=math.inf,
            why="a disturbance a hundred times that of the figure lets the tightest tolerances through",
        ),
        Claim("section 7", "In Example B - surprisingly - they are even better [than Euler angles]", _EULER),
        Claim("section 7", _SLIGHTLY, _BETTER),
    ),
    "C": (
        Claim(
            "section 7, Figure 16",
            _SUPERIOR,
            _ABSOLUTE,
            why="in half a second drift costs little, and in the paper's 4 s rounding grows 1e22-fold",
        ),
        Claim(
            "section 7",
            "The same holds for Example C [quaternions, with fewer unknowns, behave better than directors]",
            _BETTER,
            why="in half a second the two kinds hardly differ",
        ),
    ),
}
"""Claims by example."""


def conclusions(example: str, found: Comparison, error: float) -> str:
    """The paper's sentences on an example, each with the numbers of a study and the verdict."""
    ranking = found.ranking([error])
    return "\n".join(line for claim in CLAIMS[example] for line in judged(claim, found, ranking))


def judged(claim: Claim, found: Comparison, ranking: Any) -> list[str]:
    """Lines with the sentence, the verdict, and the ratios of each pair."""
    measured = [
        ratios(ranking, over, under) if claim.what == "evaluations" else energies(found, over, under)
        for over, under in claim.pairs
    ]
    held = [claim.least <= ratio <= claim.most for of_pair in measured for ratio in of_pair.values()]
    told = [
        _told(claim.what, _NAMES[over], _NAMES[under], of_pair)
        for (over, under), of_pair in zip(claim.pairs, measured, strict=True)
    ]
    return [
        *wrap(f'[NS] {claim.place}: "{claim.says}"', 118, initial_indent="  ", subsequent_indent="    "),
        *wrap(f"{_verdict(claim, held)}. {' '.join(told)}", 118, initial_indent="    -> ", subsequent_indent="       "),
    ]


def _verdict(claim: Claim, held: Sequence[bool]) -> str:
    """The verdict: agrees, agrees in part, or differs, and why."""
    if not held:
        return "not judged: no solver has run both"
    if all(held):
        return "agrees"
    much = f"agrees in part, in {sum(held)} of {len(held)} ratios" if any(held) else "differs"
    return f"{much}: {claim.why}" if claim.why else much


def _told(what: Measure, over: str, under: str, ratios: Mapping[str, float]) -> str:
    """A sentence with the least and the largest ratio, and the forms that miss the error."""
    if not ratios:
        return f"Neither the {over} nor the {under} reaches the error."
    finite = sorted(ratio for ratio in ratios.values() if 0.0 < ratio < math.inf)
    missed, ahead = (sum(ratio == value for ratio in ratios.values()) for value in (math.inf, 0.0))
    said = []
    if finite:
        much = " to ".join(f"{float(f'{ratio:.2g}'):g}" for ratio in dict.fromkeys((finite[0], finite[-1])))
        said.append(_SENTENCES[what].format(much=much, under=under))
    if missed:
        said.append(f"does not reach the error with {missed} of {len(ratios)} solvers")
    if ahead:
        said.append(f"alone reaches it with {ahead} of {len(ratios)} solvers")
    return f"The {over} {', and '.join(said)}."


def energies(found: Comparison, over: Form, under: Form) -> dict[str, float]:
    """Ratios of two forms' errors of the energy balance, at equal tolerances of equal solvers."""
    rows = {(row.case.form, row.case.method, row.case.at): row for row in found.rows if row.errors is not None}
    return {
        f"{method} at {at}": max(row.energy_error, _ROUNDING) / max(rows[under, method, at].energy_error, _ROUNDING)
        for (form, method, at), row in rows.items()
        if form == over and (under, method, at) in rows
    }
