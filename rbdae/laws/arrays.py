"""`Numbers`: arrays of `Number`, with NumPy's functions, tables and splines (with segments found by bisection)."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.graph import FUNCTIONS
from rbdae.laws.numbers import OF_TWO, NotRecorded, Number, Truth, choice


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
    """Arrays, and single numbers, as NumPy's own arrays."""
    if isinstance(value, (list, tuple)):
        return type(value)(bare(each) if isinstance(each, (Numbers, list, tuple)) else each for each in value)
    return np.asarray(value, dtype=object) if type(value) in (Numbers, Number, Truth) else value


def again(value: Any) -> Any:
    """Arrays of objects as `Numbers`; a single object unchanged."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value.view(Numbers) if value.shape else value[()]
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


def _extreme(loses: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function of (x, y): y where x loses, else x; NaN if either is NaN."""
    return lambda x, y: choice(y != y, y, choice(loses(x, y), y, x))


def _with_sign(x: Any, y: Any) -> Any:
    """|x| with the sign of y; at zero the law is called, because a graph has one zero only."""
    if isinstance(y, Number):
        graph = y.tape.graph
        y.tape.require(graph.negation(graph.condition("==", y.node, graph.const(0.0))))
    below: Any = y if isinstance(y, Number) else math.copysign(1.0, y)
    return choice(below < 0.0, -abs(x), abs(x))


def _inverse(x: Any) -> Any:
    """The opposite of a comparison."""
    if not isinstance(x, Truth):
        raise TypeError("~ is for comparisons")
    return x.tape.truth_of(x.tape.graph.negation(x.node))


ONE: dict[str, Callable[[Any], Any]] = {
    **{name: _of_one(name) for name in (*FUNCTIONS, "negative")},
    **dict.fromkeys(("absolute", "fabs"), _of_one("abs")),
    **dict.fromkeys(("positive", "conjugate"), lambda x: x),
    **dict.fromkeys(("deg2rad", "radians"), lambda x: x * (math.pi / 180.0)),
    **dict.fromkeys(("rad2deg", "degrees"), lambda x: x * (180.0 / math.pi)),
    "ceil": lambda x: -ONE["floor"](-x),
    "trunc": lambda x: choice(x < 0.0, -ONE["floor"](-x), ONE["floor"](x)),
    "square": lambda x: x * x,
    "reciprocal": lambda x: TWO["divide"](1.0, x),
    "sign": lambda x: choice(x > 0.0, 1.0, choice(x < 0.0, -1.0, choice(x == 0.0, 0.0, x))),
    "exp2": lambda x: TWO["power"](2.0, x),
    "log2": lambda x: ONE["log"](x) / math.log(2.0),
    "log10": lambda x: ONE["log"](x) / math.log(10.0),
    "cbrt": lambda x: choice(x < 0.0, -TWO["power"](-x, 1.0 / 3.0), TWO["power"](x, 1.0 / 3.0)),
    "isnan": lambda x: x != x,
    "isfinite": lambda x: abs(x) < math.inf,
    "isinf": lambda x: abs(x) == math.inf,
    "logical_not": lambda x: _inverse(x) if isinstance(x, Truth) else not x,
    "invert": _inverse,
}
"""Functions by NumPy's names."""

TWO: dict[str, Callable[[Any, Any], Any]] = {
    **OF_TWO,
    "divmod": lambda x, y: (TWO["floor_divide"](x, y), TWO["remainder"](x, y)),
    "float_power": OF_TWO["power"],
    "hypot": lambda x, y: ONE["sqrt"](x * x + y * y),
    "maximum": _extreme(operator.lt),
    "minimum": _extreme(operator.gt),
    "fmax": lambda x, y: choice(x >= y, x, choice(y != y, x, y)),
    "fmin": lambda x, y: choice(x <= y, x, choice(y != y, x, y)),
    "heaviside": lambda x, y: choice(x > 0.0, 1.0, choice(x < 0.0, 0.0, choice(x == 0.0, y, x))),
    "copysign": _with_sign,
    "logical_and": lambda x, y: x & y if isinstance(x, Truth) else (y if x else x),
    "logical_or": lambda x, y: x | y if isinstance(x, Truth) else (x if x else y),
}

_OF_VECTORS = frozenset({"matmul", "vecdot", "matvec", "vecmat"})
"""Functions that NumPy has for arrays of objects, by Python's operators."""


def refuse(value: Any, why: str) -> Any:
    """End the run of a law on a number or an array."""
    number = number_among([value])
    if number is not None:
        number.tape.refuse(why)
    raise NotRecorded(why)


