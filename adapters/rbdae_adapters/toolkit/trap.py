"""Exceptions of callbacks, stored for packages that would swallow them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final


@final
class Trap:
    """Stores the first exception of a callback, for packages that would swallow or replace it.

    1. ``trap(function)`` behaves as `function` does and remembers its first exception.
    2. After an exception, every trapped function raises this one again: packages try again with smaller steps.
    3. `release` raises it, as itself; without one it does nothing. Call it after each call of the package.

    >>> trap = Trap()
    >>> rhs = trap(lambda t: 1 / t)
    >>> try:
    ...     rhs(0)
    ... except ZeroDivisionError:
    ...     pass  # the package makes something else of it
    >>> trap.release()
    Traceback (most recent call last):
        ...
    ZeroDivisionError: division by zero
    """

    __slots__ = ("error",)

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`function`, whose first exception is remembered and passed on."""

        def trapped(*args: Any) -> Any:
            if self.error is not None:
                raise self.error
            try:
                return function(*args)
            except BaseException as error:
                self.error = error
                raise

        return trapped

    def release(self) -> None:
        """Raise the stored exception, as itself, and forget it."""
        if self.error is not None:
            error, self.error = self.error, None
            raise error.with_traceback(error.__traceback__) from None


__all__ = ["Trap"]
