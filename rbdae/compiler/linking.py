"""Machine code of kernels: kept on disk by what it depends on, and linked by the symbols of kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

from rbdae import compiler
from rbdae.compiler.declared import named_by, symbol_of
from rbdae.compiler.fingerprint import fingerprint
from rbdae.compiler.machine_entry import machine_entry
from rbdae.compiler.python_entry import KINDS, python_entry, symbols
from rbdae.compiler.translation import MESSAGE, Translation
from rbdae.machine import language
from rbdae.machine.language.kinds import DUAL, DUAL_WIDTH, FLOAT, INT, Array, Kind
from rbdae.machine.module import Module, NoMachineCode, Written, from_cache, link
from rbdae.machine.python_calls import builtin, supported
from rbdae.machine.sources import sources

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
