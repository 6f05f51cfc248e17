"""Find asserted levels that hang on rounding.

    python tools/perturb_levels.py [--seeds 20] [--within 30] [--margin 3] [tests/laws/test_pairings.py -k ... ]

The tests are run once, and every passing comparison of floating-point numbers, as in ``assert error < 1e-6``, and every
`numpy.testing.assert_allclose` is noted with its value and its level. Tests with a level within a factor of 30 of what
was found are run again, 20 times, with initial values that are perturbed by some units in the last place; after five
of these runs only those whose worst is within a factor of 10. Levels below three times the worst of these runs are
printed, and tests that failed, and the exit code is 1: give them a level with a margin, or assert against the
sensitivity of the run itself.

The whole suite takes hours: each run's lines are kept in a folder, and a run that is there is not made again.

It needs no change of a test: pytest tells passing assertions to a plugin, which is this file.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

RECORD = "RBDAE_RECORD_LEVELS"
"""The file that the plugin adds its lines to."""

SEED = "RBDAE_PERTURB_SEED"
"""The plugin perturbs initial values if this is set."""

FIRST, CLOSE = 5, 10.0
"""After so many runs, only comparisons whose worst is within this factor of the level are looked at."""

UNITS = 4
"""Largest perturbation, in units in the last place."""

ERROR = 0.02
"""Larger levels are those of times, ratios and orders, not of errors."""

Key = tuple[str, int, int]
"""Test, line, and the how manieth comparison of this line; line 0 for a test that failed."""

_NUMBER = r"(?:np\.float64\()?(-?\d+(?:\.\d*)?(?:e[+-]?\d+)?)\)?"
_COMPARISON = re.compile(rf"(?<![\w.]){_NUMBER} (<=?|>=?) (?={_NUMBER}(?![\w.]))")
_RANGE = re.compile(rf"{_NUMBER} <=? {_NUMBER} <=? {_NUMBER}")


def comparisons(explanation: str) -> Iterator[tuple[float, float]]:
    """(value, level) of each comparison of two positive numbers in pytest's explanation, the smaller one first.

    Ranges are left out, and what is too large to be an error.

    >>> list(comparisons("np.float64(2e-07) < 1e-06"))
    [(2e-07, 1e-06)]
    """
    line = explanation.splitlines()[0] if explanation else ""
    for found in _COMPARISON.finditer(_RANGE.sub("", line)):
        left, operator, right = found.groups()
        if not ("." in left + right or "e" in left + right):
            continue  # counts
        small, large = (left, right) if operator.startswith("<") else (right, left)
        if 0.0 < float(small) < float(large) <= ERROR:
            yield float(small), float(large)


# ---------------------------------------------------------------- the plugin


class Recorder:
    """Notes levels, and perturbs initial values, while pytest runs."""

    def __init__(self, path: str, seed: int | None) -> None:
        self.path = path
        self.seed = seed
        self.test = ""
        self.seen: dict[int, int] = {}

    def note(self, line: int, value: float, level: float) -> None:
        """One comparison of the test that runs."""
        self.seen[line] = self.seen.get(line, 0) + 1
        with open(self.path, "a", encoding="utf-8") as file:
            print(json.dumps([self.test, line, self.seen[line], value, level]), file=file)

    def perturbed(self, y: Any) -> Any:
        """y with some units in the last place more or less."""
        import numpy as np

        rng = np.random.default_rng([self.seed or 0, zlib.crc32(self.test.encode()), len(y)])
        return y * (1.0 + np.finfo(float).eps * rng.integers(-UNITS, UNITS + 1, len(y)))


def _watch_allclose(recorder: Recorder) -> None:
    import numpy as np

    original = np.testing.assert_allclose

    def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 0.0, **options: Any) -> None:
        __tracebackhide__ = True
        original(actual, desired, rtol=rtol, atol=atol, **options)
        apart = np.abs(np.asarray(actual, dtype=float) - np.asarray(desired, dtype=float))
        allowed = atol + rtol * np.abs(np.asarray(desired, dtype=float)) + np.zeros_like(apart)
        used = float(np.max(np.divide(apart, allowed, out=np.zeros_like(apart), where=allowed > 0.0), initial=0.0))
        if used > 0.0:
            recorder.note(sys._getframe(1).f_lineno, used, 1.0)

    np.testing.assert_allclose = assert_allclose


def _perturb_starts(recorder: Recorder) -> None:
    import toy

    import rbdae
    from rbdae.problem.problem import consistent_start

    formulate, start_toy = rbdae.formulate, toy.Pendulum.__init__

    def formulate_nearby(*arguments: Any, **options: Any) -> Any:
        problem = formulate(*arguments, **options)
        y = recorder.perturbed(problem.y0)
        return replace(problem, start=consistent_start(problem.workspace, problem.t0, y, problem.assembly))

    def start_nearby(self: Any, *arguments: Any, **options: Any) -> None:
        start_toy(self, *arguments, **options)
        self.y0 = recorder.perturbed(self.y0)

    # not by getattr, which would import what packages import when it is asked for
    for names in [vars(m) for name, m in [*sys.modules.items()] if not name.startswith("rbdae.initial")]:
        if names.get("formulate") is formulate:
            names["formulate"] = formulate_nearby
    toy.Pendulum.__init__ = start_nearby


class Plugin:
    """pytest's side."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def pytest_collection_finish(self, session: Any) -> None:
        """All modules are there: those that took names of the library are found."""
        _watch_allclose(self.recorder)
        if self.recorder.seed is not None:
            _perturb_starts(self.recorder)

    def pytest_runtest_setup(self, item: Any) -> None:
        """Which test runs."""
        self.recorder.test, self.recorder.seen = item.nodeid, {}

    def pytest_assertion_pass(self, item: Any, lineno: int, orig: str, expl: str) -> None:
        """An assertion that held."""
        for value, level in comparisons(expl):
            self.recorder.note(lineno, value, level)


