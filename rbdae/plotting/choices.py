"""The choices of a user for a picture, checked."""

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
    """The entry that a name stands for."""
    if not isinstance(name, str) or name not in known:
        raise _check.unknown(what, name, known)
    return known[name]


def heading(what: str, value: object) -> str:
    """A string that a picture can show. What stands between two dollars is mathtext, as everywhere in matplotlib.

    Raises
    ------
    TypeError
        for what is no string
    ValueError
        for half of a surrogate pair, and for mathtext that cannot be read
    """
    given = text(what, value)
    if any("\ud800" <= letter <= "\udfff" for letter in given):
        raise ValueError(f"{what} must not have half of a surrogate pair, got {_check.show(given)}; remove it")
    from matplotlib.mathtext import MathTextParser

    if (given.count("$") - given.count(r"\$")) % 2 == 0 and "$" in given:
        try:
            MathTextParser("path").parse(given)
        except ValueError as error:
            said = " ".join(str(error).split())
            raise ValueError(
                f"{what} must be text or mathtext, got {_check.show(given)} ({said}); write \\$ for a dollar"
            ) from None
    return given


def text(what: str, value: object) -> str:
    """A string."""
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, got {_check.show(value)} of type {type(value).__name__}; pass '...'")
    return value


__all__ = ["entry", "heading", "names", "text"]
