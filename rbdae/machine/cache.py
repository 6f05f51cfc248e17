"""The user's cache of machine code: files with a code and what is kept beside it, bounds of their size, their removal.

The key of an entry is its name, and its contents begin with a digest of the key and of all else together: what is
damaged, or belongs to another key, counts as not there. What a cache has is run. So entries are read only where this
user alone can write: whoever could leave a file there could otherwise leave code. Without a place that can be trusted
nothing is kept, and each process does the work again; no environment is an error. Entries may be removed at any time,
also while processes use them. Other files in the same folder are left alone.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from rbdae._version import __version__

ENVIRONMENT = "RBDAE_CACHE_DIR"
"""The variable that has the folder of the cache."""

MOST_FILES = 4096
MOST_BYTES = 128 << 20
"""Machine code beyond which the entries go that were not used for the longest time."""

_EVERY = 64
"""One of so many keys is a reason to look at the size when it is written,"""
_LEFT = 0.75
"""and the part of a bound that is left when something has to go, so that this is rare."""

_LARGEST = 1 << 26
"""Bytes of an entry at most."""

_DIGEST = 32
_HOUR, _DAY = 3600.0, 86400.0
_NEW = ".new"
"""How names end of what is being written. A process that is killed leaves it."""
_ENTRY = re.compile(r"[0-9a-f]{40}\.o")
_WRITTEN = re.compile(rf"\..*{re.escape(_NEW)}")


# ---------------------------------------------------------------- the folder


def user_cache() -> Path | None:
    """The folder for what rbdae keeps between processes: RBDAE_CACHE_DIR, or the platform's own; None if this user has
    no home. Relative folders do not count: they would be wherever a program happens to be started."""
    given = os.environ.get(ENVIRONMENT, "")
    if not os.path.isabs(given):
        import platformdirs  # `import rbdae` needs none of it

        with suppress(RuntimeError):  # of a user without a home; some versions return "~/.cache" then
            given = platformdirs.user_cache_dir("rbdae", appauthor=False)
    return Path(given) if os.path.isabs(given) else None


def folder() -> Path | None:
    """The folder of the entries; None if there is no such place."""
    home = user_cache()
    return home and home / "machine"


def _place(key: bytes) -> Path | None:
    """The file of an entry in a folder of this user alone, which is made; None, said once, if it is not safe."""
    home = folder()
    if home is None:
        say_once(f"machine code is not kept: this user has no home folder; set {ENVIRONMENT} to a folder of your own")
        return None
    try:
        if not home.is_dir():
            _make(home)
        found = home.stat()
    except (OSError, ValueError) as error:
        say_once(f"machine code cannot be kept in {home} ({error}); each process compiles its own")
        return None
    if _is_own(found):
        return home / f"{key.hex()[:40]}.o"
    whose = "can be written by others" if found.st_uid == os.geteuid() else "belongs to another user"
    say_once(
        f"machine code in {home} is not used: it {whose}, and what is there is run; set {ENVIRONMENT} to a folder of "
        "your own, or remove it"
    )
    return None


def _make(home: Path) -> None:
    """Make a folder and those above it, for this user alone; `Path.mkdir` gives the ones above to others, too."""
    if not home.parent.exists():
        _make(home.parent)
    home.mkdir(mode=0o700, exist_ok=True)


def _is_own(found: os.stat_result) -> bool:
    """Whether something belongs to this user, and nobody else can write to it. Windows has other means."""
    return sys.platform == "win32" or (
        found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )


@cache
def say_once(message: str) -> None:
    """Warn, once in a process."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


# ---------------------------------------------------------------- entries


def read(key: bytes) -> tuple[bytes, bytes] | None:
    """The bytes beside the code of a key, and the code, if its entry is there, whole, and written by this user."""
    path = _place(key)
    if path is None:
        return None
    # a link is not followed, and a pipe not waited for
    flags = (getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | sum(flags)), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or not _is_own(found) or found.st_size > _LARGEST:
                return None
            digest, contents = file.read(_DIGEST), file.read()
    except OSError:
        return None
    if not contents or _digest(key, contents) != digest:
        return None
    if time.time() - found.st_mtime > _DAY:
        with suppress(OSError):
            os.utime(path)  # those that are used stay the longest
    end = 8 + int.from_bytes(contents[:8], "little")
    return contents[8:end], contents[end:]


def write(key: bytes, beside: bytes, code: bytes) -> None:
    """Keep an entry, if there is a place for it."""
    path, name = _place(key), ""
    if path is None:
        return
    contents = len(beside).to_bytes(8, "little") + beside + code
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=_NEW, dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(_digest(key, contents) + contents)
        os.replace(name, path)  # other processes see all of it or nothing
    except OSError as error:
        say_once(f"machine code cannot be kept in {path.parent} ({error.strerror}); each process compiles its own")
        if name:
            _remove(Path(name))
    if int.from_bytes(key[:2], "little") % _EVERY == 0:
        _bound()


def _digest(key: bytes, contents: bytes) -> bytes:
    return hashlib.sha256(key + contents).digest()


def noted(made_of: object) -> bytes | None:
    """The entry without code under all that it depends on; None if there is none."""
    found = read(_key(made_of))
    return None if found is None else found[0]


def note(made_of: object, what: bytes) -> None:
    """Keep an entry without code."""
    write(_key(made_of), what, b"")


def bytes_from_cache(made_of: object, make: Callable[[], bytes]) -> bytes:
    """The result of `make`, which is kept as an entry without code. `made_of` says all that it depends on."""
    found = noted(made_of)
    if found is None:
        found = make()
        note(made_of, found)
    return found


def _key(made_of: object) -> bytes:
    return hashlib.sha256(repr((made_of, __version__)).encode()).digest()


# ---------------------------------------------------------------- its size


class Entry(NamedTuple):
    """A file of the cache: when it was used last (s, as `time.time`), its size and its path."""

    used: float
    n_bytes: int
    path: Path


def entries(name: re.Pattern[str] = _ENTRY) -> list[Entry]:
    """The entries of the user's cache; the first one was not used for the longest time."""
    home, out = folder(), []
    with suppress(OSError), os.scandir(home or "") as found:
        for entry in found:
            with suppress(OSError):  # of one that another process has just removed
                if name.fullmatch(entry.name) and not entry.is_dir(follow_symlinks=False):
                    about = entry.stat(follow_symlinks=False)
                    out.append(Entry(about.st_mtime, about.st_size, Path(entry.path)))
    return sorted(out)


def clear() -> list[Entry]:
    """Remove all entries of the user's cache; returns those that could not be removed."""
    for entry in [*entries(), *entries(_WRITTEN)]:
        _remove(entry.path)
    return entries()


def _bound() -> None:
    for entry in entries(_WRITTEN):
        if time.time() - entry.used > _HOUR:
            _remove(entry.path)
    there = entries()
    n_bytes = sum(entry.n_bytes for entry in there)
    if len(there) <= MOST_FILES and n_bytes <= MOST_BYTES:
        return
    for k, entry in enumerate(there):
        if len(there) - k <= _LEFT * MOST_FILES and n_bytes <= _LEFT * MOST_BYTES:
            return
        _remove(entry.path)
        n_bytes -= entry.n_bytes


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
