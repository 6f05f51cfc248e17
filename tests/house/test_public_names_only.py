"""Tests reach the equations and their compilers through public names or tests/support/inside.py.

Run as a script it prints what does not.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

LOWER = ("graph", "machine", "laws", "kernels", "multibody")
"""The folders whose files are not imported by tests; they will be written anew."""

PUBLIC = {
    "rbdae.graph": {
        "corresponding",
        "derivatives",
        "evaluate",
        "factoring",
        "functions",
        "graph",
        "order",
        "sharing",
    }
    | {"sums", "twos"},
    "rbdae.machine": {"loops.memory", "loops.methods", "language.program"} | {"language.source", "language.words"},
}
"""Their modules that users extend, or that are a library of their own."""

WRITTEN = {"inside.py", "toy_formulation.py", "toy_term.py"}
"""`inside`, and the toys whose equations are written in the library's kernels: a formulation, and a term in all."""


def reaches_inside(name: str) -> bool:
    top, _, rest = name.removeprefix("rbdae.").partition(".")
    public = PUBLIC.get(f"rbdae.{top}", set())
    return name.startswith("rbdae.") and top in LOWER and not any(f"{rest}.".startswith(f"{p}.") for p in public)


def imported(source: str) -> Iterator[tuple[int, str]]:
    """The (line, module) of imports, those in code for other processes included."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in names)
            case ast.Constant(value=str(text)) if "import rbdae" in text or "from rbdae" in text:
                try:
                    yield from ((node.lineno, name) for _, name in imported(text))
                except SyntaxError:
                    continue


def reaching() -> list[str]:
    return [
        f"{path.relative_to(TESTS.parent).as_posix()}:{line}: {name}"
        for path in sorted(TESTS.rglob("*.py"))
        if path.name not in WRITTEN | {Path(__file__).name}
        for line, name in imported(path.read_text(encoding="utf-8"))
        if reaches_inside(name)
    ]


def test_only_one_file_reaches_inside():
    assert not reaching(), "\n".join(reaching())


@pytest.mark.parametrize(
    "source",
    [
        "import rbdae.multibody.code.bound as c",
        "from rbdae.multibody import bound",
        "from rbdae.multibody.choices.layout import Layout",
        "def f():\n    from rbdae.graph import on_stacks",
        "CODE = 'from rbdae.multibody import bound'",
    ],
)
def test_what_is_inside_is_found(source):
    assert any(reaches_inside(name) for _, name in imported(source))


@pytest.mark.parametrize(
    "source",
    ["import rbdae", "from rbdae.problem.timed import Segments", "from rbdae.graph.graph import Graph"],
)
def test_what_is_public_is_not(source):
    assert not any(reaches_inside(name) for _, name in imported(source))


if __name__ == "__main__":
    sys.exit("\n".join(reaching()))
