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
import sys
import sysconfig
import types
from collections.abc import Callable
from functools import lru_cache, partial
from threading import Lock
from typing import Any, final

import numpy as np

from rbdae.laws.arrays import OF_ARRAYS, ON_OBJECTS, ONE, TWO, number_among, numbers, piecewise, vector_product
from rbdae.laws.numbers import NotRecorded, Number, choice, value_of

_NODES = (
    ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign,
    ast.NamedExpr, ast.If, ast.For, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.Raise, ast.Assert, ast.BinOp,
    ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword, ast.Constant, ast.Name, ast.Attribute,
    ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.Starred, ast.ListComp, ast.GeneratorExp,
    ast.comprehension, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip


_PARSING = Lock()
"""Held while parsing: Python's parser counts its depth for all threads together."""


@lru_cache(maxsize=32)
def _functions(text: str) -> dict[int, list[Any]]:
    """Functions of a file by first line, without annotations, which are never evaluated."""
    out: dict[int, list[Any]] = {}
    with _PARSING:
        tree: Any = ast.parse(text)
    for node in ast.walk(tree):
        for name in {"annotation", "returns"} & {*node._fields}:
            setattr(node, name, None)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            first = [each.lineno for each in getattr(node, "decorator_list", ())]
            out.setdefault(min([node.lineno, *first]), []).append(node)
    return out


def _body(node: Any) -> list[Any]:
    """Nodes of a function's body, including nested ones."""
    return [each for part in (node.body if isinstance(node.body, list) else [node.body]) for each in ast.walk(part)]


def _sources(code: types.CodeType, text: str) -> list[Any]:
    """Sources of a function in the text of its file; several if functions on one line use the same names."""
    try:
        functions = _functions(text)
    except SyntaxError:
        return []
    out = []
    more = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    mine = sorted(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + more])
    for node in functions.get(code.co_firstlineno, ()):
        same = sorted(each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)) == mine
        body = _body(node)
        names = {getattr(each, key) for each in body for key in ("id", "attr") if hasattr(each, key)}
        own = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
        own |= {each.id for each in body if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        own |= {each.name for each in body if isinstance(each, ast.FunctionDef)}
        wanted = names_of(code).union(code.co_freevars) - {"__class__"}  # used by super()
        if getattr(node, "name", "<lambda>") == code.co_name and same and wanted - own == names - own:
            out.append(node)
    return out


def names_of(code: types.CodeType) -> set[str]:
    """The names used by a function and its nested functions."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*map(names_of, inner))


def check_arithmetic(function: types.FunctionType) -> None:
    """Raise NotRecorded unless a function is pure arithmetic."""
    lines = linecache.getlines(function.__code__.co_filename, function.__globals__)
    why = _why_not(function.__code__, "".join(lines))
    if why:
        raise NotRecorded(why)


@lru_cache(maxsize=1024)
def _why_not(code: types.CodeType, text: str) -> str:
    """Why a function is not arithmetic, or ""."""
    sources = _sources(code, text)
    if not sources:
        return f"{code.co_name} has no source"
    nodes = [each for source in sources for each in _body(source)]
    said = {id(each) for node in nodes if isinstance(node, (ast.Raise, ast.Assert)) for each in ast.walk(node)}
    for node in nodes:
        if isinstance(node, (ast.JoinedStr, ast.FormattedValue)) and id(node) in said:
            continue
        if not isinstance(node, _NODES) or getattr(node, "decorator_list", None):
            return f"line {node.lineno} of {code.co_name} is not arithmetic ({type(node).__name__.lower()})"
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return f"line {node.lineno} of {code.co_name} changes {ast.unparse(node)}"
    return ""


_STANDARD = sysconfig.get_path("stdlib")
_OWN = frozenset({"rbdae", "rbdae_adapters"})
_LIBRARIES = frozenset({"numpy", "scipy", "builtins", *_OWN})


def _root(value: Any) -> str:
    return (getattr(value, "__module__", None) or "").partition(".")[0]


def _of_a_library(value: Any) -> bool:
    """Whether a function belongs to a library, not to the user; the models count as users' code."""
    if (value.__module__ or "").startswith("rbdae.models"):
        return False
    if _root(value) in _LIBRARIES or not isinstance(value, types.FunctionType):
        return _root(value) in _LIBRARIES
    # users have modules with names of the standard library, such as test.py
    return _root(value) in sys.stdlib_module_names and value.__code__.co_filename.startswith((_STANDARD, "<frozen"))


def _is_spline(value: Any) -> bool:
    """Whether a value is a piecewise polynomial of scipy."""
    scipy = sys.modules.get("scipy.interpolate")
    return scipy is not None and isinstance(value, (scipy.PPoly, scipy.BSpline))


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

_BOUNDED = frozenset({
    "sin", "cos", "tan", "atan", "atan2", "tanh", "asinh", "fabs", "floor", "ceil", "trunc", "cbrt", "radians",
    "degrees", "copysign", "fsum",
})  # fmt: skip
"""Functions that raise no exception for finite numbers."""

_FINITE = frozenset({
    "const", "input", "add", "sub", "mul", "neg", "abs", "select", "<", "<=", "==", "not", "sin", "cos", "tan",
    "arctan", "arctan2", "tanh", "arcsinh", "floor",
})  # fmt: skip
"""Operations with finite results for finite numbers."""


def _is_finite(arguments: Any) -> bool:
    """Whether symbols are finite for finite arguments of their law."""
    symbols = [each for each in arguments if isinstance(each, Number)]
    return all(each.tape.graph.nodes[k][0] in _FINITE for each in symbols for k in each.tape.graph.needed([each.node]))


def _of_math(name: str) -> Callable[..., Any]:
    """A function of `math` for known numbers, and its replacement for numbers of laws."""
    plain, symbolic = getattr(math, name), _MATH[name]

    def call(*arguments: Any, **options: Any) -> Any:
        number = number_among(arguments)
        if number is None:
            return plain(*arguments, **options)
        if not number.tape.live:
            result = symbolic(*arguments, **options)
            if type(result) is Number and not (name in _BOUNDED and _is_finite(arguments)):
                number.tape.finite(result.node)
            return result
        value = plain(*(list(map(value_of, x)) if isinstance(x, (list, tuple)) else value_of(x) for x in arguments))
        with np.errstate(all="ignore"):
            result = symbolic(*arguments, **options)
        return Number(number.tape, result.node, value) if isinstance(result, Number) else value

    return call


def _float(value: Any = 0.0) -> Any:
    return value if isinstance(value, Number) else float(value)


def _maker(make: Callable[..., Any]) -> Callable[..., Any]:
    """An array constructor that also takes numbers of laws."""

    def made(*arguments: Any, **options: Any) -> Any:
        kind = options.pop("dtype", None)
        if kind not in (None, float, np.float64, object, "float", "float64", _float):
            return make(*arguments, dtype=kind, **options)
        return numbers(make(*arguments, **options))

    return made


def _array(value: Any, dtype: Any = None, **_: Any) -> Any:
    """`numpy.array` and `asarray`, unchanged for known numbers."""
    bare = np.array(value, dtype=object)
    if any(isinstance(each, Number) for each in bare.ravel()):
        return numbers(bare)
    array = np.array(value, dtype=float if dtype is _float else dtype)
    return numbers(array) if array.dtype == float else array


def _extreme(condition: Callable[[Any, Any], Any], usual: Callable[..., Any]) -> Callable[..., Any]:
    """``min`` and ``max`` of numbers, without branches."""

    def call(*arguments: Any, **options: Any) -> Any:
        values = list(arguments[0]) if len(arguments) == 1 else list(arguments)
        if options or number_among(values) is None:
            return usual(*arguments, **options)
        out = values[0]
        for value in values[1:]:
            out = choice(condition(value, out), value, out)
        return out

    return call


_REPLACED: dict[Any, Any] = {
    **{getattr(math, name): _of_math(name) for name in _MATH},
    **{getattr(np, name): _maker(getattr(np, name)) for name in ("zeros", "ones", "empty", "full", "eye", "identity")},
    **{getattr(np, name): _array for name in ("array", "asarray", "ascontiguousarray")},
    np.cross: vector_product,
    np.float64: lambda value=0.0: value if isinstance(value, Number) else np.float64(value),
}
_OF_SYMBOLS: dict[Any, Any] = {
    float: _float,
    min: _extreme(lambda a, b: a < b, min),
    max: _extreme(lambda a, b: a > b, max),
    **{each: each for each in (abs, divmod, enumerate, len, list, pow, range, reversed, sum, tuple, zip, super)},
}
_OF_NUMPY = frozenset({*ONE, *TWO, *OF_ARRAYS, *ON_OBJECTS, "linspace", "arange"})


def _refused(name: str, *_: Any, **__: Any) -> Any:
    raise NotRecorded(f"it uses {name}")


def _is_error(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


_SAFE = {
    name: value if not callable(value) or _is_error(value) else _OF_SYMBOLS.get(value, partial(_refused, name))
    for name, value in vars(builtins).items()
}
"""Python's own names for symbols."""


def _type(*arguments: Any) -> Any:
    (value,) = arguments if len(arguments) == 1 else (None,)
    if isinstance(value, _Reader):
        return type(value._value)
    return float if isinstance(value, Number) else type(*arguments)


# ---------------------------------------------------------------- copies


def _changing(*_: Any, **__: Any) -> Any:
    raise NotRecorded("it changes objects outside of it")


_CHANGES = "tofile dump setflags __setitem__ sort fill put resize partition".split()  # noqa: SIM905
_LISTS = "append clear extend insert pop popitem remove reverse setdefault update __delitem__ __iadd__ __ior__".split()  # noqa: SIM905
_List, _Dict, _Array = (
    type(kind.__name__, (kind,), dict.fromkeys(_CHANGES + _LISTS, _changing)) for kind in (list, dict, np.ndarray)
)
_PLAIN = (int, float, str, bytes, type(None), np.generic, range, frozenset)


@final
class _Reader:
    """Read access to a module, a class or an object of a user's class. For numbers with values, an object's attributes
    are unchanged and may be assigned."""

    __slots__ = ("_live", "_of", "_value")

    def __init__(self, value: Any, of: Callable[..., Any], live: bool = False) -> None:
        for name, each in (("_value", value), ("_of", of), ("_live", live)):
            object.__setattr__(self, name, each)

    def __getattr__(self, name: str) -> Any:
        value, stand_in = self._value, self._of
        if isinstance(value, types.ModuleType):
            return stand_in(getattr(value, name), f"{value.__name__}.{name}")
        attribute = inspect.getattr_static(value, name, None)
        if isinstance(attribute, property):
            return stand_in(attribute.fget, name)(self)
        if isinstance(attribute, types.FunctionType) and not isinstance(value, type):
            return types.MethodType(stand_in(attribute, name), self)
        plain = types.MemberDescriptorType, types.FunctionType, staticmethod, classmethod
        if not self._live and hasattr(type(attribute), "__get__") and not isinstance(attribute, plain):
            return _refused(f"{name} of a {type(value).__name__}")
        return getattr(value, name) if self._live else stand_in(getattr(value, name), name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not self._live:
            _changing()
        setattr(self._value, name, value)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        if isinstance(self._value, type):
            return _refused(f"the class {self._value.__name__}")
        return self.__getattr__("__call__")(*arguments, **options)


@final
class Copies:
    """Copies of functions for numbers of laws: symbols, or `live` numbers with the user's own objects."""

    def __init__(self, *, live: bool) -> None:
        self._live = live
        self._made: dict[int, Any] = {}
        self._builtins = {**vars(builtins), "type": _type} if live else _SAFE

    def of(self, value: Any, name: str = "an object") -> Any:
        """The stand-in for a value that a function uses. Raises NotRecorded if it is not arithmetic."""
        if isinstance(value, types.ModuleType):
            return _Reader(value, self.of)
        python = getattr(value, "py_func", value)  # instance numba
        if isinstance(python, types.FunctionType) and not _of_a_library(python):
            return self._function(python)
        if isinstance(value, types.MethodType):
            instance = value.__self__
            if "super" not in value.__func__.__code__.co_names:  # super() accepts no stand-in
                instance = _Reader(instance, self.of, live=True) if self._live else self._object(instance, name)
            return types.MethodType(self.of(value.__func__, name), instance)
        if isinstance(value, partial):
            options = {key: self.of(each, key) for key, each in value.keywords.items()}
            return partial(self.of(value.func, name), *(self.of(each, name) for each in value.args), **options)
        if _is_spline(value):
            return piecewise(value)
        kinds = types.BuiltinFunctionType, types.FunctionType, type
        if callable(value) and (isinstance(value, kinds) or type(value).__module__ == "numpy"):
            return self._known(value, name)
        call = inspect.getattr_static(type(value), "__call__", None)
        if self._live and isinstance(call, types.FunctionType) and not _of_a_library(call):
            return _Reader(value, self.of, live=True)
        return self._object(value, name)

    def _known(self, value: Any, name: str) -> Any:
        """A function or a class, or its replacement."""
        replacement = _REPLACED.get(value)
        if replacement is not None or self._live:
            return replacement or value
        if value in _OF_SYMBOLS:
            return _OF_SYMBOLS[value]
        if _is_error(value) or _root(value) in _OWN:
            return value
        known_by_numpy = isinstance(value, np.ufunc) or _root(value) == "numpy"
        if known_by_numpy and getattr(value, "__name__", "") in _OF_NUMPY:
            return value
        if isinstance(value, type) and not _of_a_library(value):
            return _Reader(value, self.of)
        return _refused(name)

    def _object(self, value: Any, name: str) -> Any:
        """Read access to an object."""
        kind = type(value)
        if self._live or isinstance(value, _PLAIN) or _root(kind) in _OWN:
            return value
        if isinstance(value, np.ndarray):
            return np.array(value).view(_Array)
        if hasattr(kind, "_make"):
            return kind._make(self.of(each, name) for each in value)
        if kind in (list, tuple):
            items = [each if type(each) is float else self.of(each, name) for each in value]
            return tuple(items) if kind is tuple else _List(items)
        if kind is dict:
            return _Dict({key: self.of(each, str(key)) for key, each in value.items()})
        if isinstance(value, tuple):
            return value
        read = getattr(kind, "__getattr__", None), getattr(kind, "__getattribute__", None)
        by_user = any(isinstance(each, types.FunctionType) and not _of_a_library(each) for each in read)
        if by_user or _root(kind) == "builtins":
            return _refused(name)
        return _Reader(value, self.of)

    def _function(self, function: types.FunctionType) -> Any:
        if id(function) in self._made:
            return self._made[id(function)]
        if not self._live:
            check_arithmetic(function)
        names = {**function.__globals__, "__builtins__": self._builtins}
        cells = tuple(types.CellType() for _ in function.__closure__ or ())
        out = types.FunctionType(function.__code__, names, function.__name__, None, cells)
        self._made[id(function)] = out
        out.__dict__.update({name: self.of(value, name) for name, value in vars(function).items()})
        out.__defaults__ = tuple(self.of(each) for each in function.__defaults__ or ()) or None
        out.__kwdefaults__ = {name: self.of(value, name) for name, value in (function.__kwdefaults__ or {}).items()}
        for name in names_of(function.__code__) & function.__globals__.keys():
            names[name] = self.of(function.__globals__[name], name)
        for name, cell, own in zip(function.__code__.co_freevars, cells, function.__closure__ or (), strict=True):
            try:
                inside = own.cell_contents
                cell.cell_contents = inside if name == "__class__" else self.of(inside, name)  # of super()
            except ValueError:  # an empty cell
                continue
        return out
