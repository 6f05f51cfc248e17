"""IDA and CVODE of one library, with and without Python between their steps; processor time, ratios within one run.

    python -m benchmarks.native [--quick] [--case NAME ...]

`sksundae` steps one step at a time; `sundials` stays in machine code, with
factors made for the model and with SUNDIALS' dense ones.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import rbdae


class Case(NamedTuple):
    """What is run, and by how much `sundials` is to be faster than `sksundae`: with factors, dense."""

    name: str
    make: Callable[[], Any]
    t_end: float
    tolerance: float
    before: str
    runs: tuple[tuple[str, str, dict[str, Any], float], ...]


_IDA = ("factors", "sundials:ida", {})
_DENSE = ("dense", "sundials:ida", {"linsolver": "dense"})


def _implicit(name: str, make: Callable[[], Any], t_end: float, factors: float, dense: float | None) -> Case:
    runs: list[Any] = [(*_IDA, factors)]
    if dense is not None:
        runs.append((*_DENSE, dense))
    return Case(name, make, t_end, 1e-6, "sksundae:ida", tuple(runs))


def _cases() -> Iterator[Case]:
    models = rbdae.models
    for form in ("index-1", "index-2", "index-3", "ggl"):
        yield _implicit(
            f"linked bodies, {form}", lambda form=form: rbdae.formulate(models.linked_bodies(), form), 0.5, 16.0, 10.0
        )
    yield _implicit("heavy top", lambda: rbdae.formulate(models.heavy_top(), "index-2"), 2.0, 20.0, 20.0)
    yield _implicit("chain(10)", lambda: rbdae.formulate(models.chain(10), "index-2"), 0.5, 6.0, None)
    yield _implicit("chain(100)", lambda: rbdae.formulate(models.chain(100), "index-2"), 0.5, 2.5, None)
    yield _implicit("chain(1000)", lambda: rbdae.formulate(models.chain(1000), "index-2"), 0.5, 1.4, None)
    for name, make, t_end in (
        ("heavy top", models.heavy_top, 2.0),
        ("linked bodies", models.linked_bodies, 0.3),
    ):
        for lmm, options, wanted in (
            ("adams", {"lmm": "adams"}, 8.0),
            ("bdf, projected", {"lmm": "bdf", "projection": True}, 25.0),
        ):
            yield Case(
                f"cvode {lmm}, {name}", lambda make=make: rbdae.formulate(make(), "index-0"), t_end, 1e-7,
                "sksundae:cvode", (("sundials", "sundials:cvode", options, wanted),),
            )  # fmt: skip


def _least(run: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    best, out = float("inf"), None
    for _ in range(repeats):
        began = time.process_time()
        out = run()
        best = min(best, time.process_time() - began)
    return best, out


def _compared(case: Case, repeats: int) -> None:
    """Print the runs of a case."""
    problem = case.make()
    shared = {name: value for name, value in case.runs[0][2].items() if name in ("lmm", "projection")}

    def run(solver: str, options: dict[str, Any]) -> Any:
        tolerance = case.tolerance
        return rbdae.solve(problem, (0.0, case.t_end), solver=solver, rtol=tolerance, atol=tolerance, **options)

    before, old = _least(lambda: run(case.before, shared), repeats)
    print(f"{case.name}: {case.before} {before * 1e3:.2f} ms, {old.stats.steps} steps", flush=True)
    for name, solver, options, wanted in case.runs:
        took, new = _least(partial(run, solver, options), repeats)
        each = took / new.stats.steps * 1e6
        print(
            f"    {solver} {name} {took * 1e3:.2f} ms, {new.stats.steps} steps, {each:.2f} us a step: "
            f"{before / took:.1f} times faster ({wanted:g} asked)",
            flush=True,
        )


def main() -> None:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="each run twice, no chain of a thousand links")
    parser.add_argument("--case", nargs="*", default=[], help="parts of the names of cases")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for case in _cases():
        named = not given.case or any(part in case.name for part in given.case)
        if named and not (given.quick and "1000" in case.name):
            _compared(case, 2 if given.quick else 5)


if __name__ == "__main__":
    main()
