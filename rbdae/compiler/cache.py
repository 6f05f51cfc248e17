"""The cache of machine code on disk.

A kernel has a folder of its own, named by its fingerprint (`rbdae.compiler.fingerprint`), so that what is found there
belongs to these sources and no others. A mark in the folder says that the code is there: several processes can compile
what is missing (`rbdae.compiler.ahead`). The folder above carries all else that numba's own index depends on, and the
sources of this package.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rbdae._folders import user_cache
from rbdae.compiler.fingerprint import fingerprint
from rbdae.compiler.options import OPTIONS


@cache
def directory() -> Path:
    """The folder of all kernels."""
    from rbdae.compiler.compiled import versions  # numba is imported here

    digest = hashlib.sha256(repr((*versions(), np.__version__, sys.implementation.cache_tag)).encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return user_cache() / f"kernels-{digest.hexdigest()[:16]}"


def is_writable() -> bool:
    """Whether the cache can be written."""
    with suppress(OSError):
        directory().mkdir(parents=True, exist_ok=True)
    return os.access(directory(), os.W_OK)


class Cached:
    """A kernel with a folder in the cache; `kind` is what its machine code depends on beside its sources."""

    function: Callable[..., Any]
    name: str
    kind: str

    @cached_property
    def _folder(self) -> Path:
        return directory() / fingerprint(self.function, f"{self.name} {self.kind}")

    @cached_property
    def _has_file(self) -> bool:
        return os.path.exists(self.function.__code__.co_filename)

    _marked = False

    @property
    def is_cached(self) -> bool:
        """Whether the machine code is in the cache."""
        if not self._marked:
            self._marked = (self._folder / "compiled").exists()
        return self._marked

    def mark(self) -> None:
        """Say that the machine code is in the cache."""
        if self._has_file and not self.is_cached:
            # without a mark a kernel is looked for in the cache all the same
            with suppress(OSError):
                (self._folder / "compiled").touch()

    @contextmanager
    def folder(self) -> Iterator[dict[str, Any]]:
        """numba's options, while its cache is this kernel's folder; what has no file is not kept."""
        from rbdae.compiler.compiled import numba_cache  # numba is imported here

        with numba_cache(self._folder):
            yield {**OPTIONS, "cache": self._has_file and is_writable()}
