"""Draws small wrong changes to the files after the equations, and says which of them no test sees.

    python tools/mutate.py [--count 40] [--seed 23] [--seconds 90] [--only K ...] [FILE ...]

Each change is one of five kinds, drawn by the seed: another sign, another comparison, an index off by one, a constant
with another value, a statement dropped. A change is drawn by what it is, the function and the text, not by where it
stands: an edit of another function leaves it drawn. The files are those that turn right numbers into results: solving,
show, study, initial, graph, or the ones that are named. A copy of the tree gets the change, and the tests that run
the changed line (`tools/laws --record` knows them) are run there, the quickest first, until one fails or the seconds
are used up. A survivor is printed with its place; the exit code is the number of survivors.

Messages, names and annotations are not changed: they are no numbers.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from laws import Map, function_lines

ROOT = Path(__file__).parents[1]
FOLDERS = ("rbdae/solving", "rbdae/show", "rbdae/study", "rbdae/initial", "rbdae/graph")

SIGNS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
"""The boundary moved, and the direction turned."""


@dataclass(frozen=True)
class Change:
    """One wrong change: the file, the line, the function, what stood there, which one of these in the function, and
    the text of the whole file after it."""

    path: Path
    line: int
    function: str
    kind: str
    before: str
    after: str
    number: int
    text: str

    def rank(self, seed: int) -> bytes:
        """Drawn first is what has the lowest."""
        place = self.path.relative_to(ROOT).as_posix() if self.path.is_relative_to(ROOT) else self.path.name
        name = (seed, place, self.function, self.kind, self.before, self.after, self.number)
        return hashlib.sha256(repr(name).encode()).digest()

    def __str__(self) -> str:
        place = f"{self.path.relative_to(ROOT)}:{self.line}"
        return f"{place} ({self.function}): {self.kind}: {self.before!r} -> {self.after!r}"


def changes(path: Path) -> Iterator[Change]:
    """Every change of the five kinds inside the functions of a file."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    inside = function_lines(path)
    silent = set(_silent(tree))
    functions = _functions(tree)
    met: Counter[tuple[str, str, str, str]] = Counter()
    for node in ast.walk(tree):
        if getattr(node, "lineno", 0) not in inside or id(node) in silent:
            continue
        for kind, changed in _of(node):
            before = ast.get_source_segment(source, node)
            if before is not None:
                after = "pass" if changed is None else ast.unparse(changed)
                text = _replaced(source, node, after if changed is None else f"({after})")
                name = (functions[node.lineno], kind, before, after)
                yield Change(path, node.lineno, *name, met[name], text)
                met[name] += 1


def _functions(tree: ast.AST, outer: str = "") -> dict[int, str]:
    """The function that each line belongs to, its class before it."""
    found = {}
    for node in ast.iter_child_nodes(tree):
        name = outer
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{outer}.{node.name}" if outer else node.name
            found.update(dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), name))
        found.update(_functions(node, name))
    return found


def _of(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """The kinds of change that fit a node, with what stands there then; None for a statement that is dropped."""
    if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        changed = copy.deepcopy(node)
        changed.op = SIGNS[type(node.op)]()
        yield "sign", changed
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield "sign", node.operand
    elif isinstance(node, ast.Compare):
        for other in COMPARISONS[type(node.ops[0])]:
            changed_comparison = copy.deepcopy(node)
            changed_comparison.ops[0] = other()
            yield "comparison", changed_comparison
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant | ast.Slice | ast.Name):
        if isinstance(node.slice, ast.Constant) and type(node.slice.value) is int:
            changed_index = copy.deepcopy(node)
            changed_index.slice = ast.Constant(node.slice.value + (1 if node.slice.value >= 0 else -1))
            yield "index", changed_index
        elif isinstance(node.slice, ast.Slice) and node.slice.lower is not None:
            changed_index = copy.deepcopy(node)
            assert isinstance(changed_index.slice, ast.Slice) and changed_index.slice.lower is not None
            changed_index.slice.lower = ast.BinOp(changed_index.slice.lower, ast.Add(), ast.Constant(1))
            yield "index", changed_index
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "constant", ast.Constant(node.value + 1 if type(node.value) is int else node.value * 1.5 or 1e-3)
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield "constant", ast.Constant(not node.value)
    elif _drops_something(node):
        yield "dropped", None


