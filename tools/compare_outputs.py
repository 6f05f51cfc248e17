"""Prove that a change of the code does not change numbers: record what every problem says, compare two recordings.

    python tools/compare_outputs.py record before.npz                      with PYTHONPATH=OLD:OLD/adapters
    python tools/compare_outputs.py record after.npz --states before.npz   with PYTHONPATH=NEW:NEW/adapters
    python tools/compare_outputs.py compare before.npz after.npz [--tolerance 0]

A recording has every pairing of the registry on the systems of `compare_systems.py`, at a consistent state and at one
off the constraint manifold; in plain Python (`RBDAE_CODE=plain`) a selection of them, or all with `--all`. With
`--states` the states are those of an earlier recording, bit for bit, so that a difference of the initial values is not
counted again in everything else. Seconds are those of the processor.

Differences are relative to the largest entry that the quantity has in its case, over all states of the case, and
absolute where that is below 1 (SI units). At tolerance 0 the bytes must be equal, signs of zeros included.

With `--noise` what rounding alone changes is excused: stiff springs multiply it, and the signs of the quasi-velocities
of plane loops hang on it. Its file is a recording of the old code that rounds in another way, for instance of a copy
whose compiler does not contract sums of products.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numpy as np
from compare_files import Arrays, Recording, difference, identical, load, save, size
from compare_systems import SYSTEMS, Entry

import rbdae

PLAIN = os.environ.get("RBDAE_CODE") == "plain"

C = 0.7
TIMES = 10.0
"""Differences may be so many times those of the recording `--noise`."""
LOOSE = {"project": 1e5}
"""Tolerances are so many times as large: iterations end one step sooner or later."""


# ---------------------------------------------------------------- record


def cases(thin: bool) -> Iterator[tuple[str, Entry, tuple[str, str, str], dict[str, Any]]]:
    """Name, system, pairing and options of every problem, or of a selection that takes some minutes in Python."""
    for number, (name, entry) in enumerate(SYSTEMS.items()):
        for k, pairing in enumerate(rbdae.pairings()):
            if thin and (k + number) % entry.every:
                continue
            yield f"{name}/{'/'.join(pairing)}", entry, pairing, dict(entry.options)
            for pattern, options in entry.variants:
                if re.fullmatch(pattern, "/".join(pairing)):
                    words = ",".join(map(str, options.values()))
                    yield f"{name}/{'/'.join(pairing)}/{words}", entry, pairing, {**entry.options, **options}


def attempt(out: Arrays, name: str, evaluate: Callable[[], Any]) -> None:
    """Put a value, or the kind of its error, into `out`."""
    try:
        value = evaluate()
    except (ArithmeticError, ValueError) as error:
        out[name] = f"{type(error).__name__}"
        return
    out[name] = value if isinstance(value, str) else np.array(value)


def start(problem: Any) -> Arrays:
    """What a problem is, whatever the state."""
    pattern = problem.sparsity
    out: Arrays = {
        name: np.array(getattr(problem, name)) for name in ("y0", "yd0", "differential", "variable_index", "index", "n")
    }
    out["kind"] = problem.kind
    out["labels"] = "\n".join(problem.labels)
    out["redundant"] = "\n".join(problem.redundant)
    out["sparsity"] = np.concatenate([pattern.shape, pattern.indptr, pattern.indices])
    if problem.assembly is not None:
        found = problem.assembly
        out["assembly"] = np.hstack([found.position, found.orientation, found.velocity, found.angular_velocity])
    return out


def evaluations(problem: Any, t: float, y: Any, yd: Any) -> Arrays:
    """All that a problem says at one state."""

    def states() -> Any:
        found = problem.states(t, y).values()
        rotations = [s.orientation.as_matrix().ravel() for s in found]
        parts = [(s.position, s.velocity, s.angular_velocity, s.center_of_mass) for s in found]
        return [np.concatenate([*part, R]) for part, R in zip(parts, rotations, strict=True)]

    def fields(value: Any, *names: str) -> Any:
        return np.concatenate([np.atleast_1d(getattr(value, name)) for name in names])

    def reactions(*names: str) -> Any:
        found = problem.reactions(t, y)
        return [fields(side, *names) for sides in found.values() for side in sides.values()]

    calls: dict[str, Callable[[], Any]] = {
        "residual": lambda: problem.residual(t, y, yd),
        "jacobian": lambda: problem.jacobian(t, y, yd, C),
        "sparse jacobian": lambda: problem.sparse_jacobian(t, y, yd, C).toarray(),
        "constraints": lambda: fields(problem.constraints(t, y), "position", "velocity"),
        "states": states,
        "energy": lambda: fields(problem.energy(t, y), "kinetic", "potential", "total"),
        "momentum": lambda: fields(problem.momentum(t, y), "linear", "angular"),
        "multipliers": lambda: problem.multipliers(t, y),
        "reactions": lambda: reactions("force", "torque"),
        "unique reactions": lambda: reactions("unique"),
        "project": lambda: problem.project(t, y),
    }
    if problem.kind == "ode":
        calls["rhs"] = lambda: problem.rhs(t, y)
        calls["rhs jacobian"] = lambda: problem.rhs_jacobian(t, y)
    calls["natural"] = lambda: problem.natural(t, y)
    out: Arrays = {"t": np.array(t), "y": y, "yd": yd}
    with np.errstate(all="ignore"):
        for name, call in calls.items():
            attempt(out, name, call)
    return out


def states_of(problem: Any, case: str, elsewhere: Any) -> dict[str, tuple[float, Any, Any]]:
    """(t, y, yd) by name; the random numbers depend on the name of the case alone."""
    rng = np.random.default_rng(list(case.encode()))
    off = problem.y0 + 1e-2 * rng.standard_normal(problem.n)
    rates = rng.standard_normal((3, problem.n))
    out = {"on": (problem.t0, problem.y0.copy(), rates[0]), "off": (problem.t0 + 0.1, off, rates[1])}
    if elsewhere is not None and elsewhere.n == problem.n:
        out["elsewhere"] = (problem.t0, elsewhere.y0.copy(), rates[2])
    return out


def examine(case: str, entry: Entry, pairing: tuple[str, str, str], options: Any, given: Any) -> dict[str, Arrays]:
    """All arrays of one case by state; `given` has those of an earlier recording, or is None."""
    form, rotation, velocity = pairing
    try:
        problem = rbdae.formulate(entry.build(), form, rotation=rotation, velocity=velocity, **options)
    except (ArithmeticError, ValueError) as error:
        return {"start": {"refused": type(error).__name__}}
    out = {"start": start(problem)}
    elsewhere = None
    if entry.elsewhere and problem.kind == "ode":
        elsewhere = rbdae.formulate(entry.elsewhere(), form, rotation=rotation, velocity=velocity)
    states = states_of(problem, case, elsewhere)
    for name, (t, y, yd) in states.items():
        known = (given or {}).get(name)
        if known is not None and known["y"].shape == y.shape:
            t, y, yd = float(known["t"]), known["y"], known["yd"]
        out[name] = evaluations(problem, t, y, yd)
    return out


def record(path: Path, states: Path | None, only: str, complete: bool) -> None:
    """Write a recording."""
    given: Recording = load(states)[0] if states else {}
    thin = PLAIN and not complete
    began, out, last = time.process_time(), {}, ""
    print(f"rbdae from {Path(rbdae.__file__).parent}")
    for case, entry, pairing, options in cases(thin):
        if not re.search(only, case):
            continue
        if (system := case.partition("/")[0]) != last:
            print(f"{time.process_time() - began:7.1f} s  {system}", flush=True)
            last = system
        out[case] = examine(case, entry, pairing, options, given.get(case))
    about = {
        "rbdae": str(Path(rbdae.__file__).parent),
        "plain": PLAIN,
        "versions": {"python": sys.version.split()[0], "numpy": np.__version__, "llvmlite": llvmlite.__version__},
        "states": str(states) if states else None,
        "seconds": round(time.process_time() - began, 1),
    }
    save(path, out, about)
    print(f"{time.process_time() - began:7.1f} s  {len(out)} cases in {path}")


# ---------------------------------------------------------------- compare


def gaps(one: dict[str, Arrays], other: dict[str, Arrays]) -> dict[tuple[str, str], tuple[float, float, bool]]:
    """By state and quantity of a case: relative and absolute difference, and whether the bits are equal."""
    out = {}
    for state in {**one, **other}:
        left, right = one.get(state, {}), other.get(state, {})
        for quantity in {**left, **right}:
            x, y = left.get(quantity, np.zeros(0)), right.get(quantity, np.zeros(0))
            gap = difference(x, y)
            relative = gap / max(size(one, quantity), 1.0) if gap else 0.0
            out[state, quantity] = (relative, gap, identical(x, y))
    return out


def compare(first: Path, second: Path, noise: Path | None, tolerance: float, worst: int, only: str) -> int:
    """Print a table; 1 where something differs by more than the tolerance or is missing."""
    a, b = load(first), load(second)
    rounded: Recording = load(noise)[0] if noise else {}
    for path, (_, about) in ((first, a), (second, b)):
        print(f"{path}: {json.dumps(about)}")
    rows: dict[str, list[tuple[float, float, bool, float, str]]] = {}
    missing: list[str] = []
    for case in [case for case in {**a[0], **b[0]} if re.search(only, case)]:
        if case not in a[0] or case not in b[0]:
            missing.append(f"{case}: only in {first if case in a[0] else second}")
            continue
        known = gaps(a[0][case], rounded[case]) if case in rounded else {}
        for (state, quantity), found in gaps(a[0][case], b[0][case]).items():
            limit = max(tolerance * LOOSE.get(quantity, 1.0), TIMES * known.get((state, quantity), (0.0,))[0])
            rows.setdefault(quantity, []).append((*found, limit, f"{case} {state}"))
    print(
        f"{'quantity':18s} {'arrays':>7s} {'equal bits':>10s} {'excused':>7s} {'absolute':>9s} {'relative':>9s}  worst"
    )
    bad = 0
    for quantity, table in rows.items():
        beyond = [row for row in table if row[0] > row[3] or (tolerance == 0.0 and not noise and not row[2])]
        judged = [row for row in table if row[0] <= tolerance or row in beyond]
        bad += len(beyond)
        relative, _, _, _, where = max(judged, default=(0.0, 0.0, True, 0.0, ""))
        counts = f"{len(table):10d} {sum(row[2] for row in table):10d} {len(table) - len(judged):10d}"
        absolute = max((row[1] for row in judged), default=0.0)
        print(f"{quantity:18s} {counts} {absolute:10.2g} {relative:10.2g}  {where if relative else ''}")
        for row in sorted(beyond, reverse=True)[:worst]:
            print(f"    {row[0]:9.2g}  {row[4]}")
    shown = missing[:20] + ["..."] * (len(missing) > 20)
    print(*shown, f"{bad} arrays beyond {tolerance:g}, {len(missing)} cases missing", sep="\n")
    return int(bool(bad or missing))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record", help="evaluate all cases with the rbdae that Python finds")
    one.add_argument("file", type=Path)
    one.add_argument("--states", type=Path, help="take the states of this recording")
    one.add_argument("--all", action="store_true", help="in plain Python, too, every pairing on every system")
    two = commands.add_parser("compare", help="the largest differences of two recordings")
    two.add_argument("first", type=Path)
    two.add_argument("second", type=Path)
    two.add_argument("--noise", type=Path, help="a recording of the code of `first`, rounded in another way")
    two.add_argument("--tolerance", type=float, default=1e-13, help="relative; 0 for bit by bit")
    two.add_argument("--worst", type=int, default=3, help="how many arrays beyond the tolerance to list")
    for command in (one, two):
        command.add_argument("--only", default="", help="a regular expression for the names of the cases")
    given = parser.parse_args()
    if given.command == "record":
        record(given.file, given.states, given.only, given.all)
        return 0
    return compare(given.first, given.second, given.noise, given.tolerance, given.worst, given.only)


if __name__ == "__main__":
    sys.exit(main())
