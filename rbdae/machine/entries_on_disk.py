"""Entries of the cache of machine code: files with a code, and what is kept beside it.

The key of an entry is its name, and its contents begin with a digest of the key and of all else together: what is
damaged, or belongs to another key, counts as not there. Entries are read where this user alone can write them
(`rbdae.machine.cache_folder`).
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from rbdae._files import __version__
from rbdae.machine import cache_folder

_DIGEST = 32

_LARGEST = 1 << 26
"""Bytes of an entry at most."""

_WHAT = "machine code"


def folder() -> Path | None:
    """The folder of the entries; None if there is no such place."""
    found = cache_folder.user_cache()
    return found and found / cache_folder.MACHINE


def read(key: bytes) -> tuple[bytes, bytes] | None:
    """What is beside the code of a key, and the code; None if there is no entry."""
    path = _place(key)
    return None if path is None else _stored(path, key)


def write(key: bytes, beside: bytes, code: bytes) -> None:
    """Keep an entry, if there is a place for it."""
    path = _place(key)
    if path is not None:
        _store(path, key, len(beside).to_bytes(8, "little") + beside + code)


def bytes_from_cache(made_of: object, make: Callable[[], bytes]) -> bytes:
    """The result of `make`, which is kept as an entry without code. `made_of` says all that it depends on."""
    found = noted(made_of)
    if found is None:
        found = make()
        note(made_of, found)
    return found


def noted(made_of: object) -> bytes | None:
    """The entry without code under all that it depends on; None if there is none."""
    found = read(_key(made_of))
    return None if found is None else found[0]


def note(made_of: object, what: bytes) -> None:
    """Keep an entry without code."""
    write(_key(made_of), what, b"")


def _key(made_of: object) -> bytes:
    return hashlib.sha256(repr((made_of, __version__)).encode()).digest()


def _place(key: bytes) -> Path | None:
    home = folder()
    return home / f"{key.hex()[:40]}.o" if cache_folder.usable(home, _WHAT) and home is not None else None


def _digest(key: bytes, code: bytes) -> bytes:
    return hashlib.sha256(key + code).digest()


def _stored(path: Path, key: bytes) -> tuple[bytes, bytes] | None:
    """What is kept beside the code of a key, and the code, if its entry is there, whole, and written by this user."""
    try:
        # a link is not followed, and a pipe not waited for
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    except OSError:
        return None
    try:
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or not cache_folder.is_own(found) or found.st_size > _LARGEST:
                return None
            contents = file.read()
    except OSError:
        return None
    digest, code = contents[:_DIGEST], contents[_DIGEST:]
    if not code or _digest(key, code) != digest:
        return None
    if time.time() - found.st_mtime > cache_folder.DAY:
        with suppress(OSError):
            os.utime(path)  # those that are used stay the longest
    end = 8 + int.from_bytes(code[:8], "little")
    return code[8:end], code[end:]


_BINARY = getattr(os, "O_BINARY", 0)


def _store(path: Path, key: bytes, code: bytes) -> None:
    name = ""
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=cache_folder.NEW, dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(_digest(key, code) + code)
        os.replace(name, path)  # other processes see all of it or nothing
        name = ""
    except OSError as error:
        say_once(f"{_WHAT} cannot be kept in {path.parent} ({error.strerror}); each process compiles its own")
    finally:
        if name:
            with suppress(OSError):
                os.unlink(name)
    cache_folder.bound_machine(path.parent)


@cache
def say_once(message: str) -> None:
    """Warn, once in a process."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)
