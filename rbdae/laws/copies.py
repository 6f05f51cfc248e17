"""Copies of users' functions for numbers of laws.

`math`, NumPy's array constructors and ``float`` are replaced. A copy for symbols has access only to numbers, arithmetic
functions and known mathematics, so all its branches may be run.

The source decides whether a function is arithmetic: local names, reads of constants and attributes, branches, loops and
calls are allowed. Objects that it calls, reads or assigns to are checked when the function runs.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import math
import operator
import sys
import sysconfig
import types
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial, reduce
from threading import Lock
from typing import Any, final

import numpy as np

from rbdae.laws.arrays import OF_ARRAYS, ON_OBJECTS, ONE, TWO, number_among, numbers, piecewise, vector_product
from rbdae.laws.numbers import NotRecorded, Number, choice, value_of

# ---------------------------------------------------------------- what is arithmetic

_NODES = (
    ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign,
    ast.NamedExpr, ast.If, ast.For, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Raise, ast.Assert, ast.BinOp,
    ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword, ast.Constant, ast.Name, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.ListComp, ast.GeneratorExp,
    ast.comprehension, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.JoinedStr,
    ast.FormattedValue,
)  # fmt: skip

_ACTING = ("tofile", "dump", "setflags")
"""Methods of arrays that act outside."""

_PARSING = Lock()
"""Held while parsing: Python's parser counts its depth for all threads together."""


@lru_cache(maxsize=32)
def _functions(text: str) -> dict[tuple[str, int], list[Any]]:
    """Functions of a file by name and first line; empty for other texts."""
    out: dict[tuple[str, int], list[Any]] = {}
    with _PARSING, suppress(SyntaxError):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                first = min(each.lineno for each in (node, *getattr(node, "decorator_list", ())))
                out.setdefault((getattr(node, "name", "<lambda>"), first), []).append(node)
    return out


def code_of(function: types.FunctionType) -> tuple[types.CodeType, dict[str, Any]]:
    """The code of a function, and the globals that are named in it."""
    code, known = function.__code__, function.__globals__
    return code, {name: known[name] for name in sorted(names_of(code)) if name in known}


def names_of(code: types.CodeType) -> set[str]:
    """The names used by a function and its nested functions."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*map(names_of, inner))


@lru_cache(maxsize=1024)
def _why_not(code: types.CodeType, text: str) -> str:
    """Why a function in the text of its file is not arithmetic, or ""; functions on one line with the same names are
    judged together."""
    names, kinds = names_of(code).union(code.co_freevars, code.co_varnames), ("id", "attr", "arg", "name")
    sources = [
        node
        for node in _functions(text).get((code.co_name, code.co_firstlineno), [])
        if names <= {getattr(each, kind, None) for each in ast.walk(node) for kind in kinds}
    ]
    if not sources:
        return f"{code.co_name} has no source, or uses super() or names with two underscores"
    nodes: list[Any] = [each for source in sources for each in ast.walk(source) if each is not source]
    for node in nodes:
        if not isinstance(node, _NODES) or getattr(node, "decorator_list", None):
            return f"line {node.lineno} of {code.co_name} is not arithmetic ({type(node).__name__.lower()})"
        if isinstance(node, ast.Attribute) and (not isinstance(node.ctx, ast.Load) or node.attr in _ACTING):
            return f"line {node.lineno} of {code.co_name} changes {ast.unparse(node)}"
    return ""


# ---------------------------------------------------------------- whose a function is

_STANDARD = sysconfig.get_path("stdlib")


def _root(value: Any) -> str:
    return (getattr(value, "__module__", None) or "").partition(".")[0]


def _is_own(value: Any) -> bool:
    """Whether a function or a class is one of rbdae, to be run on symbols as it is; models count as users' code."""
    return _root(value) in ("rbdae", "rbdae_adapters") and not value.__module__.startswith("rbdae.models")


def _is_users(value: Any) -> bool:
    """Whether a value is a function of the user, not of a library."""
    if not isinstance(value, types.FunctionType) or _is_own(value) or _root(value) in ("numpy", "scipy"):
        return False
    # users have modules with names of the standard library, such as test.py
    standard = value.__code__.co_filename.startswith((_STANDARD, "<frozen"))
    return not (standard and _root(value) in sys.stdlib_module_names)


# ---------------------------------------------------------------- replacements of functions

