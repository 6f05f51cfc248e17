"""Functions of numbers in kernels, as LLVM IR."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rbdae.machine.language.body import Body
from rbdae.machine.language.kinds import FLOAT, INT, Value

Written = Callable[[Body, list[Value]], Value]


def _called(name: str) -> Written:
    """A function of LLVM or of the C library."""

    def written(at: Body, arguments: list[Value]) -> Value:
        given = ", ".join(f"double {at.converted(x, FLOAT).text}" for x in arguments)
        return Value(FLOAT, (at.register(f"call double @{name}({given})"),))

    return written


def power(at: Body, arguments: list[Value]) -> Value:
    """a ** b."""
    return _called("llvm.pow.f64")(at, arguments)


def _least(how: str) -> Written:
    def written(at: Body, arguments: list[Value]) -> Value:
        best = arguments[0]
        for other in arguments[1:]:  # as Python does: a later one has to be better, which NaN is not
            best = at.chosen(at.compared(how, other, best), other, best)
        return best

    return written


def _abs(at: Body, arguments: list[Value]) -> Value:
    (x,) = arguments
    if x.kind is FLOAT:
        return _called("llvm.fabs.f64")(at, arguments)
    return Value(INT, (at.register(f"call i64 @llvm.abs.i64(i64 {at.converted(x, INT).text}, i1 false)"),))


def _is_nan(at: Body, arguments: list[Value]) -> Value:
    (x,) = arguments
    return at.compared("ne", x, x)


def _as_index(at: Body, arguments: list[Value]) -> Value:
    """An index is a whole number that is not negative, which the translation takes for granted."""
    return at.converted(arguments[0], INT)


FUNCTIONS: dict[Any, Written] = {
    builtins.abs: _abs,
    builtins.min: _least("lt"),
    builtins.max: _least("gt"),
    builtins.float: lambda at, arguments: at.converted(arguments[0], FLOAT),
    builtins.int: _as_index,
    builtins.bool: lambda at, arguments: at.truth(arguments[0]),
    np.uint64: _as_index,
    np.isnan: _is_nan,
    math.isnan: _is_nan,
    **{
        function: _called(f"llvm.{name}.f64")
        for function, name in (
            (math.sqrt, "sqrt"),
            (math.fabs, "fabs"),
            (math.sin, "sin"),
            (math.cos, "cos"),
            (math.exp, "exp"),
            (math.log, "log"),
            (math.copysign, "copysign"),
            (np.floor, "floor"),
        )
    },
    **{getattr(math, name): _called(name) for name in ("asin", "acos", "atan", "atan2", "tan")},
}
"""By the function of Python."""

_TWO = ("llvm.copysign.f64", "llvm.pow.f64", "atan2")
_NAMES = [f"llvm.{name}.f64" for name in ("sqrt", "fabs", "sin", "cos", "exp", "log", "copysign", "floor", "pow")]

DECLARATIONS = "\n".join(
    [
        "declare i64 @llvm.abs.i64(i64, i1)",
        *(
            f"declare double @{name}({', '.join(['double'] * (2 if name in _TWO else 1))})"
            for name in (*_NAMES, "asin", "acos", "atan", "atan2", "tan")
        ),
    ]
)

__all__ = ["DECLARATIONS", "FUNCTIONS", "Written", "power"]
