"""Arguments and results of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from rbdae.machine.language.body import Body
from rbdae.machine.language.kinds import Kind, Refused, Value, common

Callee: TypeAlias = Callable[[Body, list[Value]], Value]
"""A function as its callers see it: writes a call."""


def fitted(at: Body, values: Sequence[Value], kinds: Sequence[Kind]) -> list[Value]:
    """Arguments as those of a function with parameters of these kinds."""
    if len(values) != len(kinds):
        raise Refused(f"takes {len(kinds)} arguments, not {len(values)}")
    for value, kind in zip(values, kinds, strict=True):
        if common(value.kind, kind) != kind:
            raise Refused(f"takes {kind.name}, and here {value.kind.name}")
    return [at.converted(value, kind) for value, kind in zip(values, kinds, strict=True)]


def pointer(at: Body, address: Value) -> str:
    """The address that an integer is."""
    return at.register(f"inttoptr i64 {address.text} to ptr")


def passed(values: Iterable[Value]) -> str:
    """The types and registers of arguments."""
    return ", ".join(
        f"{part} {text}" for value in values for part, text in zip(value.kind.types, value.registers, strict=True)
    )


def returned(kind: Kind) -> str:
    """The type of LLVM that a function with a result of this kind returns."""
    registers = kind.types
    return "void" if not registers else registers[0] if len(registers) == 1 else f"{{ {', '.join(registers)} }}"


def packed(at: Body, value: Value) -> str:
    """A value as a function returns it."""
    kind = returned(value.kind)
    if len(value.registers) < 2:
        return " ".join((kind, *value.registers))
    out = "poison"
    for k, (part, text) in enumerate(zip(value.kind.types, value.registers, strict=True)):
        out = at.register(f"insertvalue {kind} {out}, {part} {text}, {k}")
    return f"{kind} {out}"


def unpacked(at: Body, kind: Kind, call: str) -> Value:
    """The value of a call."""
    if not kind.types:
        at.add(f"call void {call}")
        return Value(kind, ())
    result = at.register(f"call {returned(kind)} {call}")
    if len(kind.types) == 1:
        return Value(kind, (result,))
    return Value(
        kind, tuple(at.register(f"extractvalue {returned(kind)} {result}, {k}") for k in range(len(kind.types)))
    )


def called(symbol: str, kinds: Sequence[Kind], result: Kind) -> Callee:
    """The call of a function by its symbol or address."""
    return lambda at, arguments: unpacked(at, result, f"{symbol}({passed(fitted(at, arguments, kinds))})")
