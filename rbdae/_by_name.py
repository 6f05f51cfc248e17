"""Dictionaries by name whose error for an unknown name is of use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, TypeVar, final

from rbdae import _check

T = TypeVar("T")


@final
class UnknownName(KeyError):
    """A name that is not there; its text is a sentence, where that of `KeyError` is the name in quotation marks."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


@final
class ByName(dict[str, T]):
    """A dictionary by the names of bodies, joints or forces.

    Parameters
    ----------
    what : "body", "joint" or the like, for messages
    items : as those of `dict`
    """

    __slots__ = ("what",)

    def __init__(self, what: str, items: Iterable[tuple[str, T]] = ()) -> None:
        super().__init__(items)
        self.what = what

    def __missing__(self, name: object) -> NoReturn:
        raise unknown_name(self.what, name, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return ByName, (self.what, list(self.items()))


def unknown_name(what: str, name: object, known: Iterable[str]) -> UnknownName:
    """The error for a name, with the nearest ones and all of them."""
    return UnknownName(str(_check.unknown(what, name, known)))


__all__ = ["ByName", "UnknownName", "unknown_name"]
