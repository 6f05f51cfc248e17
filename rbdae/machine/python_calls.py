"""Machine code as functions that Python calls."""

from __future__ import annotations

import ctypes
import struct
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from rbdae import _check
from rbdae.machine import entries
from rbdae.machine.function import CONVERTING, PLAIN, Context, Shapes, names_of

_FASTCALL = 0x0080
_NEW = ctypes.pythonapi.PyCFunction_NewEx
_NEW.restype = ctypes.py_object
_NEW.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]


class _Definition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


@cache
def supported() -> bool:
    """Whether floats and arrays of this Python are laid out as `rbdae.machine.entries` reads them."""
    number, scalar, array = 1.2345, np.float64(1.2345), np.zeros((2, 3))

    def at(address: int, letter: str) -> Any:
        return struct.unpack(letter, ctypes.string_at(address, struct.calcsize(letter)))[0]

    if object.__basicsize__ != 16 or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    one, many, kind = id(number), id(array), id(array.dtype)
    wanted = entries.CONTIGUOUS | entries.ALIGNED | entries.WRITEABLE
    return bool(
        at(one + entries.CONTENT, "d") == at(id(scalar) + entries.CONTENT, "d") == number
        and at(one + entries.TYPE, "P") == id(float)
        and at(many + entries.CONTENT, "P") == array.ctypes.data
        and at(many + entries.DIMENSIONS, "i") == 2
        and at(many + entries.DTYPE, "P") == kind
        and at(many + entries.FLAGS, "i") & wanted == wanted
        and at(kind + entries.BYTE_ORDER, "B") == entries.NATIVE
        and at(kind + entries.NUMBER, "i") == entries.DOUBLE
        and at(at(many + entries.STRIDES, "P"), "q") == array.strides[0]
        and at(at(many + entries.LENGTHS, "P"), "q") == array.shape[0]
    )


def callable_from_python(
    address: int, name: str, context: Context, signs: str, shapes: Shapes, plain: Callable[..., None]
) -> Callable[..., None]:
    """A function of Python that calls machine code made by `rbdae.machine.entries.python_entry`. `plain` is the
    kernel for states at which a guard does not hold. It owns the context."""
    known: list[Any] = []

    def converting(*arguments: Any) -> None:
        *given, out = as_expected(name, signs, shapes, arguments)
        whole = out
        if out.ndim > 1 and out.strides not in ((8 * out.shape[1], 8), (8, 8 * out.shape[0])):
            whole = np.empty(out.shape)
        known[0]()(*given, whole)
        if whole is not out:
            out[...] = whole

    definition = _Definition(name.encode(), address, _FASTCALL, b"")  # has to live as long as the function
    out: Callable[..., None] = _NEW(ctypes.addressof(definition), context, None)
    context.alive += [definition, converting, plain]
    context[CONVERTING], context[PLAIN] = id(converting), id(plain)
    known.append(weakref.ref(out))  # it owns the context: it would keep itself alive
    return out


def as_expected(name: str, signs: str, shapes: Shapes, arguments: tuple[Any, ...]) -> list[Any]:
    """Arguments as machine code reads them; refuses those that it could not read."""
    if len(arguments) != len(signs):
        raise TypeError(f"{name} takes {len(signs)} arguments, got {len(arguments)}")
    found: list[Any] = [
        _array(name, which, shapes, value) if which in shapes else _number(name, value)
        for which, value in zip(names_of(signs), arguments, strict=True)
    ]
    out = found[-1]
    for k, sign in enumerate(signs[:-1]):
        if sign == "y" and np.may_share_memory(found[k], out):
            found[k] = found[k].copy()  # results are stored before all of it is read
    return found


def _number(name: str, value: Any) -> float:
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"{name} takes numbers and arrays, got {value!r:.60}; give a number")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} takes numbers up to 1.8e308, got {_check.show(value)}; give a smaller one") from None


def _array(name: str, which: str, shapes: Shapes, value: Any) -> Any:
    shape = shapes[which]
    fits = isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)  # its mask would be ignored
    fits = fits and value.dtype == np.float64 and value.shape == shape and value.flags.aligned
    laid_out = fits and value.flags.c_contiguous
    if fits and len(shape) > 1:
        laid_out = all(stride > 0 for stride, length in zip(value.strides, shape, strict=True) if length > 1)
    if laid_out and (which != "out" or value.flags.writeable):
        plain = value.view(np.ndarray)
        return plain if plain.dtype.byteorder == "=" else plain.view(np.float64)
    kind = f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
    if isinstance(value, np.ma.MaskedArray):
        kind = "a masked array"
    raise TypeError(
        f"{name}: {which} must be a float64 array of shape {shape}, contiguous if it is a vector, aligned, with "
        f"positive strides{', and writable' if which == 'out' else ''}; got {kind}"
    )
