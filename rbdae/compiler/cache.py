"""The cache of machine code on disk.

A kernel has a folder of its own, named by its fingerprint (`rbdae.compiler.fingerprint`), so that what is found there
belongs to these sources and no others. It is made under another name and renamed when it is complete, with a mark that
has a digest of the name and of all files: numba reads no file that is damaged or belongs to another kernel, and a
process that is killed, or a disk that is full, leaves nothing behind that is read. A mark also says that the code is
there: several processes can compile what is missing (`rbdae.compiler.ahead`). The folder above carries all else that
numba's own index depends on, and the sources of this package. Only this user can reach it: its files are run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rbdae import _on_disk
from rbdae._folders import usable, user_cache
from rbdae._version import __version__
from rbdae.compiler.fingerprint import fingerprint
from rbdae.compiler.options import OPTIONS

T = TypeVar("T")

_MARK = "compiled"

_full = False
"""Whether writing has failed in this process: what could not be kept is compiled twice."""


@cache
def directory() -> Path | None:
    """The folder of all kernels; None if there is no place for one."""
    from rbdae.compiler.compiled import versions  # numba is imported here

    home = user_cache()
    if home is None:
        return None
    facts = (__version__, *versions(), np.__version__, sys.implementation.cache_tag)
    digest = hashlib.sha256(repr(facts).encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return home / f"{_on_disk.KERNELS}{digest.hexdigest()[:16]}"


def is_writable() -> bool:
    """Whether the cache can be written, and what is in it can be trusted."""
    folder = directory()
    return _is_usable(folder) and folder is not None and os.access(folder, os.W_OK)


@cache
def _is_usable(folder: Path | None) -> bool:
    return usable(folder, "machine code of kernels", private=True)


@cache
def _bound(folder: Path) -> None:
    """Keep the cache within bounds, once in a process that adds to it."""
    with suppress(OSError):
        _on_disk.bound_kernels(folder.parent, folder)


class Cached:
    """A kernel with a folder in the cache; `kind` is what its machine code depends on beside its sources."""

    function: Callable[..., Any]
    name: str
    kind: str

    @cached_property
    def _folder(self) -> Path | None:
        folder = directory()
        return folder and folder / fingerprint(self.function, f"{self.name} {self.kind}")

    @cached_property
    def _has_file(self) -> bool:
        return os.path.exists(self.function.__code__.co_filename)

    _marked = False

    @property
    def is_cached(self) -> bool:
        """Whether the machine code is in the cache."""
        if not self._marked and self._folder is not None:
            self._marked = (self._folder / _MARK).exists()
        return self._marked

    def made(self, make: Callable[[dict[str, Any]], T]) -> T:
        """The code that `make` compiles with numba's options, or loads if it is in the cache; what has no file is not
        kept."""
        folder = self._folder
        if folder is None or not self._has_file or _full or not is_writable():
            return make({**OPTIONS, "cache": False})
        if is_whole(folder):
            with suppress(Exception):  # whatever numba says of files that it cannot read: they are made again
                return _in(folder, make)
        return self._new(folder, make)

    def _new(self, folder: Path, make: Callable[[dict[str, Any]], T]) -> T:
        """Compile in a folder that takes the kernel's name when all is written."""
        global _full
        _bound(folder.parent)
        try:
            own = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", suffix=_on_disk.NEW, dir=folder.parent))
        except OSError:
            return make({**OPTIONS, "cache": False})
        try:
            out = _in(own, make)
            with suppress(OSError):
                (own / _MARK).write_text(_digest(own, folder.name))
                _exchange(own, folder)
                self._marked = True
            return out
        except (OSError, RuntimeError):  # of numba, which has compiled and cannot write; a full disk
            _full = True
            return make({**OPTIONS, "cache": False})
        finally:
            shutil.rmtree(own, ignore_errors=True)


def _in(folder: Path, make: Callable[[dict[str, Any]], T]) -> T:
    """While numba's cache is a folder."""
    from rbdae.compiler.compiled import numba_cache  # numba is imported here

    with numba_cache(folder):
        return make({**OPTIONS, "cache": True})


def _exchange(own: Path, folder: Path) -> None:
    """Give a folder its name. Another process may just have done so: one of them is enough, if it is whole."""
    try:
        os.rename(own, folder)
    except OSError:
        if is_whole(folder):
            return
        away = own.with_name(f"{own.name}.old{_on_disk.NEW}")
        os.rename(folder, away)
        if away.is_dir() and not away.is_symlink():
            shutil.rmtree(away, ignore_errors=True)
        else:
            away.unlink(missing_ok=True)
        os.rename(own, folder)


def is_whole(folder: Path) -> bool:
    """Whether a folder has what its mark says, and the mark is that of its name."""
    mark = folder / _MARK
    try:
        if os.path.islink(folder) or mark.read_text() != _digest(folder, folder.name):
            return False
        if time.time() - mark.stat().st_mtime > _on_disk.DAY:
            os.utime(mark)  # those that are used stay the longest
    except (OSError, ValueError):
        return False
    return True


def _digest(folder: Path, name: str) -> str:
    """The digest of all files in a folder but the mark, by their names in it, and of the name that it has to have."""
    digest = hashlib.sha256(name.encode())
    for root, folders, names in os.walk(folder):
        folders.sort()
        for file in sorted(names):
            path = os.path.join(root, file)
            inside = os.path.relpath(path, folder)
            if inside != _MARK:
                if not os.path.isfile(path):  # a pipe would be waited for
                    raise OSError(f"{path} is no file")
                with open(path, "rb") as found:
                    contents = found.read()
                digest.update(f"{inside}\0{len(contents)}\0".encode("utf-8", "surrogateescape"))
                digest.update(contents)
    return digest.hexdigest()
