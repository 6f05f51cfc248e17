"""``rbdae cache``: what is kept on disk between processes, and its removal."""

from __future__ import annotations

import argparse
import sys

from rbdae import _on_disk
from rbdae._folders import ENVIRONMENT, user_cache


def show_cache(given: argparse.Namespace) -> int:
    """The command; 0, or 1 if something could not be removed."""
    home = user_cache()
    if home is None:
        print(f"there is no cache: this user has no home folder; set {ENVIRONMENT} to a folder of your own")
        return 0
    found = _on_disk.on_disk()
    print(f"cache in {home}")
    for one in found:
        print(f"  {one.what:23}  {one.entries:6} entries  {_size(one.n_bytes):>9}  {one.folder}")
    if not found:
        print("  empty")
    if not given.clear:
        return 0
    left = _on_disk.clear()
    for path in left:
        print(f"rbdae: {path} could not be removed", file=sys.stderr)
    if found and not left:
        print("removed; what is needed again will be compiled again")
    return 1 if left else 0


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB"


__all__ = ["show_cache"]
