"""Runs of solvers that keep their state in static memory take turns (`Method.shared_state`)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rbdae import _forks
from rbdae._signals import Pending

_changed = threading.Condition()
_holders: dict[str, int] = {}
"""Which thread runs with a shared state."""
_waiting: dict[int, str] = {}
"""Which shared state a thread waits for."""


def _in_child() -> None:
    """Other threads are not there to end their runs."""
    me = threading.get_ident()
    for state in [state for state, holder in _holders.items() if holder != me]:
        del _holders[state]
    _waiting.clear()


_forks.protect(lambda: _changed, 60)
_forks.in_child(_in_child)

_LOOK = 0.1
"""Seconds after which a thread that waits looks whether it was interrupted."""


def _refuse_deadlock(solver: str, state: str, me: int) -> None:
    """A run inside a user's function that can never begin, because of the runs around it."""
    other = _holders.get(state)
    seen = set()
    while other is not None and other not in seen:
        if other == me:
            raise RuntimeError(
                f"{solver} keeps its state in static memory ({state}) and cannot run inside of a function that it "
                "calls, or that waits for it; take another solver for the inner run, such as sksundae:ida or scipy:RK45"
            )
        seen.add(other)
        other = _holders.get(_waiting.get(other, ""))


@contextmanager
def turn(solver: str, state: str, pending: Pending) -> Iterator[None]:
    """Wait until no other thread runs with this shared state (at once if it is empty), and keep others waiting.

    Raises RuntimeError for a run inside a run that would wait for ever, and what `pending` has.
    """
    if not state:
        yield
        return
    me = threading.get_ident()
    with _changed:
        try:
            while state in _holders:
                _waiting[me] = state
                _refuse_deadlock(solver, state, me)
                _changed.wait(_LOOK)
                pending.check()
        finally:
            _waiting.pop(me, None)
        _holders[state] = me
    try:
        yield
    finally:
        with _changed:
            del _holders[state]
            _changed.notify_all()


__all__ = ["turn"]