def _drops_something(node: ast.AST) -> bool:
    """Whether a statement does something and gives no new name to anything."""
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Subscript | ast.Attribute)
    return isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))


def _silent(tree: ast.AST) -> Iterator[int]:
    """Nodes of messages, annotations, f-strings and what is raised."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert):
            parts = [node]
        elif isinstance(node, ast.AnnAssign):
            parts = [node.annotation]
        elif isinstance(node, ast.FunctionDef):
            parts = [node.args, node.returns, *node.decorator_list]
        for part in parts:
            if part is not None:
                yield from (id(inner) for inner in ast.walk(part))


def _replaced(source: str, node: ast.AST, text: str) -> str:
    """The source with the text of a node exchanged; columns count bytes."""
    assert isinstance(node, ast.expr | ast.stmt) and node.end_lineno is not None and node.end_col_offset is not None
    lines = source.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    whole = source.encode()
    return (whole[:start] + text.encode() + whole[end:]).decode()


def drawn(paths: list[Path], count: int, seed: int) -> list[Change]:
    """So many changes, the kinds in turn, so that none prevails; of each kind those of the lowest rank."""
    every: dict[str, list[Change]] = {}
    for path in paths:
        for change in changes(path):
            every.setdefault(change.kind, []).append(change)
    ranked = [iter(sorted(every[kind], key=lambda change: change.rank(seed))) for kind in sorted(every)]
    turns = (next(ranked[k % len(ranked)], None) for k in range(count))
    return [change for change in turns if change is not None]


def caught(change: Change, tests: list[str], tree: Path, seconds: float) -> str:
    """The test that fails with a change in a copy of the tree; empty if none does within so many seconds."""
    target = tree / change.path.relative_to(ROOT)
    original = target.read_text(encoding="utf-8")
    target.write_text(change.text, encoding="utf-8")
    path = os.pathsep.join([str(tree), str(tree / "adapters")])
    environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-m", "", *tests]
    most = 60 + int(2 * seconds)  # processor seconds: a busy machine is no change that does not end
    try:
        ended = subprocess.run(
            command,
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            timeout=20 * seconds,
            check=False,
            preexec_fn=functools.partial(_limited, most),
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    finally:
        target.write_text(original, encoding="utf-8")
    if ended.returncode == 0:
        return ""
    if ended.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "does not end"
    failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if failed else f"pytest ends with {ended.returncode}"


def _limited(seconds: int) -> None:
    """Processor seconds of a process, which takes Ctrl-C also where a shell runs it in the background."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def within(tests: list[str], recorded: Map, seconds: float) -> list[str]:
    """The quickest test functions that take so many processor seconds together, one at least."""
    taken: list[str] = []
    for test in tests:
        seconds -= recorded.seconds[test]
        if taken and seconds < 0:
            break
        taken.append(test)
    return taken


def main() -> int:
    parser = argparse.ArgumentParser(description="Which small wrong changes no test sees.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--seconds", type=float, default=90.0, help="processor seconds of tests for each change")
    parser.add_argument("--only", type=int, nargs="*", help="these of the drawn changes alone, counted from 1")
    options = parser.parse_args()
    files = [file.resolve() for file in options.files]
    paths = files or [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    recorded = Map.read()
    survivors = 0
    with tempfile.TemporaryDirectory() as place:
        tree = Path(place) / "tree"
        ignored = shutil.ignore_patterns(".git", ".venv*", "results", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, tree, ignore=ignored)
        for k, change in enumerate(drawn(paths, options.count, options.seed), 1):
            if options.only and k not in options.only:
                continue
            tests = within(recorded.covering(change.path, change.line), recorded, options.seconds)
            seen = caught(change, tests, tree, options.seconds) if tests else ""
            survivors += not seen
            result = seen or f"SURVIVED {len(tests)} tests"
            print(f"{k:3} {change}\n    {result}", flush=True)
    print(f"{survivors} survivors")
    return survivors


if __name__ == "__main__":
    sys.exit(main())
