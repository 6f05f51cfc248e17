"""Machine code of kernels: kept on disk by what it depends on, and linked by the symbols of kernels; and the way into
it from Python, a function for CPython's fast calls (``METH_FASTCALL``).

Its first argument is the address of the memory, which Python's int has; the others are floats and arrays of doubles.
What is of another kind is a TypeError. So is a vector that is not contiguous.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from rbdae import compiler
from rbdae.compiler.declared import named_by, symbol_of
from rbdae.compiler.fingerprint import fingerprint
from rbdae.compiler.machine_entry import machine_entry
from rbdae.compiler.translation import MESSAGE, Translation, letters
from rbdae.machine import language
from rbdae.machine.language.kinds import DUAL, DUAL_WIDTH, FLOAT, INT, Array, Kind
from rbdae.machine.module import Module, NoMachineCode, Written, from_cache, link
from rbdae.machine.python_calls import builtin, supported
from rbdae.machine.python_objects import ALIGNED, CONTENT, CONTIGUOUS, STRIDES, argument, array_of_doubles, loaded
from rbdae.machine.sources import sources

KINDS: Mapping[str, Kind] = {
    "i": INT,
    "t": FLOAT,
    "y": Array(FLOAT, ((None, 1),)),
    "o": Array(FLOAT, ((None, 1),)),
    "M": Array(FLOAT, ((None, None), (None, None))),
}
"""Kinds of the arguments of an entry by their letters (see `rbdae.compiler.jit.Entry`)."""

_FUNCTIONS = ("PyLong_AsLongLong", "PyFloat_AsDouble", "PyErr_Occurred", "PyErr_SetString", "PyType_IsSubtype")
_OBJECTS = {"ndarray": np.ndarray, "float": float, "TypeError": TypeError, "RuntimeError": RuntimeError, "None": None}


def symbols() -> dict[str, int]:
    """The addresses of CPython's functions and objects that the text leaves open."""
    functions = {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in _FUNCTIONS}
    return functions | {f"rbdae.python.{name}": id(value) for name, value in _OBJECTS.items()}


DECLARATIONS = "\n".join(
    [
        "declare i64 @PyLong_AsLongLong(ptr)",
        "declare double @PyFloat_AsDouble(ptr)",
        "declare ptr @PyErr_Occurred()",
        "declare void @PyErr_SetString(ptr, ptr)",
        "declare i32 @PyType_IsSubtype(ptr, ptr)",
        *(f"@rbdae.python.{name} = external global i8" for name in _OBJECTS),
    ]
)


def python_entry(symbol: str, signs: str, name: str) -> str:
    """The text of a function with the symbol ``symbol.python``, which calls that with the symbol."""
    refusal = letters(f"{name} takes float64 arrays, contiguous if they are vectors")
    lines = [
        DECLARATIONS,
        f'@"{symbol}.refusal" = private unnamed_addr constant {refusal}',
        f'define ptr @"{symbol}.python"(ptr %self, ptr %args, i64 %n) nounwind {{',
        "entry:",
        f"  %right = icmp eq i64 %n, {len(signs)}",
        "  br i1 %right, label %a0, label %refuse",
    ]
    given = []
    for k, sign in enumerate(signs):
        lines += argument(k)
        if sign == "i":
            lines += _whole(k)
        elif sign == "t":
            lines += _float(k)
        else:
            lines += _array(k, 2 if sign == "M" else 1)
        given.append(_passed(k, sign))
    lines += [
        f"a{len(signs)}:",
        f'  call void @"{symbol}"({", ".join(given)})',
        f"  %message = load ptr, ptr @{MESSAGE}",
        "  %silent = icmp eq ptr %message, null",
        "  br i1 %silent, label %done, label %complain",
        "done:",
    ]
    if sys.version_info < (3, 12):  # None is immortal since then
        none = "ptr @rbdae.python.None"
        lines += [f"  %count = load i64, {none}", "  %more = add i64 %count, 1", f"  store i64 %more, {none}"]
    lines += [
        "  ret ptr @rbdae.python.None",
        "complain:",
        f"  store ptr null, ptr @{MESSAGE}",
        "  call void @PyErr_SetString(ptr @rbdae.python.RuntimeError, ptr %message)",
        "  ret ptr null",
        "refuse:",
        f'  call void @PyErr_SetString(ptr @rbdae.python.TypeError, ptr @"{symbol}.refusal")',
        "  ret ptr null",
        "failed:",
        "  ret ptr null",
        "}",
    ]
    return "\n".join(lines)


def _whole(k: int) -> list[str]:
    """The number of an int, or the error that it is none."""
    return [
        f"  %v{k} = call i64 @PyLong_AsLongLong(ptr %o{k})",
        f"  %odd{k} = icmp eq i64 %v{k}, -1",
        *_asked(k, f"a{k + 1}"),
    ]


def _asked(k: int, fine: str) -> list[str]:
    """From -1, by which CPython says that there may be an error, to ``failed`` if there is one, else to `fine`."""
    return [
        f"  br i1 %odd{k}, label %asked{k}, label %{fine}",
        f"asked{k}:",
        f"  %error{k} = call ptr @PyErr_Occurred()",
        f"  %fine{k} = icmp eq ptr %error{k}, null",
        f"  br i1 %fine{k}, label %{fine}, label %failed",
    ]


