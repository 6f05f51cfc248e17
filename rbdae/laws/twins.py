"""Functions of users with `math`, NumPy's makers of arrays and ``float`` replaced by what takes symbols."""

from __future__ import annotations

import builtins
import copy
import math
import sys
import types
from collections.abc import Callable
from functools import partial
from typing import Any, final

import numpy as np

from rbdae.laws.acting import Untouched, acts, untouched
from rbdae.laws.arrays import ONE, TWO, Numbers, numbers
from rbdae.laws.numbers import NotRecorded, Number, Truth, choice
from rbdae.laws.surroundings import LIBRARIES, call_of, names_of, of_a_library
from rbdae.laws.tables import piecewise

_MATH: dict[str, Callable[..., Any]] = {
    **{
        name: ONE[numpy]
        for name, numpy in {
            "sqrt": "sqrt", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos",
            "atan": "arctan", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log1p": "log1p", "log2": "log2",
            "log10": "log10", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh",
            "atanh": "arctanh", "fabs": "fabs", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "cbrt": "cbrt",
            "radians": "radians", "degrees": "degrees",
        }.items()
    },
    "atan2": TWO["arctan2"],
    "pow": TWO["power"],
    "fmod": TWO["fmod"],
    "copysign": TWO["copysign"],
    "hypot": lambda *x: ONE["sqrt"](sum(each * each for each in x)),
    "dist": lambda p, q: ONE["sqrt"](sum((a - b) * (a - b) for a, b in zip(p, q, strict=True))),
    "fsum": sum,
    "log": lambda x, base=math.e: ONE["log"](x) / (1.0 if base == math.e else math.log(base)),
    "isnan": lambda x: x != x,
    "isfinite": lambda x: True if isinstance(x, Number) else math.isfinite(x),
}  # fmt: skip
"""What takes symbols, by the names of `math`."""

_OUTSIDE: dict[str, Callable[[Any], Any]] = {
    "sqrt": lambda x: x < 0.0,
    **{name: lambda x: x <= 0.0 for name in ("log", "log2", "log10")},
    "log1p": lambda x: x <= -1.0,
    **{name: lambda x: abs(x) > 1.0 for name in ("asin", "acos")},
    "acosh": lambda x: x < 1.0,
    "atanh": lambda x: abs(x) >= 1.0,
}
"""Where functions of `math` raise an exception."""


def _known(arguments: Any) -> bool:
    """Whether there is no symbol among some arguments."""
    return all(
        _known(each) if isinstance(each, (list, tuple)) else not isinstance(each, (Number, Truth, Numbers))
        for each in arguments
    )


def _either(name: str) -> Callable[..., Any]:
    """A function of `math` for numbers that are known, the one for symbols for others."""
    known, symbolic, outside = getattr(math, name), _MATH[name], _OUTSIDE.get(name)

    def call(*arguments: Any, **options: Any) -> Any:
        if _known(arguments):
            return known(*arguments, **options)
        if outside is not None and outside(arguments[0]):
            raise ValueError("math domain error")
        return symbolic(*arguments, **options)

    return call


_OF_MATH = {getattr(math, name): _either(name) for name in _MATH if hasattr(math, name)}


@final
class _Module:
    """A module with some names replaced."""

    def __init__(self, module: Any, replaced: dict[str, Any]) -> None:
        self._module, self._replaced = module, replaced

    def __getattr__(self, name: str) -> Any:
        found = self._replaced.get(name)
        return getattr(self._module, name) if found is None else found


