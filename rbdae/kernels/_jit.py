"""The only file that names numba: how a kernel is compiled, cached and entered.

Three decorators:

``jit``
    a kernel that other kernels call. Lazy, cached on disk, no Python objects, IEEE division.
``stage``
    a larger kernel that other kernels call, compiled once as a C function and linked by its symbol. (numba would link
    a copy into every caller and optimise it again at each level of the call tree: four times the compile time.) Its
    arguments are integers and floats; arrays go as addresses (`address`, `vector_at`, `matrix_at`).
``entry``
    a kernel that Python calls, compiled for one fixed signature, so that a solver's read-only views do not cost a
    second compilation, and entered through its C function: no type dispatch (saves 0.2 us of 0.6).

With ``NUMBA_DISABLE_JIT=1`` all leave the function as it is; it then also takes complex numbers.

The cache directory carries a hash of the sources, because numba does not notice that a callee in another file has
changed (numba 0.68, ``cache=True``: the caller stays stale).
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite.binding as llvm
import numba as _numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic

numba: Any = _numba  # its stubs know neither the wrapper options nor the run-time configuration

F = TypeVar("F", bound=Callable[..., Any])

ENABLED: bool = not numba.config.DISABLE_JIT


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home())))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")))


def _cache_directory() -> str:
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    for folder in ("kernels", "formulations"):
        for source in sorted((package / folder).glob("*.py")):
            digest.update(source.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR")
    root = Path(base) if base else _user_cache() / "rbdae"
    return str(root / f"kernels-{digest.hexdigest()[:16]}")


_DIRECTORY = _cache_directory() if ENABLED else ""
_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}


@contextmanager
def _our_cache() -> Iterator[None]:
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _DIRECTORY
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def jit(function: F) -> F:
    """Compile a kernel (lazily); leave it alone with the JIT off."""
    if not ENABLED:
        return function
    with _our_cache():
        return cast(F, numba.njit(no_cfunc_wrapper=True, no_cpython_wrapper=True, **_OPTIONS)(function))


class _Stage:
    """A kernel behind a symbol; `ensure` compiles it, what it calls first."""

    def __init__(self, function: Callable[..., Any], symbol: str, signature: Any) -> None:
        self.function = function
        self.symbol = symbol
        self.signature = signature
        self.compiled: Any = None

    def ensure(self) -> None:
        if self.compiled is None:
            _ensure_stages(self.function)
            with _our_cache():
                self.compiled = numba.cfunc(self.signature, **_OPTIONS)(self.function)
            llvm.add_symbol(self.symbol, self.compiled.address)


_STAGES: dict[str, _Stage] = {}


def _ensure_stages(function: Callable[..., Any]) -> None:
    """Compile the stages that a kernel calls, directly or through others: code that names a symbol can only be
    linked when the symbol is there."""
    pending, seen = [function], set()
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        for name in current.__code__.co_names:
            value = current.__globals__.get(name)
            if isinstance(value, types.ExternalFunction):
                if value.symbol in _STAGES:
                    _STAGES[value.symbol].ensure()
            elif isinstance(value, Dispatcher):
                pending.append(value.py_func)


def stage(kinds: str) -> Callable[[F], F]:
    """Mark a kernel as a stage with the argument kinds `kinds`: ``i`` integer or address, ``f`` float."""

    def decorate(function: F) -> F:
        if not ENABLED:
            return function
        signature = types.void(*(types.int64 if k == "i" else types.float64 for k in kinds))
        symbol = f"{function.__module__}.{function.__qualname__}".replace(".", "_")
        _STAGES[symbol] = _Stage(function, symbol, signature)
        return cast(F, types.ExternalFunction(symbol, signature))

    return decorate


_VECTOR_IN = types.Array(types.float64, 1, "C", readonly=True)
_VECTOR_OUT = types.Array(types.float64, 1, "C")
_MATRIX_OUT = types.Array(types.float64, 2, "A")
_SIGNS = {"t": types.float64, "y": _VECTOR_IN, "o": _VECTOR_OUT, "M": _MATRIX_OUT, "i": types.intp}


class Entry:
    """A kernel with one signature: ``t`` float, ``y`` input vector, ``o`` output vector, ``M`` output matrix of any
    strides, ``i`` integer (the model block comes first, so that `functools.partial` can bind it)."""

    def __init__(self, function: Callable[..., Any], signs: str) -> None:
        self.python = function
        self.kernel: Any = function
        if ENABLED:
            with _our_cache():
                self.kernel = numba.njit(no_cfunc_wrapper=True, **_OPTIONS)(function)
        self.signs = signs
        self._compiled: Callable[..., Any] | None = None

    def compiled(self) -> Callable[..., Any]:
        """The C function (compiled or loaded from the cache now), or the Python function with the JIT off.

        It trusts its arguments: float64, vectors contiguous.
        """
        if self._compiled is None:
            if ENABLED:
                dispatcher = self.kernel
                signature = tuple(_SIGNS[s] for s in self.signs)
                _ensure_stages(self.python)
                dispatcher.compile(signature)
                self._compiled = dispatcher.get_overload(signature)
            else:
                self._compiled = self.python
        return self._compiled


def entry(signs: str) -> Callable[[Callable[..., Any]], Entry]:
    """Mark a kernel as called from Python with the argument kinds `signs` (see `Entry`)."""

    def decorate(function: Callable[..., Any]) -> Entry:
        return Entry(function, signs)

    return decorate


@intrinsic
def as_pointer(typingctx: Any, address: Any) -> Any:
    """An integer address as a void pointer (numba's `carray` takes it)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.intp), codegen


carray = numba.carray

# longer than any vector here: only the address counts
_LONG = 1 << 40

if ENABLED:

    @jit
    def address(array):
        """Where an array begins, for a stage."""
        return array.ctypes.data

    @jit
    def vector_at(where):
        """The vector at an address."""
        return carray(as_pointer(where), _LONG, np.float64)

    @jit
    def matrix_at(where, step):
        """The matrix at an address whose rows are `step` numbers apart."""
        return carray(as_pointer(where), (_LONG, step), np.float64)

else:

    def address(array: Any) -> Any:
        return array

    def vector_at(where: Any) -> Any:
        return where

    def matrix_at(where: Any, step: Any) -> Any:
        return where
