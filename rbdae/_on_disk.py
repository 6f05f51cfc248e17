"""The files that rbdae keeps in the user's cache: bounds of their size, a list of them, and their removal.

There are two kinds: machine code of single models (`rbdae.machine.module`), a file each, and kernels of all models
(`rbdae.compiler.cache`), a folder each, under one folder for each version of the compiler. Anything of it may be
removed at any time, also while processes use it. Other files in the same folders are left alone.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import final

from rbdae._folders import user_cache

MACHINE = "machine"
KERNELS = "kernels-"
NEW = ".new"
"""How names end of what is being written. A process that is killed leaves it."""

MOST_FILES = 4096
MOST_BYTES = 128 << 20
"""Machine code of models beyond which the entries go that were not used for the longest time."""

KERNEL_BYTES = 512 << 20
"""The same of kernels; those of one version have 60 MB."""

DAY = 86400.0
_HOUR = 3600.0
_EVERY = 64
"""Entries between two looks at the size."""
_LEFT = 0.75
"""The part of a bound that is left when something has to go, so that this is rare."""

_ENTRY = re.compile(r"[0-9a-f]{40}\.o")
_WRITTEN = re.compile(rf"\..*{re.escape(NEW)}|tmp[a-z0-9_]{{8}}")  # the second one by older versions
_OF_A_VERSION = re.compile(rf"{KERNELS}[0-9a-f]{{16}}")
_KERNEL = re.compile(r"[0-9a-f]{24}")
_NEW_KERNEL = re.compile(rf"[0-9a-f]{{24}}\..*{re.escape(NEW)}")


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


def _folders(folder: Path, name: re.Pattern[str]) -> Iterator[Path]:
    for entry in _listed(folder):
        with suppress(OSError):
            if name.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)


def _measured(folder: Path) -> _Entry:
    """A folder with all that is in it; it was used when something in it was."""
    used, n_bytes = 0.0, 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                found = os.lstat(os.path.join(root, name))
                used, n_bytes = max(used, found.st_mtime), n_bytes + found.st_size
    return _Entry(folder, used, n_bytes)


def on_disk() -> list[OnDisk]:
    """All that there is."""
    home = user_cache()
    if home is None:
        return []
    out = []
    models = list(_files(home / MACHINE, _ENTRY))
    if models:
        out.append(OnDisk("machine code of models", home / MACHINE, len(models), sum(e.n_bytes for e in models)))
    for folder in sorted(_folders(home, _OF_A_VERSION)):
        kernels = [_measured(one) for one in _folders(folder, _KERNEL)]
        out.append(OnDisk("kernels of all models", folder, len(kernels), sum(e.n_bytes for e in kernels)))
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
    for folder in _folders(home, _OF_A_VERSION):
        shutil.rmtree(folder, ignore_errors=True)
    return [entry.path for entry in _files(home / MACHINE, _ENTRY)] + list(_folders(home, _OF_A_VERSION))


# ---------------------------------------------------------------- bounds

_stores = 0


def bound_machine(folder: Path) -> None:
    """Keep the machine code of models within bounds; looks now and then."""
    global _stores
    _stores += 1
    if _stores % _EVERY == 1:
        _remove_old(_files(folder, _WRITTEN), _HOUR, lambda path: path.unlink(missing_ok=True))
        _bound(_files(folder, _ENTRY), MOST_FILES, MOST_BYTES, lambda path: path.unlink(missing_ok=True))


def bound_kernels(home: Path, present: Path) -> None:
    """Keep kernels within bounds; those of the present version go last."""
    for folder in _folders(home, _OF_A_VERSION):
        new = (_Entry(one, one.stat().st_mtime, 0) for one in _folders(folder, _NEW_KERNEL))
        _remove_old(new, DAY, shutil.rmtree)
    versions = [_measured(folder) for folder in _folders(home, _OF_A_VERSION)]
    there = sum(version.n_bytes for version in versions)
    for version in sorted(versions, key=lambda version: version.used):
        if there > KERNEL_BYTES and version.path != present:
            shutil.rmtree(version.path, ignore_errors=True)
            there -= version.n_bytes
    if there > KERNEL_BYTES:
        _bound(map(_measured, _folders(present, _KERNEL)), MOST_FILES, KERNEL_BYTES, shutil.rmtree)


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
    "DAY", "KERNELS", "KERNEL_BYTES", "MACHINE", "MOST_BYTES", "MOST_FILES", "NEW", "OnDisk", "bound_kernels",
    "bound_machine", "clear", "on_disk",
]  # fmt: skip
