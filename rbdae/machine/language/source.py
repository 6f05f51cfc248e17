"""The source of a function, and the error for what it cannot say."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from functools import cache
from textwrap import dedent
from types import CodeType, FunctionType, ModuleType
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
    """The source of a function. Raises NoMachineCode if it is not there, LanguageError if it is another one's."""
    file = function.__code__.co_filename
    try:
        lines, first = inspect.getsourcelines(function)
    except OSError as error:
        raise NoMachineCode(f"{file}: the source of {function.__name__} is not there ({error})") from None
    try:
        tree = ast.parse(dedent("".join(lines))).body[0]
    except SyntaxError:
        tree = ast.Pass()
    if not (isinstance(tree, ast.FunctionDef) and _is_of(tree, function)):
        raise LanguageError(
            f"{file}:{first}: the source of {function.__name__} is no def, or has changed since it was imported"
        )
    return Source(function, tree, first)


def _is_of(tree: ast.FunctionDef, function: FunctionType) -> bool:
    """Whether a source is that of a function: files change while processes run. Functions inside of others have other
    instructions there."""
    if tree.name != function.__name__ or function.__code__.co_freevars:
        return tree.name == function.__name__
    scope = function.__globals__
    # of imported modules functions are called by other instructions
    modules = [name for name in function.__code__.co_names if isinstance(scope.get(name), ModuleType)]
    alone = ast.parse("\n".join(["from __future__ import annotations", *(f"import {name}" for name in modules)]))
    alone.body.append(ast.copy_location(ast.FunctionDef(tree.name, tree.args, tree.body, [], tree.returns), tree))
    made = compile(alone, "", "exec", dont_inherit=True)
    code = next(constant for constant in made.co_consts if isinstance(constant, CodeType))
    mine = function.__code__
    return (code.co_code, code.co_names, code.co_varnames) == (mine.co_code, mine.co_names, mine.co_varnames)