def _float(k: int) -> list[str]:
    """The number of a float, or of what Python makes one of."""
    return [
        f"  %is{k} = icmp eq ptr %type{k}, @rbdae.python.float",
        f"  br i1 %is{k}, label %quick{k}, label %slow{k}",
        f"quick{k}:",
        *loaded(f"x{k}", "double", f"o{k}", CONTENT),
        f"  br label %both{k}",
        f"slow{k}:",
        f"  %made{k} = call double @PyFloat_AsDouble(ptr %o{k})",
        f"  %odd{k} = fcmp oeq double %made{k}, -1.0",
        *_asked(k, f"both{k}"),
        f"both{k}:",
        f"  %v{k} = phi double [%x{k}, %quick{k}], [%made{k}, %slow{k}], [%made{k}, %asked{k}]",
        f"  br label %a{k + 1}",
    ]


def _array(k: int, n_axes: int) -> list[str]:
    """The address of an array's numbers, its lengths, and of matrices the steps."""
    flags = ALIGNED | (CONTIGUOUS if n_axes == 1 else 0)
    lines = [
        f"  %is{k} = icmp eq ptr %type{k}, @rbdae.python.ndarray",
        f"  br i1 %is{k}, label %b{k}, label %sub{k}",
        f"sub{k}:",
        f"  %kind{k} = call i32 @PyType_IsSubtype(ptr %type{k}, ptr @rbdae.python.ndarray)",
        f"  %also{k} = icmp ne i32 %kind{k}, 0",
        f"  br i1 %also{k}, label %b{k}, label %refuse",
        *array_of_doubles(k, n_axes, flags, "refuse"),
        *loaded(f"strides{k}", "ptr", f"o{k}", STRIDES),
    ]
    for axis in range(n_axes):
        lines += loaded(f"length{k}.{axis}", "i64", f"lengths{k}", 8 * axis)
        lines += loaded(f"bytes{k}.{axis}", "i64", f"strides{k}", 8 * axis)
        lines += [f"  %step{k}.{axis} = ashr exact i64 %bytes{k}.{axis}, 3"]
    return [*lines, f"  br label %a{k + 1}"]


def _passed(k: int, sign: str) -> str:
    if sign == "M":
        return f"ptr %v{k}, i64 %length{k}.0, i64 %step{k}.0, i64 %length{k}.1, i64 %step{k}.1"
    return {"i": f"i64 %v{k}", "t": f"double %v{k}"}.get(sign, f"ptr %v{k}, i64 %length{k}.0")


_message = ctypes.c_void_p(0)


def compiled_stage(function: Callable[..., Any], name: str, kinds: str, described: str, dual: bool) -> Module:
    """A stage as a C function, on dual numbers or on doubles. `described` is what its code depends on beside its
    sources."""

    def text() -> str:
        translation = Translation(dual)
        translation.exported(function, symbol_of(name, dual), tuple(translation.kinds(kinds)))
        return translation.text()

    return _code(function, text, described, dual)


def compiled_entry(
    function: Callable[..., Any], symbol: str, signs: str, described: str
) -> tuple[Module, Callable[..., None]]:
    """An entry as a C function with this symbol, as one of `rbdae.machine.function`, ``symbol.machine``, and as a
    function that Python calls.

    Raises NoMachineCode where Python's objects are not as the last one reads them.
    """

    def text() -> str:
        translation = Translation()
        translation.exported(function, symbol, tuple(KINDS[sign] for sign in signs))
        translation.add_message()
        translation.add(python_entry(symbol, signs, function.__name__))
        translation.add(machine_entry(symbol, signs))
        return translation.text()

    if not supported():
        raise NoMachineCode(
            "this Python keeps floats and arrays elsewhere than kernels look for them; plain Python runs"
        )
    module = _code(function, text, described, dual=False)
    call, definition = builtin(module.address(f"{symbol}.python"), function.__name__, module)
    module.alive.append(definition)
    return module, call


def compiled_dual(function: Callable[..., Any], symbol: str, signs: str) -> Module:
    """An entry on dual numbers: ``symbol.machine`` is a function of `rbdae.machine.function`, whose vectors have eight
    doubles for each number."""
    vector = Array(DUAL, ((None, DUAL_WIDTH),))
    kinds: dict[str, Kind] = {"i": INT, "t": FLOAT, "y": vector, "o": vector}

    def text() -> str:
        translation = Translation(dual=True)
        translation.exported(function, symbol, tuple(kinds[sign] for sign in signs))
        translation.add_message()
        translation.add(machine_entry(symbol, signs))
        return translation.text()

    return _code(function, text, f"{symbol} {signs}", dual=True)


def _code(function: Callable[..., Any], text: Callable[[], str], described: str, dual: bool) -> Module:
    link_python()
    for known in named_by(function):
        cell = known.cell(dual)
        if cell is not None:
            link(*cell)
    made_of = ("dual" if dual else "kernel", fingerprint(function, described), sources(compiler, language))
    return from_cache(made_of, lambda: Written(text(), loops=True))[0]


@cache
def link_python() -> None:
    """Give CPython's functions, and the cell for messages, their symbols."""
    link(MESSAGE, ctypes.addressof(_message))
    for symbol, address in symbols().items():
        link(symbol, address)


__all__ = ["compiled_dual", "compiled_entry", "compiled_stage", "link", "link_python"]
