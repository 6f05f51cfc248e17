"""The loops as machine code: compiled, or loaded from the cache, when first asked for."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from rbdae.machine import native
from rbdae.machine.loops.methods import OneStep
from rbdae.machine.native.callable import callables

LEVEL = 1
"""Of optimisation: vector registers are in the text already, and a higher one takes longer for the same speed."""


@cache
def sources() -> str:
    """A digest of the files that loops are made of: reading them is quicker than writing their text."""
    digest = hashlib.sha256()
    for folder in (Path(__file__).parent, Path(native.__file__).parent):
        for file in sorted(folder.glob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()


@cache
def entries(method: OneStep) -> tuple[Any, ...]:
    """`run`, `dense` and `interpolate` of a method, which take addresses."""
    return callables(method.program, LEVEL, made_of=(method.name, sources()))


__all__ = ["entries"]
