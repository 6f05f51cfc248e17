"""Compares formulations on Examples A, B and C of the null-space paper, to 10, 2 and 0.5 s, and checks its claims.

    python examples/compare_formulations.py [A] [B] [C]

runs Example A (heavy top), B (tennis racket) and C (two linked bodies, chaotic) through the formulations that the paper
compares, and forms with multipliers and in momenta, with solvers of each kind. For each example it says which form
needs the least work for an error, and by how much; then it compares the paper's claims with the numbers of these runs.
It writes to results/ the text and the table of all runs (.txt, .csv), everything (.json), a work-precision picture
(.png) and a page for a browser (.html).

Only forms that differ are run. A body on a pivot in angular velocities has no constraint, so index 3, 2 and 1 would be
the same ODE; the paper's absolute forms have the rates of the rotation's parameters as velocities
(`velocity="coordinate"`). Work is counted in evaluations, as in the paper; operations of an evaluation and processor
seconds are given too.

Each finished run is written to results/ at once. A stopped study continues when it is started again.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import textwrap
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import rbdae
from rbdae import study
from rbdae.models import MODELS
from rbdae.study import Case, Comparison, FinalState, Reference
from rbdae_papers import closed_form
from rbdae_papers.null_space.claims import conclusions
from rbdae_papers.null_space.multiples import mean_ratio, multiples, ratios, winners

Form = tuple[str, str, str]

NULL_SPACE: Form = ("null-space", "quaternion", "angular")
EULER: Form = ("index-0", "euler-313", "angular")
HAMILTONIAN: Form = ("hamiltonian-eliminated", "quaternion", "momentum")
EXPLICIT: tuple[Form, ...] = (
    NULL_SPACE,
    ("null-space", "directors", "angular"),
    ("index-0", "quaternion", "coordinate"),
    ("index-0", "directors", "coordinate"),
    HAMILTONIAN,
)
IMPLICIT: tuple[Form, ...] = (
    ("index-1", "quaternion", "coordinate"),
    ("index-2", "quaternion", "coordinate"),
    ("index-3", "quaternion", "coordinate"),
    ("hamiltonian-momentum", "quaternion", "momentum"),
)

ODE_SOLVERS = ("rbdae:dopri5", "rbdae:dop853", "sundials:cvode", "sundials:cvode bdf", "scipy:DOP853", "sksundae:cvode")
DAE_SOLVERS = ("sundials:ida", "sksundae:ida", "solve_dae:Radau")
"""Solvers available as wheels; the last two of each call Python."""

CONSERVING: tuple[tuple[str, Form, int], ...] = (
    ("rbdae:energy-momentum", HAMILTONIAN, 2),
    ("rbdae:energy-momentum", HAMILTONIAN, 4),
    ("rbdae:energy-momentum", ("hamiltonian-eliminated", "directors", "momentum"), 2),
    ("rbdae:variational", HAMILTONIAN, 2),
)
"""Solver, form and order of QUAT.EM-R, its composition of order 4, DIR.EM, and QUAT.VI."""


@dataclass(frozen=True)
class Study:
    """An example of the paper.

    Attributes
    ----------
    model, t_end : the model, and the end time
    explicit : its ODE forms
    error, dae_error : errors at which ODE forms, and forms with multipliers, which need more work, are compared
    tolerances : tolerances of the ODE solvers; their errors enclose `error`
    dae_tolerances : tolerances of sksundae:ida, which calls Python
    steps : steps of conserving schemes
    """

    model: str
    t_end: float
    explicit: tuple[Form, ...]
    error: float
    dae_error: float
    tolerances: tuple[float, ...]
    dae_tolerances: tuple[float, ...]
    steps: tuple[float, ...]

    @property
    def heading(self) -> str:
        return MODELS[self.model].summary


_DECADES = (1e-4, 1e-6, 1e-8, 1e-10)
STUDIES = {
    "A": Study(
        "heavy_top",
        10.0,
        (*EXPLICIT, EULER),
        error=1e-5,
        dae_error=1e-3,
        tolerances=(1e-5, 1e-7, 1e-9, 1e-11),
        dae_tolerances=(1e-6, 1e-8),
        steps=(1e-2, 4e-3, 2e-3, 1e-3, 5e-4),
    ),
    "B": Study(
        "tennis_racket",
        2.0,
        (*EXPLICIT, EULER),
        error=1e-4,
        dae_error=1e-1,
        tolerances=_DECADES,
        dae_tolerances=(1e-4, 1e-6),
        steps=(5e-3, 2e-3, 1e-3, 5e-4, 2.5e-4),
    ),
    "C": Study(
        "linked_bodies",
        0.5,
        EXPLICIT,
        error=1e-4,
        dae_error=1e-3,
        tolerances=_DECADES,
        dae_tolerances=(1e-6, 1e-8),
        steps=(2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4),
    ),
}


def cases(example: str, tolerances: Sequence[float] | None = None) -> list[Case]:
    """Cases: DAE solvers for forms with multipliers, ODE solvers for others, conserving schemes for momenta."""
    chosen = STUDIES[example]
    sizes = dict.fromkeys(ODE_SOLVERS, chosen.tolerances)
    sizes |= {"sundials:ida": _DECADES, "sksundae:ida": chosen.dae_tolerances, "solve_dae:Radau": (1e-4, 1e-6)}
    out = []
    for forms, solvers in ((chosen.explicit, ODE_SOLVERS), (IMPLICIT, DAE_SOLVERS)):
        for form, name in product(forms, solvers):
            solver, _, lmm = name.partition(" ")
            options = {"lmm": lmm} if lmm else {}
            out += [Case(*form, solver, at, options=options) for at in tolerances or sizes[name]]
    for solver, form, order in CONSERVING:
        if solver == "rbdae:variational" and example == "C":
            continue  # it has no discrete form of the bushing's force
        options = {"order": order} if order > 2 else {}
        out += [Case(*form, solver, _DECADES[-1], options=options, step=step) for step in chosen.steps]
    return out


def reference(example: str, t_end: float) -> Reference:
    """Two forms at 1e-13; in Example B, where rounding grows, the closed form and a run's distance from it."""
    forms = (NULL_SPACE, HAMILTONIAN if example == "C" else EULER)
    system = MODELS[STUDIES[example].model]()
    runs = []
    for formulation, rotation, velocity in forms[: 1 if example == "B" else 2]:
        problem = rbdae.formulate(system, formulation, rotation=rotation, velocity=velocity)
        options = {"solver": "rbdae:dop853", "rtol": 1e-13, "atol": 1e-13}
        runs.append(rbdae.solve(problem, (0.0, t_end), **options))
    pair = Reference.from_solutions(*runs)
    if example != "B":
        return pair
    start = runs[0].states["racket"]
    body = closed_form.FreeBody((41.6, 11.6, 50.0), start.angular_velocity[0], start.orientation[0])
    R, Omega = body.orientation(np.array([t_end])), body.angular_velocity(np.array([t_end]))
    run = pair.states[0]
    exact = FinalState(run.position, np.roll(R.as_quat(), 1, axis=1), run.velocity, Omega, run.sizes)
    return Reference(t_end, (exact, exact), study.errors(run, exact), f"the closed form and {pair.about}")


