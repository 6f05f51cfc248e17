"""The user's cache of machine code: its folder, bounds of its size, a list of it, and its removal.

What a cache has is run. So it is read only where it belongs to this user and nobody else can write to it: whoever could
leave a file there could otherwise leave code. Without a place that can be trusted nothing is kept, and each process
does the work again; no environment is an error. Entries (`rbdae.machine.module`), a file each, may be removed at any
time, also while processes use them. Other files in the same folder are left alone.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

ENVIRONMENT = "RBDAE_CACHE_DIR"
"""The variable that has the folder of the cache."""

MACHINE = "machine"
NEW = ".new"
"""How names end of what is being written. A process that is killed leaves it."""

MOST_FILES = 4096
MOST_BYTES = 128 << 20
"""Machine code beyond which the entries go that were not used for the longest time."""

DAY = 86400.0
_HOUR = 3600.0
_EVERY = 64
"""Entries between two looks at the size."""
_LEFT = 0.75
"""The part of a bound that is left when something has to go, so that this is rare."""

_ENTRY = re.compile(r"[0-9a-f]{40}\.o")
_WRITTEN = re.compile(rf"\..*{re.escape(NEW)}")


class Entry(NamedTuple):
    """A file of the cache: when it was used last (s, as `time.time`), its size and its path."""

    used: float
    n_bytes: int
    path: Path


def user_cache() -> Path | None:
    """The folder for what rbdae keeps between processes: RBDAE_CACHE_DIR, or the platform's own; None if this user has
    no home. Relative folders do not count: they would be wherever a program happens to be started."""
    given = os.environ.get(ENVIRONMENT, "")
    if not os.path.isabs(given):
        import platformdirs  # `import rbdae` needs none of it

        with suppress(RuntimeError):  # of a user without a home; some versions return "~/.cache" then
            given = platformdirs.user_cache_dir("rbdae", appauthor=False)
    return Path(given) if os.path.isabs(given) else None


def is_own(found: os.stat_result) -> bool:
    """Whether something belongs to this user, and nobody else can write to it. Windows has other means."""
    return sys.platform == "win32" or (
        found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


def usable(folder: Path | None, what: str) -> bool:
    """Whether a folder is there, or could be made now for this user alone, and can be trusted; says once why not."""
    if folder is None:
        _say(f"{what} is not kept: this user has no home folder; set {ENVIRONMENT} to a folder of your own")
        return False
    try:
        if not folder.is_dir():
            _make(folder)
        found = folder.stat()
    except (OSError, ValueError) as error:
        _say(f"{what} cannot be kept in {folder} ({error}); each process compiles its own")
        return False
    if is_own(found):
        return True
    whose = "can be written by others" if found.st_uid == os.geteuid() else "belongs to another user"
    _say(
        f"{what} in {folder} is not used: it {whose}, and what is there is run; set {ENVIRONMENT} to a folder of your "
        "own, or remove it"
    )
    return False


def _make(folder: Path) -> None:
    """Make a folder and those above it, for this user alone; `Path.mkdir` gives the ones above to others, too."""
    if not folder.parent.exists():
        _make(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


@cache
def _say(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=3)


def entries(folder: Path | None = None, name: re.Pattern[str] = _ENTRY) -> list[Entry]:
    """Entries of a folder, or of the user's cache; what was not used for the longest time comes first."""
    home = user_cache()
    folder = home / MACHINE if folder is None and home is not None else folder
    return [] if folder is None else sorted(_entries(folder, name))


def _entries(folder: Path, name: re.Pattern[str]) -> Iterator[Entry]:
    with suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            with suppress(OSError):  # of one that another process has just removed
                if name.fullmatch(entry.name) and not entry.is_dir(follow_symlinks=False):
                    about = entry.stat(follow_symlinks=False)
                    yield Entry(about.st_mtime, about.st_size, Path(entry.path))


def clear() -> list[Entry]:
    """Remove all entries of the user's cache; returns those that could not be removed."""
    for entry in [*entries(), *entries(None, _WRITTEN)]:
        _remove(entry)
    return entries()


def bound_machine(folder: Path) -> None:
    """Keep machine code within bounds; looks now and then."""
    global _stores
    _stores += 1
    if _stores % _EVERY != 1:
        return
    for entry in entries(folder, _WRITTEN):
        if time.time() - entry.used > _HOUR:
            _remove(entry)
    there = entries(folder)
    n_bytes = sum(entry.n_bytes for entry in there)
    if len(there) <= MOST_FILES and n_bytes <= MOST_BYTES:
        return
    for k, entry in enumerate(there):
        if len(there) - k <= _LEFT * MOST_FILES and n_bytes <= _LEFT * MOST_BYTES:
            return
        _remove(entry)
        n_bytes -= entry.n_bytes


_stores = 0


def _remove(entry: Entry) -> None:
    with suppress(OSError):
        entry.path.unlink()
