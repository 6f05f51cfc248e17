"""What a child process does that compiles kernels (`rbdae.compiler.ahead`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from rbdae.compiler.jit import compile_alone


def work(names: Sequence[str]) -> None:
    """Compile the kernels whose numbers come out of the pipe at the standard input."""
    while number := os.read(0, 4):
        # what cannot be compiled here raises its error where it is needed
        with suppress(Exception):
            compile_alone(names[int(number)])
