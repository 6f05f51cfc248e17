"""`Numbers`: arrays of `Number`, with NumPy's functions, tables and splines (with segments found by bisection)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.graph import FUNCTIONS, OF_TWO
from rbdae.laws.numbers import NotRecorded, Number, Truth, choice, value_of


@final
class Numbers(np.ndarray[Any, Any]):
    """An array of `Number` and floats."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return _of_ufunc(self, ufunc, method, *inputs, **options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return _of_function(self, function, types, arguments, options)


def numbers(values: Any) -> Numbers:
    """Values of any shape as an array of objects."""
    return np.array(values, dtype=object).view(Numbers)


def bare(value: Any) -> Any:
    """Arrays as NumPy's own, numbers unchanged."""
    if isinstance(value, Numbers):
        return value.view(np.ndarray)
    if isinstance(value, Number):
        out = np.empty((), dtype=object)
        out[()] = value
        return out
    if isinstance(value, (list, tuple)):
        return type(value)(bare(each) if isinstance(each, (Numbers, list, tuple)) else each for each in value)
    return value


def again(value: Any) -> Any:
    """Arrays of objects as `Numbers`; a single object unchanged."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value.view(Numbers) if value.shape else value[()]
    if isinstance(value, tuple):
        return tuple(map(again, value))
    return value


def number_among(values: Any) -> Number | None:
    """The first number of a law among values."""
    for each in values:
        number = number_among(each) if isinstance(each, (list, tuple, Numbers)) else each
        if isinstance(number, Number):
            return number
    return None


# ---------------------------------------------------------------- functions of numbers


def _of_one(name: str) -> Callable[[Any], Any]:
    return lambda x: x.function(name) if isinstance(x, Number) else getattr(np, name)(x)


def _of_two(name: str) -> Callable[[Any, Any], Any]:
    plain = getattr(np, name)

    def apply(x: Any, y: Any) -> Any:
        symbol = x if isinstance(x, Number) else y
        if not isinstance(symbol, Number):
            return plain(x, y)
        tape = symbol.tape
        value = plain(value_of(x), value_of(y)) if tape.live else None
        return tape.result(tape.graph.of_two(name, tape.node(x), tape.node(y)), value)

    return apply


def sign(x: Any) -> Any:
    """-1, 0, 1, or NaN."""
    return choice(x > 0.0, 1.0, choice(x < 0.0, -1.0, choice(x == 0.0, 0.0, x)))


def _third(x: Any) -> Any:
    return _of_two("power")(x, 1.0 / 3.0)


def _extreme(wins: Callable[[Any, Any], Any], loses: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function of (x, y) that returns the winner, or NaN if either is NaN."""

    def call(x: Any, y: Any) -> Any:
        if not isinstance(y, Number):
            return choice(loses(x, y), y, x) if y == y else y
        if not isinstance(x, Number):
            return choice(wins(x, y), x, y) if x == x else x
        return choice(wins(x, y), x, choice(loses(x, y), y, operator.add(x, y)))

    return call


def _with_sign(x: Any, y: Any) -> Any:
    """|x| with the sign of y; at zero the law is called, because a graph has one zero only."""
    below: Any = y
    if not isinstance(y, Number):
        return math.copysign(1.0, y) * abs(x)
    if not y.tape.live:
        graph = y.tape.graph
        y.tape.require(graph.negation(graph.condition("==", y.node, graph.const(0.0))))
    return choice(below < 0.0, -abs(x), abs(x))


ONE: dict[str, Callable[[Any], Any]] = {
    **{name: _of_one(name) for name in FUNCTIONS if name != "abs"},
    "absolute": abs,
    "fabs": abs,
    "ceil": lambda x: -ONE["floor"](-x),
    "trunc": lambda x: choice(x < 0.0, -ONE["floor"](-x), ONE["floor"](x)),
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "sign": sign,
    "exp2": lambda x: TWO["power"](2.0, x),
    "log2": lambda x: ONE["log"](x) / math.log(2.0),
    "log10": lambda x: ONE["log"](x) / math.log(10.0),
    "cbrt": lambda x: choice(x < 0.0, -_third(-x), _third(x)),
    "deg2rad": lambda x: x * (math.pi / 180.0),
    "radians": lambda x: x * (math.pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / math.pi),
    "degrees": lambda x: x * (180.0 / math.pi),
    "conjugate": lambda x: x,
    "isnan": lambda x: x != x,
    "isfinite": lambda x: abs(x) < math.inf,
    "isinf": lambda x: abs(x) == math.inf,
    "logical_not": lambda x: ~x if isinstance(x, Truth) else not x,
    "invert": lambda x: ~x,
}
"""Functions by NumPy's names."""

