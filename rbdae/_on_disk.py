"""The files that rbdae keeps in the user's cache: bounds of their size, a list of them, and their removal.

Machine code of models and of kernels (`rbdae.machine.module`) is there, a file each. Anything of it may be removed at
any time, also while processes use it. Other files in the same folder are left alone.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from rbdae._folders import user_cache

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
_WRITTEN = re.compile(rf"\..*{re.escape(NEW)}|tmp[a-z0-9_]{{8}}")  # the second one by older versions


@final
@dataclass(frozen=True, slots=True)
class OnDisk:
    """A folder of the cache.

    Attributes
    ----------
    what : what is kept there, in words
    folder : where
    entries, n_bytes : how much
    """

    what: str
    folder: Path
    entries: int
    n_bytes: int


@final
@dataclass(frozen=True, slots=True)
class _Entry:
    path: Path
    used: float
    n_bytes: int


# ---------------------------------------------------------------- what is there


def _listed(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def _files(folder: Path, name: re.Pattern[str]) -> Iterator[_Entry]:
    for entry in _listed(folder):
        if name.fullmatch(entry.name):
            with suppress(OSError):
                found = entry.stat(follow_symlinks=False)
                if not stat.S_ISDIR(found.st_mode):
                    yield _Entry(Path(entry.path), found.st_mtime, found.st_size)


def on_disk() -> list[OnDisk]:
    """All that there is."""
    home = user_cache()
    if home is None:
        return []
    out = []
    models = list(_files(home / MACHINE, _ENTRY))
    if models:
        out.append(OnDisk("machine code", home / MACHINE, len(models), sum(e.n_bytes for e in models)))
    return out


def clear() -> list[Path]:
    """Remove it; returns what could not be removed."""
    home = user_cache()
    if home is None:
        return []
    for name in (_ENTRY, _WRITTEN):
        for entry in _files(home / MACHINE, name):
            with suppress(OSError):
                entry.path.unlink()
    with suppress(OSError):  # there may be something else in it
        (home / MACHINE).rmdir()
    return [entry.path for entry in _files(home / MACHINE, _ENTRY)]


# ---------------------------------------------------------------- bounds

_stores = 0


def bound_machine(folder: Path) -> None:
    """Keep machine code within bounds; looks now and then."""
    global _stores
    _stores += 1
    if _stores % _EVERY == 1:
        _remove_old(_files(folder, _WRITTEN), _HOUR, lambda path: path.unlink(missing_ok=True))
        _bound(_files(folder, _ENTRY), MOST_FILES, MOST_BYTES, lambda path: path.unlink(missing_ok=True))


def _remove_old(entries: Iterable[_Entry], age: float, remove: Callable[[Path], object]) -> None:
    """Remove what was being written longer ago than `age`."""
    with suppress(OSError):
        for entry in entries:
            if time.time() - entry.used > age:
                with suppress(OSError):
                    remove(entry.path)


def _bound(entries: Iterable[_Entry], most: int, most_bytes: int, remove: Callable[[Path], object]) -> None:
    """Remove those that were not used for the longest time, if there is too much."""
    found = sorted(entries, key=lambda entry: entry.used)
    there = sum(entry.n_bytes for entry in found)
    if len(found) <= most and there <= most_bytes:
        return
    for k, entry in enumerate(found):
        if len(found) - k <= _LEFT * most and there <= _LEFT * most_bytes:
            return
        with suppress(OSError):
            remove(entry.path)
        there -= entry.n_bytes


__all__ = [
    "DAY", "MACHINE", "MOST_BYTES", "MOST_FILES", "NEW", "OnDisk", "bound_machine", "clear", "on_disk",
]  # fmt: skip
