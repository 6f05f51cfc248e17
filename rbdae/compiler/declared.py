"""What the names in a kernel stand for: functions that become part of its code, stages, families, functions with two
sides.

Kernels find each other by the globals of their modules. `declare` says what an object there stands for; from that come
the stages that a kernel needs (`needed`), the fingerprint of its machine code (`rbdae.compiler.fingerprint`), and its
plain twin (`rbdae.compiler.plain`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol

from numba.core.dispatcher import Dispatcher

Features = frozenset[str]
"""What a problem has; it decides which stages are compiled for it."""


class Twins(Protocol):
    """Makes plain Python functions of kernels, for problems with certain features (None: with all)."""

    @property
    def features(self) -> Features | None:
        """The features of the problems."""

    def function(self, source: Callable[..., Any]) -> Callable[..., Any]:
        """The plain twin of a kernel's Python function."""


class Declared(ABC):
    """What an object in the globals of kernels stands for.

    `source` is the Python function that becomes part of the caller's machine code, or None; `described` is what that
    code depends on beside it.
    """

    source: Callable[..., Any] | None = None

    @property
    @abstractmethod
    def described(self) -> str:
        """What the machine code of a caller depends on, beside `source`."""

    @abstractmethod
    def plain(self, twins: Twins) -> Callable[..., Any]:
        """The plain Python function in its place."""

    def stages(self, features: Features | None) -> tuple[AbstractStage, ...]:
        """The stages that a caller needs linked, for problems with these features (None: all)."""
        return ()


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


# by identity: some of these objects cannot be hashed, some are equal to others
_DECLARED: dict[int, tuple[Any, Declared]] = {}


def declare(value: Any, declared: Declared) -> None:
    """Say what an object in the globals of kernels stands for."""
    _DECLARED[id(value)] = (value, declared)


def declared(value: Any) -> Declared | None:
    """What an object in the globals of kernels stands for; a function that the user compiled by numba is inlined."""
    found = _DECLARED.get(id(value))
    if found is not None:
        return found[1]
    if isinstance(value, Dispatcher):
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
    """What a function names: globals, attributes of modules among them, and variables of enclosing functions."""
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
    """What a kernel calls."""
    found = (declared(value) for _, value in values(function))
    return tuple({id(d): d for d in found if d is not None}.values())


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
