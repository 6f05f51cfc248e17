"""Output files are written under a temporary name and renamed, so that a failure leaves the old file unchanged. They
carry the version."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from rbdae import _check


def checked(owner: str, value: object, example: str) -> Path:
    """A path from a path or a string; raises TypeError and ValueError for anything else, and for strings that cannot
    name a file."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    wrong = f"{owner} must be the name of a file, got {_check.show(value)}; pass e.g. {example!r}"
    if not isinstance(text, str):
        raise TypeError(wrong)
    if not text or "\0" in text or any("\ud800" <= letter <= "\udbff" for letter in text):
        raise ValueError(wrong)
    return Path(text)


def writable(owner: str, value: object, example: str, endings: Sequence[str] = ()) -> Path:
    """A path for a file to write, with one of these endings if there are any. Raises as `checked`, and ValueError and
    OSError for another ending, a missing folder, and a folder of this name."""
    target = checked(owner, value, example)
    if endings and target.suffix.lower() not in endings:
        raise ValueError(f"{owner}: the name must end with {' or '.join(endings)}, got {target.name!r}")
    if target.is_dir():
        raise IsADirectoryError(f"{owner}: {target} is a folder; give the name of a file")
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"{owner}: there is no folder {target.parent} to write {target.name} to; make it first")
    return target


def is_special(path: Path) -> bool:
    """Whether a path leads to a device, a pipe or a socket, which is written to directly."""
    return path.exists() and not path.is_file() and not path.is_dir()


def write_csv(path: Path, frame: Any, **options: Any) -> Path:
    """Write a data frame as CSV."""
    with replacing(path) as new:
        frame.to_csv(new, errors="backslashreplace", **options)
    return path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path with the same suffix, which replaces `path` if the block ends without an exception. Links and
    the permissions of an old file stay; for a device the content is copied. An OSError names the file that cannot be
    written."""
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
