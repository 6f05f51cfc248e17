"""How long does the first use take in a fresh process: imports, formulate, and a run or the callbacks once?

Generic code against traced code of the same model, in turns, with an empty cache of machine code (cold, once) and with
what the first process left there (warm, medians). ODE forms are solved for half a second by rbdae:dopri5; of others the
residual and the Jacobian are evaluated. Python's own byte code is there in both, as after an installation. "cpu" is the
ratio of the times on all cores, which does not ask what else the machine does. Budgets: cold traced under a fifth of
cold generic, warm under two thirds. "phases" are imports, formulate and run of the median warm process.

The last line is a run of the heavy top by scipy:DOP853 with a warm cache.

    python benchmarks/first_use.py [FORMULATION ...] [--scipy]

--scipy prints the last line alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

_MODELS = ("heavy_top", "linked_bodies")
_CODES = ("generic", "traced")
_WARM = 5

_USE = """
import json, sys, time
times = [time.perf_counter()]
import rbdae
times.append(time.perf_counter())
model, formulation, code = sys.argv[1:]
p = rbdae.formulate(getattr(rbdae.models, model)(), formulation, code=code)
times.append(time.perf_counter())
if p.kind == "ode":
    assert rbdae.solve(p, (0.0, 0.5), solver="rbdae:dopri5").success
else:
    p.residual(0.0, p.y0, p.yd0)
    p.jacobian(0.0, p.y0, p.yd0, 1.0)
times.append(time.perf_counter())
assert p.code == code
print(json.dumps([b - a for a, b in zip(times, times[1:])]))
"""

_SCIPY = """
import sys
import rbdae
p = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
assert rbdae.solve(p, (0.0, 0.5), solver="scipy:DOP853").success
"""


@dataclass(frozen=True)
class Use:
    """Seconds of one process, on all cores (with the processes that it starts), and of its phases."""

    seconds: float
    cpu: float
    phases: tuple[float, ...]


def environment_of(cache: Path, folder: Path) -> dict[str, str]:
    """Of a process with a cache of machine code, and byte code in a folder."""
    return {
        **os.environ,
        "RBDAE_CACHE_DIR": str(cache),
        "PYTHONPYCACHEPREFIX": str(folder / "bytes"),
        "PYTHONDONTWRITEBYTECODE": "",
    }


def once(model: str, formulation: str, code: str, folder: Path) -> Use:
    """One fresh process; `folder` has its caches."""
    environment = environment_of(folder / code, folder)
    start, used = time.perf_counter(), os.times()
    command = [sys.executable, "-c", _USE, model, formulation, code]
    run = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True)
    seconds, end = time.perf_counter() - start, os.times()
    cpu = end.children_user + end.children_system - used.children_user - used.children_system
    return Use(seconds, cpu, tuple(json.loads(run.stdout)))


def compared(model: str, formulation: str, folder: Path) -> tuple[dict[str, Use], dict[str, Use]]:
    """Cold, and the median of warm ones, by code; the codes take turns."""
    for code in _CODES:
        (folder / code).mkdir()
    cold = {code: once(model, formulation, code, folder) for code in _CODES}
    warm: dict[str, list[Use]] = {code: [] for code in _CODES}
    for _ in range(_WARM):
        for code in _CODES:
            warm[code].append(once(model, formulation, code, folder))
    medians = {code: sorted(uses, key=lambda use: use.seconds)[_WARM // 2] for code, uses in warm.items()}
    return cold, medians


def scipy_alone(folder: Path) -> float:
    """Processor seconds of a warm scipy run, the median."""
    environment = environment_of(folder / "scipy", folder)

    def used() -> float:
        before = os.times()
        subprocess.run([sys.executable, "-c", _SCIPY], check=True, env=environment)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    used()  # leaves its code in the cache
    return statistics.median(used() for _ in range(_WARM))


def with_byte_code(folder: Path) -> None:
    """Have Python's byte code of all that either code imports, and nothing else, as an installation leaves it."""
    for code in _CODES:
        with tempfile.TemporaryDirectory(dir=folder) as other:
            (Path(other) / "bytes").symlink_to(folder / "bytes")
            once("heavy_top", "index-0", code, Path(other))


def main() -> None:
    """Print cold and warm times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formulations", nargs="*", default=["index-0", "null-space", "index-2"])
    parser.add_argument("--scipy", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        (Path(root) / "bytes").mkdir()
        if not options.scipy:
            against_generic(options.formulations, Path(root))
        print(f"heavy_top, scipy:DOP853, warm: {scipy_alone(Path(root)):.2f} s")


def against_generic(formulations: list[str], root: Path) -> None:
    """A line for each model and formulation."""
    with_byte_code(root)
    print(f"{'':29s}{'cold, s':>33s}{'warm, s':>33s}   phases of warm, s")
    print(f"{'':29s}" + f"{'traced generic':>20s}{'ratio':>7s}{'cpu':>6s}" * 2 + "   traced; generic")
    for model in _MODELS:
        for formulation in formulations:
            with tempfile.TemporaryDirectory(dir=root) as name:
                (Path(name) / "bytes").symlink_to(root / "bytes")
                print(f"{model:15s}{formulation:14s}" + row(*compared(model, formulation, Path(name))), flush=True)


def row(cold: dict[str, Use], warm: dict[str, Use]) -> str:
    """Times, ratios, phases."""
    cells = []
    for uses in (cold, warm):
        traced, generic = uses["traced"], uses["generic"]
        cells.append(f"{traced.seconds:12.2f}{generic.seconds:8.2f}{traced.seconds / generic.seconds:7.2f}")
        cells.append(f"{traced.cpu / generic.cpu:6.2f}")
    phases = "; ".join(" ".join(f"{p:.2f}" for p in warm[code].phases) for code in ("traced", "generic"))
    return "".join(cells) + "   " + phases


if __name__ == "__main__":
    main()
