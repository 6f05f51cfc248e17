"""How long does the first use take in a fresh process: imports, formulate, and a run or the callbacks once?

With an empty cache of machine code (cold, once) and with what that process left there (warm, medians). ODE forms are
solved for half a second by rbdae:dopri5; of others the residual and the Jacobian are evaluated. Python's own byte code
is there, as after an installation. "cpu" is the time on all cores. "phases" are imports, formulate and run of the
median warm process.

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
_WARM = 5

_USE = """
import json, sys, time
times = [time.perf_counter()]
import rbdae
times.append(time.perf_counter())
model, formulation = sys.argv[1:]
p = rbdae.formulate(getattr(rbdae.models, model)(), formulation)
times.append(time.perf_counter())
if p.kind == "ode":
    assert rbdae.solve(p, (0.0, 0.5), solver="rbdae:dopri5").success
else:
    p.residual(0.0, p.y0, p.yd0)
    p.jacobian(0.0, p.y0, p.yd0, 1.0)
times.append(time.perf_counter())
assert p.code == "machine"
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


def once(model: str, formulation: str, folder: Path) -> Use:
    """One fresh process; `folder` has its caches."""
    environment = environment_of(folder / "code", folder)
    start, used = time.perf_counter(), os.times()
    command = [sys.executable, "-c", _USE, model, formulation]
    run = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True)
    seconds, end = time.perf_counter() - start, os.times()
    cpu = end.children_user + end.children_system - used.children_user - used.children_system
    return Use(seconds, cpu, tuple(json.loads(run.stdout)))


def cold_and_warm(model: str, formulation: str, folder: Path) -> tuple[Use, Use]:
    """The first process, and the median of those after it."""
    (folder / "code").mkdir()
    cold = once(model, formulation, folder)
    warm = sorted((once(model, formulation, folder) for _ in range(_WARM)), key=lambda use: use.seconds)
    return cold, warm[_WARM // 2]


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
    """Have Python's byte code of all that is imported, and nothing else, as an installation leaves it."""
    with tempfile.TemporaryDirectory(dir=folder) as other:
        (Path(other) / "bytes").symlink_to(folder / "bytes")
        once("heavy_top", "index-0", Path(other))


def main() -> None:
    """Print cold and warm times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("formulations", nargs="*", default=["index-0", "null-space", "index-2"])
    parser.add_argument("--scipy", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        (Path(root) / "bytes").mkdir()
        if not options.scipy:
            table(options.formulations, Path(root))
        print(f"heavy_top, scipy:DOP853, warm: {scipy_alone(Path(root)):.2f} s")


def table(formulations: list[str], root: Path) -> None:
    """A line for each model and formulation."""
    with_byte_code(root)
    print(f"{'':29s}{'cold, s':>8s}{'cpu':>6s}{'warm, s':>9s}{'cpu':>6s}   phases of warm, s")
    for model in _MODELS:
        for formulation in formulations:
            with tempfile.TemporaryDirectory(dir=root) as name:
                (Path(name) / "bytes").symlink_to(root / "bytes")
                cold, warm = cold_and_warm(model, formulation, Path(name))
            phases = " ".join(f"{p:.2f}" for p in warm.phases)
            numbers = f"{cold.seconds:8.2f}{cold.cpu:6.2f}{warm.seconds:9.2f}{warm.cpu:6.2f}   {phases}"
            print(f"{model:15s}{formulation:14s}{numbers}", flush=True)


if __name__ == "__main__":
    main()
