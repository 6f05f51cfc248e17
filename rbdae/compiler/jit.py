"""How a kernel is compiled, linked and entered.

Five decorators, which leave a Python function as it is (a family and an entry become objects), and say what it is to be
in machine code. Kernels are translated to LLVM IR (`rbdae.compiler.translation`) when a problem first needs them.

``jit``
    a kernel that other kernels call. It becomes part of its callers; they are cached on disk, it is not.
``stage``
    a larger kernel that other kernels call, compiled once as a C function and linked by its symbol. Its arguments are
    integers and floats; arrays go as addresses (`rbdae.compiler.access`). A stage that only some problems need (one
    kind of velocity or force) names the features in `when`; it is called through a cell, and the cell is filled when
    the first problem with these features comes: a first use compiles no more than it runs.
``family``
    several stages that do the same, one for each number: of each chart, one. Callers find them in a table, and do not
    depend on what is in it.
``entry``
    a kernel that Python calls, with one signature, through a function of CPython's fast calls.
``two_sided``
    a kernel that plain Python cannot run, with a plain function to take its place.

`plain` makes plain Python of any kernel. With ``RBDAE_PLAIN=1`` nothing is compiled, and all kernels are plain.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import Any, TypeVar, final

from rbdae import _process
from rbdae.compiler.declared import Declared, Features, Inlined, Machine, Twins, declare, declared, needed
from rbdae.compiler.options import COMPILING, ENABLED, collector_off
from rbdae.compiler.plain import plain
from rbdae.compiler.stages import Family, Stage, name_of
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
class Entry(Declared):
    """A kernel with one signature: ``t`` float, ``y`` input vector, ``o`` output vector, ``M`` output matrix of any
    strides, ``i`` integer (the model block comes first, so that `functools.partial` can bind it)."""

    def __init__(self, function: Callable[..., Any], signs: str) -> None:
        self.function = function
        self.name = name_of(function)
        self.signs = signs
        self.kind = f"entry {signs}"
        self.module: Any = None
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

    def plain(self, twins: Twins) -> Callable[..., Any]:
        """Its twin."""
        return twins.function(self.function)

    def callee(self, machine: Machine) -> Any:
        """Kernels do not call entries."""
        return self

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

    def machine(self, features: Features | None) -> int:
        """The address of the kernel as a function of `rbdae.machine.function`, for problems with these features; its
        context is what `rbdae.compiler.machine_entry.context` makes."""
        self.compiled(features)
        address: int = self.module.address(f"{self.name}.machine")
        return address

    def _compile(self, features: Features | None) -> None:
        with collector_off():
            for stage in needed(self.function, features):
                assert isinstance(stage, Stage)
                stage.ensure(dual=False)
                _process.check()
            if self._compiled is None:
                from rbdae.compiler.linking import compiled_entry  # a slow import

                self.module, self._compiled = compiled_entry(self.function, self.name, self.signs, self.described)
        self._ready.add((features, Family.size))


def entry(signs: str) -> Callable[[Callable[..., Any]], Entry]:
    """Mark a kernel as called from Python with the argument kinds `signs` (see `Entry`)."""

    def decorate(function: Callable[..., Any]) -> Entry:
        return Entry(function, signs)

    return decorate


def _named(name: str) -> Entry:
    """The entry of this name."""
    import_module(name.partition(":")[0])
    return _ENTRIES[name]
