"""Stages, kernels that are compiled for themselves and linked, and families of stages in a table.

The decorators are described in `rbdae.compiler.jit`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeVar, final

from rbdae.compiler.declared import AbstractStage, Declared, Features, Machine, Twins, declare, symbol_of

F = TypeVar("F", bound=Callable[..., Any])

STAGES: dict[str, Stage] = {}
"""All stages by name."""

Places = tuple[ctypes.c_void_p, ctypes.c_void_p]
"""The cells with the addresses of a stage: of that on doubles, and of that on dual numbers."""


def name_of(function: Callable[..., Any]) -> str:
    """The name of a kernel: the module and the path in it."""
    return f"{function.__module__}:{function.__qualname__}"


def _where(function: Callable[..., Any]) -> str:
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


class Stage(AbstractStage):
    """A kernel that is compiled for itself.

    Its address goes to one of the `places`, where callers find it at run time; without places they are linked with it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        kinds: str,
        when: str,
        optional: bool,
        places: Places | None,
    ) -> None:
        self.function = function
        self.name = name_of(function)
        self.kind = f"stage {kinds}"
        self.when = frozenset(when.split())
        self.optional = optional
        self.kinds = kinds
        self._modules: dict[bool, Any] = {}
        self._places = places
        if self.name in STAGES:
            raise TypeError(
                f"two stages would have the symbol {self.name}: {_where(STAGES[self.name].function)} and "
                f"{_where(function)}; give one of the functions another name"
            )
        STAGES[self.name] = self

    @property
    def message(self) -> str:
        """The message of the exception if it is called for a problem without the features; empty if it is optional."""
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

    def callee(self, machine: Machine) -> Any:
        """A C function."""
        if self._places is None:
            return machine.linked(self.name, self.kinds)
        return machine.in_cell(self.name, self.kinds, self.message)

    def cell(self, dual: bool) -> tuple[str, int] | None:
        """The cell with its address, if it has one."""
        return None if self._places is None else (symbol_of(self.name, dual), ctypes.addressof(self._places[dual]))

    @property
    def compiled(self) -> bool:
        """Whether it is there on doubles."""
        return False in self._modules

    def ensure(self, dual: bool) -> None:
        """Compile it, or load it from the cache, and link it."""
        if dual not in self._modules:
            from rbdae.compiler.linking import compiled_stage, link  # a slow import

            module = compiled_stage(self.function, self.name, self.kinds, self.described, dual)
            symbol = symbol_of(self.name, dual)
            address = module.address(symbol)
            if self._places is None:
                link(symbol, address)
            else:
                self._places[dual].value = address
            self._modules[dual] = module


def stage(kinds: str, when: str = "", *, optional: bool = False) -> Callable[[F], F]:
    """Mark a kernel as a stage with the argument kinds `kinds`: ``i`` integer or address, ``f`` float.

    `when` names the features, separated by spaces, that a problem must all have to need it (`Workspace.features`).
    Called for other problems it raises RuntimeError, or does nothing if it is `optional`.
    """

    def decorate(function: F) -> F:
        places = (ctypes.c_void_p(0), ctypes.c_void_p(0)) if when else None
        declare(function, Stage(function, kinds, when, optional, places))
        return function

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
        self._tables = [(ctypes.c_void_p * self.SIZE)() for _ in range(2)]
        declare(self, self)

    @property
    def message(self) -> str:
        """The message of the exception if a problem calls it with a number that it has no features for."""
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

        at = number * ctypes.sizeof(ctypes.c_void_p)
        on_doubles, on_duals = (ctypes.c_void_p.from_buffer(table, at) for table in self._tables)
        self.members[number] = Stage(function, self.kinds, when, False, (on_doubles, on_duals))
        Family.size += 1

    def cell(self, dual: bool) -> tuple[str, int] | None:
        """The table."""
        return symbol_of(self.name, dual), ctypes.addressof(self._tables[dual])

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

    def callee(self, machine: Machine) -> Any:
        """A function of the number and the arguments."""
        return machine.in_table(self.name, self.kinds, self.message)


def family(kinds: str) -> Callable[[Callable[..., Any]], Any]:
    """Mark a function without a body as a family of stages with the argument kinds `kinds` (beside the number)."""
    return lambda function: Family(function, kinds)


def add_member(of: Any, number: int, function: Callable[..., Any], when: str) -> None:
    """Make a function the member of a family with this number, for problems with the features `when`."""
    if not isinstance(of, Family):
        raise TypeError(f"{of!r} is no family of kernels")
    of.add(number, function, when)
