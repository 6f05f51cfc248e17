"""Does code that loads the numbers of a model cost more than code with them in it, and what do other numbers cost?

- A call of the right-hand side, the residual and the sparse Jacobian in a compiled loop, with ``code="auto"``, which
  loads them, over ``code="folded"``, which has them as constants.
- `Problem.with_parameters` with other masses, and with other points of joints beside `formulate`.
- The first run by IDA after other masses, beside the second, of mechanisms with loops and of chains.
- A thousand pairs of linked bodies with masses of their own, each run to 0.25 s, over a thousand runs of one problem.

All times are processor time, the least of many in turns. Budgets: a call at most 1.1; other masses at most 0.3 ms,
other points at most as much as `formulate` for the system with them, which has to be assembled, too; such a run at most
4 times the same problem's, and by `System` and `formulate` at most 3.5 ms more.

    python benchmarks/numbers_loaded.py [--quick]
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import time
from collections.abc import Callable
from typing import Any

import internals
import numpy as np

import rbdae

CODES = ("folded", "auto")
CALLS = {"ode": ("rhs", "rhs_jacobian"), "dae": ("residual", "jacobian_data")}

MODELS: dict[str, Callable[[], rbdae.System]] = {
    "heavy top": rbdae.models.heavy_top,
    "linked bodies": rbdae.models.linked_bodies,
    "slider crank": rbdae.models.spatial_slider_crank,
    "flyball governor": rbdae.models.flyball_governor,
    "chain(10)": lambda: rbdae.models.chain(10),
    "Andrews": rbdae.models.andrews,
    "chain(100)": lambda: rbdae.models.chain(100),
}
FORMS = ("index-0", "index-2", "null-space", "hamiltonian")


def repeated(problem: rbdae.Problem, name: str) -> Callable[[int], None]:
    """n calls of a machine function, in a compiled loop."""
    function = problem.callbacks.machine(name)
    size = {"residual": problem.n, "rhs": problem.n, "rhs_jacobian": problem.n**2}.get(name, problem.sparsity.nnz)
    rng = np.random.default_rng(1)
    y, yd = problem.y0 + 1e-3 * rng.standard_normal(problem.n), rng.standard_normal(problem.n)
    out = np.zeros(size)
    arguments = (function.address, function.context, 0.1, y.ctypes.data, yd.ctypes.data, 1.5, out.ctypes.data)
    many = internals.many()

    def call(n: int, keeps: object = (function, y, yd, out, problem)) -> None:
        many(*arguments, n)

    return call


def turns(calls: list[Callable[[int], None]], seconds: float, rounds: int) -> list[float]:
    """Seconds of processor time of a call, the least of some rounds in which they take turns."""
    counts = []
    for call in calls:
        n = 1
        while True:
            begin = time.thread_time()
            call(n)
            used = time.thread_time() - begin
            if used > seconds / 4:
                break
            n *= 4
        counts.append(max(1, int(n * seconds / used)))
    least = [float("inf")] * len(calls)
    for _ in range(rounds):
        for k, call in enumerate(calls):
            begin = time.thread_time()
            call(counts[k])
            least[k] = min(least[k], (time.thread_time() - begin) / counts[k])
    return least


def show_calls(*, quick: bool) -> None:
    print("call: ns folded, loaded over folded")
    for model, make in MODELS.items():
        if quick and model in ("Andrews", "chain(100)"):
            continue
        for form in FORMS:
            try:
                problems = [rbdae.formulate(make(), form, code=code) for code in CODES]
            except ValueError:
                continue
            for name in CALLS[problems[0].kind]:
                folded, loaded = turns([repeated(problem, name) for problem in problems], 0.01, 5 if quick else 9)
                print(f"{model:18} {form:12} {name:14} {1e9 * folded:10.1f} {loaded / folded:6.2f}", flush=True)


def median(call: Callable[[int], Any], times: int) -> float:
    """Seconds of processor time, the median of some calls."""
    found = []
    for k in range(times):
        begin = time.thread_time()
        call(k)
        found.append(time.thread_time() - begin)
    return float(np.median(found))


def show_parameters(*, quick: bool) -> None:
    for model in ("heavy top", "linked bodies", "chain(10)", "slider crank"):
        for form in ("index-0", "index-2"):
            print(parameters(MODELS[model], model, form, 20 if quick else 200), flush=True)


def parameters(make: Callable[[], rbdae.System], model: str, form: str, times: int) -> str:
    problem = rbdae.formulate(make(), form)
    name = f"{problem.system.bodies[0].name}.mass"
    points = [name for name, x in problem.parameters.items() if ".at_" in name and x not in (0.0, 1.0, -1.0)]
    mass, factors = problem.parameters[name], 1.0 + 0.1 * np.random.default_rng(2).random(times)
    other = median(lambda k: problem.with_parameters({name: mass * factors[k]}), times)
    fresh = median(lambda _: rbdae.formulate(make(), form), times)
    line = f"{model:18} {form:12} other mass {1e3 * other:7.3f} ms, formulate {1e3 * fresh:7.3f} ms"
    if points:
        x = problem.parameters[points[0]]
        moved = median(lambda k: problem.with_parameters({points[0]: x * factors[k]}), times)
        systems = [problem.with_parameters({points[0]: x * factors[k]}).system for k in range(times)]
        again = median(lambda k: rbdae.formulate(systems[k], form), times)
        line += f", {points[0]} {1e3 * moved:7.3f} ms, that system formulated {1e3 * again:7.3f} ms"
    return line


def show_runs(*, quick: bool) -> None:
    times = 50 if quick else 1000
    rng = np.random.default_rng(3)
    system = rbdae.models.linked_bodies()
    problem = rbdae.formulate(system, "index-0")
    names = [f"{body.name}.mass" for body in system.bodies]
    settings: Any = {"solver": "rbdae:dop853", "rtol": 1e-7, "atol": 1e-7}

    def run(problem: rbdae.Problem) -> None:
        assert rbdae.solve(problem, (0.0, 0.25), **settings).success

    def masses() -> dict[str, float]:
        return {name: problem.parameters[name] * (0.9 + 0.2 * rng.random()) for name in names}

    systems = [problem.with_parameters(masses()).system for _ in range(times)]
    run(problem.with_parameters(masses()))
    found = {}
    for what, call in {
        "same": lambda k: run(problem),
        "with_parameters": lambda k: run(problem.with_parameters(masses())),
        "formulate": lambda k: run(rbdae.formulate(systems[k], "index-0")),
    }.items():
        begin = time.thread_time()
        for k in range(times):
            call(k)
        found[what] = (time.thread_time() - begin) / times
    same, ratio, more = found["same"], found["with_parameters"] / found["same"], found["formulate"] - found["same"]
    print(
        f"linked bodies, {times} runs: the same problem {1e3 * same:.3f} ms, with_parameters {ratio:.2f} times, "
        f"System and formulate {1e3 * more:.2f} ms more"
    )


LOOPS: dict[str, Callable[[], rbdae.System]] = {
    "Bricard": rbdae.models.bricard,
    "Andrews": rbdae.models.andrews,
    "four-bars(5)": lambda: rbdae.models.n_four_bar(5),
    "linked bodies": rbdae.models.linked_bodies,
    "chain(10)": lambda: rbdae.models.chain(10),
    "10 hinges": lambda: rbdae.models.chain(10, planar=True),
}


def show_first_runs(*, quick: bool) -> None:
    """`with_parameters` of a mass, and the first run by IDA after it beside the second."""
    print("other mass, index-2, sundials:ida: ms with_parameters, first run, second, ratio; to 0.02 s and 0.1 s")
    for model, make in LOOPS.items():
        problem = rbdae.formulate(make(), "index-2", redundant="minimum-norm")
        name = next(name for name in problem.parameters if name.endswith(".mass"))
        for end in (0.02, 0.1):
            rows = []
            for k in range(5 if quick else 15):
                values = {name: (1.01 + 0.001 * k) * problem.parameters[name]}
                begun = time.process_time()
                times, other = [begun], problem.with_parameters(values)
                for _ in range(3):
                    times.append(time.process_time())
                    rbdae.solve(other, (0.0, end), solver="sundials:ida")
                rows.append(np.diff([*times, time.process_time()]))
            made, first, *later = 1e3 * np.min(rows, axis=0)
            print(
                f"{model:18} {end:5} {made:8.2f} {first:8.2f} {min(later):8.2f} {first / min(later):6.2f}", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=("calls", "parameters", "runs", "first runs"))
    given = parser.parse_args()
    parts = {"calls": show_calls, "parameters": show_parameters, "runs": show_runs, "first runs": show_first_runs}
    for name, show in parts.items():
        if given.only in (None, name):
            show(quick=given.quick)


if __name__ == "__main__":
    main()
