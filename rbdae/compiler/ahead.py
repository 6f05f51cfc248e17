"""Kernels that the cache lacks, compiled by several processes.

The first use of a formulation compiles 60 to 90 kernels, and numba compiles with one core. Kernels are linked by symbol
(see `rbdae.compiler.jit`), so each can be compiled alone: child processes fill the cache on disk, and this process
loads from there as it always does. The children share one pipe, from which each takes the number of the next kernel;
so they end when the queue is empty, whatever becomes of this process. Nothing depends on them: what they do not deliver
is compiled here.

``RBDAE_COMPILE_PROCESSES`` is the largest number of children: 1 or 0 for none, by default the number of cores that
this process may use, up to 4. There are none in children of `multiprocessing`, in frozen applications, where the cache
cannot be written, and where only a few kernels are missing.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from rbdae.compiler import jit as _jit

LIMIT = "RBDAE_COMPILE_PROCESSES"

# in the time in which children start this process compiles about so many kernels
_WORTH_IT = 8

# without a new kernel for so many seconds something is wrong
_PATIENCE = 60.0

_CHILD = "import sys; sys.path[:] = {path!r}; from rbdae.compiler.ahead import work; work(sys.argv[1:])"


class _Crew:
    """Child processes and the names that they go through."""

    def __init__(self, names: Sequence[str], size: int) -> None:
        self.names = names
        self._children: list[subprocess.Popen[bytes]] = []
        command = [sys.executable, "-c", _CHILD.format(path=sys.path), *names]
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
            os.write(numbers, b"".join(b"%04d" % k for k in range(len(names))))
        finally:
            os.close(queue)
            os.close(numbers)

    def at_work(self) -> bool:
        """Whether any child is."""
        return any(child.poll() is None for child in self._children)

    def stop(self) -> None:
        """End all children; the cache keeps what is ready."""
        for child in self._children:
            child.kill()
        for child in self._children:
            child.wait()


_crew: _Crew | None = None
_given_up: set[str] = set()
_lock = threading.RLock()


def _dismiss() -> None:
    """End the crew; what it has not done, nobody else will try."""
    global _crew
    with _lock:
        if _crew is not None:
            _crew.stop()
            _given_up.update(name for name in _crew.names if not _jit.is_cached(name))
        _crew = None


atexit.register(_dismiss)


def expect(goals: Iterable[tuple[_jit.Entry, _jit.Features | None]]) -> None:
    """Begin with what the cache lacks of several kernels, which will be wanted in this order; do not wait."""
    if _jit.ENABLED:
        _begin([name for entry, features in goals for name in entry.missing(features)])


def wait_for(names: Sequence[str], advance: Callable[[], object] = lambda: None) -> None:
    """Return when these kernels are in the cache, or when nobody is at work on them any more."""
    waiting = [name for name in names if not _jit.is_cached(name)]
    crew = _crew
    if crew is None or not set(waiting) <= set(crew.names):
        _begin(waiting)
    patience = time.monotonic() + _PATIENCE
    while waiting and (crew := _crew) is not None:
        if _jit.is_cached(waiting[0]):
            waiting.pop(0)
            advance()
            patience = time.monotonic() + _PATIENCE
        elif not crew.at_work() or time.monotonic() > patience:
            with _lock:
                if crew is _crew:
                    _dismiss()
        else:
            time.sleep(0.01)


def _begin(names: Sequence[str]) -> None:
    """A new crew for these kernels, and then for what the old one has not done."""
    global _crew
    with _lock:
        old = _crew if _crew is not None and _crew.at_work() else None
        wanted = dict.fromkeys([*names, *(old.names if old else ())])
        todo = [n for n in wanted if n.startswith("rbdae.") and n not in _given_up and not _jit.is_cached(n)]
        if len(todo) < _WORTH_IT:
            return
        size = min(_processes(), len(todo) // 2)
        if size < 2:
            return
        if old:
            old.stop()
        with suppress(OSError):
            _crew = _Crew(todo, size)


def _processes() -> int:
    """How many children there may be; 0 where they cannot be, or should not."""
    python = Path(sys.executable or "").name.lower()
    if (
        not python.startswith("py")
        or getattr(sys, "frozen", False)
        or multiprocessing.parent_process() is not None
        or not _jit.can_mark()
    ):
        return 0
    given = os.environ.get(LIMIT, "")
    if given.isdecimal():
        return int(given)
    affinity = getattr(os, "sched_getaffinity", None)
    return min(4, len(affinity(0)) if affinity else os.cpu_count() or 1)


def work(names: Sequence[str]) -> None:
    """In a child: compile what comes out of the pipe."""
    while number := os.read(0, 4):
        # what cannot be compiled here raises its error where it is needed
        with suppress(Exception):
            _jit.compile_alone(names[int(number)])
