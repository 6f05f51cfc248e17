"""Work and precision: evaluations and errors over tolerances, and the evaluations needed for an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

import rbdae
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, claim
from rbdae_papers.item import attempt
from rbdae_papers.null_space.equations import LEGEND, problem
from rbdae_papers.null_space.references import Motion, errors, reference

TOLERANCES: Final[tuple[float, ...]] = tuple(10.0**-k for k in range(3, 13))

COLUMNS: Final[tuple[str, ...]] = (
    "t_end [s]",
    "solver",
    "form",
    "tolerance",
    "evaluations",
    "position error",
    "velocity error",
)


def work_precision(
    example: str,
    t_end: float,
    solver: str,
    forms: Iterable[str],
    tolerances: Sequence[float] = TOLERANCES,
    wanted: Motion | None = None,
    *,
    name: str = "",
    projection: rbdae.Projection | None = None,
    **options: Any,
) -> list[tuple[Cell, ...]]:
    """Rows of `COLUMNS`, one for each run, with the paper's name of the solver and errors at the end; NaN if it ends
    early."""
    wanted = reference(example, t_end) if wanted is None else wanted
    rows: list[tuple[Cell, ...]] = []
    for form in forms:
        of = problem(example, form, **options)
        for tolerance in tolerances:
            run = attempt(of, (0.0, t_end), solver=solver, rtol=tolerance, atol=tolerance, projection=projection)
            rows.append((t_end, name or solver, form, tolerance, run.stats.evaluations, *errors(run, wanted)))
    return rows


SUPERIOR: Final = (("q40", "q42"), ("d23", "d25"))
BETTER: Final = (("d25", "q42"), ("d23", "q40"))
EULER: Final = (("E66", "q42"), ("E66", "d25"))
"""Pairs of forms for ratios of work: index 0 over null space, directors over quaternions, Euler angles over null
space."""


def ratios(
    works: Sequence[Mapping[str, float]], pairs: Iterable[tuple[str, str]], least: float, says: str, before: str = "",
    why: str = "",
) -> list[Comparison]:  # fmt: skip
    """Claims on ratios of evaluations of two forms: the least ratio over several levels of the error."""
    return [
        claim(f"{before}evaluations, {over} : {under}", np.min([work[over] / work[under] for work in works]),
              at_least(least), says, why=why)
        for over, under in pairs
    ]  # fmt: skip


def remarks(finding: Finding) -> tuple[str, ...]:
    """Names of the forms, and the runs that did not reach their ends and so have no error."""
    at = [finding.place(name) for name in ("solver", "form", "tolerance", "t_end", "position")]
    runs = [[row[k] for k in at] for row in finding.rows]
    ended = [
        f"{solver}, {form}, {tolerance:.0e}, {t:g} s" for solver, form, tolerance, t, error in runs if error != error
    ]
    return (LEGEND, f"Runs that did not reach their ends: {'; '.join(ended)}.") if ended else (LEGEND,)


def evaluations_for(finding: Finding, error: float, quantity: str = "position", **where: Cell) -> float:
    """The evaluations needed for an error, interpolated in logarithms between the last tolerance with a larger error
    and the next one; NaN if the runs do not enclose it."""
    work, found = finding.column("evaluations", **where), finding.column(quantity, **where)
    reached = np.isfinite(found)
    work, found = np.log(work[reached]), np.log(found[reached])
    above = np.nonzero(found > np.log(error))[0]
    if not len(above) or above[-1] == len(found) - 1:
        return float("nan")
    k = above[-1]
    return float(np.exp(np.interp(-np.log(error), -found[k : k + 2], work[k : k + 2])))
