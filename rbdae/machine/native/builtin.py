"""Functions of Python that are single instructions in machine code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rbdae.machine.native.emitter import Emitter, constant
from rbdae.machine.native.types import WIDTH, Type, Value

Made = Callable[[Emitter, list[Value]], Value]

ONE_FLOAT = {math.sqrt: "sqrt", math.fabs: "fabs", math.sin: "sin", math.cos: "cos", math.exp: "exp", math.log: "log"}
TWO_FLOATS = {math.pow: "pow", math.copysign: "copysign"}
"""Intrinsics of LLVM."""


def to_float(at: Emitter, value: Value) -> Value:
    """An int as a float; other values as they are."""
    return at.value(Type.FLOAT, f"sitofp i64 {value.text} to double") if value.type is Type.INT else value


def to_int(at: Emitter, value: Value) -> Value:
    """A float without its fraction, a bool as 0 or 1."""
    if value.type is Type.FLOAT:
        return at.value(Type.INT, f"fptosi double {value.text} to i64")
    return at.value(Type.INT, f"zext i1 {value.text} to i64") if value.type is Type.BOOL else value


def intrinsic(name: str) -> Made:
    """A call of one of LLVM's functions of floats."""

    def made(at: Emitter, given: list[Value]) -> Value:
        if any(x.type is Type.LANES for x in given):
            kind, suffix, same = Type.LANES, f"v{WIDTH}f64", [to_lanes(at, x) for x in given]
        else:
            kind, suffix, same = Type.FLOAT, "f64", [to_float(at, x) for x in given]
        arguments = ", ".join(f"{kind.llvm} {x.text}" for x in same)
        return at.value(kind, f"call {kind.llvm} @llvm.{name}.{suffix}({arguments})")

    return made


def to_lanes(at: Emitter, value: Value) -> Value:
    """A number in every lane."""
    if value.type is Type.LANES:
        return value
    lanes, number = Type.LANES.llvm, to_float(at, value)
    one = at.value(Type.LANES, f"insertelement {lanes} poison, double {number.text}, i64 0")
    zeros = f"<{WIDTH} x i32> zeroinitializer"
    return at.value(Type.LANES, f"shufflevector {lanes} {one.text}, {lanes} poison, {zeros}")


def same(at: Emitter, a: Value, b: Value) -> tuple[Value, Value]:
    """Two numbers of one type."""
    if a.type is b.type:
        return a, b
    convert = to_lanes if Type.LANES in (a.type, b.type) else to_float
    return convert(at, a), convert(at, b)


def compare(at: Emitter, how: str, a: Value, b: Value) -> Value:
    """A comparison: ``lt``, ``le``, ``gt``, ``ge``, ``eq`` or ``ne``, false for NaN unless it is ``ne``."""
    a, b = same(at, a, b)
    if a.type is not Type.INT:
        found = Type.MASK if a.type is Type.LANES else Type.BOOL
        return at.value(found, f"fcmp {'u' if how == 'ne' else 'o'}{how} {a.type.llvm} {a.text}, {b.text}")
    sign = "" if how in ("eq", "ne") else "s"
    return at.value(Type.BOOL, f"icmp {sign}{how} {a.type.llvm} {a.text}, {b.text}")


def select(at: Emitter, condition: Value, a: Value, b: Value) -> Value:
    """a where the condition holds, else b."""
    a, b = same(at, a, b)
    t = a.type.llvm
    return at.value(a.type, f"select {condition.type.llvm} {condition.text}, {t} {a.text}, {t} {b.text}")


def _least(how: str) -> Made:
    def made(at: Emitter, given: list[Value]) -> Value:
        best = given[0]
        for other in given[1:]:  # as Python does: a later one has to be better, which NaN is not
            best = select(at, compare(at, how, other, best), other, best)
        return best

    return made


def _abs(at: Emitter, given: list[Value]) -> Value:
    (x,) = given
    if x.type is Type.INT:
        return at.value(Type.INT, f"call i64 @llvm.abs.i64(i64 {x.text}, i1 false)")
    return intrinsic("fabs")(at, given)


def _isfinite(at: Emitter, given: list[Value]) -> Value:
    size = intrinsic("fabs")(at, given)
    return compare(at, "lt", size, constant(math.inf))


BUILTINS: dict[Any, tuple[int, int, Made]] = {
    **{function: (1, 1, intrinsic(name)) for function, name in ONE_FLOAT.items()},
    **{function: (2, 2, intrinsic(name)) for function, name in TWO_FLOATS.items()},
    abs: (1, 1, _abs),
    min: (2, 99, _least("lt")),
    max: (2, 99, _least("gt")),
    float: (1, 1, lambda at, given: to_float(at, given[0])),
    int: (1, 1, lambda at, given: to_int(at, given[0])),
    math.isfinite: (1, 1, _isfinite),
}
"""How many arguments each takes, at least and at most, and what it becomes."""

DECLARATIONS = ["declare i64 @llvm.abs.i64(i64, i1)"] + [
    f"declare {kind.llvm} @llvm.{name}.{suffix}({', '.join([kind.llvm] * number)})"
    for kind, suffix in ((Type.FLOAT, "f64"), (Type.LANES, f"v{WIDTH}f64"))
    for names, number in ((ONE_FLOAT, 1), (TWO_FLOATS, 2))
    for name in names.values()
]

__all__ = [
    "BUILTINS",
    "DECLARATIONS",
    "Made",
    "compare",
    "intrinsic",
    "same",
    "select",
    "to_float",
    "to_int",
    "to_lanes",
]
