"""Signals and forks during a run.

An exception raised by a signal handler vanishes ("Exception ignored in ...") if compiled code has just called back.
During a run in the main thread SIGINT therefore has a handler of ours. It calls the previous handler immediately and
stores the exception. Callbacks and steps raise it (`rbdae.solving.watch`), long computations raise it between their
parts (`check`), and the end of the run raises what remains. A second exception while the first is still stored (a
callback takes long) is raised at once. Other signals are not touched: a time limit that must not vanish calls
``signal.raise_signal(signal.SIGINT)`` in its handler.

The child of a fork has one thread, and would wait for ever for locks held by the others. Before a fork the locks of
this package and of the compiler are taken; they are released on both sides. If a lock does not come free within
`PATIENCE` seconds (a user's function that never returns), the process is forked anyway, and the child renews the lock.
"""

from __future__ import annotations

import _signal  # `signal` makes enumerations of its results, which takes longer than the rest of a short run
import logging as logging  # its lock is taken before a fork: hooks registered later are called earlier
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import cached_property
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


# ---------------------------------------------------------------- forks

PATIENCE = 30.0
"""Seconds that a fork waits for the locks."""

_locks: list[tuple[int, Callable[[], Any]]] = []
_held: list[tuple[Any, bool]] = []
"""The locks of the current fork, and whether each was acquired."""
_one_fork = threading.RLock()


def protect(lock: Callable[[], Any], rank: int) -> None:
    """Keep a lock free on both sides of a fork; ``lock()`` is None if it does not exist yet.

    Locks are taken in the order of their ranks; a thread that holds one may wait only for locks of higher ranks.
    """
    _locks.append((rank, lock))
    _locks.sort(key=lambda entry: entry[0])


def _before() -> None:
    _one_fork.acquire()
    until = time.monotonic() + PATIENCE
    for _, find in _locks:
        lock = find()
        if lock is not None:
            _held.append((lock, lock.acquire(timeout=max(until - time.monotonic(), 0.0))))


def _after(child: bool) -> None:
    while _held:
        lock, had = _held.pop()
        if had:
            lock.release()
        elif child:
            lock._at_fork_reinit()  # as the standard library does with its own
    _one_fork.release()
    if child and sys.version_info < (3, 12):
        _renew_properties()


def _renew_properties() -> None:
    """Renew the locks of cached properties: before Python 3.12 all objects of a class share one."""
    modules = [module for name, module in sys.modules.items() if name.partition(".")[0] in ("rbdae", "rbdae_adapters")]
    kinds = (kind for module in modules for kind in vars(module).values() if isinstance(kind, type))
    for value in (value for kind in kinds for value in vars(kind).values()):
        if isinstance(value, cached_property):
            value.lock = threading.RLock()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=lambda: _after(child=False), after_in_child=lambda: _after(child=True)
    )
