"""The tests that an edited file needs, by what they run of it, and by who imports it where nothing shows them.

    python tools/laws.py [--within SECONDS] FILE ...
    python tools/laws.py --record [arguments of pytest]

`--record` runs the tests under coverage.py and keeps, in results/laws/, which lines each test function runs and its
processor seconds. A test needs a file if it runs a line inside one of its functions: lines of definitions are run by
whoever imports first, and say nothing. Functions that are compiled from their source, and tables, show no such line;
they take the tests of the files that import them.

With `--within`, test functions are chosen until the seconds are used up: each time the one that adds most lines of the
file per second. What is printed then is a command.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "results" / "laws"
LINES, SECONDS = FOLDER / "coverage", FOLDER / "seconds"

sys.path.insert(0, str(ROOT / "tools"))


# ---------------------------------------------------------------- recording: a plugin of pytest


def _processor_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Recorder:
    """Tells coverage.py which test function runs, and adds up its processor seconds, set-up included."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> None:
        from coverage import Coverage

        self.name, self.start = function_of(item.nodeid), _processor_seconds()
        measured = Coverage.current()
        if measured is not None:
            measured.switch_context(self.name)

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        if hasattr(self, "start"):
            self.seconds[self.name] += _processor_seconds() - self.start

    def pytest_sessionfinish(self) -> None:
        if self.seconds:
            (SECONDS / f"{os.getpid()}.json").write_text(json.dumps(self.seconds), encoding="utf-8")


def function_of(nodeid: str) -> str:
    """A test function without its parameters: what a command can name."""
    return nodeid.partition("[")[0]


def pytest_configure(config: Any) -> None:
    config.pluginmanager.register(Recorder(), "laws-recorder")


def record(arguments: list[str]) -> int:
    SECONDS.mkdir(parents=True, exist_ok=True)
    for old in (*SECONDS.glob("*.json"), *FOLDER.glob("coverage*")):
        old.unlink()
    path = os.pathsep.join([str(ROOT / "tools"), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-p", "laws", "-q", "--cov=rbdae", "--cov=rbdae_adapters"]
    command += ["--cov-report=", *(arguments or ["-n", "2"])]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, "COVERAGE_FILE": str(LINES), "PYTHONPATH": path}, check=False
    ).returncode


# ---------------------------------------------------------------- reading


@dataclass(frozen=True)
class Map:
    """What was recorded: processor seconds of each test function, and what runs each line of a file."""

    seconds: dict[str, float]
    data: Any

    @classmethod
    def read(cls) -> Map:
        """Raises FileNotFoundError, with what to do, if nothing was recorded."""
        from coverage import CoverageData

        if not LINES.exists():
            raise FileNotFoundError(f"{LINES} is not there: run tools/laws --record first")
        seconds: dict[str, float] = defaultdict(float)
        for path in SECONDS.glob("*.json"):
            for name, value in json.loads(path.read_text(encoding="utf-8")).items():
                seconds[name] += value
        data = CoverageData(str(LINES))
        data.read()
        return cls(dict(seconds), data)

    def of(self, path: Path) -> dict[str, set[int]]:
        """The test functions that run a line inside a function of the file, with these lines."""
        inside = function_lines(path)
        found: dict[str, set[int]] = defaultdict(set)
        for line, tests in self.data.contexts_by_lineno(str(path)).items():
            for test in tests if line in inside else ():
                if test in self.seconds:
                    found[test].add(line)
        return dict(found)

    def covering(self, path: Path, line: int) -> list[str]:
        """The test functions that run a line, the quickest first."""
        tests = {test for test in self.data.contexts_by_lineno(str(path)).get(line, []) if test in self.seconds}
        return sorted(tests, key=lambda test: self.seconds[test])

    def needed(self, path: Path) -> dict[str, set[int]]:
        """As `of`; if no test shows a line, the tests of the files that import this one, and so on up."""
        seen, below = {path}, [path]
        while below:
            found: dict[str, set[int]] = defaultdict(set)
            for k, file in enumerate(below):
                for test, lines in self.of(file).items():
                    found[test].update(line + 100_000 * k for line in lines)
            if found:
                return dict(found)
            below = [above for file in below for above in importers().get(file, []) if above not in seen]
            seen.update(below)
        return {}


def function_lines(path: Path) -> set[int]:
    """The lines of statements inside functions, without their headers."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                lines.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    return lines


@functools.cache
def importers() -> dict[Path, list[Path]]:
    """The files that import each file of the library."""
    from import_graph import modules, read_graph

    files = {name: path.resolve() for name, path in modules().items()}
    found: dict[Path, list[Path]] = defaultdict(list)
    for source, targets in read_graph()[0].items():
        for target in targets:
            found[files[target]].append(files[source])
    return found


def chosen(needed: dict[str, set[int]], seconds: dict[str, float], most: float) -> Iterator[str]:
    """Test functions within so many seconds, each the one that adds most lines per second; if no line is left, all
    lines are asked for once more."""
    left = {test: cost for test in needed if (cost := max(seconds[test], 0.01)) <= most}
    open_lines: set[int] = set()
    while left:
        if not any(needed[test] & open_lines for test in left):
            open_lines = set().union(*(needed[test] for test in left))
        best = max(left, key=lambda test: len(needed[test] & open_lines) / left[test])
        most -= left.pop(best)
        open_lines -= needed[best]
        yield best
        left = {test: cost for test, cost in left.items() if cost <= most}


def main() -> int:
    if sys.argv[1:2] == ["--record"]:
        return record(sys.argv[2:])
    parser = argparse.ArgumentParser(description="The tests that an edited file needs.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--within", type=float, metavar="SECONDS", help="choose tests of so many processor seconds")
    options = parser.parse_args()
    recorded = Map.read()
    needed: dict[str, set[int]] = defaultdict(set)
    for k, file in enumerate(options.files):
        if not file.is_file():
            parser.error(f"{file} is no file")
        for test, lines in recorded.needed(file.resolve()).items():
            needed[test].update(line + 10_000_000 * k for line in lines)
    if options.within is not None:
        print("pytest", *sorted(chosen(needed, recorded.seconds, options.within)))
        return 0
    files: dict[str, float] = defaultdict(float)
    for test in needed:
        files[test.partition("::")[0]] += recorded.seconds[test]
    for name, value in sorted(files.items(), key=lambda item: item[1]):
        print(f"{value:8.1f} s  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