TWO: dict[str, Callable[[Any, Any], Any]] = {
    **{name: _of_two(name) for name in OF_TWO},
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "power": lambda x, y: x**y,
    "float_power": lambda x, y: x**y,
    "hypot": lambda x, y: ONE["sqrt"](x * x + y * y),
    "maximum": _extreme(operator.ge, operator.lt),
    "minimum": _extreme(operator.le, operator.gt),
    "fmax": lambda x, y: choice(x >= y, x, choice(y != y, x, y)),
    "fmin": lambda x, y: choice(x <= y, x, choice(y != y, x, y)),
    "heaviside": lambda x, y: choice(x > 0.0, 1.0, choice(x < 0.0, 0.0, choice(x == 0.0, y, x))),
    "copysign": _with_sign,
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
    "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y,
    "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y,
    "logical_and": lambda x, y: x & y if isinstance(x, Truth) else (y if x else x),
    "logical_or": lambda x, y: x | y if isinstance(x, Truth) else (x if x else y),
    "bitwise_and": lambda x, y: x & y,
    "bitwise_or": lambda x, y: x | y,
}

_LINEAR = frozenset({"matmul", "vecdot", "matvec", "vecmat"})
_PLAIN = frozenset({"add", "subtract", "multiply", "negative"})
"""Functions that equal Python's operators for symbols."""


def refuse(value: Any, why: str) -> Any:
    """End the run of a law on a number or an array."""
    number = number_among([value])
    if number is not None:
        number.tape.refuse(why)
    raise NotRecorded(why)


def _of_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """One of NumPy's functions of numbers, element by element."""
    name = ufunc.__name__
    if name == "divmod":
        return np.floor_divide(*inputs), np.remainder(*inputs)
    out = options.pop("out", None)
    operands = [bare(value) for value in inputs]
    options.pop("dtype", None)
    if options.pop("where", True) is not True:
        refuse(self, f"it calls numpy.{name} with where=")
    if method == "__call__" and (name in _LINEAR or (name in _PLAIN and _are_symbols(operands))):
        result = ufunc(*(np.asarray(value, dtype=object) for value in operands))
    elif method == "__call__" and name in (ONE if len(operands) == 1 else TWO):
        result = each((ONE if len(operands) == 1 else TWO)[name], operands, ufunc)
    elif method == "reduce" and name in ("add", "multiply", "maximum", "minimum"):
        result = ufunc.reduce(*operands, **options)
    else:
        refuse(self, f"it calls numpy.{name}{'' if method == '__call__' else '.' + method}")
    if out is not None:
        (target,) = out
        bare(target)[...] = result
        return target
    return again(result)


def _are_symbols(given: Sequence[Any]) -> bool:
    """Whether all are symbols or Python's numbers; NumPy's would call this function again."""
    values = [x for value in given for x in np.ravel(np.asarray(value, dtype=object)).tolist()]
    return all(type(x) is float or (type(x) is Number and not x.tape.live) or type(x) is int for x in values)


def each(apply: Callable[..., Any], given: Sequence[Any], exact: Callable[..., Any] | None = None) -> Any:
    """Apply a function element by element; `exact` computes the values of numbers with values."""
    arrays = np.broadcast_arrays(*(np.asarray(value, dtype=object) for value in given))
    out = np.empty(arrays[0].shape, dtype=object)
    for place in np.ndindex(out.shape):
        elements = [_one(array[place]) for array in arrays]
        live = exact is not None and any(isinstance(x, Number) and x.tape.live for x in elements)
        if live:  # NumPy's functions raise no exceptions
            elements = [Number(x.tape, x.node, np.float64(x.value)) if isinstance(x, Number) else x for x in elements]
        result = apply(*elements)
        if live and exact is not None:
            value = exact(*map(value_of, elements))
            result = Number(result.tape, result.node, value) if isinstance(result, Number) else value
        out[place] = result
    return out


