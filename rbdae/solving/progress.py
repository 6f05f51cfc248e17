"""The bar of `solve(..., progress=True)`."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import TextIO


@contextlib.contextmanager
def _terminal() -> Iterator[TextIO]:
    """Standard error that stays audible while packages are silenced by way of its file descriptor."""
    try:
        stream = os.fdopen(os.dup(sys.stderr.fileno()), "w")
    except (AttributeError, OSError, ValueError, io.UnsupportedOperation):  # a notebook, or none at all
        yield sys.stderr
        return
    with stream:
        yield stream


@contextlib.contextmanager
def progress_of(
    wanted: bool | Callable[[float], None], solver: str, t0: float, t_end: float
) -> Iterator[Callable[[float], None] | None]:
    """The value that `Request.advance` gets: None, the user's function, or a bar."""
    if callable(wanted):
        yield wanted
        return
    if not wanted:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True needs tqdm: run `pip install tqdm`") from None
    with (
        _terminal() as stream,
        tqdm(
            total=abs(t_end - t0),
            desc=solver,
            file=stream,
            bar_format="{l_bar}{bar}| t = {n:.4g} of {total:.4g} [{elapsed}<{remaining}]",
        ) as bar,
    ):

        def advance(t: float) -> None:
            bar.update(abs(t - t0) - bar.n)

        yield advance


__all__ = ["progress_of"]
