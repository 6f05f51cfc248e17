"""The only file that names numba: how a kernel is compiled, cached and entered.

Two decorators:

``jit``
    a kernel that other kernels call. Lazy, cached on disk, no Python objects, IEEE division.
``entry``
    a kernel that Python calls, compiled for one fixed signature, so that a solver's read-only views do not cost a
    second compilation, and entered through its C function: no type dispatch (saves 0.2 us of 0.6).

With ``NUMBA_DISABLE_JIT=1`` both leave the function as it is; it then also takes complex numbers.

The cache directory carries a hash of the sources, because numba does not notice that a callee in another file has
changed (numba 0.68, ``cache=True``: the caller stays stale).
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])

ENABLED: bool = not numba.config.DISABLE_JIT


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home())))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")))


def _cache_directory() -> str:
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parent.parent
    for folder in ("kernels", "formulations"):
        for source in sorted((package / folder).glob("*.py")):
            digest.update(source.read_bytes())
    base = os.environ.get("NUMBA_CACHE_DIR")
    root = Path(base) if base else _user_cache() / "rbdae"
    return str(root / f"kernels-{digest.hexdigest()[:16]}")


_DIRECTORY = _cache_directory() if ENABLED else ""
_OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}


def jit(function: F) -> F:
    """Compile a kernel (lazily); leave it alone with the JIT off."""
    if not ENABLED:
        return function
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _DIRECTORY
    try:
        return cast(F, numba.njit(**_OPTIONS)(function))
    finally:
        numba.config.CACHE_DIR = before


_VECTOR_IN = types.Array(types.float64, 1, "C", readonly=True)
_VECTOR_OUT = types.Array(types.float64, 1, "C")
_MATRIX_OUT = types.Array(types.float64, 2, "A")
_SIGNS = {"t": types.float64, "y": _VECTOR_IN, "o": _VECTOR_OUT, "M": _MATRIX_OUT, "i": types.intp}


class Entry:
    """A kernel with one signature: ``t`` float, ``y`` input vector, ``o`` output vector, ``M`` output matrix of any
    strides, ``i`` integer (the model block comes first, so that `functools.partial` can bind it)."""

    def __init__(self, function: Callable[..., Any], signs: str) -> None:
        self.python = function
        self.kernel = jit(function)
        self.signs = signs
        self._compiled: Callable[..., Any] | None = None

    def compiled(self) -> Callable[..., Any]:
        """The C function (compiled or loaded from the cache now), or the Python function with the JIT off.

        It trusts its arguments: float64, vectors contiguous.
        """
        if self._compiled is None:
            if ENABLED:
                dispatcher = cast(Any, self.kernel)
                signature = tuple(_SIGNS[s] for s in self.signs)
                dispatcher.compile(signature)
                self._compiled = dispatcher.get_overload(signature)
            else:
                self._compiled = self.python
        return self._compiled


def entry(signs: str) -> Callable[[Callable[..., Any]], Entry]:
    """Mark a kernel as called from Python with the argument kinds `signs` (see `Entry`)."""

    def decorate(function: Callable[..., Any]) -> Entry:
        return Entry(function, signs)

    return decorate


@intrinsic  # type: ignore[untyped-decorator]
def as_pointer(typingctx: Any, address: Any) -> Any:
    """An integer address as a void pointer (numba's `carray` takes it)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], cgutils.voidptr_t)

    return types.voidptr(types.intp), codegen


carray = numba.carray
