"""Signals during a run.

An exception raised by a signal handler vanishes ("Exception ignored in ...") if compiled code has just called back.
During a run in the main thread SIGINT therefore has a handler of ours. It calls the previous handler immediately and
stores the exception. Callbacks and steps raise it (`rbdae.solving.watch`), long computations raise it between their
parts (`check`), and the end of the run raises what remains. A second exception while the first is still stored (a
callback takes long) is raised at once. Other signals are not touched: a time limit that must not vanish calls
``signal.raise_signal(signal.SIGINT)`` in its handler.
"""

from __future__ import annotations

import _signal  # `signal` makes enumerations of its results, which takes longer than the rest of a short run
import threading
from types import FrameType, TracebackType
from typing import Any, Self, final

_SIGINT = int(_signal.SIGINT)


@final
class Pending:
    """The stored exception, or None."""

    __slots__ = ("error", "handler")

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.handler: Any = None  # of SIGINT, for which ours stands

    def check(self) -> None:
        """Raise it. It stays stored, and is raised again if a package swallows it."""
        if self.error is not None:
            raise self.error


_main = Pending()


def _handle(number: int, frame: FrameType | None) -> None:
    try:
        _main.handler(number, frame)
    except BaseException as error:
        if _main.error is not None:
            raise
        _main.error = error


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def check() -> None:
    """Raise an exception that Ctrl-C has left in this thread; for long computations outside a solver."""
    if _main.error is not None and _is_main():
        raise _main.error


@final
class Deferred:
    """A run, ``with Deferred() as run:``; its end raises a stored exception, with `solution` as an attribute.

    Runs may be nested: an inner one, in a user's function, raises first.
    """

    __slots__ = ("_around", "_stands", "pending", "solution")

    def __init__(self) -> None:
        self.pending = _main if _is_main() else Pending()
        self.solution: object = None
        self._stands = False

    def __enter__(self) -> Self:
        before = _signal.getsignal(_SIGINT) if self.pending is _main else None
        # without a handler of Python's the process ends, or ignores it; ours belongs to a run around this one
        if callable(before) and before is not _handle:
            self._around, _main.handler = _main.handler, before
            try:
                _signal.signal(_SIGINT, _handle)
                self._stands = True  # from here on nothing is raised
            except ValueError:  # not the main interpreter
                pass
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        late: BaseException | None = None
        while self._stands:
            try:
                if _signal.getsignal(_SIGINT) is _handle:  # else the user has set another one meanwhile
                    _signal.signal(_SIGINT, _main.handler)
                _main.handler = self._around
                self._stands = False
            except BaseException as error_of_handler:  # raised by the handler that was just restored
                late = error_of_handler
        kept, self.pending.error = self.pending.error, None
        raised = error if isinstance(error, KeyboardInterrupt) else kept
        if late is not None:
            raised = late
        if raised is not None:
            self.carry(raised)
            if raised is not error:
                raise raised

    def carry(self, error: BaseException) -> None:
        """Attach the solution to an exception."""
        error.solution = self.solution  # type: ignore[attr-defined]
