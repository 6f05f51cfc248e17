"""Functions of numbers, as LLVM IR."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rbdae.machine.language.body import Body
from rbdae.machine.language.kinds import FLOAT, INT, LANES, WIDTH, Number, Value, constant


class Mathematical(NamedTuple):
    """How a function of numbers is written, f(at, *numbers), and how many it takes."""

    written: Callable[..., Value]
    least: int = 1
    most: int = 1


def _intrinsic(name: str) -> Callable[..., Value]:
    """A function of LLVM, which vector registers have, too."""

    def written(at: Body, *arguments: Value) -> Value:
        kind, arguments_alike = at.widened(*arguments, least=FLOAT)
        suffix = f"v{WIDTH}f64" if kind is LANES else "f64"
        given = ", ".join(f"{kind.llvm} {x.text}" for x in arguments_alike)
        return at.value(kind, f"call {kind.llvm} @llvm.{name}.{suffix}({given})")

    return written


power = _intrinsic("pow")
"""x to the power of p."""


def _best(how: str) -> Callable[..., Value]:
    def written(at: Body, best: Value, *others: Value) -> Value:
        for other in others:  # as Python does: a later one has to be better, which NaN is not
            best = at.chosen(at.compared(how, other, best), other, best)
        return best

    return written


def _abs(at: Body, x: Value) -> Value:
    if x.kind in (FLOAT, LANES):
        return _intrinsic("fabs")(at, x)
    return at.value(INT, f"call i64 @llvm.abs.i64(i64 {at.converted(x, INT).text}, i1 false)")


_INTRINSICS = {"sqrt": 1, "fabs": 1, "sin": 1, "cos": 1, "exp": 1, "log": 1, "copysign": 2, "floor": 1, "pow": 2}
"""Names, and how many arguments they have."""

FUNCTIONS: dict[Any, Mathematical] = {
    **{getattr(math, name): Mathematical(_intrinsic(name), n, n) for name, n in _INTRINSICS.items() if name != "floor"},
    builtins.abs: Mathematical(_abs),
    builtins.min: Mathematical(_best("lt"), 2, 99),
    builtins.max: Mathematical(_best("gt"), 2, 99),
    builtins.float: Mathematical(lambda at, x: at.converted(x, FLOAT)),
    builtins.int: Mathematical(lambda at, x: at.converted(x, INT)),
    np.floor: Mathematical(_intrinsic("floor")),
    math.isfinite: Mathematical(lambda at, x: at.compared("lt", _abs(at, x), constant(math.inf))),
}
"""By the function of Python."""


def _declared(kind: Number, name: str, n: int) -> str:
    return f"declare {kind.llvm} @{name}({', '.join([kind.llvm] * n)})"


DECLARATIONS = "\n".join(
    [
        "declare i64 @llvm.abs.i64(i64, i1)",
        *(_declared(FLOAT, f"llvm.{name}.f64", n) for name, n in _INTRINSICS.items()),
        *(_declared(LANES, f"llvm.{name}.v{WIDTH}f64", n) for name, n in _INTRINSICS.items()),
    ]
)
