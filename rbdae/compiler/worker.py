"""The work of a child process that compiles kernels (`rbdae.compiler.ahead`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress

from rbdae.compiler.jit import compile_alone


def work(names: Sequence[str]) -> None:
    """Compile the kernels whose numbers come out of the pipe at the standard input."""
    while number := os.read(0, 4):
        # a kernel that cannot be compiled raises its error in the process that needs it
        with suppress(Exception):
            compile_alone(names[int(number)])