def compare(
    example: str,
    *,
    t_end: float | None = None,
    tolerances: Sequence[float] | None = None,
    executor: Executor | None = None,
    resume: Path | None = None,
    progress: bool = False,
    repeats: int = 3,
) -> Comparison:
    """The study of one example."""
    chosen = STUDIES[example]
    end = chosen.t_end if t_end is None else t_end
    return study.compare(
        MODELS[chosen.model](),
        end,
        cases(example, tolerances),
        reference=reference(example, end),
        executor=executor,
        resume=resume,
        progress=progress,
        repeats=repeats,
    )


def words(example: str, found: Comparison) -> str:
    """The best form and its lead, the paper's claims, fixed steps, and the best pairs."""
    chosen = STUDIES[example]
    text = [f"Example {example}: {chosen.heading}, {len(found.rows)} runs to {found.reference.t_end:g} s", ""]
    groups = ((chosen.explicit, chosen.error, _operations(example)), (IMPLICIT, chosen.dae_error, None))
    for forms, error, operations in groups:
        ranking = found.ranking([error])
        first, *sentence = _winner(ranking, list(map(_named, forms)))
        text += [*sentence, multiples(ranking, first, operations), ""]
    text += [f"The null-space paper beside these runs, at an error of {chosen.error:.0e}:"]
    text += [conclusions(example, found, chosen.error), "", *_fixed_steps(found), ""]
    return "\n".join([*text, "All pairs of form and solver:", found.ranking([chosen.error]).to_string(index=False)])


WORK = {"evaluations": "evaluations", "seconds": "processor time"}


def _named(form: Form) -> str:
    return ", ".join(form)


