"""A collection of what packages print and warn while they run; it is not shown.

Fortran and C write to the file descriptors, Python code to `sys.stdout`; both are caught. File descriptors and
warning filters belong to the whole process, so runs in several threads share one catch: the first to come
opens it and the last to go closes it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import io
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from typing import IO, final

from rbdae import _forks
from rbdae._signals import shielded
from rbdae.adapter import Outcome

_ECHOES = ("capi_return is NULL", "Call-back cb_")
"""What f2py prints where a callback has raised; the exception is told by whoever raised it."""

_lock = threading.Lock()
_users: list[int] = []
"""The threads at it."""
_resources = contextlib.ExitStack()
_text = io.StringIO()
_warned: list[warnings.WarningMessage] = []


@functools.cache
def _libc() -> ctypes.CDLL:
    """This process; opening it takes longer than what is done with it."""
    return ctypes.CDLL(None)


def _flush_compiled() -> None:
    """Empty the buffers of C and of gfortran's runtime, which would print at the end of the process."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        _libc().fflush(None)
    for name in ("libgfortran.so.5", "libgfortran.5.dylib"):
        # Fails if no package has loaded it, and then nothing is buffered.
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(name, mode=os.RTLD_NOLOAD)._gfortran_flush_i4(None)


def _storage() -> IO[bytes] | None:
    """A file in memory, or in the folder for temporary files; None where there is neither."""
    with contextlib.suppress(AttributeError, OSError):  # Linux has it
        return os.fdopen(os.memfd_create("rbdae"), "w+b")
    with contextlib.suppress(OSError):
        return tempfile.TemporaryFile("w+b")
    return None


def _beginning(file: IO[bytes]) -> bytes:
    """The first 4096 bytes; a child of a fork that closes its catch must not move the place where its parent writes."""
    if hasattr(os, "pread"):
        return os.pread(file.fileno(), 4096, 0)
    file.seek(0)
    return file.read(4096)


def _copies() -> list[tuple[int, int]]:
    """File descriptors 1 and 2, each with a copy; none if one is closed (a service, pythonw), or if no more can be."""
    copies: list[tuple[int, int]] = []
    try:
        for fd in (1, 2):
            copies.append((fd, os.dup(fd)))
    except OSError:
        for _, copy in copies:
            os.close(copy)
        return []
    return copies


@contextlib.contextmanager
def _descriptors(into: io.StringIO) -> Iterator[None]:
    """Send file descriptors 1 and 2 to a file, whose text is added to `into` at the end; what cannot be stored is
    shown."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.flush()
    with _storage() or contextlib.nullcontext() as file:
        copies = [] if file is None else _copies()
        try:
            if file is not None:
                for fd, _ in copies:
                    os.dup2(file.fileno(), fd)
            yield
        finally:
            _flush_compiled()
            for fd, copy in copies:
                os.dup2(copy, fd)
                os.close(copy)
            if file is not None:
                into.write(_beginning(file).decode(errors="replace"))


@final
class Chatter:
    """A record of what was printed and warned since `quiet` began; text of compiled code is added when the last `quiet`
    ends."""

    __slots__ = ("_printed", "_said", "_warnings")

    def __init__(self) -> None:
        self._printed = len(_text.getvalue())
        self._warnings = len(_warned)
        self._said: list[str] = []

    def _close(self) -> None:
        said = [f"{w.category.__name__}: {w.message}" for w in _warned[self._warnings :]]
        printed = (line.strip() for line in _text.getvalue()[self._printed :].splitlines())
        said += [line for line in printed if line and not line.startswith(_ECHOES)]
        self._said = list(dict.fromkeys(said))

    def sentence(self, limit: int = 3) -> str:
        """The first `limit` different things that were said, or an empty string."""
        more = f" (and {len(self._said) - limit} more)" if len(self._said) > limit else ""
        return "; ".join(self._said[:limit]) + more

    def added_to(self, outcome: Outcome) -> Outcome:
        """`outcome`, with what was said at the end of its detail."""
        said = self.sentence()
        if said:
            outcome.detail = f"{outcome.detail}; {said}" if outcome.detail else said
        return outcome


def _begin() -> None:
    """Open the catch; nothing stays open if that fails."""
    global _warned
    _text.seek(0)
    _text.truncate()
    with contextlib.ExitStack() as opened:
        _warned = opened.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        opened.enter_context(_descriptors(_text))
        opened.enter_context(contextlib.redirect_stdout(_text))
        opened.enter_context(contextlib.redirect_stderr(_text))
        _resources.push(opened.pop_all())


def _in_child() -> None:
    """Other threads are not there to close what they have opened."""
    me = threading.get_ident()
    others = len(_users) - _users.count(me)
    _users[:] = [user for user in _users if user == me]
    if others and not _users:
        _resources.close()


_forks.protect(lambda: _lock, 70)
_forks.in_child(_in_child)


@contextlib.contextmanager
def quiet() -> Iterator[Chatter]:
    """Collect everything that is printed and every warning; ask the `Chatter` afterwards.

    >>> with quiet() as chatter:
    ...     print("something the user need not see")
    >>> chatter.sentence()
    'something the user need not see'
    """
    chatter = None
    try:
        with shielded(), _lock:
            if not _users:
                _begin()
            _users.append(threading.get_ident())
            chatter = Chatter()
        yield chatter
    finally:
        if chatter is not None:
            with shielded(), _lock:
                _users.remove(threading.get_ident())
                if not _users:
                    _resources.close()
                chatter._close()


__all__ = ["Chatter", "quiet"]
