"""Files of at most 300 lines, functions of at most a screen; what is longer has a reason in sizes.toml.

Run as a script it prints what is open.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LISTED = tomllib.loads((ROOT / "tests" / "house" / "sizes.toml").read_text(encoding="utf-8"))

FILE, LARGEST_FILE, FUNCTION = 300, 500, 60


def sources() -> Iterator[tuple[str, str]]:
    for folder in ("rbdae", "adapters"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def functions(name: str, text: str) -> Iterator[tuple[str, int]]:
    """ "path::Class.function" and its lines, from the first decorator to the end."""

    def visit(node: ast.AST, prefix: str) -> Iterator[tuple[str, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                yield f"{name}::{prefix}{child.name}", (child.end_lineno or first) - first + 1
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from visit(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):  # no expression has functions
                yield from visit(child, prefix)

    yield from visit(ast.parse(text), "")


def open_entries(measured: dict[str, int], listed: dict[str, Any], limit: int, what: str) -> list[str]:
    """What breaks the law of sizes, one sentence each."""
    found = []
    for name, lines in measured.items():
        entry = listed.get(name)
        if lines > limit and entry is None:
            found.append(f"{name} has {lines} lines; {what} above {limit} need a reason in tests/house/sizes.toml")
        elif entry is not None and lines > entry["lines"]:
            found.append(
                f"{name} has {lines} lines, {entry['lines']} in tests/house/sizes.toml: split it, or say why not"
            )
    for name, entry in listed.items():
        if measured.get(name, 0) <= limit:
            found.append(f"{name} needs no entry in tests/house/sizes.toml: {measured.get(name, 'it does not exist')}")
        elif not entry.get("reason", "").strip():
            found.append(f"{name} has no reason in tests/house/sizes.toml")
    return found


def open_files() -> list[str]:
    measured = {name: len(text.splitlines()) for name, text in sources()}
    found = open_entries(measured, LISTED["files"], FILE, "files")
    for name, lines in measured.items():
        if lines > LARGEST_FILE and not LISTED["files"].get(name, {}).get("table"):
            found.append(f"{name} has {lines} lines; only tables have more than {LARGEST_FILE}")
    return found


def open_functions() -> list[str]:
    measured = {name: lines for path, text in sources() for name, lines in functions(path, text)}
    return open_entries(measured, LISTED["functions"], FUNCTION, "functions")


def test_files_above_300_lines_have_a_reason_and_above_500_are_tables():
    assert not open_files(), "\n".join(open_files())


def test_functions_above_a_screen_have_a_reason():
    assert not open_functions(), "\n".join(open_functions())


def test_what_is_missing_stale_or_without_reason_is_named():
    measured = {"a": 10, "b": 20, "c": 20, "d": 5, "e": 20}
    listed = {
        "b": {"lines": 20, "reason": "a table"},
        "c": {"lines": 19, "reason": "grown"},
        "d": {"lines": 20, "reason": "short again"},
        "e": {"lines": 20, "reason": " "},
        "f": {"lines": 20, "reason": "gone"},
    }
    found = open_entries(measured, listed, 9, "files")
    assert [message.partition(" ")[0] for message in found] == ["a", "c", "d", "e", "f"]
    text = "class A:\n    @x\n    def f(self):\n        def g():\n            pass\n        return g\n"
    assert dict(functions("p", text)) == {"p::A.f": 5, "p::A.f.g": 2}


if __name__ == "__main__":
    sys.exit("\n".join(open_files() + open_functions()))
