"""`Numbers`: arrays of `Number`, with NumPy's functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from rbdae.graph.graph import FUNCTIONS, OF_TWO
from rbdae.laws.numbers import NotRecorded, Number, Truth, choice


@final
class Numbers(np.ndarray[Any, Any]):
    """An array of `Number` and floats."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return of_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        return of_function(function, arguments, options)


def numbers(values: Any) -> Numbers:
    """Values of any shape, as an array of objects."""
    return np.array(values, dtype=object).view(Numbers)


def bare(value: Any) -> Any:
    """Arrays as NumPy's own, numbers as they are."""
    if isinstance(value, Numbers):
        return value.view(np.ndarray)
    if isinstance(value, (Number, Truth)):
        out = np.empty((), dtype=object)
        out[()] = value
        return out
    if isinstance(value, (list, tuple)):
        return type(value)(bare(each) if isinstance(each, (Numbers, list, tuple)) else each for each in value)
    return value


def again(value: Any) -> Any:
    """Arrays of objects as `Numbers`; a single one as itself."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value.view(Numbers) if value.shape else value[()]
    if isinstance(value, tuple):
        return tuple(map(again, value))
    return value


# ---------------------------------------------------------------- functions of numbers


def _of_one(name: str) -> Callable[[Any], Any]:
    known = FUNCTIONS[name]

    def apply(x: Any) -> Any:
        if isinstance(x, Number):
            return x.function(name)
        try:
            return known(float(x))
        except (ValueError, OverflowError):
            return math.nan

    return apply


def _of_two(name: str) -> Callable[[Any, Any], Any]:
    known = OF_TWO[name]

    def apply(x: Any, y: Any) -> Any:
        symbol = x if isinstance(x, Number) else y
        if isinstance(symbol, Number):
            tape = symbol.tape
            return tape.result(tape.graph.of_two(name, tape.node(x), tape.node(y)))
        return known(float(x), float(y))

    return apply


def sign(x: Any) -> Any:
    """-1, 0, 1."""
    return choice(x > 0.0, 1.0, choice(x < 0.0, -1.0, 0.0))


def _hypot(x: Any, y: Any) -> Any:
    return ONE["sqrt"](x * x + y * y)


def _whole(x: Any) -> Any:
    return x.__floor__() if isinstance(x, Number) else float(math.floor(x))


ONE: dict[str, Callable[[Any], Any]] = {
    **{name: _of_one(name) for name in FUNCTIONS if name not in ("abs", "floor")},
    "absolute": abs,
    "fabs": abs,
    "floor": _whole,
    "ceil": lambda x: -_whole(-x),
    "trunc": lambda x: choice(x < 0.0, -_whole(-x), _whole(x)),
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1.0 / x,
    "sign": sign,
    "exp2": lambda x: _of_two("power")(2.0, x),
    "log2": lambda x: ONE["log"](x) / math.log(2.0),
    "log10": lambda x: ONE["log"](x) / math.log(10.0),
    "cbrt": lambda x: sign(x) * _of_two("power")(abs(x), 1.0 / 3.0),
    "deg2rad": lambda x: x * (math.pi / 180.0),
    "radians": lambda x: x * (math.pi / 180.0),
    "rad2deg": lambda x: x * (180.0 / math.pi),
    "degrees": lambda x: x * (180.0 / math.pi),
    "conjugate": lambda x: x,
    "isnan": lambda x: x != x,
    "logical_not": lambda x: ~x if isinstance(x, Truth) else not x,
    "invert": lambda x: ~x,
}
"""By the names of NumPy's functions."""

TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "true_divide": lambda x, y: x / y,
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "fmod": lambda x, y: x - ONE["trunc"](x / y) * y,
    "power": lambda x, y: x**y,
    "float_power": lambda x, y: x**y,
    "arctan2": _of_two("arctan2"),
    "hypot": _hypot,
    "maximum": lambda x, y: choice(x >= y, x, y),
    "minimum": lambda x, y: choice(x <= y, x, y),
    "fmax": lambda x, y: choice(x >= y, x, y),
    "fmin": lambda x, y: choice(x <= y, x, y),
    "heaviside": lambda x, y: choice(x > 0.0, 1.0, choice(x < 0.0, 0.0, y)),
    "copysign": lambda x, y: choice(y < 0.0, -abs(x), abs(x)),
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


