"""Warnings of `formulate` are given once for a study, and not again for each of its runs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """A context without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


__all__ = ["quiet"]
