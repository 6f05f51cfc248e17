"""Files that a user names, written beside their place and renamed: a failure leaves the old file as it was. They carry
the version."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TypeVar

from rbdae import _check

__version__ = "0.1.0"

T = TypeVar("T")


def checked(owner: str, value: object, example: str) -> Path:
    """A path from itself or a string.

    Raises
    ------
    TypeError, ValueError
        for anything else, and for texts that no file can have as its name
    """
    given = os.fspath(value) if isinstance(value, os.PathLike) else value
    wrong = f"{owner} must be the name of a file, got {_check.show(value)}; pass e.g. {example!r}"
    if not isinstance(given, str):
        raise TypeError(wrong)
    if not given or "\0" in given or any("\ud800" <= letter <= "\udbff" for letter in given):
        raise ValueError(wrong)
    return Path(given)


def is_special(path: Path) -> bool:
    """Whether a path leads to a device, a pipe or a socket, which are written to as they are."""
    return path.exists() and not path.is_file() and not path.is_dir()


def harmless(cell: T) -> T | str:
    """A cell of a table in a file, with an apostrophe before a text that a spreadsheet would evaluate as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] and cell[:1] in "=+-@\t\r" else cell


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name for a new file with the same ending, which takes the place of `path` when the block ends without an
    exception. Links and the permissions of an old file stay; to a device the new file is copied.

    Raises
    ------
    OSError
        with the file, where it cannot be written
    """
    target = path.resolve()
    if not is_special(path) and target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(f"{path} cannot be written; name another file, or change its permissions")
    with tempfile.TemporaryDirectory() if is_special(path) else nullcontext(target.parent) as folder:
        new = Path(folder) / f".rbdae-{secrets.token_hex(6)}{path.suffix[:16]}"
        try:
            yield new
            if is_special(path):
                path.write_bytes(new.read_bytes())
            else:
                if target.exists():
                    shutil.copymode(target, new)
                os.replace(new, target)
        except OSError as error:
            if error.errno is None or str(path) in str(error):
                raise
            raise type(error)(error.errno, error.strerror, str(path)) from None
        finally:
            new.unlink(missing_ok=True)