def of_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """One of NumPy's functions of numbers, element by element."""
    name = {"true_divide": "divide", "conj": "conjugate", "abs": "absolute", "bitwise_not": "invert"}.get(
        ufunc.__name__, ufunc.__name__
    )
    where, out = options.pop("where", True), options.pop("out", None)
    given = [bare(value) for value in inputs]
    options = {key: value for key, value in options.items() if key != "dtype"}
    if where is not True:
        raise NotRecorded(f"it calls numpy.{name} with where=")
    if method == "__call__" and name in _LINEAR:
        found = ufunc(*(np.asarray(value, dtype=object) for value in given))
    elif method == "__call__" and name in (ONE if len(given) == 1 else TWO):
        apply: Any = (ONE if len(given) == 1 else TWO)[name]
        found = each(apply, given)
    elif method == "reduce" and name in TWO:
        found = _reduced(TWO[name], given[0], options)
    elif method == "outer" and name in TWO:
        one, other = (np.asarray(value, dtype=object) for value in given)
        found = each(TWO[name], [one.reshape(one.shape + (1,) * other.ndim), other])
    else:
        raise NotRecorded(f"numpy.{name}{'' if method == '__call__' else '.' + method} has no derivative here")
    if out is not None:
        (target,) = out
        bare(target)[...] = found
        return target
    return again(found)


def each(apply: Callable[..., Any], given: Sequence[Any]) -> Any:
    """A function of numbers, element by element."""
    arrays = np.broadcast_arrays(*(np.asarray(value, dtype=object) for value in given))
    out = np.empty(arrays[0].shape, dtype=object)
    for place in np.ndindex(out.shape):
        out[place] = apply(*(_one(array[place]) for array in arrays))
    return out


def _one(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value  # NumPy's floats would ask here again


def _reduced(apply: Callable[..., Any], array: Any, options: dict[str, Any]) -> Any:
    axis, keepdims = options.get("axis", 0), options.get("keepdims", False)
    array = np.asarray(array, dtype=object)
    axes = tuple(range(array.ndim)) if axis is None else tuple(np.atleast_1d(axis) % max(array.ndim, 1))
    rest = [k for k in range(array.ndim) if k not in axes]
    rows = array.transpose(*rest, *axes).reshape(*(array.shape[k] for k in rest), -1)
    out = np.empty(rows.shape[:-1], dtype=object)
    for place in np.ndindex(out.shape):
        values = list(map(_one, rows[place]))
        initial = options.get("initial")
        total = values.pop(0) if initial is None or not isinstance(initial, (int, float)) else initial
        for value in values:
            total = apply(total, value)
        out[place] = total
    return np.expand_dims(out, axes) if keepdims else out


# ---------------------------------------------------------------- functions of arrays


def where(condition: Any, one: Any, other: Any) -> Any:
    """`numpy.where` with three arguments."""
    return again(each(choice, [bare(condition), bare(one), bare(other)]))


def clip(a: Any, a_min: Any = None, a_max: Any = None, **options: Any) -> Any:
    """`numpy.clip`."""
    low, high = options.get("min", a_min), options.get("max", a_max)
    out = a if low is None else np.maximum(a, low)
    return out if high is None else np.minimum(out, high)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`numpy.linalg.norm`: the Euclidean one."""
    if ord not in (None, 2, "fro") or (ord == 2 and np.ndim(x) > 1 and axis is None):
        raise NotRecorded(f"it calls numpy.linalg.norm with ord={ord!r}")
    return np.sqrt(np.sum(np.multiply(x, x), axis=axis, keepdims=keepdims))


def select(conditions: Any, choices: Any, default: Any = 0) -> Any:
    """`numpy.select`."""
    out = default
    for condition, value in zip(reversed(conditions), reversed(choices), strict=True):
        out = where(condition, value, out)
    return out


def _concrete(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise NotRecorded(f"it calls numpy.{name}")

    return refuse


OF_ARRAYS: dict[str, Callable[..., Any]] = {
    "where": where,
    "clip": clip,
    "norm": norm,
    "select": select,
    **{name: _concrete(f"linalg.{name}") for name in ("solve", "inv", "det", "pinv", "lstsq", "eigh", "eig", "svd")},
}


def of_function(function: Any, arguments: Sequence[Any], options: dict[str, Any]) -> Any:
    """One of NumPy's functions of arrays."""
    made = OF_ARRAYS.get(function.__name__)
    if made is not None:
        return made(*arguments, **options)
    return again(function(*(bare(value) for value in arguments), **{k: bare(v) for k, v in options.items()}))


def _ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    return of_ufunc(ufunc, method, inputs, options)


def _function(self: Any, function: Any, types: Any, arguments: Any, options: Any) -> Any:
    return of_function(function, arguments, options)


_kinds: tuple[Any, ...] = (Number, Truth)
for _kind in _kinds:  # how NumPy's functions come here from single ones
    _kind.__array_ufunc__ = _ufunc
    _kind.__array_function__ = _function


__all__ = ["ONE", "TWO", "Numbers", "again", "bare", "each", "numbers", "of_function", "of_ufunc"]
