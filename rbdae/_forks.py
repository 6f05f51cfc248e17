"""Locks across `os.fork`: a child has one thread, and would wait for ever for locks that other threads have held.

Before a fork the locks of this package and of the compiler are taken, so that no other thread is at work under
one of them; they are released on both sides. Should one not come free within `PATIENCE` seconds (a user's function that
never returns), the process is forked all the same, and the child makes the lock new.
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
"""Seconds that a fork waits for the locks."""

_locks: list[tuple[int, Callable[[], Any]]] = []
_held: list[tuple[Any, bool]] = []
"""The locks of the fork at work, and whether they were had."""
_one_fork = threading.RLock()


def protect(lock: Callable[[], Any], rank: int) -> None:
    """Have a lock free on both sides of a fork; ``lock()`` is None if it is not there yet.

    Locks are taken in the order of their ranks; a thread that holds one may wait only for locks of higher ranks.
    """
    _locks.append((rank, lock))
    _locks.sort(key=lambda entry: entry[0])


def in_child(function: Callable[[], None]) -> None:
    """Call a function in children, with the locks free: for what other threads would have put back."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)


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
    """Before Python 3.12 a `cached_property` has one lock for all objects of a class, held while code is made."""
    own = [module for name, module in sys.modules.items() if name.partition(".")[0] in ("rbdae", "rbdae_adapters")]
    kinds = (kind for module in own for kind in vars(module).values() if isinstance(kind, type))
    for value in (value for kind in kinds for value in vars(kind).values()):
        if isinstance(value, cached_property):
            value.lock = threading.RLock()  # type: ignore[attr-defined]


_ = logging  # imported for the order
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=lambda: _after(child=False), after_in_child=lambda: _after(child=True)
    )
