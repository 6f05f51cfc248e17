"""Whether kernels are compiled at all, and numba's options for all of them."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rbdae import _forks


def _enabled() -> bool:
    """Without an import of numba, which takes half a second: from what numba would read."""
    config = getattr(sys.modules.get("numba"), "config", None)
    if config is None and os.path.exists(".numba_config.yaml"):
        from numba import config  # it reads this file
    if config is not None:
        return not config.DISABLE_JIT
    try:
        return not int(os.environ.get("NUMBA_DISABLE_JIT") or 0)
    except ValueError:
        return True


ENABLED: bool = _enabled()
"""Whether kernels are compiled: ``NUMBA_DISABLE_JIT=1`` says that all are to be plain Python."""

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}


COMPILING = threading.RLock()
"""One thread at a time compiles: numba's folder for its cache, the collector and the links belong to the process."""

_forks.protect(lambda: COMPILING, 10)


def _numba_lock() -> Any:
    """The lock that keeps other threads out of numba's compiler; None before numba is imported."""
    found = getattr(sys.modules.get("numba.core.compiler_lock"), "global_compiler_lock", None)
    return getattr(found, "_lock", None)


_forks.protect(_numba_lock, 80)

_switched_off: set[int] = set()
"""The threads that have switched off the collector, and will switch it on again."""


def _in_child() -> None:
    others = _switched_off - {threading.get_ident()}
    if others:  # they are not there to do it
        _switched_off.difference_update(others)
        gc.enable()


_forks.in_child(_in_child)


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
