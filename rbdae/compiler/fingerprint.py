"""The fingerprint of a kernel: all that its machine code depends on, as a number.

It covers the kernel and, wherever they lie, all functions that become part of its code: their instructions, constants,
and the values of all globals that they name. Of a stage that is only linked, it covers the symbol and the kinds of its
arguments. A global of a kind that cannot be compared between processes is refused.
"""

from __future__ import annotations

import dis
import enum
import hashlib
from collections.abc import Callable
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from rbdae.compiler.declared import code_objects, declared, translated, values

# modules whose functions the translation knows
_KNOWN = ("builtins", "math", "numpy", "rbdae.compiler")


def fingerprint(function: Callable[..., Any], kind: str) -> str:
    """A number for the machine code of a kernel of some kind (signature, way of linking)."""
    digest = hashlib.sha256(f"{kind} {function.__module__}:{function.__qualname__}".encode())
    for caller in translated(function):
        digest.update(_described(caller))
    return digest.hexdigest()[:24]


@cache
def _described(function: Callable[..., Any]) -> bytes:
    """The code of one function and what its names stand for."""
    assert isinstance(function, FunctionType)
    lines = [
        f"{function.__module__}:{function.__qualname__}",
        _code(function.__code__, function.__doc__),
        _value(function.__defaults__ or (), function, "defaults"),
        _value(tuple(sorted((function.__kwdefaults__ or {}).items())), function, "defaults"),
    ]
    lines += [f"{path} = {_value(value, function, path)}" for path, value in values(function)]
    return "\n".join(lines).encode()


def _code(code: CodeType, doc: str | None) -> str:
    constants = [
        _code(c, None) if isinstance(c, CodeType) else _constant(c)
        for c in code.co_consts
        if doc is None or c is not code.co_consts[0] or c != doc
    ]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    sizes = (code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags)
    return f"{code.co_code.hex()} {constants} {names} {sizes} {code.co_exceptiontable.hex()}"


def _constant(value: Any) -> str:
    if isinstance(value, frozenset):  # in an order that depends on the process
        return f"frozenset {sorted(map(_constant, value))}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant, value))})"
    return f"{type(value).__name__} {value!r}"


def _value(value: Any, user: Callable[..., Any], path: str) -> str:
    """A global of a kernel, such that equal values and no others have equal descriptions."""
    known = declared(value)
    if known is not None:
        source = known.source
        return known.described if source is None else f"{known.described} {source.__module__}:{source.__qualname__}"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)) or value is Ellipsis:
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, np.dtype):
        return _dtype(value)
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        return (
            f"{type(value).__name__} {array.shape} {_dtype(array.dtype)} {hashlib.sha256(array.tobytes()).hexdigest()}"
        )
    if isinstance(value, tuple):
        return f"{type(value).__name__} ({', '.join(_value(v, user, path) for v in value)})"
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, enum.EnumMeta):
        members: list[enum.Enum] = list(value)
        return f"enum {value.__qualname__} {[(e.name, e.value) for e in members]}"
    if isinstance(value, np.ufunc):
        return f"ufunc {value.__name__}"
    module = getattr(value, "__module__", None) or "builtins"
    if callable(value) and (module in _KNOWN or module.startswith(tuple(f"{k}." for k in _KNOWN))):
        return f"{module}.{getattr(value, '__qualname__', repr(value))}"
    if "." not in path and not _loads(user, path):
        return "an attribute of another object has the same name"
    raise TypeError(
        f"kernel {user.__module__}:{user.__qualname__} names {path}, a {type(value).__name__}: it is not known what "
        "machine code depends on there; use numbers, arrays, dtypes and kernels"
    )


def _loads(function: Callable[..., Any], name: str) -> bool:
    """Whether a function names a global or a variable of an enclosing function, and not an attribute."""
    assert isinstance(function, FunctionType)
    loads = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLOSURE")
    return any(
        i.opname in loads and i.argval == name
        for code in code_objects(function.__code__)
        for i in dis.get_instructions(code)
    )


def _dtype(dtype: np.dtype[Any]) -> str:
    if dtype.fields is None:
        return f"{dtype.str} {dtype.subdtype}"
    fields = [(name, _dtype(field[0]), field[1]) for name, field in dtype.fields.items()]
    return f"struct {dtype.itemsize} {dtype.isalignedstruct} {fields}"
