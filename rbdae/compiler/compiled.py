"""Kernels as numba sees them.

In the globals of their modules kernels are Python functions. numba gets twins of them, with the same code and other
globals, in which kernels are numba's functions, or what calls a C function by its symbol. A twin has the file, lines
and names of its source, so that numba's cache and messages are those of the source.

This module imports numba, half a second, and is imported itself when the first kernel is to be compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

import llvmlite
import llvmlite.binding as llvm
import numba as _numba
from numba import types
from numba.core import typing as _numba_typing

from rbdae.compiler import cells
from rbdae.compiler.declared import declared
from rbdae.compiler.options import ENABLED, OPTIONS
from rbdae.compiler.twins import Scopes

numba: Any = _numba  # its stubs know neither the wrapper options nor the run-time configuration

_typing: Any = _numba_typing

if ENABLED and numba.config.DISABLE_JIT:
    raise RuntimeError(
        "NUMBA_DISABLE_JIT was set after rbdae had been imported: set it before, or leave it alone while this process "
        "runs"
    )

_KINDS = {"i": types.int64, "f": types.float64}

_ARGUMENTS = {
    "t": types.float64,
    "y": types.Array(types.float64, 1, "C", readonly=True),
    "o": types.Array(types.float64, 1, "C"),
    "M": types.Array(types.float64, 2, "A"),
    "i": types.intp,
}


def _signature(kinds: str) -> Any:
    return types.void(*(_KINDS[k] for k in kinds))


@final
class _Compiler:
    """Makes the twins, one of each kernel in a process."""

    def __init__(self) -> None:
        self._inlined: dict[Callable[..., Any], Any] = {}
        self._called: dict[str, Any] = {}
        self._scopes = Scopes(self._of)

    def _of(self, value: Any) -> Any:
        known = declared(value)
        return value if known is None else known.callee(self)

    # ------------------------------------------------------------ what kernels call

    def inlined(self, source: Callable[..., Any]) -> Any:
        """A function that becomes part of its callers."""
        if source not in self._inlined:
            twin = self._scopes.empty(source)
            self._inlined[source] = numba.njit(no_cfunc_wrapper=True, no_cpython_wrapper=True, **OPTIONS)(twin)
            self._scopes.fill(twin, source)
        return self._inlined[source]

    def linked(self, symbol: str, kinds: str) -> Any:
        """A C function by its symbol."""
        return self._once(symbol, lambda: types.ExternalFunction(symbol, _signature(kinds)))

    def in_cell(self, symbol: str, kinds: str, message: str, cell: int) -> Any:
        """A C function by the address of the cell that will have its address."""

        def make() -> Any:
            llvm.add_symbol(symbol, cell)
            return cells.call_cell(symbol, _signature(kinds), message)

        return self._once(symbol, make)

    def in_table(self, symbol: str, kinds: str, message: str, table: int) -> Any:
        """Several of them by their number, in a table."""

        def make() -> Any:
            llvm.add_symbol(symbol, table)
            return cells.call_table(symbol, _signature(kinds), message)

        return self._once(symbol, make)

    def known(self, name: str) -> Any:
        """The object of this name that only machine code has."""
        return cells.ONLY_HERE[name]

    def _once(self, symbol: str, make: Callable[[], Any]) -> Any:
        if symbol not in self._called:
            self._called[symbol] = make()
        return self._called[symbol]

    # ------------------------------------------------------------ what calls kernels

    def stage(self, source: Callable[..., Any], kinds: str, options: dict[str, Any]) -> Any:
        """A C function, compiled or loaded from numba's cache; it has an `address`."""
        return numba.cfunc(_signature(kinds), **options)(self._twin(source))

    def entry(self, source: Callable[..., Any], signs: str, options: dict[str, Any]) -> tuple[Any, Callable[..., Any]]:
        """A function of numba with one signature, compiled or loaded from its cache, and its C function for Python."""
        arguments = tuple(_ARGUMENTS[s] for s in signs)
        kernel = numba.njit(no_cfunc_wrapper=True, **options)(self._twin(source))
        kernel.compile(_typing.signature(cells.done, *arguments))
        return kernel, kernel.get_overload(arguments)

    def _twin(self, source: Callable[..., Any]) -> Callable[..., Any]:
        return self._scopes.fill(self._scopes.empty(source), source)


COMPILER = _Compiler()
"""That of this process; one thread at a time (`rbdae.compiler.options.COMPILING`)."""


def versions() -> tuple[str, ...]:
    """The compiler and the processor, on which machine code depends beside its sources."""
    return (
        numba.__version__,
        llvmlite.__version__,
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
    )


@contextmanager
def numba_cache(folder: Path) -> Iterator[None]:
    """Have numba keep its cache in a folder."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def link(symbol: str, address: int) -> None:
    """Give a symbol an address."""
    llvm.add_symbol(symbol, address)


def link_if_missing(symbol: str, address: int) -> None:
    """Give a symbol an address if it has none."""
    if llvm.address_of_symbol(symbol) is None:
        llvm.add_symbol(symbol, address)
