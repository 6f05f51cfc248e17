"""Locks across `os.fork`: a child has one thread, and nobody there would release what other threads have held.

Before a fork the locks of this package are taken, and those of the compiler, so that no other thread is at work under
one of them; they are released on both sides. A thread that holds one for long gives way (`give_way`). Should one not
come free within `PATIENCE` seconds, the process is forked all the same, and the child makes it new.
"""

from __future__ import annotations

import logging  # it takes its lock before a fork: what is registered later is called earlier, and must not wait for it
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import cached_property
from typing import Any

PATIENCE = 30.0
"""Seconds that a fork waits for the locks. A single compilation takes a few."""

_GIVEN_WAY = 1.0
_LOOK = 0.0005

_locks: list[tuple[int, Callable[[], Any]]] = []
"""Rank, and what gives the lock, or None if it is not there yet."""
_in_child: list[Callable[[], None]] = []
_mine: list[tuple[Any, bool]] = []
"""The locks of the fork at work, and whether they were had."""
_wanted = False
_one_fork = threading.RLock()


def protect(lock: Callable[[], Any], rank: int) -> None:
    """Have a lock free on both sides of a fork.

    Locks are taken in the order of their ranks; a thread that holds one may wait for those of higher ranks only.
    """
    _locks.append((rank, lock))
    _locks.sort(key=lambda entry: entry[0])


def in_child(function: Callable[[], None]) -> None:
    """Call a function in children, with the locks free: for what other threads would have put back."""
    _in_child.append(function)


def give_way(lock: Any) -> None:
    """Let forks of other threads go first, in the middle of something long under a lock that is held once."""
    if not _wanted:
        return
    lock.release()
    try:
        until = time.monotonic() + _GIVEN_WAY
        while _wanted and time.monotonic() < until:
            time.sleep(_LOOK)
    finally:
        lock.acquire()


def _before() -> None:
    global _wanted
    _one_fork.acquire()
    _wanted = True
    until = time.monotonic() + PATIENCE
    for _, find in _locks:
        lock = find()
        if lock is not None:
            _mine.append((lock, lock.acquire(timeout=max(until - time.monotonic(), 0.0))))


def _after_in_parent() -> None:
    global _wanted
    while _mine:
        lock, had = _mine.pop()
        if had:
            lock.release()
    _wanted = False
    _one_fork.release()


def _after_in_child() -> None:
    global _wanted
    while _mine:
        lock, had = _mine.pop()
        if had:
            lock.release()
        else:
            lock._at_fork_reinit()  # as the standard library does with its own
    _wanted = False
    _one_fork.release()
    _renew_properties()
    for function in _in_child:
        function()


def _renew_properties() -> None:
    """Before Python 3.12 a `cached_property` has one lock for all objects of a class, held while code is made."""
    if sys.version_info >= (3, 12):
        return
    own = [module for name, module in sys.modules.items() if name.partition(".")[0] in ("rbdae", "rbdae_adapters")]
    for module in own:
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and kind.__module__ == module.__name__:
                for value in vars(kind).values():
                    if isinstance(value, cached_property):
                        value.lock = threading.RLock()  # type: ignore[attr-defined]


_ = logging  # imported for the order alone
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)

__all__ = ["PATIENCE", "give_way", "in_child", "protect"]
