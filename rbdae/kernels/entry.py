"""`Entry`: a kernel with the kinds of its arguments, by which it is recorded, called and bound to a workspace."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any, final

_ENTRIES: dict[str, Entry] = {}
"""All of them by name."""


@final
class Entry:
    """A kernel f(m, ...) of the memory m of a problem. A call runs it on numbers or on symbols, as the arguments are.

    Parameters
    ----------
    function : the kernel
    signs : a letter for each argument: ``i`` m or an integer, ``t`` float, ``y`` input vector, ``o`` output vector,
        ``M`` output matrix
    ordered : whether it solves the saddle-point system in an order that is chosen for a problem
        (`rbdae.kernels.linear.saddle`)
    squared : whether it solves [G; S] of loops in such an order (`rbdae.kernels.null_space.loops`)
    """

    def __init__(self, function: Callable[..., None], signs: str, ordered: bool = False, squared: bool = True) -> None:
        self.function = function
        self.name = f"{function.__module__}:{function.__qualname__}"
        self.signs, self.ordered, self.squared = signs, ordered, squared
        self.__doc__ = function.__doc__
        _ENTRIES.setdefault(self.name, self)

    @cached_property
    def bodies_first(self) -> Entry:
        """The same kernel in the orders that serve any position: bodies before joints."""
        return Entry(self.function, self.signs, squared=False)

    def __call__(self, *arguments: Any) -> None:
        self.function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        """There is one of each name in a process."""
        return _named, (self.name,)


def entry(signs: str, *, ordered: bool = False) -> Callable[[Callable[..., None]], Entry]:
    """Give a kernel the kinds of its arguments (see `Entry`)."""
    return lambda function: Entry(function, signs, ordered)


def _named(name: str) -> Entry:
    import_module(name.partition(":")[0])
    return _ENTRIES[name]
