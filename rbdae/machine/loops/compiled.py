"""The loops as machine code: compiled, or loaded from the cache, when first asked for."""

from __future__ import annotations

from functools import cache
from typing import Any

from rbdae.machine import language, loops
from rbdae.machine.language.callable import callables
from rbdae.machine.loops.methods import Stepper
from rbdae.machine.sources import sources

LEVEL = 1
"""Of optimisation: vector registers are in the text already, and a higher one takes longer for the same speed."""


@cache
def entries(method: Stepper) -> tuple[Any, ...]:
    """`run`, `dense` and `interpolate` of a method, which take addresses."""
    return callables(method.program, LEVEL, made_of=(method.made_of, sources(loops, language)))
