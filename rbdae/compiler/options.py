"""Whether kernels are compiled at all, and numba's options for all of them."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba as _numba

numba: Any = _numba  # its stubs know neither the wrapper options nor the run-time configuration

ENABLED: bool = not numba.config.DISABLE_JIT

OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}}


COMPILING = threading.RLock()
"""One thread at a time compiles: numba's folder for its cache, the collector and the links belong to the process."""


@contextmanager
def collector_off() -> Iterator[None]:
    """A compilation makes millions of objects that live: the garbage collector costs a tenth and finds nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
