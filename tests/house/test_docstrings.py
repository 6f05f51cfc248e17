"""Docstrings begin with their subject.

Run as a script it prints those that do not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ("rbdae", "adapters/rbdae_adapters", "examples/papers/rbdae_papers")
NO_SUBJECT = {"What", "Of", "Where", "Which", "Those", "That", "By", "As"}
MOST = 60
"""A few may be good English."""


def without_subject(source: str) -> Iterator[tuple[int, str]]:
    """The (line, first words) of docstrings of modules, classes and functions that begin with one of these words."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        waiting += [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt | ast.excepthandler)]
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            words = (ast.get_docstring(node) or "").split()
            if words and words[0].rstrip(",:;.") in NO_SUBJECT:
                yield node.body[0].lineno, " ".join(words[:6])


def found() -> list[str]:
    return [
        f"{path.relative_to(ROOT).as_posix()}:{line}: {words}"
        for folder in CODE
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, words in sorted(without_subject(path.read_text(encoding="utf-8")))
    ]


def test_docstrings_begin_with_their_subject():
    """A docstring says what a thing is, subject first: "The residual at t", not "What is computed at t".

    A reader who jumps to it from a call has no sentence before it to take the subject from.
    """
    those = found()
    assert len(those) < MOST, "\n".join(those)


@pytest.mark.parametrize(
    "source, n",
    [
        ('"""What a run does."""', 1),
        ('class A:\n    """Of a run."""\n    def f(self):\n        """By name."""', 2),
        ('async def f():\n    """Those, of all."""', 1),
        ('"""Whether it is done."""', 0),
        ('"""The place where it is."""\nx = 1\n"""What x is."""', 0),
    ],
)
def test_docstrings_without_a_subject_are_found(source, n):
    assert len(list(without_subject(source))) == n


if __name__ == "__main__":
    print("\n".join(found()))
