"""Functions with the code of kernels and other globals: in place of each kernel that is named there stands a twin."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from types import CellType, FunctionType, ModuleType
from typing import Any, final

from rbdae.compiler.declared import names

# no kernels in there
_OTHERS = ("numpy", "math", "cmath", "builtins", "numba")


@final
class Scopes:
    """The globals of twins; `of` says what stands there in place of a value."""

    def __init__(self, of: Callable[[Any], Any]) -> None:
        self._of = of
        self._scopes: dict[int, dict[str, Any]] = {}
        self._modules: dict[ModuleType, ModuleType] = {}

    def empty(self, source: Callable[..., Any]) -> FunctionType:
        """The twin of a function; what it names is not there yet: that may need the twin."""
        assert isinstance(source, FunctionType)
        scope = self._scopes.setdefault(
            id(source.__globals__), {"__name__": source.__module__, "__builtins__": builtins}
        )
        cells = tuple(CellType() for _ in source.__closure__ or ())
        twin = FunctionType(source.__code__, scope, source.__name__, source.__defaults__, cells)
        twin.__kwdefaults__ = source.__kwdefaults__
        twin.__qualname__ = source.__qualname__
        twin.__doc__ = source.__doc__
        return twin

    def fill(self, twin: FunctionType, source: Callable[..., Any]) -> FunctionType:
        """The twin of this function, with all that it names."""
        assert isinstance(source, FunctionType)
        named = names(source)
        for name in named:
            if name in source.__globals__:
                twin.__globals__[name] = self._in_place_of(source.__globals__[name], named)
        for mine, other in zip(twin.__closure__ or (), source.__closure__ or (), strict=True):
            mine.cell_contents = self._in_place_of(other.cell_contents, named)
        return twin

    def _in_place_of(self, value: Any, named: tuple[str, ...]) -> Any:
        if not isinstance(value, ModuleType) or value.__name__.partition(".")[0] in _OTHERS:
            return self._of(value)
        # a module of which there is what kernels name; now, because numba must know of all before it compiles
        module = self._modules.setdefault(value, ModuleType(value.__name__))
        for name in named:
            if not hasattr(module, name) and hasattr(value, name):
                others = tuple(n for n in named if n != name)
                setattr(module, name, self._in_place_of(getattr(value, name), others))
        return module


__all__ = ["Scopes"]