_MATH: dict[str, Callable[..., Any]] = {
    **{name: ONE[name] for name in ONE if hasattr(math, name)},
    **{name: ONE[f"arc{name[1:]}"] for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
    "atan2": TWO["arctan2"],
    "pow": TWO["power"],
    "fmod": TWO["fmod"],
    "copysign": TWO["copysign"],
    "hypot": lambda *x: ONE["sqrt"](sum(each * each for each in x)),
    "dist": lambda p, q: ONE["sqrt"](sum((a - b) * (a - b) for a, b in zip(p, q, strict=True))),
    "fsum": sum,
    "log": lambda x, base=math.e: ONE["log"](x) / (1.0 if base == math.e else math.log(base)),
}
"""Replacements for numbers of laws, by the names in `math`."""

_FINITE = frozenset({
    "const", "input", "add", "sub", "mul", "neg", "abs", "select", "<", "<=", "==", "not", "sin", "cos", "tan",
    "arctan", "arctan2", "tanh", "arcsinh", "floor",
})  # fmt: skip
"""Operations with finite results for finite numbers."""


def _of_math(name: str) -> Callable[..., Any]:
    """A function of `math` for known numbers, and its replacement for numbers of laws."""
    plain, symbolic = getattr(math, name), _MATH[name]

    def call(*arguments: Any, **options: Any) -> Any:
        number = number_among(arguments)
        if number is None:
            return plain(*arguments, **options)
        tape = number.tape
        if tape.live:  # for its exceptions
            plain(*(list(map(value_of, x)) if isinstance(x, (list, tuple)) else value_of(x) for x in arguments))
        result = symbolic(*arguments, **options)
        graph = tape.graph
        if type(result) is Number and any(graph.nodes[k][0] not in _FINITE for k in graph.needed([result.node])):
            size, largest = graph.function("abs", result.node), graph.const(sys.float_info.max)
            tape.require(graph.condition("<=", size, largest))  # it raises an exception otherwise
        return result

    return call


def _float(value: Any = 0.0) -> Any:
    return value if isinstance(value, Number) else float(value)


def _maker(make: Callable[..., Any]) -> Callable[..., Any]:
    """An array constructor whose arrays of floats take numbers of laws."""

    def made(*arguments: Any, **options: Any) -> Any:
        arguments = tuple(float if each is _float else each for each in arguments)
        options = {name: float if each is _float else each for name, each in options.items()}
        if number_among(arguments) is not None and options.get("dtype", float) in (float, object):
            given = [each for each in arguments if each is not float]
            return numbers(make(*given, **{**options, "dtype": object}))
        array = make(*arguments, **options)
        return numbers(array) if array.dtype in (float, object) else array

    return made


def _extreme(condition: Callable[[Any, Any], Any], usual: Callable[..., Any]) -> Callable[..., Any]:
    """``min`` and ``max`` of numbers, without branches."""

    def call(*arguments: Any, **options: Any) -> Any:
        values = [*arguments[0]] if len(arguments) == 1 else arguments
        if options or number_among(values) is None:
            return usual(*arguments, **options)
        return reduce(lambda best, value: choice(condition(value, best), value, best), values)

    return call


def _replaced(value: Any, replacements: dict[Any, Any]) -> Any:
    kinds = types.BuiltinFunctionType, types.FunctionType, type
    known = isinstance(value, kinds) or (callable(value) and type(value).__module__ == "numpy")
    return replacements.get(value) if known else None


def _import(name: str, *arguments: Any) -> Any:
    """NumPy imports parts of itself when they are first used."""
    return __import__(name, *arguments) if name.startswith("numpy.") else _refused("__import__")


def _refused(name: str, *_: Any, **__: Any) -> Any:
    raise NotRecorded(f"it uses {name}")


_MAKERS = "zeros", "ones", "empty", "full", "eye", "identity", "array", "asarray", "ascontiguousarray"
_REPLACED: dict[Any, Any] = {
    **{getattr(math, name): _of_math(name) for name in _MATH},
    **{getattr(np, name): _maker(getattr(np, name)) for name in _MAKERS},
    **{float: _float, np.float64: _float, np.cross: vector_product},
    **{min: _extreme(operator.lt, min), max: _extreme(operator.gt, max)},
}
_OF_PYTHON = {each: each for each in (abs, divmod, enumerate, len, list, pow, range, reversed, sum, tuple, zip)}
_OF_SYMBOLS = {**_REPLACED, **_OF_PYTHON, __import__: _import}
_OF_NUMPY = frozenset({*ONE, *TWO, *OF_ARRAYS, *ON_OBJECTS, "linspace", "arange"})


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


_USUAL = {**vars(builtins), "type": lambda *given: given[0].__class__ if len(given) == 1 else type(*given)}
"""Python's own names for numbers with values, whose class is ``float``."""

_SAFE = {
    name: value if not callable(value) or _is_error(value) else _OF_SYMBOLS.get(value, partial(_refused, name))
    for name, value in vars(builtins).items()
}
"""Python's own names for symbols."""


# ---------------------------------------------------------------- copies


_PLAIN = (int, float, str, bytes, type(None), np.generic, range, frozenset)


@final
class _Reader:
    """Read access to a module, a class or an object of a user's class. Numbers with values also assign attributes."""

    __slots__ = ("_copies", "_of")

    def __init__(self, of: Any, copies: Copies) -> None:
        object.__setattr__(self, "_of", of)
        object.__setattr__(self, "_copies", copies)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._of)

    def __getattr__(self, name: str) -> Any:
        value, copies = self._of, self._copies
        if isinstance(value, types.ModuleType):
            return copies.of(getattr(value, name), f"{value.__name__}.{name}")
        attribute = inspect.getattr_static(value, name, None)
        plain = types.MemberDescriptorType, types.FunctionType, staticmethod, classmethod
        if not copies.live and hasattr(type(attribute), "__get__") and not isinstance(attribute, plain):
            return _refused(f"{name} of a {type(value).__name__}")
        found = getattr(value, name)
        return found if copies.live and not isinstance(found, types.MethodType) else copies.of(found, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._of, name, value)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if isinstance(self._of, type):
            return _refused(f"the class {self._of.__name__}")
        return self.__getattr__("__call__")(*arguments, **options)


