"""The places of this user's caches, by the customs of each system, and the folders and files that are trusted.

What a cache has is run. So it is read only where it belongs to this user and nobody else can write to it: whoever could
leave a file there could otherwise leave code. Without a place that can be trusted nothing is kept, and each process
does the work again; no environment is an error.
"""

from __future__ import annotations

import os
import stat
import sys
import warnings
from functools import cache
from pathlib import Path

ENVIRONMENT = "RBDAE_CACHE_DIR"
"""The variable that has the folder of all caches."""

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def user_cache() -> Path | None:
    """The folder for what rbdae keeps between processes: RBDAE_CACHE_DIR, or one of its own in the user's cache; None
    if this user has no home.

    Empty variables count as unset, and so do relative ones: nobody wants a cache wherever a program happens to be
    started.
    """
    base = _absolute(os.environ.get(ENVIRONMENT))
    if base is not None:
        return base
    if sys.platform == "win32":
        root = _absolute(os.environ.get("LOCALAPPDATA")) or _home()
    elif sys.platform == "darwin":
        home = _home()
        root = home and home / "Library" / "Caches"
    else:
        home = _home()
        root = _absolute(os.environ.get("XDG_CACHE_HOME")) or (home and home / ".cache")
    return root and root / "rbdae"


def _home() -> Path | None:
    given = _absolute(os.environ.get("HOME" if sys.platform != "win32" else "USERPROFILE"))
    if given is not None or sys.platform == "win32":
        return given
    import pwd

    try:
        return _absolute(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a container, or a batch system, may run users that nobody has entered
        return None


def _absolute(path: str | None) -> Path | None:
    return Path(path) if path and os.path.isabs(path) and "\0" not in path else None


def is_own(found: os.stat_result) -> bool:
    """Whether something belongs to this user, and nobody else can write to it. Windows has other means."""
    return sys.platform == "win32" or (found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_WRITE)


def is_private(found: os.stat_result) -> bool:
    """Whether nobody else can reach what is in a folder."""
    return sys.platform == "win32" or (found.st_uid == os.geteuid() and not found.st_mode & _OTHERS)


def usable(folder: Path | None, what: str, *, private: bool = False) -> bool:
    """Whether a folder is there, or could be made now, and can be trusted; says once why it cannot.

    `private` asks that others cannot read it either. Those that are made are.
    """
    if folder is None:
        _say(f"{what} is not kept: this user has no home folder; set {ENVIRONMENT} to a folder of your own")
        return False
    try:
        try:
            found = os.stat(folder)
        except FileNotFoundError:
            _make(folder)
            found = os.stat(folder)
    except (OSError, ValueError) as error:
        _say(f"{what} cannot be kept in {folder} ({error}); each process compiles its own")
        return False
    if not stat.S_ISDIR(found.st_mode):
        _say(f"{what} cannot be kept in {folder}, which is no folder; each process compiles its own")
        return False
    if (is_private if private else is_own)(found):
        return True
    doing = "is open to" if private else "can be written by"
    whose = "belongs to another user" if sys.platform != "win32" and found.st_uid != os.geteuid() else f"{doing} others"
    _say(
        f"{what} in {folder} is not used: it {whose}, and what is there is run; set {ENVIRONMENT} to a folder of your "
        "own, or remove it"
    )
    return False


def _make(folder: Path) -> None:
    """A folder and those above it, for this user alone."""
    if not folder.parent.exists():
        _make(folder.parent)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:  # by another process, just now
        if not folder.is_dir():
            raise


@cache
def _say(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=3)


__all__ = ["ENVIRONMENT", "is_own", "is_private", "usable", "user_cache"]
