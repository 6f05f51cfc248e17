"""The only file that names numba: how a kernel is compiled, cached and entered.

Three decorators:

``jit``
    a kernel that other kernels call. Lazy, no Python objects, IEEE division. Not cached on disk: its callers are, and
    two processes that compile one function for two signatures can leave numba's index with the wrong one's code.
``stage``
    a larger kernel that other kernels call, compiled once as a C function and linked by its symbol. (numba would link
    a copy into every caller and optimise it again at each level of the call tree: four times the compile time.) Its
    arguments are integers and floats; arrays go as addresses (`address`, `vector_at`, `matrix_at`). A stage that only
    some problems need (one chart, one kind of velocity or force) names the features in `when`; it is called through a
    cell, and the cell is filled when the first problem with these features comes: a first use compiles no more than
    it runs.
``entry``
    a kernel that Python calls, compiled for one fixed signature, so that a solver's read-only views do not cost a
    second compilation, and entered through its C function: no type dispatch (saves 0.2 us of 0.6).

With ``NUMBA_DISABLE_JIT=1`` all leave the function as it is; it then also takes complex numbers.

The cache directory carries a hash of the sources, because numba does not notice that a callee in another file has
changed (numba 0.68, ``cache=True``: the caller stays stale). It carries all else that numba's own index depends on, so
that a mark in it for each kernel says what is there: what is missing can be compiled by several processes
(`rbdae.compiler.ahead`).
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import os
import sys
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar, cast

import llvmlite
import llvmlite.binding as llvm
import llvmlite.ir as ir
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
    package = Path(__file__).resolve().parent.parent
    versions = (numba.__version__, llvmlite.__version__, sys.implementation.cache_tag, llvm.get_host_cpu_name())
    digest = hashlib.sha256(repr((str(package), *versions)).encode())
    for folder in ("compiler", "rotations", "kernels", "formulations"):
        for source in sorted((package / folder).rglob("*.py")):
            digest.update(source.read_bytes())
            digest.update(str(source.stat().st_mtime_ns).encode())
    base = os.environ.get("NUMBA_CACHE_DIR")
    root = Path(base) if base else _user_cache() / "rbdae"
    return str(root / f"kernels-{digest.hexdigest()[:16]}")


_DIRECTORY = _cache_directory() if ENABLED else ""
_OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}
_CACHED: dict[str, Any] = {"cache": True, **_OPTIONS}


@contextmanager
def _our_cache() -> Iterator[None]:
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _DIRECTORY
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


@contextmanager
def _collector_off() -> Iterator[None]:
    """A compilation makes millions of objects that live: the garbage collector costs a tenth and finds nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def jit(function: F) -> F:
    """Compile a kernel (lazily); leave it alone with the JIT off."""
    if not ENABLED:
        return function
    return cast(F, numba.njit(no_cfunc_wrapper=True, no_cpython_wrapper=True, **_OPTIONS)(function))


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}:{function.__qualname__}"


_MARKED: set[str] = set()


def is_cached(name: str) -> bool:
    """Whether a kernel is in the cache on disk."""
    if name not in _MARKED and os.path.exists(_mark_of(name)):
        _MARKED.add(name)
    return name in _MARKED


def _mark_of(name: str) -> str:
    return f"{_DIRECTORY}/compiled/{name.replace(':', '.')}"


def _mark(name: str) -> None:
    if not is_cached(name) and can_mark():
        # without a mark a kernel is looked for in the cache all the same
        with suppress(OSError):
            Path(_mark_of(name)).touch()


def can_mark() -> bool:
    """Whether the cache on disk can be written."""
    folder = Path(_DIRECTORY, "compiled")
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return os.access(folder, os.W_OK)


Features = frozenset[str]


