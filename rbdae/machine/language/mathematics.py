"""Functions of numbers, as LLVM IR."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rbdae.machine.language.body import Body
from rbdae.machine.language.calls import Callee
from rbdae.machine.language.kinds import FLOAT, INT, LANES, WIDTH, Number, Refused, Value, constant

Written = Callable[..., Value]
"""f(at, *numbers)."""


def _of_numbers(written: Written, least: int = 1, most: int = 1) -> Callee:
    """A function of numbers, with this many arguments."""

    def call(at: Body, arguments: list[Value]) -> Value:
        if not least <= len(arguments) <= most:
            raise Refused(f"does not take {len(arguments)} arguments")
        for x in arguments:
            if not isinstance(x.kind, Number):
                raise Refused(f"takes numbers, and here {x.kind.name}")
        return written(at, *arguments)

    return call


def _intrinsic(name: str) -> Written:
    """A function of LLVM, which vector registers have, too."""

    def written(at: Body, *arguments: Value) -> Value:
        kind, arguments_alike = at.widened(*arguments, least=FLOAT)
        suffix = f"v{WIDTH}f64" if kind is LANES else "f64"
        given = ", ".join(f"{kind.llvm} {x.text}" for x in arguments_alike)
        return at.value(kind, f"call {kind.llvm} @llvm.{name}.{suffix}({given})")

    return written


def _library(name: str) -> Written:
    """A function of the C library."""

    def written(at: Body, *arguments: Value) -> Value:
        given = ", ".join(f"double {at.converted(x, FLOAT).text}" for x in arguments)
        return at.value(FLOAT, f"call double @{name}({given})")

    return written


power = _intrinsic("pow")
"""x to the power of p."""


def _least(how: str) -> Written:
    def written(at: Body, best: Value, *others: Value) -> Value:
        for other in others:  # as Python does: a later one has to be better, which NaN is not
            best = at.chosen(at.compared(how, other, best), other, best)
        return best

    return written


def _abs(at: Body, x: Value) -> Value:
    if x.kind in (FLOAT, LANES):
        return _intrinsic("fabs")(at, x)
    return at.value(INT, f"call i64 @llvm.abs.i64(i64 {at.converted(x, INT).text}, i1 false)")


def _is_finite(at: Body, x: Value) -> Value:
    return at.compared("lt", _abs(at, x), constant(math.inf))


def _is_nan(at: Body, x: Value) -> Value:
    return at.compared("ne", x, x)


def _as_int(at: Body, x: Value) -> Value:
    """Without its fraction. An unsigned index is a whole number that is not negative, which is taken for granted."""
    return at.converted(x, INT)


def _as_float(at: Body, x: Value) -> Value:
    return at.converted(x, FLOAT)


_INTRINSICS = {"sqrt": 1, "fabs": 1, "sin": 1, "cos": 1, "exp": 1, "log": 1, "copysign": 2, "floor": 1, "pow": 2}
_OF_LIBRARY = {"asin": 1, "acos": 1, "atan": 1, "atan2": 2, "tan": 1}
"""Names, and how many arguments they have."""


def _written(name: str) -> Written:
    """A function of the module `math`, for doubles; LLVM's for vector registers, too."""
    return _intrinsic(name) if name in _INTRINSICS else _library(name)


FUNCTIONS: dict[Any, Callee] = {
    **{
        getattr(math, name): _of_numbers(_written(name), n, n)
        for name, n in (_INTRINSICS | _OF_LIBRARY).items()
        if name != "floor"
    },
    builtins.abs: _of_numbers(_abs),
    builtins.min: _of_numbers(_least("lt"), 2, 99),
    builtins.max: _of_numbers(_least("gt"), 2, 99),
    builtins.float: _of_numbers(_as_float),
    builtins.int: _of_numbers(_as_int),
    builtins.bool: _of_numbers(lambda at, x: at.truth(x)),
    np.uint64: _of_numbers(_as_int),
    np.isnan: _of_numbers(_is_nan),
    np.floor: _of_numbers(_written("floor")),
    math.isnan: _of_numbers(_is_nan),
    math.isfinite: _of_numbers(_is_finite),
}
"""By the function of Python."""


def _declared(kind: Number, name: str, n: int) -> str:
    return f"declare {kind.llvm} @{name}({', '.join([kind.llvm] * n)})"


DECLARATIONS = "\n".join(
    [
        "declare i64 @llvm.abs.i64(i64, i1)",
        *(_declared(FLOAT, f"llvm.{name}.f64", n) for name, n in _INTRINSICS.items()),
        *(_declared(FLOAT, name, n) for name, n in _OF_LIBRARY.items()),
    ]
)
LANES_DECLARATIONS = "\n".join(_declared(LANES, f"llvm.{name}.v{WIDTH}f64", n) for name, n in _INTRINSICS.items())
"""The same of vector registers."""
