"""Types of native code, and the error for what it cannot say."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from textwrap import dedent
from typing import Any, NamedTuple, final


class NativeError(TypeError):
    """A native function says something that has no machine code; the message has its file and line."""


class Type(Enum):
    """A type by the annotation that means it."""

    FLOAT = "float"
    INT = "int"
    BOOL = "bool"
    VEC = "Vec"
    INTS = "Ints"
    FUNCTION = "Function"
    ADDRESS = "Address"
    NONE = "None"
    LANES = "a vector register"
    MASK = "a condition for each lane"

    @property
    def llvm(self) -> str:
        """Its name in LLVM IR."""
        return _LLVM.get(self, "ptr")

    @property
    def entry(self) -> Type | None:
        """The type of the entries of a vector; None for what is none."""
        return {Type.VEC: Type.FLOAT, Type.INTS: Type.INT}.get(self)


WIDTH = 4
"""Doubles in a vector register; processors with narrower ones take two."""

_LLVM = {
    Type.FLOAT: "double",
    Type.INT: "i64",
    Type.BOOL: "i1",
    Type.NONE: "void",
    Type.LANES: f"<{WIDTH} x double>",
    Type.MASK: f"<{WIDTH} x i1>",
}


class Value(NamedTuple):
    """A value in LLVM IR: its type, and a register or a constant."""

    type: Type
    text: str


def symbol(function: Callable[..., Any]) -> str:
    """The name of a native function in machine code."""
    return f"{function.__module__}.{function.__qualname__}".replace("<locals>.", "")


@final
@dataclass(frozen=True, slots=True)
class Source:
    """A native function: its tree, where it stands, and the names that it sees."""

    function: Callable[..., Any]
    tree: ast.FunctionDef
    file: str
    first: int

    @property
    def name(self) -> str:
        """Its symbol, unique in a program."""
        return symbol(self.function)

    @property
    def parameters(self) -> list[tuple[str, Type]]:
        """Names and types of the parameters."""
        a = self.tree.args
        if a.posonlyargs or a.kwonlyargs or a.vararg or a.kwarg or a.defaults:
            raise self.error(self.tree, "native functions have plain parameters only")
        return [(one.arg, self._type(one, one.annotation)) for one in a.args]

    @property
    def result(self) -> Type:
        """The type that it returns."""
        return self._type(self.tree, self.tree.returns)

    def _type(self, node: ast.AST, annotation: ast.expr | None) -> Type:
        text = "nothing" if annotation is None else ast.unparse(annotation)
        try:
            return Type(text if text.isalpha() else "")
        except ValueError:
            known = ", ".join(t.value for t in Type if t.value.isalpha())
            raise self.error(node, f"annotated by {text}; a native function has {known}") from None

    def annotated(self, node: ast.AST, annotation: ast.expr) -> Type:
        """The type that an annotation of a local name means."""
        return self._type(node, annotation)

    def error(self, node: ast.AST, what: str) -> NativeError:
        """An error at a part of the tree."""
        line = self.first + getattr(node, "lineno", 1) - 1
        return NativeError(f"{self.file}:{line}: in {self.function.__name__}: {what}")


@cache
def source_of(function: Callable[..., Any]) -> Source:
    """The source of a native function."""
    rows, first = inspect.getsourcelines(function)
    tree = ast.parse(dedent("".join(rows))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise NativeError(f"{inspect.getsourcefile(function)}:{first}: only a def has machine code")
    return Source(function, tree, str(inspect.getsourcefile(function)), first)


__all__ = ["WIDTH", "NativeError", "Source", "Type", "Value", "source_of", "symbol"]
