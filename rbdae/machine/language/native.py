"""Native functions: annotations give the kinds of parameters and results, so that they can be called from outside."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache
from typing import Any

from rbdae.machine.language.body import Body
from rbdae.machine.language.calls import fitted, passed, pointer
from rbdae.machine.language.kinds import ADDRESS, BOOL, FLOAT, FUNCTION, INT, LONG, NOTHING, Array, Kind, Record, Value
from rbdae.machine.language.source import Source
from rbdae.machine.language.words import Fields

VEC, INTS = Array(FLOAT, ((LONG, 1),)), Array(INT, ((LONG, 1),))

KINDS: dict[str, Kind] = {
    "float": FLOAT,
    "int": INT,
    "bool": BOOL,
    "Vec": VEC,
    "Ints": INTS,
    "Function": FUNCTION,
    "Address": ADDRESS,
    "None": NOTHING,
}
"""By the annotation that means them."""


def symbol(function: Callable[..., Any]) -> str:
    """The name of a native function in machine code."""
    return f"{function.__module__}.{function.__qualname__}".replace("<locals>.", "")


@cache
def signature(source: Source) -> tuple[tuple[Kind, ...], Kind]:
    """Kinds of the parameters and of the result of a native function."""

    def kind(node: ast.AST, annotation: ast.expr | None) -> Kind:
        text = "nothing" if annotation is None else ast.unparse(annotation)
        named = source.function.__globals__.get(text)
        if isinstance(named, type) and issubclass(named, Fields):
            return Record(named.dtype)
        if text not in KINDS:
            raise source.error(node, f"annotated by {text}; a native function has {', '.join(KINDS)}")
        return KINDS[text]

    a = source.tree.args
    if a.posonlyargs or a.kwonlyargs or a.vararg or a.kwarg or a.defaults:
        raise source.error(source.tree, "native functions have plain parameters only")
    return tuple(kind(one, one.annotation) for one in a.args), kind(source.tree, source.tree.returns)


_EVALUATED: tuple[Kind, ...] = (FUNCTION, ADDRESS, FLOAT, VEC, VEC, FLOAT, VEC)


def evaluate(at: Body, arguments: list[Value]) -> Value:
    """The call of a machine function (`rbdae.machine.language.words.evaluate`), whose context may be a record."""
    first = [_as_address(at, x, kind) for x, kind in zip(arguments[:2], _EVALUATED, strict=False)]
    function, *others = fitted(at, [*first, *arguments[2:]], _EVALUATED)
    flag = at.register(f"call i32 {function.text}({passed(others)})")
    return at.value(INT, f"sext i32 {flag} to i64")


def _as_address(at: Body, x: Value, kind: Kind) -> Value:
    if x.kind is INT:
        return Value(kind, (pointer(at, x),))
    return Value(ADDRESS, x.registers) if isinstance(x.kind, Record) else x
