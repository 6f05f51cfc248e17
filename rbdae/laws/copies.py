"""Copies of users' functions for numbers of laws.

`math`, NumPy's array constructors and ``float`` are replaced. A function is copied for symbols only if its source is
arithmetic: local names, reads of constants and attributes, branches, loops and calls. The copy has access only to
numbers, arithmetic functions and known mathematics, so all its branches may be run.
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

from rbdae.laws.numbers import NUMPY, OF_NUMPY, NotRecorded, Number, choice, number_among, numbers, piecewise
from rbdae.laws.numbers import vector_product as cross

# ---------------------------------------------------------------- what is arithmetic

_NODES = (
    ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign,
    ast.NamedExpr, ast.If, ast.For, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Raise, ast.Assert, ast.BinOp,
    ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword, ast.Constant, ast.Name, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.ListComp, ast.GeneratorExp,
    ast.comprehension, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context, ast.JoinedStr,
    ast.FormattedValue,
)  # fmt: skip

_ACTING = ("tofile", "dump", "setflags")  # methods of arrays

_PARSING = Lock()
"""Held while parsing: Python's parser counts its depth for all threads together."""


@lru_cache(maxsize=32)
def _functions(text: str) -> dict[tuple[str, int], list[Any]]:
    """The functions in the text of a file by name and first line; none in other texts."""
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
    return code, {name: known[name] for name in sorted(_names(code)) if name in known}


def _names(code: types.CodeType) -> set[str]:
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


@lru_cache(maxsize=1024)
def _why_not(code: types.CodeType, text: str) -> str:
    """Why a function in the text of its file is not arithmetic, or ""; functions on one line with the same names are
    judged together."""
    name, names, nodes = code.co_name, _names(code).union(code.co_freevars, code.co_varnames), list[Any]()
    for function in _functions(text).get((name, code.co_firstlineno), []):
        _, *inside = ast.walk(function)
        if names <= {getattr(each, kind, None) for each in inside for kind in ("id", "attr", "arg", "name")}:
            nodes += inside
    if not nodes:
        return f"{name} has no source, or uses super() or names with two underscores"
    for node in nodes:
        if not isinstance(node, _NODES) or getattr(node, "decorator_list", None) or getattr(node, "id", "")[:2] == "__":
            return f"line {node.lineno} of {name} is not arithmetic ({type(node).__name__.lower()})"
        if isinstance(node, ast.Attribute) and (not isinstance(node.ctx, ast.Load) or node.attr in _ACTING):
            return f"line {node.lineno} of {name} changes {ast.unparse(node)}"
    return ""


# ---------------------------------------------------------------- whose a function is

_STANDARD = sysconfig.get_path("stdlib"), "<frozen"


def _root(value: Any) -> str:
    return (getattr(value, "__module__", None) or "").partition(".")[0]


def _is_own(value: Any) -> bool:
    """Whether a function, a class or an object is of rbdae, to be run on symbols as it is; models count as users'."""
    return _root(value) in ("rbdae", "rbdae_adapters") and not value.__module__.startswith("rbdae.models")


def _is_users(value: Any) -> bool:
    if not isinstance(value, types.FunctionType) or _is_own(value) or _root(value) in ("numpy", "scipy"):
        return False
    # users have modules with names of the standard library, such as test.py
    return not (value.__code__.co_filename.startswith(_STANDARD) and _root(value) in sys.stdlib_module_names)


# ---------------------------------------------------------------- replacements of functions

