"""Ctrl-C during a run, and what other signals' handlers raise, is kept until our own code can raise it.

Python runs the handler of a signal between any two instructions of the main thread, and an exception that it raises
there vanishes ("Exception ignored in ...") where compiled code has just called back: on the way into a function of
ctypes or Cython, and on the way out of it. During a run in the main thread every signal that has a handler of Python's
(SIGINT has one, a time limit sets one for SIGALRM) therefore has one of ours. It calls the one that was there at once,
and keeps what that one raises. Callbacks and steps look for it and raise it (`rbdae.solving.monitor`), and so does work
that takes long, between its parts; the end of the run raises what is left.

A second exception while the first is still kept (a callback takes long) is raised on the spot. Should that one vanish,
the first is still there. Other threads, which Python hands no signals, are left alone.
"""

from __future__ import annotations

import _signal  # `signal` makes enumerations of what it hands out, which takes longer than the rest of a short run
import signal
import threading
from operator import is_
from types import FrameType, TracebackType
from typing import Any, Self, final


@final
class Pending:
    """The exception that has to be raised; None for nothing."""

    __slots__ = ("error",)

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def check(self) -> None:
        """Raise it. It stays, so that it is raised again where a package swallows it."""
        if self.error is not None:
            raise self.error


_main = Pending()
_before: dict[int, Any] = {}
"""The handlers that ours stands for."""
_SIGNALS = tuple(
    sorted(int(s) for s in signal.valid_signals() - {getattr(signal, "SIGKILL", 0), getattr(signal, "SIGSTOP", 0)})
)


def _handle(number: int, frame: FrameType | None) -> None:
    try:
        _before[number](number, frame)
    except BaseException as error:
        if _main.error is None:
            _main.error = error
        else:
            raise


def _handlers() -> list[tuple[int, Any]]:
    """The handlers to stand for. Without one of Python's the process ends, or ignores it, or C code does something."""
    global _seen
    now = tuple(map(_signal.getsignal, _SIGNALS))
    if not all(map(is_, now, _seen[0])):
        found = [(n, one) for n, one in zip(_SIGNALS, now, strict=True) if callable(one) and one is not _handle]
        _seen = (now, found)
    return _seen[1]


_seen: tuple[tuple[Any, ...], list[tuple[int, Any]]] = ((_handle,) * len(_SIGNALS), [])
"""What the last run has met; it seldom changes, and asking each of them what it is takes a tenth of a short run."""


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def check() -> None:
    """Raise what a signal has left in this thread, in work that takes long outside of a solver."""
    if _main.error is not None and _is_main():
        raise _main.error


@final
class Deferred:
    """A run, ``with Deferred() as run:``; its end raises what came meanwhile, with `solution` as an attribute.

    Runs may be nested: an inner one, inside of a user's function, raises first.
    """

    __slots__ = ("_around", "_set", "pending", "solution")

    def __init__(self) -> None:
        self.pending = _main if _is_main() else Pending()
        self.solution: object = None
        self._set: list[tuple[int, Any]] = []
        self._around: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if self.pending is _main:
            try:
                for number, before in _handlers():
                    self._stand_for(number, before)
            except BaseException:  # of a handler that still was in its place
                self._restore_all()
                raise
        return self

    def _stand_for(self, number: int, before: Any) -> None:
        if number in _before:  # of a run around this one, in whose function the user has set another
            self._around[number] = _before[number]
        _before[number] = before
        try:
            _signal.signal(number, _handle)
            self._set.append((number, before))  # from here on nothing is raised
        except ValueError:  # not the main interpreter
            pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        late = self._restore_all()
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

    def _restore_all(self) -> BaseException | None:
        """Put the handlers back; what one raises that has just been put back is returned."""
        late = None
        while self._set:
            try:
                self._restore()
            except BaseException as error:
                late = error
        return late

    def _restore(self) -> None:
        while self._set:
            number, before = self._set[-1]
            # the user may have set another one meanwhile
            if _signal.getsignal(number) is _handle:
                _signal.signal(number, before)
            if number in self._around:
                _before[number] = self._around[number]
            self._set.pop()

    def carry(self, error: BaseException) -> None:
        """Give an exception the solution."""
        try:
            error.solution = self.solution  # type: ignore[attr-defined]
        except (AttributeError, TypeError):  # of a class with slots
            error.add_note(f"the run so far: {self.solution!r}")


__all__ = ["Deferred", "Pending", "check"]