def pytest_configure(config: Any) -> None:
    """Register the plugin, if this file was given to pytest with -p."""
    if RECORD in os.environ:
        seed = os.environ.get(SEED)
        config.pluginmanager.register(Plugin(Recorder(os.environ[RECORD], None if seed is None else int(seed))))


# ---------------------------------------------------------------- the tool


def run(folder: Path, seed: int | None, arguments: list[str]) -> dict[Key, tuple[float, float]]:
    """Run pytest, unless its record is there; (value, level) of each comparison."""
    record = folder / ("first.jsonl" if seed is None else f"{seed}.jsonl")
    if not record.exists():
        part = record.with_suffix(".part")
        part.write_text("", encoding="utf-8")
        _pytest(part, seed, arguments)
        part.rename(record)
    found: dict[Key, tuple[float, float]] = {}
    for line in record.read_text(encoding="utf-8").splitlines():
        test, at, count, value, level = json.loads(line)
        found[test, at, count] = value, level
    return found


def _pytest(record: Path, seed: int | None, arguments: list[str]) -> None:
    """Run pytest with the plugin, and add the tests that failed to its record."""
    here = str(Path(__file__).parent)
    path = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path, RECORD: str(record.absolute())}
    if seed is not None:
        environment[SEED] = str(seed)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "perturb_levels", "-p", "no:cacheprovider", "-m", ""]
    done = subprocess.run(
        [*command, "-o", "enable_assertion_pass_hook=true", *arguments], env=environment, capture_output=True, text=True
    )
    if done.returncode not in (0, 1):  # tests passed, or some failed
        sys.exit(f"perturb_levels: pytest ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    with record.open("a", encoding="utf-8") as file:
        for line in done.stdout.splitlines():
            if line.startswith(("FAILED ", "ERROR ")):
                print(f"seed {seed}: {line}", flush=True)
                print(json.dumps([line.split(" ", 1)[1].split(" - ")[0], 0, 0, 1.0, 0.0]), file=file)


def worst_of(
    once: Callable[[int, list[str]], dict[Key, tuple[float, float]]],
    near: dict[Key, tuple[float, float]],
    seeds: int,
) -> dict[Key, float]:
    """The largest part of its level that each comparison of `near` uses in any run; infinite where a test failed."""
    worst = {key: value / level for key, (value, level) in near.items()}
    for seed in range(1, seeds + 1):
        tests = sorted({key[0] for key, part in worst.items() if seed <= FIRST or part * CLOSE > 1.0})
        if not tests:
            break
        for key, (value, level) in once(seed, tests).items():
            if key[1] == 0:
                worst[key] = float("inf")
            elif key in worst:
                worst[key] = max(worst[key], value / level)
    return worst


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--within", type=float, default=30.0)
    parser.add_argument("--margin", type=float, default=3.0)
    parser.add_argument("--record", type=Path, default=Path("results/levels"), help="folder for the lines of all runs")
    given, tests = parser.parse_known_args()
    given.record.mkdir(parents=True, exist_ok=True)
    found = run(given.record, None, tests)
    near = {key: pair for key, pair in found.items() if key[1] == 0 or pair[0] * given.within > pair[1]}
    names = {key[0] for key in near}
    print(
        f"{len(found)} comparisons, {len(near)} within a factor of {given.within:g}, in {len(names)} tests", flush=True
    )
    near = {key: pair for key, pair in near.items() if key[1] > 0}
    worst = worst_of(lambda seed, chosen: run(given.record, seed, chosen), near, given.seeds)
    low = {key: part for key, part in worst.items() if part * given.margin > 1.0}
    for (test, line, count), part in sorted(low.items(), key=lambda each: -each[1]):
        if line == 0:
            print(f"{test} failed")
            continue
        value, level = near[test, line, count]
        print(
            f"{test}, line {line} ({count}): {value:.3g} < {level:.3g}; at worst {1 / part:.2f} times below its level"
        )
    print(f"{len(low)} levels are less than {given.margin:g} times the worst of {given.seeds} runs")
    sys.exit(1 if low else 0)


if __name__ == "__main__":
    main()
