"""What does it bring, and cost, that IDA and DASPK test multipliers?

`untested`: the absolute tolerance of multipliers is so large that they are out of the error test and out of Newton's
convergence test. `tested`: as the adapters do it (`rbdae_adapters._sundials.multiplier_factor`). Models of
`rbdae.models` with joints, half of their time; forms that have multipliers among their unknowns, quaternions, each
velocity kind, three tolerances; cases in random order until the time is used up. One line for each form and solver:
failed runs of both ways, and geometric means over the cases of the ratios tested / untested; evaluations also at equal
error of the state, by the slope of evaluations over errors of all cases.

    python benchmarks/multiplier_tolerances.py [minutes] [index ...]
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae_adapters import _sundials, sksundae
from rbdae_adapters.scikits_odes import _daspk, _native

MODULES = {"sksundae:ida": sksundae, "scikits.odes:ida": _native, "scikits.odes:ddaspk": _daspk}
TOLERANCES = (1e-6, 1e-8, 1e-10)
WAYS = ("untested", "tested")
MAX_STEPS = 20_000
"""More of them count as a failure."""


def without(problem: rbdae.Problem, rtol: float, atol: Any, factor: float | None) -> tuple[float, Any]:
    """`tolerances` with multipliers out of all tests."""
    return _sundials.tolerances(problem, rtol, atol, None)


def excluded(problem: rbdae.Problem) -> dict[str, Any]:
    """`algebraic`, but nothing leaves the error test of index 1 by a switch."""
    return {**_sundials.algebraic(problem), "exclude_algvar_from_error": problem.index > 1}


@cache
def reference(model: str) -> tuple[np.ndarray, np.ndarray]:
    """Times and natural coordinates with their rates."""
    entry = rbdae.models.MODELS[model]
    problem = rbdae.formulate(entry(), "index-0", redundant="minimum-norm")
    t = np.linspace(0.0, 0.5 * entry.t_end, 11)
    run = rbdae.solve(problem, (0.0, t[-1]), solver="scipy:DOP853", rtol=1e-11, atol=1e-11, t_eval=t, projection=True)
    return t, problem.natural(t, run.y)


@dataclass
class Found:
    """One run: relative errors of the state, and of multipliers against elimination at the same state."""

    success: bool
    state: float = np.nan
    multiplier: float = np.nan
    steps: int = 0
    evaluations: int = 0


def measure(model: str, formulation: str, velocity: str, solver: str, tolerance: float, way: str) -> Found:
    """One run in one way."""
    problem = rbdae.formulate(rbdae.models.MODELS[model](), formulation, velocity=velocity, redundant="minimum-norm")
    t, wanted = reference(model)
    module = MODULES[solver]
    with ExitStack() as stack:
        if way == "untested":
            stack.enter_context(patch.object(module, "tolerances", without))
            if solver.startswith("scikits"):
                stack.enter_context(patch.object(module, "algebraic", excluded))
        limit = {"max_num_steps" if solver == "sksundae:ida" else "max_steps": MAX_STEPS}
        run = rbdae.solve(problem, (0.0, t[-1]), solver=solver, rtol=tolerance, atol=tolerance, t_eval=t, **limit)
    if not run.success:
        return Found(False)
    natural = problem.natural(run.t, run.y).reshape(-1, 2, 12)
    whole = wanted.reshape(-1, 2, 12)
    state = (np.abs(natural - whole).max(axis=(0, 2)) / np.abs(whole).max(axis=(0, 2))).max()
    la = run.multipliers
    error = np.nan if problem.redundant else np.abs(run.run_multipliers - la).max() / np.abs(la).max()
    return Found(True, max(state, 1e-15), max(error, 1e-15), run.stats.steps, run.stats.evaluations)


def cases(indices: list[int]) -> list[tuple[Any, ...]]:
    """All of them, in random order."""
    models = [name for name, entry in rbdae.models.MODELS.items() if entry().joints]
    forms = [
        (name, velocity)
        for name, rotation, velocity in rbdae.pairings()
        if rotation == "quaternion"
        and FORMULATIONS[name].kind == "dae"
        and FORMULATIONS[name].multipliers == "values"
        and FORMULATIONS[name].index in indices
    ]
    every = [
        (m, *f, s, tol)
        for m, f, s, tol in product(models, forms, MODULES, TOLERANCES)
        if s != "sksundae:ida" or FORMULATIONS[f[0]].index == 1  # no difference otherwise
    ]
    return [every[k] for k in np.random.default_rng(0).permutation(len(every))]


def slope(pairs: dict[tuple[Any, ...], dict[str, Found]]) -> float:
    """d log(evaluations) / d log(error), over the tolerances of each case, of the runs that stay as they were."""
    groups = defaultdict(list)
    for case, both in pairs.items():
        if both["untested"].success:
            groups[case[:-1]].append(np.log([both["untested"].state, both["untested"].evaluations]))
    centred = [np.array(g) - np.mean(g, axis=0) for g in groups.values() if len(g) > 1]
    if not centred:
        return -0.2
    x, y = np.concatenate(centred).T
    return float(x @ y / (x @ x))


def mean(values: list[float]) -> float:
    """Geometric mean of what is finite."""
    logs = np.log(np.array(values))
    return float(np.exp(np.mean(logs[np.isfinite(logs)])))


def main() -> None:
    """Measure and print the table."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    end = time.monotonic() + 60.0 * minutes
    pairs: dict[tuple[Any, ...], dict[str, Found]] = {}
    for case in cases([int(k) for k in sys.argv[2:]] or [1, 2]):
        if time.monotonic() > end:
            break
        pairs[case] = {way: measure(*case, way) for way in WAYS}
        print(*case, *pairs[case].values(), file=sys.stderr, flush=True)
    print("| form | solver | cases | failed | state error | multiplier error | steps | evaluations | at equal error |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    power = {solver: slope({c: b for c, b in pairs.items() if c[3] == solver}) for solver in MODULES}
    for form, solver in sorted({(c[1], c[3]) for c in pairs}):
        group = [both for c, both in pairs.items() if (c[1], c[3]) == (form, solver)]
        failed = [sum(not both[way].success for both in group) for way in WAYS]
        good = [(b["untested"], b["tested"]) for b in group if b["untested"].success and b["tested"].success]
        state = mean([n.state / o.state for o, n in good])
        evaluations = mean([n.evaluations / o.evaluations for o, n in good])
        columns = [
            state,
            mean([n.multiplier / o.multiplier for o, n in good]),
            mean([n.steps / o.steps for o, n in good]),
            evaluations,
            evaluations * state ** -power[solver],
        ]
        print(
            f"| {form} | {solver} | {len(group)} | {failed[0]}, {failed[1]} | "
            + " | ".join(f"{value:.2f}" for value in columns)
            + " |"
        )
    print("slopes:", {solver: round(value, 3) for solver, value in power.items()})


if __name__ == "__main__":
    main()
