"""What a user chooses for a picture, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from rbdae import _check

T = TypeVar("T")


def names(what: str, one: str, given: Iterable[str], known: Iterable[str]) -> list[str]:
    """Known names, each once, in the order in which they are given, and at least one."""
    known = list(known)
    out = list(dict.fromkeys(_check.names(what, given)))
    if not out:
        raise ValueError(f"{what} must name at least one {one}, got []; choose from {', '.join(known)}")
    for name in out:
        if name not in known:
            raise _check.unknown(one, name, known)
    return out


def entry(what: str, name: object, known: Mapping[str, T]) -> T:
    """What a name stands for."""
    if not isinstance(name, str) or name not in known:
        raise _check.unknown(what, name, known)
    return known[name]


def text(what: str, value: object) -> str:
    """A string."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, got {_check.show(value)} of type {type(value).__name__}; pass '...'")
    return value


__all__ = ["entry", "names", "text"]
