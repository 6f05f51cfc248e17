"""One mechanism through every formulation and every solver that is installed.

    python examples/heavy_top_study.py [--model linked_bodies]

prints a table (errors against a reference at 1e-13, work, drift) and writes it, with a work-precision picture, to
results/. They show which formulation, in which rotation and with which solver, suits this mechanism best.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path

from rbdae import study
from rbdae.models import MODELS
from rbdae.study import Case, Comparison

# The picture: a form of each kind with the solvers that suit it.
CURVES = [
    ("index-3", "quaternion", "angular", ["sksundae:ida", "solve_dae:Radau"]),
    ("index-2", "quaternion", "coordinate", ["sksundae:ida", "solve_dae:Radau"]),
    ("index-1", "directors", "coordinate", ["sksundae:ida"]),
    ("index-0", "euler-313", "angular", ["scipy:DOP853", "sksundae:cvode"]),
    ("null-space", "quaternion", "angular", ["scipy:RK45", "scipy:DOP853", "scipy:LSODA", "sksundae:cvode"]),
    ("hamiltonian-momentum", "quaternion", "momentum", ["solve_dae:Radau"]),
    ("hamiltonian-eliminated", "directors", "momentum", ["scipy:DOP853"]),
]
TOLERANCES = [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10]


def big_table(
    model: str,
    t_end: float | None = None,
    tolerance: float = 1e-6,
    executor: Executor | None = None,
    solvers: Sequence[str] | None = None,
    progress: bool = False,
) -> Comparison:
    """Every formulation, rotation and velocity with every solver, at one tolerance."""
    system = MODELS[model]()
    return study.compare(
        system,
        MODELS[model].t_end if t_end is None else t_end,
        solvers=solvers,
        tolerances=[tolerance],
        executor=executor,
        progress=progress,
    )


def curves(
    model: str,
    reference: study.Reference,
    tolerances: Sequence[float] = TOLERANCES,
    executor: Executor | None = None,
    progress: bool = False,
) -> Comparison:
    """The chosen forms over all tolerances."""
    installed = study.installed_solvers()
    cases = [
        Case(formulation, rotation, velocity, solver, tolerance)
        for formulation, rotation, velocity, names in CURVES
        for solver in names
        if solver in installed
        for tolerance in tolerances
    ]
    return study.compare_cases(
        MODELS[model](), reference.t_end, cases, reference=reference, executor=executor, progress=progress
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=list(MODELS), default="heavy_top")
    parser.add_argument("--t-end", type=float, help="end time, s (default: the model's own)")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="rtol and atol of the table (default: 1e-6)")
    parser.add_argument("--processes", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder (default: results)")
    given = parser.parse_args(arguments)
    given.results.mkdir(parents=True, exist_ok=True)

    study.compile_kernels(progress=True)
    # Forking a process that has compiled kernels is not safe everywhere; a new one loads them from the cache.
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(given.processes, mp_context=spawned) as executor:
        rows = big_table(given.model, given.t_end, given.tolerance, executor, progress=True)
        print(f"{given.model}: {MODELS[given.model].summary}\n{rows}", flush=True)
        (given.results / f"{given.model}.txt").write_text(f"{rows}\n", encoding="utf-8")
        picture = curves(given.model, rows.reference, executor=executor, progress=True).plot()
    picture.suptitle(MODELS[given.model].summary)
    path = given.results / f"{given.model}_work_precision.png"
    picture.savefig(path, dpi=150)
    print(f"Written: {given.results / given.model}.txt, {path}")


if __name__ == "__main__":
    main()