class _Stage:
    """A kernel behind a symbol, or behind a cell that holds its address; `ensure` compiles it, what it calls first."""

    def __init__(self, function: Callable[..., Any], symbol: str, signature: Any, when: Features) -> None:
        self.function = function
        self.name = _name(function)
        self.symbol = symbol
        self.signature = signature
        self.when = when
        self.cell = ctypes.c_void_p(0)
        self.compiled: Any = None
        if when:
            llvm.add_symbol(symbol, ctypes.addressof(self.cell))

    def ensure(self) -> None:
        if self.compiled is None:
            with _our_cache():
                self.compiled = numba.cfunc(self.signature, **_CACHED)(self.function)
            if self.when:
                self.cell.value = self.compiled.address
            else:
                llvm.add_symbol(self.symbol, self.compiled.address)
            _mark(self.name)


_STAGES: dict[Any, _Stage] = {}


def _named(function: Callable[..., Any]) -> Iterator[Any]:
    """What a function names: globals, and attributes of modules among them."""
    names = function.__code__.co_names
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            yield from (getattr(value, other, None) for other in names)
        else:
            yield value


@cache
def _called(function: Callable[..., Any]) -> tuple[tuple[Callable[..., Any], _Stage | None], ...]:
    """The kernels that a kernel names; with their stages, or None where they become part of its code."""
    found: dict[Any, None] = {}
    for value in _named(function):
        if isinstance(value, Dispatcher):
            found[value.py_func, None] = None
        elif isinstance(value, Hashable) and value in _STAGES:
            found[_STAGES[value].function, _STAGES[value]] = None
    return tuple(found)


def _needed(function: Callable[..., Any], features: Features | None) -> list[_Stage]:
    """The stages behind a kernel that problems with these features need (None: all), those first that others call:
    code that names a symbol can only be linked when the symbol is there."""
    seen = set()
    order = []

    def walk(caller: Callable[..., Any]) -> None:
        seen.add(caller)
        for callee, made in _called(caller):
            if callee not in seen and (made is None or features is None or made.when <= features):
                walk(callee)
                if made is not None:
                    order.append(made)

    walk(function)
    return order


def stage(kinds: str, when: str = "") -> Callable[[F], F]:
    """Mark a kernel as a stage with the argument kinds `kinds`: ``i`` integer or address, ``f`` float.

    `when` names the features, separated by spaces, that a problem must all have to need it (`Workspace.features`);
    without them it does nothing.
    """

    def decorate(function: F) -> F:
        if not ENABLED:
            return function
        signature = types.void(*(types.int64 if k == "i" else types.float64 for k in kinds))
        symbol = f"{function.__module__}.{function.__qualname__}".replace(".", "_")
        called = _through_cell(symbol, signature) if when else types.ExternalFunction(symbol, signature)
        _STAGES[called] = _Stage(function, symbol, signature, frozenset(when.split()))
        return cast(F, called)

    return decorate


def _through_cell(symbol: str, signature: Any) -> Any:
    """A function for kernels that calls the address which it finds at `symbol`."""

    def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:
        pointer = ir.FunctionType(ir.VoidType(), [context.get_value_type(a) for a in signature.args]).as_pointer()
        cell = builder.module.globals.get(symbol) or ir.GlobalVariable(builder.module, pointer, symbol)
        function = builder.load(cell)
        with builder.if_then(cgutils.is_not_null(builder, function), likely=True):
            builder.call(function, args)
        return context.get_dummy_value()

    def call(typingctx: Any, *arguments: Any) -> Any:
        return signature, codegen

    # numba reads the number of arguments from it
    names = ["typingctx", *(f"a{k}" for k in range(len(signature.args)))]
    call.__signature__ = Signature([Parameter(n, Parameter.POSITIONAL_OR_KEYWORD) for n in names])  # type: ignore[attr-defined]
    return intrinsic(call)


_VECTOR_IN = types.Array(types.float64, 1, "C", readonly=True)
_VECTOR_OUT = types.Array(types.float64, 1, "C")
_MATRIX_OUT = types.Array(types.float64, 2, "A")
_SIGNS = {"t": types.float64, "y": _VECTOR_IN, "o": _VECTOR_OUT, "M": _MATRIX_OUT, "i": types.intp}