def _winner(ranking: Any, forms: Sequence[str]) -> list[str]:
    """The form with the fewest evaluations by most solvers, and lines on the others' work."""
    of_forms, error = ranking[ranking["form"].isin(forms)], ranking["error"].iloc[0]
    reached = of_forms[of_forms["seconds"] != math.inf]
    best = [form for form in winners(ranking[ranking["step"].isna()]).values() if form in forms]
    if not best:
        return [forms[0], f"No run of these forms reaches an error of {error:.0e}."]
    means = {form: mean_ratio(ratios(ranking, form, forms[0])) for form in forms}
    first, *others = sorted(set(best), key=lambda form: (-best.count(form), means[form], form))
    ahead = [f"{first} takes the fewest evaluations with {best.count(first)} of {len(best)} solvers"]
    ahead += [f"{form} with {best.count(form)}" for form in others]
    others_take = {what: [mean_ratio(ratios(ranking, f, first, what)) for f in forms if f != first] for what in WORK}
    much = [f"{np.nanmin(r):.2f} to {np.nanmax(r):.2f} times its {WORK[what]}" for what, r in others_take.items()]
    return [
        first,
        *textwrap.wrap(
            f"To an error of {error:.0e}, which {len(reached)} of {len(of_forms)} pairs of form and solver reach, "
            f"{', '.join(ahead)}. In the mean over solvers the other forms take {' and '.join(much)}:",
            118,
            break_on_hyphens=False,
        ),
    ]


@cache
def _operations(example: str) -> dict[str, int]:
    """Operations of a right-hand side, by ODE form."""
    system = MODELS[STUDIES[example].model]()
    out = {}
    for formulation, rotation, velocity in STUDIES[example].explicit:
        problem = rbdae.formulate(system, formulation, rotation=rotation, velocity=velocity)
        out[_named((formulation, rotation, velocity))] = problem.callbacks.operations("rhs").total
    return out


def _fixed_steps(found: Comparison) -> list[str]:
    """A line for each conserving scheme: its smallest error, and the conservation of energy with every step."""
    curves: dict[tuple[str, str], list[study.Row]] = {}
    for row in found.rows:
        if row.case.step is not None and row.errors is not None:
            curves.setdefault(row.case.curve, []).append(row)
    out = ["Conserving schemes at fixed steps:"]
    for (form, method), rows in curves.items():
        error, best = min(((row.errors.largest, row) for row in rows if row.errors), key=lambda pair: pair[0])
        energy = max(row.energy_error for row in rows)
        out.append(
            f"  {form} with {method}: {error:.1e} at a step of {best.case.step:g} s ({best.stats.evaluations} "
            f"evaluations), energy to {energy:.0e} at every step"
        )
    return out


COLUMNS = {
    "ODE forms, rbdae:dop853": ("rbdae:dop853",),
    "ODE forms, sundials:cvode, BDF": ("sundials:cvode (lmm='bdf')",),
    "DAE forms, sundials:ida": ("sundials:ida",),
    "fixed steps": ("rbdae:energy-momentum", "rbdae:energy-momentum (order=4)", "rbdae:variational"),
}
"""Columns of the picture with their solvers."""


def write(example: str, found: Comparison, folder: Path) -> list[Path]:
    """Write text and table, records, picture and page of one example."""
    name = folder / f"{example}_{STUDIES[example].model}"
    text = name.with_suffix(".txt")
    text.write_text(f"{words(example, found)}\n\n{found}\n", encoding="utf-8")
    drawn = list(dict.fromkeys(row.case.curve for row in found.rows if row.errors is not None))
    columns = {head: [c for c in drawn if c[1] in methods] for head, methods in COLUMNS.items()}
    figure = found.plot({head: curves for head, curves in columns.items() if curves})
    figure.suptitle(f"Example {example}: {STUDIES[example].heading}")
    picture = name.with_suffix(".png")
    figure.savefig(picture, dpi=120)
    page = found.report(name.with_suffix(".html"))
    return [text, found.to_csv(name.with_suffix(".csv")), found.to_json(name.with_suffix(".json")), picture, page]


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help="A, B, C (default: all three)")
    parser.add_argument("--processes", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder (default: results)")
    given = parser.parse_args(None if arguments is None else list(arguments))
    wrong = [example for example in given.examples if example not in STUDIES]
    if wrong:
        parser.error(f"there is no example {wrong[0]!r}; choose from {', '.join(STUDIES)}")
    given.results.mkdir(parents=True, exist_ok=True)

    # The references are computed here; forking a process with compiled kernels is not safe everywhere, and a new one
    # loads them from the cache.
    spawned = multiprocessing.get_context("spawn")
    written: list[Path] = []
    with ProcessPoolExecutor(given.processes, mp_context=spawned) as executor:
        for example in given.examples or STUDIES:
            path = given.results / f"{example}_{STUDIES[example].model}.jsonl"
            found = compare(example, executor=executor, resume=path, progress=True)
            print(f"\n{words(example, found)}\n", flush=True)
            written += write(example, found, given.results)
    print(f"\nWritten: {', '.join(map(str, written))}")


if __name__ == "__main__":
    main()
