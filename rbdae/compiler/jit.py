"""How a kernel is compiled, linked and entered.

Five decorators, which leave a Python function as it is (a family and an entry become objects), and say what it is to be
in machine code. numba is imported when the first kernel is asked for in machine code, not before.

``jit``
    a kernel that other kernels call. Lazy, no Python objects, IEEE division. It becomes part of its callers; they are
    cached on disk, it is not.
``stage``
    a larger kernel that other kernels call, compiled once as a C function and linked by its symbol. (numba would link
    a copy into every caller and optimise it again at each level of the call tree: four times the compile time.) Its
    arguments are integers and floats; arrays go as addresses (`rbdae.compiler.access`). A stage that only some problems
    need (one kind of velocity or force) names the features in `when`; it is called through a cell, and the cell is
    filled when the first problem with these features comes: a first use compiles no more than it runs.
``family``
    several stages that do the same, one for each number: of each chart, one. Callers find them in a table, and do not
    depend on what is in it.
``entry``
    a kernel that Python calls, compiled for one fixed signature, so that a solver's read-only views do not cost a
    second compilation, and entered through its C function: no type dispatch (saves 0.2 us of 0.6).
``two_sided``
    a kernel that plain Python cannot run, with a plain function to take its place.

`plain` makes plain Python of any kernel. With ``NUMBA_DISABLE_JIT=1`` nothing is compiled, and all kernels are plain.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from importlib import import_module
from types import FunctionType
from typing import Any, TypeVar, final

from rbdae import _forks, _signals
from rbdae.compiler import ahead
from rbdae.compiler.cache import Cached
from rbdae.compiler.declared import Declared, Features, Inlined, Machine, Twins, declare, declared, needed
from rbdae.compiler.options import COMPILING, ENABLED, collector_off
from rbdae.compiler.plain import plain
from rbdae.compiler.stages import STAGES, Family, Stage, name_of
from rbdae.compiler.stages import add_member as add_member
from rbdae.compiler.stages import family as family
from rbdae.compiler.stages import stage as stage

F = TypeVar("F", bound=Callable[..., Any])

_ENTRIES: dict[str, Entry] = {}
"""All entries by name."""


def jit(function: F) -> F:
    """Mark a kernel as part of the kernels that call it."""
    declare(function, Inlined(function))
    return function


@final
class _TwoSided(Declared):
    def __init__(self, kernel: Any, plain_side: Callable[..., Any]) -> None:
        self.source = kernel if isinstance(declared(kernel), Inlined) else None
        self._kernel = kernel
        self._plain = plain_side

    @property
    def described(self) -> str:
        return "inlined" if self.source is not None else repr(self._kernel)

    def plain(self, twins: Twins) -> Callable[..., Any]:
        # a plain side may call kernels, too: it has to find their twins, which Python can call
        return twins.function(self._plain) if isinstance(self._plain, FunctionType) else self._plain

    def callee(self, machine: Machine) -> Any:
        return self._kernel if self.source is None else machine.inlined(self.source)


def two_sided(plain_side: Callable[..., Any]) -> Callable[[F], F]:
    """Give a kernel (made by `jit`, or a function of the module `math`) a plain function to take its place."""

    def decorate(kernel: F) -> F:
        declare(kernel, _TwoSided(kernel, plain_side))
        return kernel

    return decorate


@final
class Entry(Declared, Cached):
    """A kernel with one signature: ``t`` float, ``y`` input vector, ``o`` output vector, ``M`` output matrix of any
    strides, ``i`` integer (the model block comes first, so that `functools.partial` can bind it)."""

    def __init__(self, function: Callable[..., Any], signs: str) -> None:
        self.function = function
        self.name = name_of(function)
        self.signs = signs
        self.kind = f"entry {signs}"
        self._kernel: Any = None
        self._compiled: Callable[..., Any] | None = None
        self._ready: set[tuple[Features | None, int]] = set()
        _ENTRIES[self.name] = self
        declare(self, self)

    def __reduce__(self) -> tuple[Any, ...]:
        """There is one of each in a process, found by its name."""
        return _named, (self.name,)

    @property
    def described(self) -> str:
        """Kernels do not call entries."""
        return f"{self.kind} {self.name}"

    @property
    def kernel(self) -> Any:
        """For loops in compiled code: numba's function."""
        self.compiled()
        return self._kernel

    def plain(self, twins: Twins) -> Callable[..., Any]:
        """Its twin."""
        return twins.function(self.function)

    def callee(self, machine: Machine) -> Any:
        """Kernels do not call entries."""
        return self

    def missing(self, features: Features | None) -> list[Cached]:
        """The kernels that the cache on disk lacks for problems with these features, the longest first."""
        if not ENABLED or (features, Family.size) in self._ready:
            return []
        stages = [s for s in needed(self.function, features) if isinstance(s, Stage)]
        lacking: list[Cached] = [s for s in stages if s.compiled is None and not s.is_cached]
        lacking.sort(key=lambda s: -len(s.function.__code__.co_code))
        return lacking if self.is_cached else [self, *lacking]

    def compiled(self, features: Features | None = None) -> Callable[..., Any]:
        """The C function (compiled or loaded from the cache now) for problems with these features (None: for all), or
        the plain twin with the JIT off.

        It trusts its arguments: float64, vectors contiguous.
        """
        if not ENABLED:
            return plain(self, features)
        if (features, Family.size) not in self._ready or self._compiled is None:
            with COMPILING:
                self._compile(features)
        assert self._compiled is not None
        return self._compiled

    def _compile(self, features: Features | None) -> None:
        missing = self.missing(features)
        if missing:
            ahead.wait_for(missing, pause=lambda: _forks.give_way(COMPILING))
        with collector_off():
            for stage in needed(self.function, features):
                assert isinstance(stage, Stage)
                stage.ensure()
                _signals.check()
                _forks.give_way(COMPILING)
        if self._compiled is None:
            self._compiled = self.ensure()
        self._ready.add((features, Family.size))

    def ensure(self) -> Callable[..., Any]:
        """Compile it, or load it from the cache."""
        from rbdae.compiler.compiled import COMPILER  # numba is imported here

        with collector_off():
            self._kernel, out = self.made(lambda options: COMPILER.entry(self.function, self.signs, options))
        return out


