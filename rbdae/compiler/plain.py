"""Kernels as plain Python, whether or not they are compiled in the process.

The twin of a kernel has its code and other globals, in which kernels are their twins. It takes any numbers: complex
ones, numbers that count operations, symbols. Functions that only machine code knows (addresses, memory,
mathematics) are declared with a plain side (`rbdae.compiler.jit.two_sided`).

Twins are made for the features of a problem, as machine code is: a stage that the problem does not have does nothing if
it is optional, and else raises RuntimeError.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable
from functools import lru_cache
from types import CellType, FunctionType, ModuleType
from typing import Any, final

from rbdae import _process
from rbdae.compiler.declared import Features, declared, names

# no kernels in there
_OTHERS = ("numpy", "math", "cmath", "builtins", "numba")


@final
class PlainTwins:
    """The plain twins of all kernels for problems with certain features (None: with all)."""

    def __init__(self, features: Features | None) -> None:
        self._features = features
        self._made: dict[Callable[..., Any], FunctionType] = {}
        self._scopes: dict[int, dict[str, Any]] = {}
        self._modules: dict[ModuleType, ModuleType] = {}

    @property
    def features(self) -> Features | None:
        """The features of the problems."""
        return self._features

    def function(self, source: Callable[..., Any]) -> Callable[..., Any]:
        """The twin of a kernel's Python function."""
        assert isinstance(source, FunctionType)
        with _MAKING:  # another thread must not get one whose globals are not all there
            if source not in self._made:
                self._make(source)
            return self._made[source]

    def _make(self, source: FunctionType) -> None:
        new = {"__name__": source.__module__, "__builtins__": builtins}
        scope = self._scopes.setdefault(id(source.__globals__), new)
        cells = tuple(CellType() for _ in source.__closure__ or ())
        twin = FunctionType(source.__code__, scope, source.__name__, source.__defaults__, cells)
        twin.__kwdefaults__ = source.__kwdefaults__
        twin.__qualname__ = source.__qualname__
        twin.__doc__ = source.__doc__
        self._made[source] = twin  # what it names may need it
        named = names(source)
        for name in named:
            if name in source.__globals__:
                scope[name] = self._in_place_of(source.__globals__[name], named)
        for mine, other in zip(cells, source.__closure__ or (), strict=True):
            mine.cell_contents = self._in_place_of(other.cell_contents, named)

    def _in_place_of(self, value: Any, named: tuple[str, ...]) -> Any:
        if not isinstance(value, ModuleType) or value.__name__.partition(".")[0] in _OTHERS:
            return self.of(value)
        # a module of which there is what kernels name
        module = self._modules.setdefault(value, ModuleType(value.__name__))
        for name in named:
            if not hasattr(module, name) and hasattr(value, name):
                others = tuple(n for n in named if n != name)
                setattr(module, name, self._in_place_of(getattr(value, name), others))
        return module

    def of(self, value: Any) -> Any:
        """The object that stands in the globals of a twin in place of a value."""
        known = declared(value)
        return value if known is None else known.plain(self)


_MAKING = threading.RLock()
_process.protect(lambda: _MAKING, 30)
_TWINS: dict[Features | None, PlainTwins] = {}


def plain(kernel: Any, features: Features | None = None) -> Callable[..., Any]:
    """The plain twin of a kernel, for problems with these features (None: with all).

    It takes any numbers; other functions are returned as they are.
    """
    if declared(kernel) is None:  # a user's function, which a cache would hold with all that it refers to
        out: Callable[..., Any] = kernel
        return out
    return _of_kernel(kernel, features)


@lru_cache(maxsize=4096)
def _of_kernel(kernel: Any, features: Features | None) -> Callable[..., Any]:
    twins = _TWINS.get(features)
    if twins is None:
        twins = _TWINS[features] = PlainTwins(features)
    out: Callable[..., Any] = twins.of(kernel)
    return out
