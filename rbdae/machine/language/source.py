"""The source of a function, and the error for what it cannot say."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from functools import cache
from textwrap import dedent
from types import FunctionType
from typing import final

from rbdae.machine.module import NoMachineCode


class LanguageError(TypeError):
    """A function says something that has no machine code; the message has its file and line."""


@final
@dataclass(frozen=True, slots=True)
class Source:
    """A function, its tree, and the line in which it begins."""

    function: FunctionType
    tree: ast.FunctionDef
    first: int

    def error(self, node: ast.AST, what: object) -> LanguageError:
        """An error at a part of the tree."""
        line = self.first + getattr(node, "lineno", 1) - 1
        return LanguageError(f"{self.function.__code__.co_filename}:{line}: in {self.function.__name__}: {what}")


@cache
def source_of(function: FunctionType) -> Source:
    """The source of a function. Raises NoMachineCode if it is not there, LanguageError if it is no def."""
    file = function.__code__.co_filename
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError as error:
        raise NoMachineCode(f"{file}: the source of {function.__name__} is not there ({error})") from None
    tree = ast.parse(dedent("".join(lines))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise LanguageError(f"{file}:{first}: the source of {function.__name__} is no def")
    return Source(function, tree, first)
