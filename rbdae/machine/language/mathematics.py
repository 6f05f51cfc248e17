"""Functions of numbers, as LLVM IR."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rbdae.machine.language.body import Body
from rbdae.machine.language.calls import Callee
from rbdae.machine.language.kinds import DUAL, FLOAT, INT, LANES, WIDTH, Number, Refused, Value, constant

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


_power = _intrinsic("pow")


def power(at: Body, x: Value, p: Value) -> Value:
    """x to the power of p."""
    if DUAL not in (x.kind, p.kind):
        return _power(at, x, p)
    base, exponent = at.converted(x, FLOAT), at.converted(p, FLOAT)
    out = _power(at, base, exponent)
    slope = at.arithmetic("*", exponent, _power(at, base, at.arithmetic("-", exponent, constant(1.0))))
    of_base = _of_change(at, at.converted(x, DUAL), out, slope)
    if p.kind is not DUAL:
        return of_base
    along = at.arithmetic("*", out, _intrinsic("log")(at, base))
    return at.arithmetic("+", of_base, _of_change(at, p, constant(0.0), along))


def _of_change(at: Body, x: Value, value: Value, slope: Value) -> Value:
    """A function of a dual number, from its value and its derivative."""
    return at.change(at.arithmetic("*", x, slope), at.converted(value, FLOAT))


def _smooth(written: Written, slope: Callable[[Body, Value, Value], Value]) -> Written:
    """A function of one number that has a derivative, `slope` of its argument and its value; for dual numbers, too."""

    def of_any(at: Body, x: Value) -> Value:
        if x.kind is not DUAL:
            return written(at, x)
        number = at.converted(x, FLOAT)
        value = written(at, number)
        return _of_change(at, x, value, slope(at, number, value))

    return of_any


def _one_plus(at: Body, x: Value, sign: str = "+") -> Value:
    """1 + x^2, or 1 - x^2."""
    return at.arithmetic(sign, constant(1.0), at.arithmetic("*", x, x))


def _minus(at: Body, x: Value) -> Value:
    return at.arithmetic("-", constant(-0.0), x)


def _reciprocal(at: Body, x: Value) -> Value:
    return at.arithmetic("/", constant(1.0), x)


_SLOPES: dict[str, Callable[[Body, Value, Value], Value]] = {
    "sqrt": lambda at, x, y: at.arithmetic("/", constant(0.5), y),
    "sin": lambda at, x, y: _intrinsic("cos")(at, x),
    "cos": lambda at, x, y: _minus(at, _intrinsic("sin")(at, x)),
    "exp": lambda at, x, y: y,
    "log": lambda at, x, y: _reciprocal(at, x),
    "fabs": lambda at, x, y: _intrinsic("copysign")(at, constant(1.0), x),
    "floor": lambda at, x, y: constant(0.0),
    "tan": lambda at, x, y: _one_plus(at, y),
    "asin": lambda at, x, y: _reciprocal(at, _intrinsic("sqrt")(at, _one_plus(at, x, "-"))),
    "acos": lambda at, x, y: _minus(at, _reciprocal(at, _intrinsic("sqrt")(at, _one_plus(at, x, "-")))),
    "atan": lambda at, x, y: _reciprocal(at, _one_plus(at, x)),
}
"""Derivatives of functions of one number, by the argument and the value."""


def _atan2(at: Body, y: Value, x: Value) -> Value:
    number = _library("atan2")
    if DUAL not in (y.kind, x.kind):
        return number(at, y, x)
    v, u = at.converted(y, FLOAT), at.converted(x, FLOAT)
    square = at.arithmetic("+", at.arithmetic("*", u, u), at.arithmetic("*", v, v))
    of_y = _of_change(at, at.converted(y, DUAL), number(at, v, u), at.arithmetic("/", u, square))
    of_x = _of_change(at, at.converted(x, DUAL), constant(0.0), at.arithmetic("/", _minus(at, v), square))
    return at.arithmetic("+", of_y, of_x)


def _copysign(at: Body, x: Value, like: Value) -> Value:
    sign = _intrinsic("copysign")
    if DUAL not in (x.kind, like.kind):
        return sign(at, x, like)
    side, own = (sign(at, constant(1.0), at.converted(number, FLOAT)) for number in (like, x))
    return at.arithmetic("*", x, at.arithmetic("*", side, own))


def _least(how: str) -> Written:
    def written(at: Body, best: Value, *others: Value) -> Value:
        for other in others:  # as Python does: a later one has to be better, which NaN is not
            best = at.chosen(at.compared(how, other, best), other, best)
        return best

    return written


def _abs(at: Body, x: Value) -> Value:
    if x.kind in (FLOAT, DUAL, LANES):
        return _smooth(_intrinsic("fabs"), _SLOPES["fabs"])(at, x)
    return at.value(INT, f"call i64 @llvm.abs.i64(i64 {at.converted(x, INT).text}, i1 false)")


def _is_finite(at: Body, x: Value) -> Value:
    return at.compared("lt", _abs(at, x), constant(math.inf))


def _is_nan(at: Body, x: Value) -> Value:
    return at.compared("ne", x, x)


def _as_int(at: Body, x: Value) -> Value:
    """Without its fraction. An unsigned index is a whole number that is not negative, which is taken for granted."""
    return at.converted(at.converted(x, FLOAT) if x.kind is DUAL else x, INT)


def _as_float(at: Body, x: Value) -> Value:
    return x if x.kind is DUAL else at.converted(x, FLOAT)


_INTRINSICS = {"sqrt": 1, "fabs": 1, "sin": 1, "cos": 1, "exp": 1, "log": 1, "copysign": 2, "floor": 1, "pow": 2}
_OF_LIBRARY = {"asin": 1, "acos": 1, "atan": 1, "atan2": 2, "tan": 1}
"""Names, and how many arguments they have."""


def _written(name: str) -> Written:
    """A function of the module `math`, for doubles, vector registers and dual numbers."""
    if name in _OF_TWO:
        return _OF_TWO[name]
    return _smooth(_intrinsic(name) if name in _INTRINSICS else _library(name), _SLOPES[name])


_OF_TWO: dict[str, Written] = {"copysign": _copysign, "pow": power, "atan2": _atan2}

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
