"""Native functions that Python can call."""

from __future__ import annotations

import ctypes
from typing import Any

from rbdae.machine.module import compiled
from rbdae.machine.native.program import Program
from rbdae.machine.native.types import Type, source_of

_C = {Type.FLOAT: ctypes.c_double, Type.INT: ctypes.c_int64, Type.BOOL: ctypes.c_bool, Type.NONE: None}


def callables(program: Program, level: int = 2) -> tuple[Any, ...]:
    """The entries of a program in machine code; they take addresses where they take vectors, and let other threads run.

    `address` of each is where it begins.
    """
    module = compiled(program.text(), level)
    made = []
    for entry in program.entries:
        source = source_of(entry)
        kinds: list[Any] = [_C.get(kind, ctypes.c_void_p) for _, kind in source.parameters]
        address = module.address(source.name)
        function: Any = ctypes.CFUNCTYPE(_C[source.result], *kinds)(address)
        function.address, function.module = address, module  # the code lives as long as the function
        made.append(function)
    return tuple(made)


__all__ = ["callables"]
