"""Where this user's caches are, by the customs of each system."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_cache() -> Path:
    """The folder for what rbdae keeps between processes: NUMBA_CACHE_DIR, or one of its own in the user's cache."""
    base = os.environ.get("NUMBA_CACHE_DIR")
    if base:
        return Path(base)
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", str(Path.home())))
    elif sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")))
    return root / "rbdae"


__all__ = ["user_cache"]
