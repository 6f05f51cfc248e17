"""Old names of what has been renamed: they work for one release, and warn with the new name."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any


def old_names(module: str, new: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module whose names have changed: `new` has the new name of each old one.

    An old name gives the very object that has the new name, so `isinstance` and pickles written with it work. A module
    assigns it as ``__getattr__`` where type checkers do not look: they would take any name for known.
    """

    def find(name: str) -> Any:
        if name not in new:
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules[module])
        _warn(f"{module}.{name}", f"{module}.{new[name]}")
        return getattr(sys.modules[module], new[name])

    return find


def old_method(old: str, new: str) -> Callable[..., Any]:
    """A method with an old name, for the body of a class: it calls the one with the new name."""

    def call(self: Any, *args: Any, **options: Any) -> Any:
        _warn(f"{type(self).__name__}.{old}", f"{type(self).__name__}.{new}")
        return getattr(self, new)(*args, **options)

    call.__name__ = old
    call.__doc__ = f"The old name of `{new}`."
    return call


def adopt_old_methods(cls: type, **new: str) -> None:
    """Give a subclass that overrides a method by its old name the method with the new name; for ``__init_subclass__``.

    Without this an override by its old name would be ignored without a word. `new` has the new name of each old one.
    """
    for old, name in new.items():
        if old in vars(cls) and name not in vars(cls):
            _warn(f"{cls.__name__}.{old}", f"{cls.__name__}.{name}", level=4)
            setattr(cls, name, vars(cls)[old])


def _warn(old: str, new: str, level: int = 3) -> None:
    warnings.warn(f"{old} is now {new}; the next release drops the old name", DeprecationWarning, stacklevel=level)


__all__ = ["adopt_old_methods", "old_method", "old_names"]