_MATH: dict[str, Callable[..., Any]] = {
    **{name: NUMPY[name] for name in NUMPY if hasattr(math, name)},
    **{name: NUMPY[f"arc{name[1:]}"] for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2")},
    "pow": NUMPY["power"],
    "hypot": lambda *x: NUMPY["sqrt"](sum(each * each for each in x)),
    "dist": lambda p, q: NUMPY["sqrt"](sum((a - b) * (a - b) for a, b in zip(p, q, strict=True))),
    "fsum": sum,
    "log": lambda x, base=math.e: NUMPY["log"](x) / (1.0 if base == math.e else math.log(base)),
}
"""Replacements for numbers of laws, by the names in `math`."""

_FINITE = frozenset({
    "const", "input", "add", "sub", "mul", "neg", "abs", "select", "<", "<=", "==", "not", "sin", "cos", "tan",
    "arctan", "arctan2", "tanh", "arcsinh", "floor",
})  # fmt: skip
"""Operations with finite results for finite numbers."""


def _of_math(name: str) -> Callable[..., Any]:
    """A function of `math` for known numbers, and its replacement for numbers of laws."""
    plain = getattr(math, name)

    def call(*arguments: Any, **options: Any) -> Any:
        number = number_among(arguments)
        if number is None:
            return plain(*arguments, **options)
        tape, nodes = number.tape, number.tape.graph.nodes
        if tape.live and name not in ("dist", "fsum"):  # for its exceptions
            plain(*(tape.value(tape.node(x)) for x in arguments))
        result = _MATH[name](*arguments, **options)
        if type(result) is Number and any(nodes[k][0] not in _FINITE for k in tape.graph.needed([result.node])):
            tape.require(abs(result) <= sys.float_info.max)  # it raises an exception otherwise
        return result

    return call


def _float(value: Any = 0.0) -> Any:
    return value if isinstance(value, Number) else float(value)


def _maker(make: Callable[..., Any]) -> Callable[..., Any]:
    """An array constructor whose arrays of floats take numbers of laws."""

    def made(*arguments: Any, **options: Any) -> Any:
        kinds = {_float: float} if number_among(arguments) is None else {_float: object, float: object}
        given = [kinds.get(each, each) if callable(each) else each for each in arguments]
        options = {name: kinds.get(each, each) if callable(each) else each for name, each in options.items()}
        array = make(*given, **options)
        return numbers(array) if array.dtype in (float, object) else array

    return made


def _extreme(condition: Callable[[Any, Any], Any], usual: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any, **options: Any) -> Any:
        values = [*arguments[0]] if len(arguments) == 1 else arguments
        if options or number_among(values) is None:
            return usual(values, **options)
        return reduce(lambda best, value: choice(condition(value, best), value, best), values)

    return call


def _refused(name: str, *_: Any, **__: Any) -> Any:
    raise NotRecorded(f"it uses {name}")


_REPLACED: dict[int, Any] = {
    **{id(getattr(math, name)): _of_math(name) for name in _MATH},
    **{id(make): _maker(make) for make in (np.zeros, np.ones, np.empty, np.full, np.eye, np.identity)},
    **{id(make): _maker(make) for make in (np.array, np.asarray, np.ascontiguousarray)},
    **{id(np.float64): _float, id(np.cross): cross},
}
"""Replacements of functions and classes, by their addresses."""

_OF_PYTHON: dict[Any, Any] = {
    **{each: each for each in (abs, divmod, enumerate, len, list, pow, range, reversed, sum, tuple, zip)},
    __import__: __import__,  # NumPy imports parts of itself when they are first used
    **{float: _float, min: _extreme(operator.lt, min), max: _extreme(operator.gt, max)},
}


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


_USUAL = {**vars(builtins), "type": lambda *given: given[0].__class__ if len(given) == 1 else type(*given)}
"""Python's own names for numbers with values, whose class is ``float``."""

_SAFE = {
    name: _OF_PYTHON.get(value, partial(_refused, name)) if callable(value) and not _is_error(value) else value
    for name, value in vars(builtins).items()
}
"""Python's own names for symbols."""


# ---------------------------------------------------------------- copies

_PLAIN = (int, float, str, bytes, type(None), np.generic, range, frozenset)
_BOUND = types.MemberDescriptorType, types.FunctionType, staticmethod, classmethod  # without code of the class


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
        if not copies.live:
            static = inspect.getattr_static(value, name)
            runs = hasattr(type(static), "__get__") and not isinstance(static, _BOUND)
            if runs or _is_users(type(value).__getattribute__):
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
        if _is_users(python := getattr(value, "py_func", value)):  # of a function compiled by numba
            return self._function(python)
        if isinstance(value, types.MethodType) and (not self.live or _is_users(value.__func__)):
            owner = _Reader(value.__self__, self) if self.live else self._of_symbols(value.__self__, name)
            return types.MethodType(self.of(value.__func__, name), owner)
        if isinstance(value, partial):
            options = {key: self.of(each, key) for key, each in value.keywords.items()}
            return partial(self.of(value.func, name), *(self.of(each, name) for each in value.args), **options)
        if isinstance(value, types.ModuleType) or _is_users(inspect.getattr_static(type(value), "__call__", None)):
            return _Reader(value, self)
        if id(value) in _REPLACED:
            return _REPLACED[id(value)]
        scipy = sys.modules.get("scipy.interpolate")
        if scipy is not None and isinstance(value, (scipy.PPoly, scipy.BSpline)):
            return piecewise(value)
        return value if self.live else self._of_symbols(value, name)

    def _of_symbols(self, value: Any, name: str) -> Any:
        kind = type(value)
        if isinstance(value, _PLAIN) or _is_error(value) or _is_own(value):
            return value
        if isinstance(value, np.ufunc) or (callable(value) and _root(value) == "numpy"):
            return value if getattr(value, "__name__", "") in OF_NUMPY else _refused(name)
        if isinstance(value, np.ndarray):
            return np.broadcast_to(np.array(value), value.shape)  # which is read-only
        if hasattr(kind, "_make"):
            return kind._make(self.of(each, name) for each in value)
        if kind in (list, tuple):
            return tuple(each if type(each) is float else self.of(each, name) for each in value)
        if kind is dict:
            return types.MappingProxyType({key: self.of(each, str(key)) for key, each in value.items()})
        if _root(kind) == "builtins" and kind is not type:
            return _refused(name)
        return _Reader(value, self)

    def _function(self, function: types.FunctionType) -> Any:
        if id(function) in self._made:
            return self._made[id(function)]
        code, known = code_of(function)
        lines = [] if self.live else linecache.getlines(code.co_filename, function.__globals__)
        if not self.live and (why := _why_not(code, "".join(lines))):
            raise NotRecorded(why)
        names: dict[str, Any] = {"__builtins__": _USUAL if self.live else _SAFE}
        cells = tuple(types.CellType() for _ in code.co_freevars)
        out = self._made[id(function)] = types.FunctionType(code, names, function.__name__, None, cells)
        out.__dict__.update(vars(function))
        out.__defaults__ = tuple(self.of(each) for each in function.__defaults__ or ()) or None
        out.__kwdefaults__ = {name: self.of(value, name) for name, value in (function.__kwdefaults__ or {}).items()}
        names |= {name: self.of(value, name) for name, value in known.items()}
        for name, cell, own in zip(code.co_freevars, cells, function.__closure__ or (), strict=True):
            with suppress(ValueError):  # an empty cell
                cell.cell_contents = self.of(own.cell_contents, name)
        return out
