"""What packages print and warn while they run is collected, not shown.

Fortran and C write to the file descriptors, Python code to `sys.stdout`; both are caught. File descriptors and
warning filters belong to the whole process, so runs in several threads share one catch: the first to come
opens it and the last to go closes it.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from typing import final

from rbdae.adapter import Outcome

_lock = threading.Lock()
_users = 0
_resources = contextlib.ExitStack()
_text = io.StringIO()
_warned: list[warnings.WarningMessage] = []


def _flush_compiled() -> None:
    """Empty the buffers of C and of gfortran's runtime, which would print at the end of the process."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)
    for name in ("libgfortran.so.5", "libgfortran.5.dylib"):
        # Fails if no package has loaded it, and then nothing is buffered.
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(name, mode=os.RTLD_NOLOAD)._gfortran_flush_i4(None)


@contextlib.contextmanager
def _descriptors(into: io.StringIO) -> Iterator[None]:
    """Send file descriptors 1 and 2 to a temporary file, whose text is added to `into` at the end."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError, OSError):
            stream.flush()
    try:
        saved = [(fd, os.dup(fd)) for fd in (1, 2)]
    except OSError:  # nowhere to print to (a service, pythonw)
        yield
        return
    with tempfile.TemporaryFile() as file:
        try:
            for fd, _ in saved:
                os.dup2(file.fileno(), fd)
            yield
        finally:
            _flush_compiled()
            for fd, copy in saved:
                os.dup2(copy, fd)
                os.close(copy)
            file.seek(0)
            into.write(file.read(4096).decode(errors="replace"))


@final
class Chatter:
    """What was printed and warned since `quiet` began; text of compiled code is added when the last `quiet` ends."""

    __slots__ = ("_printed", "_said", "_warnings")

    def __init__(self) -> None:
        self._printed = len(_text.getvalue())
        self._warnings = len(_warned)
        self._said: list[str] = []

    def _close(self) -> None:
        said = [f"{w.category.__name__}: {w.message}" for w in _warned[self._warnings :]]
        said += [s.strip() for s in _text.getvalue()[self._printed :].splitlines() if s.strip()]
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


@contextlib.contextmanager
def quiet() -> Iterator[Chatter]:
    """Collect everything that is printed and every warning; ask the `Chatter` afterwards.

    >>> with quiet() as chatter:
    ...     print("something the user need not see")
    >>> chatter.sentence()
    'something the user need not see'
    """
    global _users, _warned
    with _lock:
        _users += 1
        if _users == 1:
            _text.seek(0)
            _text.truncate()
            _warned = _resources.enter_context(warnings.catch_warnings(record=True))
            warnings.simplefilter("always")
            _resources.enter_context(_descriptors(_text))
            _resources.enter_context(contextlib.redirect_stdout(_text))
            _resources.enter_context(contextlib.redirect_stderr(_text))
        chatter = Chatter()
    try:
        yield chatter
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _resources.close()
            chatter._close()


__all__ = ["Chatter", "quiet"]
