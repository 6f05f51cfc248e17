"""Three mechanisms of the null-space paper through formulations and solvers: which suits which?

    python examples/compare_formulations.py [A] [B] [C]

runs Example A (heavy top), B (tennis racket) and C (two linked bodies, chaotic), and writes to results/ for each of
them the table (.txt, .csv), everything (.json), a work-precision picture (.png) and a page for a browser (.html). It
prints a summary in words.

The forms are those that differ. A top on a fixed point in angular velocities has no constraint, so that its index-3,
index-2, ... forms would be one and the same ODE; the paper's absolute forms have the rates of the rotation's parameters
as velocities (`velocity="coordinate"`), whose internal constraints make them differ. In Example C the joint does.

Each finished run is written to results/ at once. A study that was stopped continues when it is started again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rbdae import study
from rbdae.models import MODELS
from rbdae.study import Case, Comparison

Form = tuple[str, str, str]

DAE_SOLVERS = ("sundials:ida", "sksundae:ida", "solve_dae:Radau")
ODE_SOLVERS = ("sundials:cvode", "scipy:RK45", "scipy:DOP853", "sksundae:cvode")
TOLERANCES = (1e-4, 1e-6, 1e-8)

ABSOLUTE = ("index-3", "index-2", "index-1", "ggl", "hiller-anantharaman")
REDUCED: tuple[Form, ...] = (
    ("null-space", "quaternion", "angular"),
    ("null-space", "directors", "angular"),
    ("hamiltonian-eliminated", "quaternion", "momentum"),
)
EXPLICIT: tuple[Form, ...] = (
    ("index-0", "quaternion", "coordinate"),
    ("index-0", "directors", "coordinate"),
    *REDUCED,
)


@dataclass(frozen=True)
class Study:
    """An example of the paper: a model, until when, and the forms as DAEs and as ODEs."""

    model: str
    t_end: float
    implicit: tuple[Form, ...]
    explicit: tuple[Form, ...]

    @property
    def heading(self) -> str:
        """One line."""
        return MODELS[self.model].summary


def absolute(rotation: str, velocity: str) -> tuple[Form, ...]:
    """The absolute forms with multipliers, and that in momenta."""
    return (*((f, rotation, velocity) for f in ABSOLUTE), ("hamiltonian-momentum", rotation, "momentum"))


STUDIES = {
    "A": Study("heavy_top", 2.0, absolute("quaternion", "coordinate"), EXPLICIT),
    "B": Study("tennis_racket", 0.5, absolute("quaternion", "coordinate"), EXPLICIT),
    "C": Study(
        "linked_bodies", 0.5, absolute("quaternion", "angular"), (*EXPLICIT, ("index-0", "quaternion", "angular"))
    ),
}


def cases(example: str, tolerances: Sequence[float] = TOLERANCES) -> list[Case]:
    """Forms with multipliers go to DAE solvers, the others to ODE solvers."""
    chosen = STUDIES[example]
    pairs = [(form, solver) for form in chosen.implicit for solver in DAE_SOLVERS]
    pairs += [(form, solver) for form in chosen.explicit for solver in ODE_SOLVERS]
    return [Case(*form, solver, tolerance) for form, solver in pairs for tolerance in tolerances]


def compare(
    example: str,
    *,
    t_end: float | None = None,
    tolerances: Sequence[float] = TOLERANCES,
    executor: Executor | None = None,
    resume: Path | None = None,
    progress: bool = False,
    repeats: int = 5,
) -> Comparison:
    """The study of one example."""
    chosen = STUDIES[example]
    return study.compare_cases(
        MODELS[chosen.model](),
        chosen.t_end if t_end is None else t_end,
        cases(example, tolerances),
        executor=executor,
        resume=resume,
        progress=progress,
        repeats=repeats,
    )


def write(example: str, found: Comparison, folder: Path) -> list[Path]:
    """Table, records and picture of one example."""
    name = folder / f"{example}_{STUDIES[example].model}"
    text = name.with_suffix(".txt")
    text.write_text(f"{found}\n", encoding="utf-8")
    figure = found.plot()
    figure.suptitle(f"Example {example}: {STUDIES[example].heading}")
    picture = name.with_suffix(".png")
    figure.savefig(picture, dpi=120)
    page = found.report(name.with_suffix(".html"))
    return [text, found.to_csv(name.with_suffix(".csv")), found.to_json(name.with_suffix(".json")), picture, page]


def main(arguments: Iterable[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help="A, B, C (default: all three)")
    parser.add_argument("--processes", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder (default: results)")
    given = parser.parse_args(None if arguments is None else list(arguments))
    wrong = [example for example in given.examples if example not in STUDIES]
    if wrong:
        parser.error(f"there is no example {wrong[0]!r}; choose from {', '.join(STUDIES)}")
    given.results.mkdir(parents=True, exist_ok=True)

    # The references are computed here; forking a process that has compiled kernels is not safe everywhere, and a new
    # one loads them from the cache.
    spawned = multiprocessing.get_context("spawn")
    written: list[Path] = []
    with ProcessPoolExecutor(given.processes, mp_context=spawned) as executor:
        for example in given.examples or STUDIES:
            path = given.results / f"{example}_{STUDIES[example].model}.jsonl"
            found = compare(example, executor=executor, resume=path, progress=True)
            written += write(example, found, given.results)
            heading = f"Example {example}: {STUDIES[example].heading}"
            print(f"\n{heading}, {len(found.rows)} runs to {found.reference.t_end:g} s")
            print(found.ranking(), flush=True)
    print(f"\nWritten: {', '.join(map(str, written))}")


if __name__ == "__main__":
    main()