@final
class Copies:
    """Copies of functions for numbers of laws: symbols, or `live` numbers with the user's own objects."""

    def __init__(self, *, live: bool) -> None:
        self.live = live
        self._made: dict[int, Any] = {}

    def of(self, value: Any, name: str = "an object") -> Any:
        """The stand-in for a value that a function uses. Raises NotRecorded if it is not arithmetic."""
        if isinstance(value, types.ModuleType):
            return _Reader(value, self)
        python = getattr(value, "py_func", value)  # of a function compiled by numba
        if _is_users(python):
            return self._function(python)
        if isinstance(value, types.MethodType):
            if self.live and not _is_users(value.__func__):
                return value
            instance = _Reader(value.__self__, self) if self.live else self._of_symbols(value.__self__, name)
            return types.MethodType(self.of(value.__func__, name), instance)
        if isinstance(value, partial):
            options = {key: self.of(each, key) for key, each in value.keywords.items()}
            return partial(self.of(value.func, name), *(self.of(each, name) for each in value.args), **options)
        scipy = sys.modules.get("scipy.interpolate")
        if scipy is not None and isinstance(value, (scipy.PPoly, scipy.BSpline)):
            return piecewise(value)
        if self.live:
            call = inspect.getattr_static(type(value), "__call__", None)
            return _Reader(value, self) if _is_users(call) else _replaced(value, _REPLACED) or value
        return self._of_symbols(value, name)

    def _of_symbols(self, value: Any, name: str) -> Any:
        """Known mathematics, or read access to an object."""
        kind = type(value)
        replacement = _replaced(value, _OF_SYMBOLS)
        if replacement is not None:
            return replacement
        if _is_error(value) or _is_own(value) or _is_own(kind) or isinstance(value, _PLAIN):
            return value
        if callable(value) and (isinstance(value, np.ufunc) or _root(value) == "numpy"):
            return value if getattr(value, "__name__", "") in _OF_NUMPY else _refused(name)
        if isinstance(value, np.ndarray):
            copy = np.array(value)
            copy.flags.writeable = False
            return copy[...]  # cannot be made writeable
        if hasattr(kind, "_make"):
            return kind._make(self.of(each, name) for each in value)
        if kind in (list, tuple):
            return tuple(each if type(each) is float else self.of(each, name) for each in value)
        if kind is dict:
            return types.MappingProxyType({key: self.of(each, str(key)) for key, each in value.items()})
        reads = getattr(kind, "__getattr__", None), getattr(kind, "__getattribute__", None)
        if any(map(_is_users, reads)) or (_root(kind) == "builtins" and kind is not type):
            return _refused(name)
        return _Reader(value, self)

    def _function(self, function: types.FunctionType) -> Any:
        if id(function) in self._made:
            return self._made[id(function)]
        if not self.live:
            lines = linecache.getlines(function.__code__.co_filename, function.__globals__)
            why = _why_not(function.__code__, "".join(lines))
            if why:
                raise NotRecorded(why)
        names = {**function.__globals__, "__builtins__": _USUAL if self.live else _SAFE}
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        out = types.FunctionType(function.__code__, names, function.__name__, None, cells)
        self._made[id(function)] = out
        out.__dict__.update(vars(function))
        out.__defaults__ = tuple(self.of(each) for each in function.__defaults__ or ()) or None
        out.__kwdefaults__ = {name: self.of(value, name) for name, value in (function.__kwdefaults__ or {}).items()}
        for name, value in code_of(function)[1].items():
            names[name] = self.of(value, name)
        for name, cell, own in zip(function.__code__.co_freevars, cells, function.__closure__ or (), strict=True):
            with suppress(ValueError):  # an empty cell
                cell.cell_contents = self.of(own.cell_contents, name)
        return out
