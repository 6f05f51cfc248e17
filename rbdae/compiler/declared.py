"""The meaning of the names in a kernel: functions that become part of its code, stages, families, functions with two
sides.

Kernels find each other by the globals of their modules, where they are Python functions. `declare` says what such an
object stands for; from that come the stages that a kernel needs (`needed`), the fingerprint of its machine code
(`rbdae.compiler.fingerprint`), its translation (`rbdae.compiler.translation`), and its plain twins
(`rbdae.compiler.plain`). Nothing is compiled before a kernel is asked for in machine code.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol, final

Features = frozenset[str]
"""What a problem has; it decides which stages are compiled for it."""


def symbol_of(name: str, dual: bool) -> str:
    """The symbol of a kernel by its name, on dual numbers or on doubles."""
    return f"dual:{name}" if dual else name


class Twins(Protocol):
    """Makes plain Python functions of kernels, for problems with certain features (None: with all)."""

    @property
    def features(self) -> Features | None:
        """The features of the problems."""

    def function(self, source: Callable[..., Any]) -> Callable[..., Any]:
        """The plain twin of a kernel's Python function."""


class Machine(Protocol):
    """Makes calls in machine code of what kernels call."""

    def inlined(self, source: Callable[..., Any]) -> Any:
        """A function that becomes part of its callers."""

    def linked(self, symbol: str, kinds: str) -> Any:
        """A C function by its symbol; `kinds` are those of its arguments, as of a stage."""

    def in_cell(self, symbol: str, kinds: str, message: str) -> Any:
        """A C function by the address of the cell that will have its address; `message` is raised if that is 0."""

    def in_table(self, symbol: str, kinds: str, message: str) -> Any:
        """Several of them by their number, in a table."""

    def known(self, name: str) -> Any:
        """The object that only machine code has, by its name in `rbdae.compiler.access`."""


class Declared(ABC):
    """The meaning of an object in the globals of kernels.

    `source` is the Python function that becomes part of the caller's machine code, or None; `described` is what that
    code depends on beside it.
    """

    source: Callable[..., Any] | None = None

    @property
    @abstractmethod
    def described(self) -> str:
        """A description of what the machine code of a caller depends on, beside `source`."""

    @abstractmethod
    def plain(self, twins: Twins) -> Callable[..., Any]:
        """The plain Python function in its place."""

    @abstractmethod
    def callee(self, machine: Machine) -> Any:
        """The call in its place."""

    def stages(self, features: Features | None) -> tuple[AbstractStage, ...]:
        """The stages that a caller needs linked, for problems with these features (None: all)."""
        return ()

    def cell(self, dual: bool) -> tuple[str, int] | None:
        """Symbol and address of the memory with the addresses that a caller, on dual numbers or on doubles, finds at
        run time; None if it is linked."""
        return None


class AbstractStage(Declared):
    """A kernel that is compiled for itself, and linked."""

    function: Callable[..., Any]
    when: Features

    def serves(self, features: Features | None) -> bool:
        """Whether problems with these features may need it."""
        return features is None or self.when <= features

    def stages(self, features: Features | None) -> tuple[AbstractStage, ...]:
        """Itself, if it serves the problem."""
        return (self,) if self.serves(features) else ()


@final
class Inlined(Declared):
    """A kernel that becomes part of its callers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.source = function

    @property
    def described(self) -> str:
        """Nothing beside its code."""
        return "inlined"

    def plain(self, twins: Twins) -> Callable[..., Any]:
        """Its twin."""
        assert self.source is not None
        return twins.function(self.source)

    def callee(self, machine: Machine) -> Any:
        """Its twin."""
        assert self.source is not None
        return machine.inlined(self.source)


@final
class MachineOnly(Declared):
    """An object that only machine code has, by its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        declare(self, self)

    @property
    def described(self) -> str:
        """Its name: the cache is that of these sources."""
        return f"machine {self.name}"

    def __call__(self, *arguments: Any) -> Any:
        """Nothing that plain Python can do."""
        raise TypeError(
            f"{self.name} is there in machine code alone: in plain Python call the twin of a kernel, "
            "rbdae.compiler.plain.plain(kernel), and give kernels that open memory a plain side"
        )

    def plain(self, twins: Twins) -> Callable[..., Any]:
        """Itself, which raises TypeError."""
        return self

    def callee(self, machine: Machine) -> Any:
        """Its call."""
        return machine.known(self.name)


# by identity: some of these objects cannot be hashed, some are equal to others
_DECLARED: dict[int, tuple[Any, Declared]] = {}


def declare(value: Any, declared: Declared) -> None:
    """Say what an object in the globals of kernels stands for."""
    _DECLARED[id(value)] = (value, declared)


def is_dispatcher(value: Any) -> bool:
    """Whether numba has compiled a function, or will; while numba is not imported there is none."""
    kind = getattr(sys.modules.get("numba.core.dispatcher"), "Dispatcher", None)
    return kind is not None and isinstance(value, kind)


def declared(value: Any) -> Declared | None:
    """The meaning of an object in the globals of kernels; a function that the user compiled by numba is inlined."""
    found = _DECLARED.get(id(value))
    if found is not None:
        return found[1]
    if is_dispatcher(value):
        declare(value, Inlined(value.py_func))
        return declared(value)
    return None


def code_objects(code: CodeType) -> Iterator[CodeType]:
    """A code object and those inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_objects(constant)


@cache
def names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The globals and attributes that a function names, in the order of its code."""
    assert isinstance(function, FunctionType)
    return tuple(dict.fromkeys(name for code in code_objects(function.__code__) for name in code.co_names))


def values(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """The values that a function names: globals, attributes of modules among them, and variables of enclosing
    functions."""
    assert isinstance(function, FunctionType)
    named = names(function)
    for name in named:
        if name in function.__globals__:
            yield from _reached(name, function.__globals__[name], named)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield from _reached(name, cell.cell_contents, named)


def _reached(path: str, value: Any, named: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    yield path, value
    if isinstance(value, ModuleType):
        for other in named:
            if (found := getattr(value, other, None)) is not None:
                yield from _reached(f"{path}.{other}", found, tuple(n for n in named if n != other))


@cache
def callees(function: Callable[..., Any]) -> tuple[Declared, ...]:
    """The declared objects that a kernel calls."""
    found = (declared(value) for _, value in values(function))
    return tuple({id(d): d for d in found if d is not None}.values())


def named_by(function: Callable[..., Any]) -> list[Declared]:
    """The declared objects that the code of a kernel names, in itself or in functions that become part of it."""
    return list({id(callee): callee for caller in translated(function) for callee in callees(caller)}.values())


def translated(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """A kernel, and the functions that become part of its code."""
    seen, todo = {function}, [function]
    while todo:
        caller = todo.pop()
        yield caller
        for callee in callees(caller):
            if callee.source is not None and callee.source not in seen:
                seen.add(callee.source)
                todo.append(callee.source)


def needed(function: Callable[..., Any], features: Features | None) -> list[AbstractStage]:
    """The stages behind a kernel that problems with these features need (None: all), those first that others call:
    code that names a symbol can only be linked when the symbol is there."""
    seen = set()
    order = []

    def walk(caller: Callable[..., Any]) -> None:
        seen.add(caller)
        for callee in callees(caller):
            if callee.source is not None and callee.source not in seen:
                walk(callee.source)
            for stage in callee.stages(features):
                if stage.function not in seen:
                    walk(stage.function)
                    order.append(stage)

    walk(function)
    return order
