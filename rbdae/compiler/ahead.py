"""Kernels that the cache lacks, compiled by several processes.

The first use of a formulation compiles 60 to 90 kernels, and numba compiles with one core. Kernels are linked by symbol
(`rbdae.compiler.jit`), so each can be compiled alone: child processes, the workers, fill the cache on disk, and this
process loads from there as it always does. The workers share one pipe, from which each takes the number of the next
kernel; so they end when the queue is empty, whatever becomes of this process. Nothing depends on them: what they do not
deliver is compiled here. So are kernels outside of rbdae: to import somebody else's module in other processes may have
side effects.

``RBDAE_COMPILE_PROCESSES`` is the largest number of workers: 1 or 0 for none, by default the number of cores that this
process may use, up to 4. There are none in children of `multiprocessing`, in frozen applications, if the cache
cannot be written, and if only a few kernels are missing.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rbdae import _forks, _signals
from rbdae.compiler.cache import is_writable

if TYPE_CHECKING:
    import subprocess  # a slow import

LIMIT = "RBDAE_COMPILE_PROCESSES"

# in the time in which workers start this process compiles about this many kernels
_WORTH_IT = 8

# without a new kernel for this many seconds something is wrong
_PATIENCE = 60.0

_CHILD = "import sys; sys.path[:] = {path!r}; from rbdae.compiler.worker import work; work(sys.argv[1:])"


class Kernel(Protocol):
    """A kernel, as far as it is known here."""

    name: str

    @property
    def is_cached(self) -> bool:
        """Whether its machine code is in the cache."""


class _Workers:
    """Child processes and the kernels that they go through."""

    def __init__(self, kernels: Sequence[Kernel], size: int) -> None:
        import subprocess

        self.kernels = {kernel.name: kernel for kernel in kernels}
        self._children: list[subprocess.Popen[bytes]] = []
        command = [sys.executable, "-c", _CHILD.format(path=sys.path), *self.kernels]
        queue, numbers = os.pipe()
        try:
            for _ in range(size):
                child = subprocess.Popen(
                    command,
                    stdin=queue,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, LIMIT: "1"},
                    creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )
                self._children.append(child)
            os.write(numbers, b"".join(b"%04d" % k for k in range(len(self.kernels))))
        finally:
            os.close(queue)
            os.close(numbers)

    def at_work(self) -> bool:
        """Whether any worker is."""
        return any(child.poll() is None for child in self._children)

    def stop(self) -> None:
        """End all workers; the cache keeps what is ready."""
        for child in self._children:
            child.kill()
        for child in self._children:
            child.wait()


_workers: _Workers | None = None
_given_up: set[str] = set()
_lock = threading.RLock()


def _dismiss() -> None:
    """End the workers; nobody else will try what they have not done."""
    global _workers
    with _lock:
        if _workers is not None:
            _workers.stop()
            _given_up.update(name for name, kernel in _workers.kernels.items() if not kernel.is_cached)
        _workers = None


atexit.register(_dismiss)


def _in_child() -> None:
    """The workers are the parent's, which ends them."""
    global _workers
    _workers = None


_forks.protect(lambda: _lock, 20)
_forks.in_child(_in_child)


def _nothing() -> None:
    pass


def wait_for(
    kernels: Sequence[Kernel], advance: Callable[[], object] = _nothing, pause: Callable[[], object] = _nothing
) -> None:
    """Return when the workers have put these kernels into the cache, or do not work on them any more. `advance` is
    called for each, `pause` whenever nothing is to be done."""
    waiting = [kernel for kernel in kernels if not kernel.is_cached]
    workers = _workers
    if workers is None or not {kernel.name for kernel in waiting if _can_be_left(kernel)} <= set(workers.kernels):
        begin(waiting)
    patience = time.monotonic() + _PATIENCE
    while waiting and (workers := _workers) is not None:
        if waiting[0].is_cached or waiting[0].name not in workers.kernels:
            waiting.pop(0)
            advance()
            patience = time.monotonic() + _PATIENCE
        elif not workers.at_work() or time.monotonic() > patience:
            with _lock:
                if workers is _workers:
                    _dismiss()
        else:
            time.sleep(0.01)
            pause()
            _signals.check()


def _can_be_left(kernel: Kernel) -> bool:
    return kernel.name.startswith("rbdae.")


def begin(kernels: Sequence[Kernel]) -> None:
    """New workers for these kernels, and then for what the old ones have not done; does not wait."""
    global _workers
    with _lock:
        old = _workers if _workers is not None and _workers.at_work() else None
        wanted = {kernel.name: kernel for kernel in (*kernels, *(old.kernels.values() if old else ()))}
        todo = [k for k in wanted.values() if _can_be_left(k) and k.name not in _given_up and not k.is_cached]
        if len(todo) < _WORTH_IT:
            return
        size = min(_processes(), len(todo) // 2)
        if size < 2:
            return
        if old:
            old.stop()
        with suppress(OSError):
            _workers = _Workers(todo, size)


def _processes() -> int:
    """How many workers there may be; 0 if they cannot be, or should not."""
    import multiprocessing  # a slow import

    python = Path(sys.executable or "").name.lower()
    if (
        not python.startswith("py")
        or getattr(sys, "frozen", False)
        or multiprocessing.parent_process() is not None
        or not is_writable()
    ):
        return 0
    given = os.environ.get(LIMIT, "")
    if given.isdecimal():
        return int(given)
    affinity = getattr(os, "sched_getaffinity", None)
    return min(4, len(affinity(0)) if affinity else os.cpu_count() or 1)