def _one(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value  # NumPy's floats would call this function again


# ---------------------------------------------------------------- functions of arrays


def where(condition: Any, one: Any, other: Any) -> Any:
    """`numpy.where` with three arguments."""
    return again(each(choice, [bare(condition), bare(one), bare(other)]))


def clip(a: Any, a_min: Any = None, a_max: Any = None, **options: Any) -> Any:
    low, high = options.get("min", a_min), options.get("max", a_max)
    out = a if low is None else np.maximum(a, low)
    return out if high is None else np.minimum(out, high)


def select(conditions: Any, choices: Any, default: Any = 0) -> Any:
    out = default
    for condition, value in zip(reversed(conditions), reversed(choices), strict=True):
        out = where(condition, value, out)
    return out


def vector_product(a: Any, b: Any, **options: Any) -> Any:
    """`numpy.cross`; our own for vectors in space, since NumPy 1 converts constants among numbers of laws to floats."""
    if number_among([a, b]) is None:
        return np.cross(bare(a), bare(b), **options)
    factors: list[Any] = [np.asarray(bare(x), dtype=object) for x in (a, b)]
    in_space = not options and all(x.shape[-1:] == (3,) for x in factors)
    return again(cross(*factors) if in_space else np.cross(*factors, **options))


ON_OBJECTS = frozenset({
    "amax", "amin", "atleast_1d", "atleast_2d", "broadcast_to", "column_stack", "concatenate", "copy", "cumsum", "diag",
    "diff", "dot", "einsum", "expand_dims", "flip", "full_like", "hstack", "inner", "max", "mean", "min", "moveaxis",
    "ndim", "norm", "ones_like", "outer", "polyval", "prod", "ravel", "repeat", "reshape", "roll", "shape", "size",
    "squeeze", "stack", "sum", "swapaxes", "tensordot", "tile", "trace", "transpose", "vdot", "vstack", "zeros_like",
})  # fmt: skip
"""Functions that NumPy also has for arrays of objects."""


def _of_function(self: Any, function: Any, types: Any, arguments: Sequence[Any], options: dict[str, Any]) -> Any:
    """One of NumPy's functions of arrays."""
    ours = OF_ARRAYS.get(function.__name__)
    if ours is not None:
        return ours(*arguments, **options)
    if function.__name__ not in ON_OBJECTS:
        refuse(self, f"it calls {(function.__module__ or 'numpy')}.{function.__name__}")
    return again(function(*(bare(value) for value in arguments), **{k: bare(v) for k, v in options.items()}))


Number.__array_ufunc__ = _of_ufunc  # type: ignore[attr-defined]
Number.__array_function__ = _of_function  # type: ignore[attr-defined]


def _of_segment(x: Any, places: Any, of: Callable[[int], Any]) -> Any:
    """`of(k)` for the segment k of x between increasing places."""

    def among(first: int, last: int) -> Any:
        if last - first == 1:
            return of(first)
        middle = (first + last) // 2
        return choice(x < places[middle], among(first, middle), among(middle, last))

    return among(0, len(places) - 1)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """`numpy.interp` in a table of known numbers."""
    if period is not None:
        refuse(x, "it calls numpy.interp with period=")
    places, values = np.asarray(xp, dtype=float), np.asarray(fp, dtype=float)
    slopes = np.diff(values) / np.diff(places)

    def segment(s: Any) -> Any:
        return _of_segment(s, places, lambda k: slopes[k] * (s - places[k]) + values[k])

    def one(s: Any) -> Any:
        if not isinstance(s, Number):
            return float(np.interp(s, places, values, left, right))
        inside = segment(s) if len(places) > 1 else values[0]
        beyond = values[-1] if right is None else right
        above = choice(s >= places[-1], choice(s > places[-1], beyond, values[-1]), inside)
        out = choice(s < places[0], values[0] if left is None else left, above)
        return choice(s == s, out, s) if len(places) < 2 or slopes[-1] == 0.0 else out

    return again(each(one, [bare(x)]))


def piecewise(spline: Any) -> Callable[..., Any]:
    """A scipy spline as a function of a symbol: its coefficients are selected, and one polynomial is evaluated."""

    def call(x: Any, *others: Any, **options: Any) -> Any:
        if not isinstance(x, Number):
            return spline(x, *others, **options)
        from scipy.interpolate import PPoly

        polynomial = spline if isinstance(spline, PPoly) else PPoly.from_spline(spline)
        order = int(others[0] if others else options.get("nu", 0))
        for _ in range(order):
            polynomial = polynomial.derivative()
        if polynomial.extrapolate is not True and polynomial.extrapolate != 1:
            x.tape.refuse(f"it calls a spline with extrapolate={spline.extrapolate!r}")
        places, table = polynomial.x, polynomial.c.reshape(*polynomial.c.shape[:2], -1)

        def chosen(values: Any) -> Any:
            return _of_segment(x, places, lambda k: float(values[k]))

        s = x - chosen(places)
        out = []
        for column in range(table.shape[2]):
            value: Any = 0.0
            for row in table[:, :, column]:
                value = value * s + chosen(row)
            out.append(value)
        return out[0] if polynomial.c.ndim == 2 else numbers(out).reshape(polynomial.c.shape[2:])

    return call


OF_ARRAYS: dict[str, Callable[..., Any]] = {
    "where": where, "clip": clip, "select": select, "cross": vector_product, "interp": interp
}  # fmt: skip