def entry(signs: str) -> Callable[[Callable[..., Any]], Entry]:
    """Mark a kernel as called from Python with the argument kinds `signs` (see `Entry`)."""

    def decorate(function: Callable[..., Any]) -> Entry:
        return Entry(function, signs)

    return decorate


Goals = Sequence[tuple[Entry, Features | None]]
"""Kernels, and the features of the problems that want them."""


def expect(now: Goals, later: Goals) -> None:
    """Begin with what the cache lacks of several kernels, which will be wanted in this order; do not wait.

    If it lacks nothing of those that are wanted now, it is not the first use: what that one has not called this one
    will hardly call, and workers for it would be stopped with every short process before they are ready.
    """
    if ENABLED and any(entry.missing(features) for entry, features in now):
        ahead.begin([kernel for entry, features in (*now, *later) for kernel in entry.missing(features)])


def _named(name: str) -> Entry:
    """The entry of this name."""
    import_module(name.partition(":")[0])
    return _ENTRIES[name]


def compile_alone(name: str) -> None:
    """Compile one kernel into the cache on disk, for processes that never run it: the stages that it calls get an
    address that is good for linking only."""
    import_module(name.partition(":")[0])
    kernel: Stage | Entry = STAGES[name] if name in STAGES else _ENTRIES[name]
    from rbdae.compiler.compiled import link_if_missing  # numba is imported here

    nothing = ctypes.c_void_p(0)
    for called in needed(kernel.function, None):
        assert isinstance(called, Stage)
        if not called.when:
            link_if_missing(called.name, ctypes.addressof(nothing))
    with collector_off():
        kernel.ensure()
