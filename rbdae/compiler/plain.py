"""Kernels as plain Python, whether or not they are compiled in the process.

The twin of a kernel has its code and other globals, in which kernels are their twins. It takes any numbers: complex
ones, numbers that count operations, symbols. Functions that only machine code knows (addresses, memory,
mathematics) are declared with a plain side (`rbdae.compiler.jit.two_sided`).

Twins are made for the features of a problem, as machine code is: a stage that the problem does not have does nothing if
it is optional, and else raises RuntimeError.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, final

from rbdae import _forks
from rbdae.compiler.declared import Features, declared
from rbdae.compiler.twins import Scopes


@final
class PlainTwins:
    """The plain twins of all kernels for problems with certain features (None: with all)."""

    def __init__(self, features: Features | None) -> None:
        self._features = features
        self._made: dict[Callable[..., Any], Callable[..., Any]] = {}
        self._scopes = Scopes(self.of)

    @property
    def features(self) -> Features | None:
        """The features of the problems."""
        return self._features

    def function(self, source: Callable[..., Any]) -> Callable[..., Any]:
        """The twin of a kernel's Python function."""
        with _MAKING:  # another thread must not get one whose globals are not all there
            if source not in self._made:
                twin = self._made[source] = self._scopes.empty(source)
                self._scopes.fill(twin, source)
            return self._made[source]

    def of(self, value: Any) -> Any:
        """The object that stands in the globals of a twin in place of a value."""
        known = declared(value)
        return value if known is None else known.plain(self)


_MAKING = threading.RLock()
_forks.protect(lambda: _MAKING, 30)
_TWINS: dict[Features | None, PlainTwins] = {}


@lru_cache(maxsize=4096)
def plain(kernel: Any, features: Features | None = None) -> Callable[..., Any]:
    """The plain twin of a kernel, for problems with these features (None: with all).

    It takes any numbers; other functions are returned as they are.
    """
    twins = _TWINS.get(features)
    if twins is None:
        twins = _TWINS[features] = PlainTwins(features)
    out: Callable[..., Any] = twins.of(kernel)
    return out
