"""Prove that a change of the code does not change runs: record what solvers do, compare two recordings.

    python tools/compare_steps.py record before.json       with PYTHONPATH=OLD:OLD/adapters
    python tools/compare_steps.py record after.json        with PYTHONPATH=NEW:NEW/adapters
    python tools/compare_steps.py compare before.json after.json

Every pairing of formulation, chart and velocity runs with two of the solvers that take it, on Examples A, B, C of the
null-space paper in turn, and every solver has its share. Other runs restart on other unknowns on their way, leave other
equations out, pass singular positions, project, or have events. Numbers of steps and restarts may differ by 1 %, and by
one always; on average they may differ by 1 %. Other counts are reported; so are states, which are an error where they
are a thousand tolerances apart. In plain Python (`RBDAE_CODE=plain`) runs should be equal to the last bit.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from compare_systems import four_bar, rocker

import rbdae

models = rbdae.models
EXAMPLES: dict[str, tuple[Callable[[], Any], float]] = {
    "A": (models.heavy_top, 0.3),
    "B": (partial(models.tennis_racket, 1.0), 0.06),
    "C": (models.linked_bodies, 0.03),
}
"""Ends are early: later on rounding alone changes the numbers of steps of multistep codes by some percent."""
ONE_STEP = 4.0
"""One-step codes, whose steps are longer, end so many times later."""
CONSERVING = ("rbdae:energy-momentum", "rbdae:midpoint", "rbdae:simo-wong", "rbdae:variational")
"""Their steps are given, and each takes few of the pairings."""
CENTRED = ("linear", "rodrigues", "quaternion-vector")
TOLERANCE = 1e-7
EACH = 2
OUTPUTS = 5
TIMES = 3.0
"""Counts may differ by so many times what they do in the recording `--noise`."""
COUNTS = ("steps", "rejected", "evaluations", "jacobians", "factorisations", "projections", "restarts")


@dataclass(frozen=True)
class Run:
    """One run of a solver."""

    system: str
    build: Callable[[], Any]
    t_end: float
    pairing: tuple[str, str, str]
    solver: str
    options: dict[str, Any] = field(default_factory=dict)
    form: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        words = ["projection"] * ("projection" in self.options) + ["events"] * ("events" in self.options)
        return "/".join((self.system, *self.pairing, self.solver, *words))

    def problem(self) -> Any:
        """The equations."""
        formulation, rotation, velocity = self.pairing
        form = {"reference": "start"} if rotation in CENTRED else {}  # B begins beyond their singular sets
        return rbdae.formulate(self.build(), formulation, rotation=rotation, velocity=velocity, **form, **self.form)


# ---------------------------------------------------------------- what is run


def short_runs() -> Iterator[Run]:
    """Every pairing with two solvers, those first that have had the fewest."""
    found = sorted(rbdae.solvers(), key=lambda info: info.name)
    infos = {info.name: info for info in found if info.name not in CONSERVING}
    used = dict.fromkeys(infos, 0)
    for k, pairing in enumerate(sorted(rbdae.pairings())):
        if pairing[0] == "overdetermined-1":
            continue  # no solver takes it
        name = "ABC"[k % 3]
        build, t_end = EXAMPLES[name]
        problem = Run(name, build, t_end, pairing, "").problem()
        able = [
            solver
            for solver, info in infos.items()
            if problem.kind in info.kinds and (problem.kind != "dae" or problem.index in info.indices)
        ]
        for solver in sorted(able, key=lambda solver: used[solver])[:EACH]:
            used[solver] += 1
            fixed = solver.endswith("Euler")
            span = t_end * ONE_STEP if infos[solver].one_step and not fixed else t_end
            yield Run(name, build, span, pairing, solver, {"step": span / 100} if fixed else {})


def _clock(t: float, y: Any) -> float:
    """An event."""
    return math.cos(100.0 * t)


def long_runs() -> Iterator[Run]:
    """Runs that `rbdae.solve` has to interrupt, and runs with projection or events."""
    quaternion = ("quaternion", "angular")
    for solver in ("scipy:DOP853", "sksundae:cvode", "assimulo:RodasODE"):
        yield Run("rocker", rocker, 1.0, ("null-space", *quaternion), solver)
    yield Run("rocker", rocker, 1.0, ("null-space", "directors", "angular"), "scipy:DOP853", {"projection": True})
    yield Run("rocker", rocker, 1.0, ("null-space-overdetermined", *quaternion), "assimulo:ODASSL")
    least = {"redundant": "minimum-norm"}
    table = partial(four_bar, table=5.0)
    for form, solver in (("index-0", "scipy:DOP853"), ("index-1", "sksundae:ida"), ("index-2", "assimulo:Radau5DAE")):
        yield Run("bricard", models.bricard, 0.3, (form, *quaternion), solver, form=least)
        yield Run("table", table, 0.5, (form, *quaternion), solver, form=least)
    yield Run("table", table, 0.5, ("null-space", *quaternion), "scipy:DOP853", form=least)
    yield Run("table", table, 0.5, ("index-0", "directors", "coordinate"), "scipy:RK45", {"projection": True}, least)
    through = {"projection": True}
    for form, velocity in (("index-0", "angular"), ("index-0", "coordinate"), ("hamiltonian-eliminated", "momentum")):
        pairing = (form, "quaternion", velocity)
        yield Run("windows", models.n_four_bar, 1.0, pairing, "scipy:DOP853", through, least)
    for name, (build, t_end) in EXAMPLES.items():
        for form, solver in (("index-0", "scipy:DOP853"), ("index-2", "sksundae:ida"), ("index-1", "scikits.odes:ida")):
            pairing = (form, "quaternion", "coordinate")
            yield Run(name, build, t_end, pairing, solver, {"projection": True})
            yield Run(name, build, t_end, pairing, solver, {"events": _clock})


# ---------------------------------------------------------------- record


def record(path: Path, only: str) -> None:
    """Write a recording."""
    out: dict[str, Any] = {}
    began = time.process_time()
    print(f"rbdae from {Path(rbdae.__file__).parent}")
    for run in [*short_runs(), *long_runs()]:
        if not re.search(only, str(run)):
            continue
        problem, first = run.problem(), time.process_time()
        times = np.linspace(0.0, run.t_end, OUTPUTS + 1)[1:]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solution = rbdae.solve(
                problem,
                (0.0, run.t_end),
                solver=run.solver,
                t_eval=times,
                **({} if "step" in run.options else {"rtol": TOLERANCE, "atol": TOLERANCE}),
                **run.options,
            )
        states = [
            np.hstack([s.position, s.velocity, s.angular_velocity, s.orientation.as_matrix().reshape(-1, 9)])
            for s in solution.states.values()
        ]
        out[str(run)] = {
            "success": bool(solution.success),
            "counts": {name: int(getattr(solution.stats, name)) for name in COUNTS},
            "events": [log.t.tolist() for log in solution.events],
            "t": solution.t.tolist(),
            "states": np.hstack(states).tolist(),
            "reactions": [
                np.hstack([side.force, side.torque]).tolist()
                for sides in solution.reactions.values()
                for side in sides.values()
            ],
            "energy": solution.energy.total.tolist(),
            "drift": [float(np.max(x, initial=0.0)) for x in (solution.drift.position, solution.drift.velocity)],
        }
        counts = " ".join(f"{name} {value}" for name, value in out[str(run)]["counts"].items())
        end = "" if solution.success else "  FAILED"
        print(f"{time.process_time() - first:6.1f} s  {run}: {counts}{end}", flush=True)
    path.write_text(json.dumps({"rbdae": str(Path(rbdae.__file__).parent), "runs": out}, indent=0))
    print(f"{time.process_time() - began:6.1f} s  {len(out)} runs in {path}")


# ---------------------------------------------------------------- compare


def _apart(a: Any, b: Any) -> float:
    """Largest difference of two lists of numbers in parts of the largest number."""
    one, other = np.array(a, float), np.array(b, float)
    if one.shape != other.shape:
        return math.inf
    return float(np.max(np.abs(one - other), initial=0.0) / max(np.max(np.abs(one), initial=0.0), 1e-300))


def _ratios(one: Any, other: Any) -> dict[str, float]:
    """Of the counts that both runs have."""
    pairs = {name: (one["counts"][name], other["counts"][name]) for name in COUNTS}
    return {name: y / x for name, (x, y) in pairs.items() if x > 0 and y > 0}


def _faults(one: Any, other: Any, percent: float, known: dict[str, float]) -> list[str]:
    """What is wrong with a run, in words; `known` are ratios by rounding alone."""
    out = []
    if one["success"] != other["success"]:
        out.append(f"success {one['success']} -> {other['success']}")
    if len(one["t"]) != len(other["t"]) or [len(t) for t in one["events"]] != [len(t) for t in other["events"]]:
        out.append("other numbers of outputs or events")
    for count in ("steps", "restarts"):
        x, y = one["counts"][count], other["counts"][count]
        limit = max(0.01 * percent, TIMES * abs(known.get(count, 1.0) - 1.0)) * x
        if abs(y - x) > max(1.0, limit):
            out.append(f"too many or too few {count}")
    if _apart(one["states"], other["states"]) > 1e3 * TOLERANCE:
        out.append("other states")
    return out


def compare(first: Path, second: Path, noise: Path | None, percent: float) -> int:
    """Print what differs; 1 where counts of steps differ by more than so many percent, or runs end otherwise."""
    a, b = (json.loads(path.read_text())["runs"] for path in (first, second))
    rounded = json.loads(noise.read_text())["runs"] if noise else {}
    missing = [f"{name}: only in {first if name in a else second}" for name in {**a, **b} if (name in a) != (name in b)]
    both = [name for name in a if name in b]
    bad, ratios = 0, {name: _ratios(a[name], b[name]) for name in both}
    for name in both:
        one, other = a[name], b[name]
        faults = _faults(one, other, percent, _ratios(one, rounded[name]) if name in rounded else {})
        bad += bool(faults)
        if one != other:
            gaps = ", ".join(f"{what} {_apart(one[what], other[what]):.2g}" for what in ("states", "reactions"))
            counts = [
                f"{count} {x} -> {other['counts'][count]}"
                for count, x in one["counts"].items()
                if x != other["counts"][count]
            ]
            print(f"{'DIFFERENT' if faults else 'near     '} {name}: {'; '.join([*faults, gaps, *counts])}")
    for count in COUNTS:
        values = [found[count] for found in ratios.values() if count in found]
        mean = math.exp(sum(map(math.log, values)) / max(len(values), 1))
        print(f"{count:14s} ratio {mean:.5f} (geometric mean), {min(values):.4f} to {max(values):.4f}")
        bad += count == "steps" and abs(mean - 1.0) > 0.01 * percent
    equal = sum(a[name] == b[name] for name in both)
    print(*missing, f"{len(both)} runs, {equal} equal to the last bit, {bad} faults, {len(missing)} missing", sep="\n")
    return int(bool(bad or missing))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record", help="run all with the rbdae that Python finds")
    one.add_argument("file", type=Path)
    one.add_argument("--only", default="", help="a regular expression for the names of the runs")
    two = commands.add_parser("compare", help="ratios of the counts")
    two.add_argument("first", type=Path)
    two.add_argument("second", type=Path)
    two.add_argument("--noise", type=Path, help="a recording of the code of `first`, rounded in another way")
    two.add_argument("--percent", type=float, default=1.0, help="how far numbers of steps may be apart")
    given = parser.parse_args()
    if given.command == "record":
        record(given.file, given.only)
        return 0
    return compare(given.first, given.second, given.noise, given.percent)


if __name__ == "__main__":
    sys.exit(main())
