"""Native functions and all that they call as one text in LLVM IR, and as functions that Python calls."""

from __future__ import annotations

import ast
import ctypes
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, final

from rbdae.machine.language import words
from rbdae.machine.language.body import METADATA, Body
from rbdae.machine.language.kinds import (
    ADDRESS,
    BOOL,
    FLOAT,
    FUNCTION,
    INT,
    INTS,
    NOTHING,
    VEC,
    Kind,
    Record,
    Refused,
    Value,
)
from rbdae.machine.language.mathematics import DECLARATIONS, FUNCTIONS
from rbdae.machine.language.source import Source, source_of
from rbdae.machine.language.statements import Written
from rbdae.machine.module import Module, compiled, sources

_KINDS: dict[str, Kind] = {kind.name: kind for kind in (FLOAT, INT, BOOL, VEC, INTS, FUNCTION, ADDRESS)}
"""By the annotation that means them; that of a record is a class of `words.Fields`."""

_C_TYPES: dict[str, Any] = {"float": ctypes.c_double, "int": ctypes.c_int64, "bool": ctypes.c_bool, "None": None}


def symbol(function: Callable[..., Any]) -> str:
    """The name of a native function in machine code."""
    return f"{function.__module__}.{function.__qualname__}".replace("<locals>.", "")


@cache
def signature(source: Source) -> tuple[tuple[Kind, ...], Kind]:
    """Kinds of the parameters and of the result of a native function."""

    def kind(node: ast.AST, annotation: ast.expr | None) -> Kind:
        text = "nothing" if annotation is None else ast.unparse(annotation)
        named = source.function.__globals__.get(text)
        if isinstance(named, type) and issubclass(named, words.Fields):
            return Record("a record", "ptr", named)
        if text not in _KINDS:
            raise source.error(node, f"annotated by {text}; a native function has {', '.join(_KINDS)}")
        return _KINDS[text]

    a, returns = source.tree.args, source.tree.returns
    if a.posonlyargs or a.kwonlyargs or a.vararg or a.kwarg or a.defaults:
        raise source.error(source.tree, "native functions have plain parameters only")
    result = NOTHING if isinstance(returns, ast.Constant) and returns.value is None else kind(source.tree, returns)
    return tuple(kind(one, one.annotation) for one in a.args), result


@final
@dataclass(frozen=True)
class Program:
    """Entries and the names that they leave open.

    Parameters
    ----------
    entries : native functions that are called from outside; one that is bound to another stands for it, with its types
        and under its own symbol
    bindings : functions and numbers by the names under which the entries, and what they call, use them: one loop serves
        several methods. A machine function of other text is bound by its symbol. A function that gives them is called
        when they are needed
    """

    entries: tuple[Callable[..., Any], ...]
    bindings: Mapping[str, Any] | Callable[[], Mapping[str, Any]] = field(default_factory=dict)

    def text(self) -> str:
        """All of it in LLVM IR.

        Raises LanguageError for what has no machine code.
        """
        bound = self.bindings() if callable(self.bindings) else self.bindings
        found: list[Any] = [bound.get(entry.__name__, entry) for entry in self.entries]
        symbols = dict(zip(found, map(symbol, self.entries), strict=True))
        texts = [DECLARATIONS]

        def call(at: Body, function: Any, arguments: list[Value]) -> Value:
            if function is words.evaluate:
                return _evaluate(at, arguments)
            if isinstance(function, str):
                return _evaluate(at, [Value(FUNCTION, f"@{function}"), *arguments])
            if function is words.room:
                return Value(VEC, at.room(f"[{arguments[0].text} x double]", "room"))
            if not isinstance(function, types.FunctionType) or function in FUNCTIONS:
                raise Refused("has no machine code")
            if function not in symbols:
                symbols[function] = symbol(function)
                found.append(function)
            return at.called(f'@"{symbols[function]}"', arguments, *signature(source_of(function)))

        for k, function in enumerate(found):  # grows meanwhile
            source = source_of(function)
            written = Written(source, *signature(source), bound, call)
            how = ("", "noinline nounwind") if k < len(self.entries) else ("internal ", "nounwind")
            texts.append(written.definition(symbols[function], *how))
        return "\n".join([*texts, METADATA])


_EVALUATED: tuple[Kind, ...] = (ADDRESS, FLOAT, VEC, VEC, FLOAT, VEC)


def _evaluate(at: Body, arguments: list[Value]) -> Value:
    """The call of a machine function (`words.evaluate`), whose context may be a record; integers are addresses."""

    def as_pointer(x: Value, kind: Kind) -> Value:
        if kind.llvm == "ptr" and x.kind is INT:
            return at.value(kind, f"inttoptr i64 {x.text} to ptr")
        return Value(kind, x.text) if kind is ADDRESS and isinstance(x.kind, Record) else x

    function, *others = arguments
    called = as_pointer(function, FUNCTION)
    given = [as_pointer(x, kind) for x, kind in zip(others, _EVALUATED, strict=False)]
    flag = at.called(called.text, given, _EVALUATED, Kind("a word", "i32"))
    return at.value(INT, f"sext i32 {flag.text} to i64")


_HERE = Path(__file__).parent


def module_of(program: Program, level: int = 2, more: str = "", *, made_of: object = ()) -> Module:
    """The machine code of functions of `rbdae.machine.loops`, with more LLVM text that calls them. `made_of` is all
    else that it depends on: its text is written only if the cache does not have its code."""
    key = tuple(map(symbol, program.entries)), more, made_of, sources(_HERE, _HERE.parent / "loops")
    return compiled(lambda: program.text() + more, level, made_of=key)


def callables(
    program: Program, level: int = 2, *, made_of: object = None, prototype: Any = ctypes.CFUNCTYPE
) -> tuple[Any, ...]:
    """The entries of a program in machine code; they take addresses where they take vectors, and let other threads run
    unless the prototype is `ctypes.PYFUNCTYPE`. `address` of each is where it begins. For `made_of` see `module_of`;
    without it the text is written, and says it all."""
    own = made_of is not None
    module = module_of(program, level, made_of=made_of) if own else compiled(program.text(), level)
    out = []
    for entry in program.entries:
        *given, result = entry.__annotations__.values()
        types_of = [_C_TYPES.get(kind, ctypes.c_void_p) for kind in given]
        address = module[symbol(entry)]
        function = prototype(_C_TYPES[result], *types_of)(address)
        function.address, function.module = address, module  # the code lives as long as the function
        out.append(function)
    return tuple(out)