def _maker(make: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes an array of floats: one that takes symbols, too."""

    def made(*arguments: Any, **options: Any) -> Any:
        kind = options.pop("dtype", None)
        if kind not in (None, float, np.float64, object, "float", "float64"):
            return make(*arguments, dtype=kind, **options)
        return numbers(make(*arguments, **options))

    return made


def _array(value: Any, dtype: Any = None, **_: Any) -> Any:
    """`numpy.array` and `asarray`: of numbers that are known they are as they are."""
    bare = np.array(value, dtype=object)
    if any(isinstance(each, (Number, Truth)) for each in bare.ravel()):
        return numbers(bare)
    found = np.array(value, dtype=dtype)
    return numbers(found) if found.dtype == float else found


_NUMPY = _Module(
    np,
    {
        **{name: _maker(getattr(np, name)) for name in ("zeros", "ones", "empty", "full", "eye", "identity", "diag")},
        "array": _array,
        "asarray": _array,
        "asfarray": _array,
        "ascontiguousarray": _array,
        "copy": lambda value, **_: np.array(value, copy=True, subok=True),
        "float64": lambda value=0.0: value if isinstance(value, Number) else np.float64(value),
    },
)


_OF_NUMPY = {
    id(getattr(np, name)): getattr(_NUMPY, name)
    for name in ("zeros", "ones", "empty", "full", "eye", "array", "asarray")
}
"""The same where a user has imported them by their names."""


def _float(value: Any = 0.0) -> Any:
    return value if isinstance(value, Number) else float(value)


def _bool(value: Any = False) -> Any:
    return bool(value)


def _extreme(condition: Callable[[Any, Any], Any], usual: Callable[..., Any]) -> Callable[..., Any]:
    """``min`` and ``max`` of numbers, without branches."""

    def call(*arguments: Any, **options: Any) -> Any:
        values = list(arguments[0]) if len(arguments) == 1 else list(arguments)
        if options or _known(values):
            return usual(*arguments, **options)
        out = values[0]
        for value in values[1:]:
            out = choice(condition(value, out), value, out)
        return out

    return call


def _refused(what: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise NotRecorded(what)

    return refuse


_BUILTINS = {
    **vars(builtins),
    "float": _float,
    "min": _extreme(lambda a, b: a < b, min),
    "max": _extreme(lambda a, b: a > b, max),
    "print": _refused("it prints"),
    "open": _refused("it opens a file"),
    "input": _refused("it asks for input"),
    "__import__": lambda *arguments, **options: _replaced(builtins.__import__(*arguments, **options), {}),
}

_FIXED = (
    int,
    float,
    complex,
    str,
    bytes,
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    np.ufunc,
)


def twin(function: Any) -> Callable[..., Any]:
    """A function that does the same with symbols."""
    out: Callable[..., Any] = _replaced(function, {})
    return out


def _replaced(value: Any, made: dict[int, Any]) -> Any:
    """The object that takes the place of a value that a function uses."""
    if value is math:
        return _Module(math, {name: _OF_MATH[getattr(math, name)] for name in _MATH if hasattr(math, name)})
    if value is np:
        return _NUMPY
    if isinstance(value, types.BuiltinFunctionType) and value in _OF_MATH:
        return _OF_MATH[value]
    if id(value) in _OF_NUMPY:
        return _OF_NUMPY[id(value)]
    if value is float:
        return _float
    if isinstance(value, types.FunctionType) and not of_a_library(value):
        return _function(value, made)
    python = getattr(value, "py_func", None)
    if isinstance(python, types.FunctionType):  # of numba
        return _function(python, made)
    if isinstance(value, types.MethodType):
        return types.MethodType(_replaced(value.__func__, made), _own(value.__self__))
    if _is_spline(value):
        return piecewise(value)
    if isinstance(value, partial):
        return partial(_replaced(value.func, made), *value.args, **value.keywords)
    if callable(value) and not isinstance(value, (type, types.BuiltinFunctionType, np.ufunc)):
        call = call_of(value)
        if call is not None:
            return types.MethodType(_function(call, made), _own(value))
    return _own(value)


def _is_spline(value: Any) -> bool:
    """Whether it is a piecewise polynomial of scipy."""
    scipy = sys.modules.get("scipy.interpolate")
    return scipy is not None and isinstance(value, (scipy.PPoly, scipy.BSpline))


def _own(value: Any) -> Any:
    """A copy of what a function may change: symbols are not to be left in the user's objects."""
    if acts(value):
        return untouched(value)
    if (
        value is None
        or isinstance(value, _FIXED)
        or (type(value).__module__ or "").partition(".")[0] in LIBRARIES - {"numpy"}
    ):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:  # of any kind: a class may have a __deepcopy__ of its own
        return Untouched(f"it uses a {type(value).__qualname__}, which cannot be copied")


def _function(function: types.FunctionType, made: dict[int, Any]) -> Any:
    if id(function) in made:
        return made[id(function)]
    names = {**function.__globals__, "__builtins__": _BUILTINS}
    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    out = types.FunctionType(function.__code__, names, function.__name__, None, cells)
    made[id(function)] = out
    out.__defaults__ = tuple(_replaced(value, made) for value in function.__defaults__ or ()) or None
    out.__kwdefaults__ = {name: _replaced(value, made) for name, value in (function.__kwdefaults__ or {}).items()}
    for name in names_of(function.__code__):
        if name in function.__globals__:
            names[name] = _replaced(function.__globals__[name], made)
    for cell, own in zip(cells, function.__closure__ or (), strict=True):
        try:
            cell.cell_contents = _replaced(own.cell_contents, made)
        except ValueError:  # an empty cell
            continue
    return out


__all__ = ["twin"]