class Entry:
    """A kernel with one signature: ``t`` float, ``y`` input vector, ``o`` output vector, ``M`` output matrix of any
    strides, ``i`` integer (the model block comes first, so that `functools.partial` can bind it)."""

    def __init__(self, function: Callable[..., Any], signs: str) -> None:
        self.python = function
        self.name = _name(function)
        self.kernel: Any = function
        if ENABLED:
            with _our_cache():
                self.kernel = numba.njit(no_cfunc_wrapper=True, **_CACHED)(function)
        self.signs = signs
        self._compiled: Callable[..., Any] | None = None
        self._ready: set[Features | None] = set()

    def missing(self, features: Features | None) -> list[str]:
        """What the cache on disk lacks for problems with these features: names, the longest kernel first."""
        if not ENABLED or features in self._ready:
            return []
        lacking = [s for s in _needed(self.python, features) if s.compiled is None and not is_cached(s.name)]
        lacking.sort(key=lambda s: -len(s.function.__code__.co_code))
        names = [s.name for s in lacking]
        return names if is_cached(self.name) else [self.name, *names]

    def compiled(self, features: Features | None = None) -> Callable[..., Any]:
        """The C function (compiled or loaded from the cache now) for problems with these features (None: for all), or
        the Python function with the JIT off.

        It trusts its arguments: float64, vectors contiguous.
        """
        if not ENABLED:
            return self.python
        if features not in self._ready:
            missing = self.missing(features)
            if missing:
                from rbdae.compiler import ahead as _ahead

                _ahead.wait_for(missing)
            with _collector_off():
                for needed in _needed(self.python, features):
                    needed.ensure()
            self._ready.add(features)
        if self._compiled is None:
            self._compiled = self._compile()
        return self._compiled

    def _compile(self) -> Callable[..., Any]:
        dispatcher = self.kernel
        signature = tuple(_SIGNS[s] for s in self.signs)
        with _collector_off():
            dispatcher.compile(signature)
        _mark(self.name)
        return cast(Callable[..., Any], dispatcher.get_overload(signature))


def compile_alone(name: str) -> None:
    """Compile one kernel into the cache on disk, for processes that never run it: the stages that it calls get an
    address that is good for linking only."""
    module, _, attribute = name.partition(":")
    function = getattr(import_module(module), attribute)
    for called in _STAGES.values():
        if not called.when and llvm.address_of_symbol(called.symbol) is None:
            llvm.add_symbol(called.symbol, ctypes.addressof(called.cell))
    with _collector_off():
        if isinstance(function, Entry):
            function._compile()
        else:
            _STAGES[function].ensure()


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

# Python functions behind the addresses that kernels call, for the JIT off
FOREIGN: dict[int, Callable[..., Any]] = {}


def is_compiled(function: Any) -> bool:
    """Whether a user's function is a numba function."""
    return isinstance(function, Dispatcher)


def like(function: Any, made: Callable[..., Any]) -> Callable[..., Any]:
    """A function made around a user's one, compiled where that one is."""
    return cast(Callable[..., Any], numba.njit(made)) if ENABLED and is_compiled(function) else made


def foreign(function: Any, n_in: int, n_out: int) -> Any:
    """A user's numba function f(t, x, out) as a C function."""
    pointer = types.CPointer(types.float64)

    def call(t, x, out):
        function(t, carray(x, n_in), carray(out, n_out))

    return numba.cfunc(types.void(types.float64, pointer, pointer))(call)


@intrinsic
def _call_address(typingctx: Any, where: Any, t: Any, x_at: Any, out_at: Any) -> Any:
    """Call the C function at an address."""
    signature = types.void(types.int64, types.float64, types.int64, types.int64)

    def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:
        number = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [ir.DoubleType(), number, number])
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])
        return context.get_dummy_value()

    return signature, codegen


# longer than any vector here: only the address counts
_LONG = 1 << 40

if ENABLED:

    @jit
    def call_foreign(where, t, x, out):
        """A user's function at an address: f(t, x, out)."""
        _call_address(where, t, x.ctypes.data, out.ctypes.data)

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

    def call_foreign(where: Any, t: Any, x: Any, out: Any) -> None:
        FOREIGN[int(where)](t, x, out)

    def address(array: Any) -> Any:
        return array

    def vector_at(where: Any) -> Any:
        return where

    def matrix_at(where: Any, step: Any) -> Any:
        return where