def _of_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """One of NumPy's functions of numbers, element by element."""
    name, out = ufunc.__name__, options.pop("out", None)
    ours = (ONE if len(inputs) == 1 else TWO).get(name)
    called = method == "__call__" and options.pop("where", True) is True
    if called and ours is not None:
        result = each(ours, inputs) if any(isinstance(x, (np.ndarray, list, tuple)) for x in inputs) else ours(*inputs)
    elif called and name in _OF_VECTORS:
        result = ufunc(*map(_objects, inputs))
    elif method == "reduce" and name in ("add", "multiply", "maximum", "minimum"):
        result = ufunc.reduce(_objects(inputs[0]), *inputs[1:], **options)
    else:
        refuse(self, f"it calls numpy.{name}{'' if method == '__call__' else '.' + method}")
    if out is not None and not isinstance(out[0], Number):  # `+=` changes arrays, but makes new numbers
        (target,) = out
        bare(target)[...] = result
        return target
    return again(result)


def _objects(value: Any) -> Any:
    """An array of numbers of laws and Python's numbers; NumPy's would call these functions again."""
    out = np.array(value, dtype=object)
    for place, element in enumerate(out.flat):
        if isinstance(element, np.generic):
            out.flat[place] = element.item()
    return out


def each(apply: Callable[..., Any], given: Sequence[Any]) -> Any:
    """Apply a function element by element."""
    return np.frompyfunc(apply, len(given), 1)(*map(_objects, given))


# ---------------------------------------------------------------- functions of arrays


def where(condition: Any, one: Any, other: Any) -> Any:
    """`numpy.where` with three arguments."""
    return again(each(choice, [condition, one, other]))


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
    factors = _objects(a), _objects(b)
    in_space = not options and all(x.shape[-1:] == (3,) for x in factors)
    if number_among([a, b]) is None or not in_space:
        return np.cross(bare(a), bare(b), **options)
    return again(cross(*factors))


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


Number.__array_ufunc__ = _of_ufunc
Number.__array_function__ = _of_function


def _polynomial(x: Any, places: Any, rows: Any) -> Any:
    """The polynomial of x's segment between rising places at its distance from their first; rows of coefficients by
    segments, the highest power first."""

    def chosen(values: Any, first: int = 0, last: int = len(places) - 1) -> Any:
        if last - first == 1:
            return float(values[first])
        middle = (first + last) // 2
        return choice(x < places[middle], chosen(values, first, middle), chosen(values, middle, last))

    s: Any = x - chosen(places)
    value: Any = 0.0
    for row in rows:
        value = value * s + chosen(row)
    return value


def interp(x: Any, xp: Any, fp: Any, *others: Any, **options: Any) -> Any:
    """`numpy.interp` in a table of known numbers, constant beyond its ends."""
    places, values = np.asarray(xp, dtype=float), np.asarray(fp, dtype=float)
    if others or options or len(places) < 2:
        refuse(x, "it calls numpy.interp with one place, left=, right= or period=")
    slopes = np.diff(values) / np.diff(places)

    def one(s: Any) -> Any:
        if not isinstance(s, Number):
            return float(np.interp(s, places, values))
        inside = _polynomial(s, places, (slopes, values))
        out = choice(s < places[0], values[0], choice(s >= places[-1], values[-1], inside))
        return choice(s == s, out, s) if slopes[-1] == 0.0 else out

    return again(each(one, [x]))


def piecewise(spline: Any) -> Callable[..., Any]:
    """A scipy spline as a function of a symbol: its coefficients are selected, and one polynomial is evaluated."""

    def call(x: Any, *others: Any, **options: Any) -> Any:
        if not isinstance(x, Number):
            return spline(x, *others, **options)
        from scipy.interpolate import PPoly

        polynomial = spline if isinstance(spline, PPoly) else PPoly.from_spline(spline)
        polynomial = polynomial.derivative(int(others[0] if others else options.get("nu", 0)))
        if polynomial.extrapolate is not True and polynomial.extrapolate != 1:
            x.tape.refuse(f"it calls a spline with extrapolate={spline.extrapolate!r}")
        columns = np.moveaxis(polynomial.c.reshape(*polynomial.c.shape[:2], -1), 2, 0)
        out = [_polynomial(x, polynomial.x, rows) for rows in columns]
        return out[0] if polynomial.c.ndim == 2 else numbers(out).reshape(polynomial.c.shape[2:])

    return call


OF_ARRAYS: dict[str, Callable[..., Any]] = {
    "where": where, "clip": clip, "select": select, "cross": vector_product, "interp": interp
}  # fmt: skip
