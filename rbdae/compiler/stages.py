"""Stages, kernels that are compiled for themselves and linked, and families of stages in a table.

The decorators are described in `rbdae.compiler.jit`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeVar, cast, final

import llvmlite.binding as llvm
from numba import types

from rbdae.compiler.cache import Cached
from rbdae.compiler.cells import call_cell, call_table
from rbdae.compiler.declared import AbstractStage, Declared, Features, Twins, declare, declared
from rbdae.compiler.options import ENABLED, numba

F = TypeVar("F", bound=Callable[..., Any])

STAGES: dict[str, Stage] = {}
"""All stages by name."""

_KINDS = {"i": types.int64, "f": types.float64}


def name_of(function: Callable[..., Any]) -> str:
    """The name of a kernel: the module and the path in it."""
    return f"{function.__module__}:{function.__qualname__}"


def _where(function: Callable[..., Any]) -> str:
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


class Stage(AbstractStage, Cached):
    """A kernel that is compiled for itself; `link` says what happens to its address."""

    def __init__(
        self,
        function: Callable[..., Any],
        kinds: str,
        when: str,
        optional: bool,
        link: Callable[[int], object],
    ) -> None:
        self.function = function
        self.name = name_of(function)
        self.kind = f"stage {kinds}"
        self.when = frozenset(when.split())
        self.optional = optional
        self.signature = types.void(*(_KINDS[k] for k in kinds))
        self.compiled: Any = None
        self._link = link
        if self.name in STAGES:
            raise TypeError(
                f"two stages would have the symbol {self.name}: {_where(STAGES[self.name].function)} and "
                f"{_where(function)}; give one of the functions another name"
            )
        STAGES[self.name] = self

    @property
    def message(self) -> str:
        """What is raised if it is called for a problem without the features; empty if it is optional."""
        if self.optional or not self.when:
            return ""
        return (
            f"kernel {self.name} was called for a problem without {', '.join(sorted(self.when))}, which it is compiled "
            "for: the caller has to ask first, or the stage has to be declared optional"
        )

    @property
    def described(self) -> str:
        """The symbol, the kinds of arguments and the way of linking."""
        return f"{self.kind} {self.name} {sorted(self.when)} {self.optional}"

    def plain(self, twins: Twins) -> Callable[..., Any]:
        """Its twin; without the features it does nothing, or raises."""
        if self.serves(twins.features):
            return twins.function(self.function)
        message = self.message

        def absent(*arguments: Any) -> None:
            if message:
                raise RuntimeError(message)

        return absent

    def ensure(self) -> None:
        """Compile it, or load it from the cache, and link it."""
        if self.compiled is None:
            with self.folder() as options:
                self.compiled = numba.cfunc(self.signature, **options)(self.function)
            self._link(self.compiled.address)
            self.mark()


def stage(kinds: str, when: str = "", *, optional: bool = False) -> Callable[[F], F]:
    """Mark a kernel as a stage with the argument kinds `kinds`: ``i`` integer or address, ``f`` float.

    `when` names the features, separated by spaces, that a problem must all have to need it (`Workspace.features`).
    Called for other problems it raises RuntimeError, or does nothing if it is `optional`.
    """

    def decorate(function: F) -> F:
        symbol = name_of(function)
        if not when:
            made = Stage(function, kinds, when, optional, lambda at: llvm.add_symbol(symbol, at))
            out: Any = types.ExternalFunction(symbol, made.signature)
        else:
            cell = ctypes.c_void_p(0)

            def fill(at: int) -> None:
                cell.value = at

            made = Stage(function, kinds, when, optional, fill)
            llvm.add_symbol(symbol, ctypes.addressof(cell))
            out = call_cell(symbol, made.signature, made.message)
        out = out if ENABLED else function
        declare(out, made)
        return cast(F, out)

    return decorate


@final
class Family(Declared):
    """Stages that do the same, one for each number; in kernels a function f(number, ...)."""

    SIZE = 256
    size = 0  # of all families

    def __init__(self, function: Callable[..., Any], kinds: str) -> None:
        self.name = name_of(function)
        self.kinds = kinds
        self.members: dict[int, Stage] = {}
        self._table = (ctypes.c_void_p * self.SIZE)()
        llvm.add_symbol(self.name, ctypes.addressof(self._table))

    @property
    def message(self) -> str:
        """What is raised if a problem calls it with a number that it has no features for."""
        return f"kernel {self.name} was called with a number that this problem has no features for"

    @property
    def described(self) -> str:
        """The symbol and the kinds of arguments."""
        return f"family {self.kinds} {self.name}"

    def add(self, number: int, function: Callable[..., Any], when: str) -> None:
        """A member, which problems with the features `when` may need."""
        if not 0 <= number < self.SIZE:
            raise ValueError(f"{self.name} has numbers from 0 to {self.SIZE - 1}, got {number}")
        if number in self.members:
            raise ValueError(
                f"{self.name} has {self.members[number].name} for {number}, and cannot take {name_of(function)}"
            )

        def fill(at: int) -> None:
            self._table[number] = at

        self.members[number] = Stage(function, self.kinds, when, False, fill)
        Family.size += 1

    def stages(self, features: Features | None) -> tuple[Stage, ...]:
        """The members that problems with these features may need."""
        return tuple(stage for stage in self.members.values() if stage.serves(features))

    def plain(self, twins: Twins) -> Callable[..., Any]:
        """A function of the number and the arguments."""

        def call(number: int, *arguments: Any) -> None:
            member = self.members.get(number)
            if member is None or not member.serves(twins.features):
                raise RuntimeError(self.message)
            twins.function(member.function)(*arguments)

        return call


def family(kinds: str) -> Callable[[Callable[..., Any]], Any]:
    """Mark a function without a body as a family of stages with the argument kinds `kinds` (beside the number)."""

    def decorate(function: Callable[..., Any]) -> Any:
        made = Family(function, kinds)

        def call(number: int, *arguments: Any) -> None:
            made.members[number].function(*arguments)

        out = call_table(made.name, types.void(*(_KINDS[k] for k in kinds)), made.message) if ENABLED else call
        declare(out, made)
        return out

    return decorate


def add_member(of: Any, number: int, function: Callable[..., Any], when: str) -> None:
    """Make a function the member of a family with this number, for problems with the features `when`."""
    found = declared(of)
    if not isinstance(found, Family):
        raise TypeError(f"{of!r} is no family of kernels")
    found.add(number, function, when)
