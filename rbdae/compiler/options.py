"""Whether kernels are compiled at all, and what else holds for all of them."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rbdae import _process

ENABLED: bool = os.environ.get("RBDAE_PLAIN", "0") in ("", "0")
"""Whether kernels are compiled: ``RBDAE_PLAIN=1`` says that all are to be plain Python."""

COMPILING = threading.RLock()
"""One thread at a time compiles: the collector and the links belong to the process."""

_process.protect(lambda: COMPILING, 10)


_switched_off: set[int] = set()
"""The threads that have switched off the collector, and will switch it on again."""


def _in_child() -> None:
    others = _switched_off - {threading.get_ident()}
    if others:  # they are not there to do it
        _switched_off.difference_update(others)
        gc.enable()


_process.in_child(_in_child)


@contextmanager
def collector_off() -> Iterator[None]:
    """A compilation makes millions of objects that live: the garbage collector costs a tenth and finds nothing."""
    enabled = gc.isenabled()
    if enabled:
        _switched_off.add(threading.get_ident())
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
            _switched_off.discard(threading.get_ident())
