"""Things that act beside giving a value: files, signals, threads, queues, logs. A run on symbols leaves them alone.

There every way through a law is walked once, those too that no motion takes: what acts would act at the recording, and
never in a run. A law that reaches one is called back.
"""

from __future__ import annotations

import types
from typing import Any, final

from rbdae.laws.numbers import NotRecorded

_ACTING = frozenset({
    "_io", "_queue", "_signal", "_socket", "_thread", "_warnings", "asyncio", "concurrent", "ctypes", "faulthandler",
    "io", "logging", "mmap", "multiprocessing", "nt", "os", "pathlib", "posix", "queue", "sched", "selectors",
    "shutil", "signal", "socket", "sqlite3", "subprocess", "sys", "tempfile", "threading", "time", "urllib",
    "warnings",
})  # fmt: skip
"""Modules of the standard library whose functions and objects act."""

_CONSTANTS = (int, float, str, bytes, tuple, frozenset, type(None))


def acts(value: Any) -> bool:
    """Whether it is a module, a class, a function or an object that acts, by the module that it is from."""
    return _origin(value).partition(".")[0] in _ACTING


def _origin(value: Any) -> str:
    """The module that a thing is from."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if isinstance(value, types.BuiltinFunctionType) and value.__module__ is None:  # a method: its object is from one
        return type(value.__self__).__module__
    of = value if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)) else type(value)
    return of.__module__ or ""


@final
class ActingModule:
    """A module of those: its constants may be used, and modules in it, as ``os.path``."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, types.ModuleType):
            return untouched(found) if acts(found) else found
        return found if isinstance(found, _CONSTANTS) else Untouched(f"it uses {self._module.__name__}.{name}")


def _ends(self: Untouched, *_: Any, **__: Any) -> Any:
    raise NotRecorded(object.__getattribute__(self, "_what"))


@final
class Untouched:
    """Takes the place of an object that must not be touched: whatever a law does with it ends the recording."""

    def __init__(self, what: str) -> None:
        object.__setattr__(self, "_what", what)

    __getattribute__ = __setattr__ = __call__ = __getitem__ = __setitem__ = __iter__ = __next__ = __len__ = _ends
    __bool__ = __float__ = __index__ = __enter__ = __exit__ = __contains__ = __eq__ = __hash__ = _ends


def untouched(value: Any) -> Any:
    """What takes the place of a thing that acts."""
    if isinstance(value, types.ModuleType):
        return ActingModule(value)
    name: str = getattr(value, "__qualname__", type(value).__qualname__)
    return Untouched(f"it uses {_origin(value)}.{name}")


__all__ = ["Untouched", "acts", "untouched"]
