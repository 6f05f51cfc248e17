"""Ctrl-C during a run is kept until our own code can raise it.

Python runs the handler of a signal between any two instructions of the main thread. An exception that it raises there
vanishes ("Exception ignored in ...") where compiled code has just called back: on the way into a function of ctypes or
Cython, and on the way out of it. During a run in the main thread SIGINT therefore has a handler of ours, which calls
the previous one immediately and keeps what that one raises. Callbacks and steps raise it (`rbdae.solving.watch`), long
work raises it between its parts, and the end of the run raises the rest.

A second exception while the first is still kept (a callback takes long) is raised on the spot. Should that one vanish,
the first is still there. Other threads, which Python hands no signals, are not touched, nor are other signals: a
time limit that must not vanish calls ``signal.raise_signal(signal.SIGINT)`` in its handler.
"""

from __future__ import annotations

import _signal  # `signal` makes enumerations of what it hands out, which takes longer than the rest of a short run
import threading
from types import FrameType, TracebackType
from typing import Any, Self, final

_SIGINT = int(_signal.SIGINT)


@final
class Pending:
    """The exception that has to be raised; None for nothing."""

    __slots__ = ("error", "handler")

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.handler: Any = None  # of SIGINT, for which ours stands

    def check(self) -> None:
        """Raise it. It stays, so that it is raised again where a package swallows it."""
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
    """Raise what Ctrl-C has left in this thread, in work that takes long outside of a solver."""
    if _main.error is not None and _is_main():
        raise _main.error


@final
class Deferred:
    """A run, ``with Deferred() as run:``; its end raises what came meanwhile, with `solution` as an attribute.

    Runs may be nested: an inner one, inside of a user's function, raises first.
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
        late = None
        while self._stands:
            try:
                self._put_back()
            except BaseException as raised:  # by the handler that has just been put back
                late = raised
        kept, self.pending.error = self.pending.error, None
        if late is not None:
            self.carry(late)
            raise late
        if isinstance(error, KeyboardInterrupt):
            self.carry(error)
        elif kept is not None:
            self.carry(kept)
            if kept is not error:
                raise kept

    def _put_back(self) -> None:
        if _signal.getsignal(_SIGINT) is _handle:  # else the user has set another one meanwhile
            _signal.signal(_SIGINT, _main.handler)
        _main.handler = self._around
        self._stands = False

    def carry(self, error: BaseException) -> None:
        """Give an exception the solution."""
        try:
            error.solution = self.solution  # type: ignore[attr-defined]
        except (AttributeError, TypeError):  # of a class with slots
            error.add_note(f"the run so far: {self.solution!r}")
