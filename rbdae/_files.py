"""Files that a user names: what can be one, and how it is written.

A file is written beside its place and renamed. Whatever fails meanwhile, the disk's end, an exception, a signal, the
old file stays as it was, and nothing half done takes its place.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from rbdae import _check

T = TypeVar("T")

_FORMULAS = "=+-@\t\r"
_LONGEST = 16  # characters of an ending that is kept: some writers choose the format by it


def checked(owner: str, value: object, example: str) -> Path:
    """A path from itself or a string.

    Raises
    ------
    TypeError
        for what is neither
    ValueError
        for the empty string, and for what no operating system takes for a name: NUL, lone surrogates
    """
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{owner} must be the name of a file, got {_check.show(value)}; pass e.g. {example!r}")
    out = os.fspath(value)
    if not isinstance(out, str) or not out or "\0" in out:
        raise ValueError(f"{owner} must be the name of a file, got {_check.show(value)}; pass e.g. {example!r}")
    try:
        os.fsencode(out)
    except UnicodeEncodeError:
        raise ValueError(
            f"{owner}: {_check.show(value)} has characters that no file's name can have; pass e.g. {example!r}"
        ) from None
    return Path(out)


def is_special(path: Path) -> bool:
    """Whether a path leads to a device, a pipe, a socket, or a file that the process has open, such as /dev/stdout:
    these are written to as they are."""
    if not path.exists() or path.is_dir():
        return False
    parts = path.absolute().parts[1:]
    opened = parts[:1] == ("proc",) or (parts[:1] == ("dev",) and (len(parts) == 2 or parts[1] == "fd"))
    return opened or not path.is_file()


def harmless(cell: T) -> T | str:
    """A cell of a table in a file: a text that begins as a formula does gets an apostrophe, so that no spreadsheet
    evaluates what a name says."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in _FORMULAS and cell[:1] else cell


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """A context in which the system's error of a write gets the name of the file, which writers often leave out."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from None


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new, empty file with the same ending, which takes the place of `path` when the block has ended without an
    exception.

    Links stay, and what they lead to is replaced. Owner and permissions of an old file stay, as far as the system
    allows. What is written for a device or a pipe is copied to it at the end.

    Raises
    ------
    OSError
        where the folder, or the old file, cannot be written
    """
    with _named(path), _copied(path) if is_special(path) else _renamed(path) as new:
        yield new


@contextlib.contextmanager
def _copied(path: Path) -> Iterator[Path]:
    """A file that is written to a device at the end."""
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder) / f"new{path.suffix}"
        new.touch()
        yield new
        with open(new, "rb") as source, open(path, "ab", buffering=0) as device:
            shutil.copyfileobj(source, device)


@contextlib.contextmanager
def _renamed(path: Path) -> Iterator[Path]:
    """A file that takes the place of another one at the end."""
    target = path.resolve()
    old = target.stat() if target.exists() else None
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(f"{path} cannot be written; name another file, or change its permissions")
    new = _made_beside(target, path)
    try:
        yield new
        if old is not None:
            with contextlib.suppress(OSError):
                os.chown(new, old.st_uid, old.st_gid)
            with contextlib.suppress(OSError):
                os.chmod(new, stat.S_IMODE(old.st_mode))
        os.replace(new, target)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink()
        raise


def _made_beside(target: Path, named: Path) -> Path:
    """An empty file in the same folder; its permissions are those of any new file."""
    ending = target.suffix if len(target.suffix) <= _LONGEST else ""
    new = target.with_name(f".rbdae-{secrets.token_hex(6)}{ending}")
    try:
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except PermissionError:
        raise PermissionError(
            f"{named}: no file can be made in its folder {target.parent}, where it is written before it takes its "
            "place; name a file in another folder"
        ) from None
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no folder {target.parent} to write {named.name} to; make it first") from None
    return new


__all__ = ["checked", "harmless", "is_special", "replacing"]
