"""The tests that an edited file needs, by what they run of it, and by who imports it where nothing shows them.

    python tools/laws.py [--within SECONDS] FILE ...
    python tools/laws.py --record [arguments of pytest]
    python tools/laws.py --add [arguments of pytest]

`--record` runs the tests under coverage.py and keeps, in results/laws/, which lines each test function runs and its
processor seconds. `--add` keeps what was recorded before and adds these tests, so that a few files can be recorded at a
time; of a test that was recorded twice the later one counts. The files are kept as they were, so that lines are found
again after edits. A test needs a file if it runs a line inside one of its functions: lines of definitions are run by
whoever imports first, and say nothing. Functions that are compiled from their source, and tables, show no such line;
they take the tests of the files that import them.

With `--within`, test functions are chosen until the seconds are used up: each time the one that adds most lines of the
file per second. What is printed then is a command.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import functools
import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "results" / "laws"
"""One folder in it for each recording: coverage data, seconds of each process, and the files as they were."""

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
            (Path(os.environ["LAWS_RECORDING"]) / f"{os.getpid()}.json").write_text(
                json.dumps(self.seconds), encoding="utf-8"
            )


def function_of(nodeid: str) -> str:
    """A test function without its parameters: what a command can name."""
    return nodeid.partition("[")[0]


def pytest_configure(config: Any) -> None:
    config.pluginmanager.register(Recorder(), "laws-recorder")


def record(arguments: list[str], anew: bool) -> int:
    """Runs pytest under coverage.py, and keeps what the tests have run; all earlier recordings go with `anew`."""
    if anew:
        shutil.rmtree(FOLDER, ignore_errors=True)
    folder = FOLDER / f"{1 + max((int(old.name) for old in FOLDER.glob('[0-9]*')), default=0):04d}"
    folder.mkdir(parents=True)
    sources = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in _measured()}
    (folder / "sources").write_text(json.dumps(sources), encoding="utf-8")
    path = os.pathsep.join([str(ROOT / "tools"), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-p", "laws", "-q", "--cov=rbdae", "--cov=rbdae_adapters"]
    command += ["--cov-report=", *(arguments or ["-n", "2"])]
    environment = {"COVERAGE_FILE": str(folder / "coverage"), "LAWS_RECORDING": str(folder), "PYTHONPATH": path}
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, check=False).returncode


def _measured() -> Iterator[Path]:
    yield from sorted((ROOT / "rbdae").rglob("*.py"))
    yield from sorted((ROOT / "adapters" / "rbdae_adapters").rglob("*.py"))


# ---------------------------------------------------------------- reading


@dataclass(frozen=True)
class Recording:
    """What one run of pytest has shown: processor seconds of its test functions, and which of them run each line."""

    seconds: dict[str, float]
    data: Any
    sources: dict[str, str]

    @classmethod
    def read(cls, folder: Path) -> Recording:
        from coverage import CoverageData

        seconds: dict[str, float] = defaultdict(float)
        for path in folder.glob("*.json"):
            for name, value in json.loads(path.read_text(encoding="utf-8")).items():
                seconds[name] += value
        data = CoverageData(str(folder / "coverage"))
        data.read()
        return cls(dict(seconds), data, json.loads((folder / "sources").read_text(encoding="utf-8")))

    def lines(self, path: Path) -> dict[int, set[str]]:
        """The tests that run each line of a file, by its lines as they are now; an edited line has the tests of those
        that stood there, and of the line above."""
        then = self.sources.get(str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else "")
        recorded = self.data.contexts_by_lineno(str(path))
        found: dict[int, set[str]] = defaultdict(set)
        if then is None:
            return found
        texts = then.splitlines(), path.read_text(encoding="utf-8").splitlines()
        for kind, i, i_end, j, j_end in difflib.SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
            for new in range(j, j_end):
                olds = [i + new - j] if kind == "equal" else range(max(i - 1, 0), i_end)
                for old in olds:
                    found[new + 1].update(test for test in recorded.get(old + 1, []) if test in self.seconds)
        return found


@dataclass(frozen=True)
class Map:
    """What was recorded: processor seconds of each test function, and what runs each line of a file."""

    seconds: dict[str, float]
    recordings: list[Recording]

    @classmethod
    def read(cls) -> Map:
        folders = [folder for folder in sorted(FOLDER.glob("[0-9]*")) if (folder / "coverage").exists()]
        if not folders:
            sys.exit("tools/laws does not know yet what the tests run: run tools/laws --record first")
        recordings = [Recording.read(folder) for folder in folders]
        for k, recording in enumerate(recordings):
            for test in set().union(*(later.seconds for later in recordings[k + 1 :])):
                recording.seconds.pop(test, None)
        seconds = {test: value for recording in recordings for test, value in recording.seconds.items()}
        return cls(seconds, recordings)

    def lines(self, path: Path) -> dict[int, set[str]]:
        """The test functions that run each line of a file."""
        found: dict[int, set[str]] = defaultdict(set)
        for recording in self.recordings:
            for line, tests in recording.lines(path).items():
                found[line] |= tests
        return found

    def of(self, path: Path) -> dict[str, set[int]]:
        """The test functions that run a line inside a function of the file, with these lines."""
        inside = function_lines(path)
        found: dict[str, set[int]] = defaultdict(set)
        for line, tests in self.lines(path).items():
            for test in tests if line in inside else ():
                found[test].add(line)
        return dict(found)

    def covering(self, path: Path, line: int) -> list[str]:
        """The test functions that run the statement of a line, the quickest first; those that the file needs if none
        shows it."""
        shown = self.lines(path)
        tests = set().union(*(shown.get(number, set()) for number in statement_lines(path, line)))
        return sorted(tests or self.needed(path), key=lambda test: self.seconds[test])

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


def statement_lines(path: Path, line: int) -> range:
    """The lines of the innermost statement that a line belongs to; of one with a body, those of its header."""
    found = range(line, line + 1)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno):
            body = getattr(node, "body", None)
            end = body[0].lineno if body else (node.end_lineno or node.lineno) + 1
            if line < max(end, node.lineno + 1):
                found = range(node.lineno, max(end, node.lineno + 1))
    return found


@functools.cache
def importers() -> dict[Path, list[Path]]:
    """The files that import each file of the library."""
    import grimp

    graph = grimp.build_graph("rbdae", "rbdae_adapters")
    files = {name: _file(name) for name in graph.modules}
    return {
        path: [files[above] for above in graph.find_modules_that_directly_import(name)] for name, path in files.items()
    }


def _file(module: str) -> Path:
    path = (ROOT / "adapters" if module.startswith("rbdae_adapters") else ROOT).joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


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
    if sys.argv[1:2] in (["--record"], ["--add"]):
        return record(sys.argv[2:], anew=sys.argv[1] == "--record")
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
