"""The machine code that a problem gets: generic kernels, or code of its model alone."""

from __future__ import annotations

import os
from typing import Literal

from rbdae import _check
from rbdae.compiler.options import ENABLED
from rbdae.machine.entries_on_disk import say_once
from rbdae.machine.python_calls import supported

VARIABLE = "RBDAE_CODE"

CHOICES = ("auto", "folded", "generic", "traced")


def check_code(value: str) -> str:
    """The argument `code` of `rbdae.formulate`; the environment decides what ``"auto"`` means."""
    if not isinstance(value, str) or value not in CHOICES:
        raise _check.unknown("value of code", value, CHOICES)
    if value == "auto":
        value = os.environ.get(VARIABLE, "auto")
        if value not in CHOICES:
            raise _check.unknown(f"value of {VARIABLE} in the environment", value, CHOICES)
    return value


def code_of(wanted: str) -> Literal["auto", "folded", "generic", "traced"]:
    """The code of a model's problems. Without the JIT, and where LLVM or Python are not as they should be, it is
    generic."""
    if wanted == "generic" or not ENABLED:
        return "generic"
    if not supported():
        say_once(
            "this Python keeps floats and arrays elsewhere than code of one model looks for them; generic code runs"
        )
        return "generic"
    if wanted == "traced":
        return "traced"
    if wanted == "folded":
        return "folded"
    return "auto"


__all__ = ["check_code", "code_of"]
