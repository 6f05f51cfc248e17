"""Kernels as plain Python, in the process in which they are compiled.

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
from types import CellType, FunctionType, ModuleType
from typing import Any, final

from rbdae.compiler.declared import Features, declared, names

# no kernels in there
_OTHERS = ("numpy", "math", "cmath", "builtins")


@final
class PlainTwins:
    """The plain twins of all kernels for problems with certain features (None: with all)."""

    def __init__(self, features: Features | None) -> None:
        self._features = features
        self._made: dict[Callable[..., Any], Callable[..., Any]] = {}
        self._scopes: dict[int, dict[str, Any]] = {}

    @property
    def features(self) -> Features | None:
        """The features of the problems."""
        return self._features

    def function(self, source: Callable[..., Any]) -> Callable[..., Any]:
        """The twin of a kernel's Python function."""
        with _MAKING:  # another thread must not get one whose globals are not all there
            return self._made[source] if source in self._made else self._make(source)

    def _make(self, source: Callable[..., Any]) -> Callable[..., Any]:
        assert isinstance(source, FunctionType)
        scope = self._scopes.setdefault(
            id(source.__globals__), {"__name__": source.__module__, "__builtins__": builtins}
        )
        cells = tuple(CellType() for _ in source.__closure__ or ())
        twin = FunctionType(source.__code__, scope, source.__name__, source.__defaults__, cells)
        twin.__kwdefaults__ = source.__kwdefaults__
        twin.__qualname__ = source.__qualname__
        twin.__doc__ = source.__doc__
        self._made[source] = twin
        for name in names(source):
            if name in source.__globals__:
                scope[name] = self.of(source.__globals__[name])
        for mine, other in zip(cells, source.__closure__ or (), strict=True):
            mine.cell_contents = self.of(other.cell_contents)
        return twin

    def of(self, value: Any) -> Any:
        """What stands in the globals of a twin in place of a value."""
        known = declared(value)
        if known is not None:
            return known.plain(self)
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in _OTHERS:
            return _Module(value, self)
        return value


class _Module:
    """A module whose kernels are plain."""

    def __init__(self, module: ModuleType, twins: PlainTwins) -> None:
        self._module = module
        self._twins = twins

    def __getattr__(self, name: str) -> Any:
        value = self._twins.of(getattr(self._module, name))
        setattr(self, name, value)
        return value


_MAKING = threading.RLock()
_TWINS: dict[Features | None, PlainTwins] = {}


def plain(kernel: Any, features: Features | None = None) -> Callable[..., Any]:
    """The plain twin of a kernel, for problems with these features (None: with all).

    It takes any numbers; other functions are returned as they are.
    """
    twins = _TWINS.get(features)
    if twins is None:
        twins = _TWINS[features] = PlainTwins(features)
    out: Callable[..., Any] = twins.of(kernel)
    return out
