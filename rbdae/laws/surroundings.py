"""The objects that a function of a user uses beside its arguments."""

from __future__ import annotations

import sys
import sysconfig
import types
from functools import partial
from typing import Any

_STANDARD = sysconfig.get_path("stdlib")

LIBRARIES = frozenset({"numpy", "scipy", "rbdae", "rbdae_adapters"})


def of_a_library(function: types.FunctionType) -> bool:
    """Whether a function is of a library, not of the user."""
    root = (function.__module__ or "").partition(".")[0]
    if root in LIBRARIES:
        return True
    # users have modules with names of the standard library, such as test.py
    return root in sys.stdlib_module_names and function.__code__.co_filename.startswith((_STANDARD, "<frozen"))


def call_of(value: Any) -> types.FunctionType | None:
    """The method of a user's class that makes its objects functions."""
    call = next((vars(kind)["__call__"] for kind in type(value).__mro__ if "__call__" in vars(kind)), None)
    return call if isinstance(call, types.FunctionType) and not of_a_library(call) else None


def names_of(code: types.CodeType) -> set[str]:
    """The names that a function and those inside it use."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= names_of(constant)
    return found


def surroundings(function: Any, known: dict[int, Any] | None = None) -> list[Any]:
    """The objects that a function, and those that it calls, could change or depend on beside their arguments."""
    known = {} if known is None else known
    if id(function) in known:
        return []
    known[id(function)] = function
    if isinstance(getattr(function, "py_func", None), types.FunctionType):  # of numba
        near = [function.py_func]
    elif isinstance(function, partial):
        near = [function.func, *function.args, *function.keywords.values()]
    elif isinstance(function, types.MethodType):
        near = [function.__func__, function.__self__]
    elif isinstance(function, types.FunctionType):
        near = [] if of_a_library(function) else _reached(function)
    else:
        call = call_of(function)
        if call is None:
            return [function]
        return [getattr(function, "__dict__", None), _of_class(type(function)), *surroundings(call, known)]
    out = []
    for value in near:
        out += surroundings(value, known)
    return out


def _of_class(kind: type) -> dict[str, Any]:
    """The variables of a user's class."""
    return {
        name: value
        for each in kind.__mro__
        if each.__module__.partition(".")[0] not in LIBRARIES | {"builtins"}
        for name, value in vars(each).items()
        if not name.startswith("__") and not callable(value) and not isinstance(value, (classmethod, staticmethod))
    }


def _reached(function: types.FunctionType) -> list[Any]:
    """The values that a function uses by their names."""
    names, cells = function.__globals__, function.__closure__ or ()
    out: list[Any] = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), vars(function)]
    out += [names[name] for name in sorted(names_of(function.__code__)) if name in names]
    for cell in cells:
        try:
            out.append(cell.cell_contents)
        except ValueError:  # an empty cell
            continue
    return out


__all__ = ["LIBRARIES", "call_of", "names_of", "of_a_library", "surroundings"]
